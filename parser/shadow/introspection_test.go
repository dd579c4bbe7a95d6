package shadow

import "testing"

// Views are made when somebody asks for them; and what is no view is not kept, as clients choose the names.
func TestViewsAreMadeWhenAskedFor(t *testing.T) {
	x, err := NewIntrospection([]Root{{Schema: "public", Name: "people", OID: 4711}}, map[string]string{
		"named":   "SELECT c.relname FROM pg_class c WHERE has_table_privilege(c.oid, 'SELECT')",
		"over":    "SELECT named.relname FROM information_schema.named",
		"public":  "SELECT c.relname FROM pg_class c",
		"no more": "SELECT FROM WHERE",
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := kept(x); n != 0 {
		t.Errorf("%d views are there before anybody asks", n)
	}
	for _, again := range []bool{false, true} {
		for name, widened := range map[string]bool{"named": true, "over": true, "public": false, "no more": false,
			"another": false} {
			if (x.view(name) != nil) != widened {
				t.Errorf("asked again %v: view %q is widened: %v", again, name, !widened)
			}
		}
	}
	if n := kept(x); n != 4 {
		t.Errorf("%d views are kept of four", n)
	}
}

func kept(x *Introspection) (n int) {
	x.views.Range(func(any, any) bool { n++; return true })
	return n
}
