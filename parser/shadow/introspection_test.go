package shadow

import (
	"errors"
	"testing"
)

// Views are read and made when somebody asks for them, and again what could not be read; and what is no view is not
// kept, as clients choose the names.
func TestViewsAreMadeWhenAskedFor(t *testing.T) {
	x, err := NewIntrospection([]Root{{Schema: "public", Name: "people", OID: 4711}})
	if err != nil {
		t.Fatal(err)
	}
	down := errors.New("the server is down")
	if _, err := x.view("named", func() (map[string]string, error) { return nil, down }); !errors.Is(err, down) {
		t.Errorf("a view of a server that is down: %v", err)
	}
	reads := 0
	read := func() (map[string]string, error) {
		reads++
		return map[string]string{
			"named":   "SELECT c.relname FROM pg_class c WHERE has_table_privilege(c.oid, 'SELECT')",
			"over":    "SELECT named.relname FROM information_schema.named",
			"public":  "SELECT c.relname FROM pg_class c",
			"no more": "SELECT FROM WHERE",
		}, nil
	}
	if n := kept(x); n != 0 {
		t.Errorf("%d views are there before anybody asks", n)
	}
	for _, again := range []bool{false, true} {
		for name, widened := range map[string]bool{"named": true, "over": true, "public": false, "no more": false,
			"another": false} {
			if query, err := x.view(name, read); (query != nil) != widened || err != nil {
				t.Errorf("asked again %v: view %q is widened: %v, %v", again, name, !widened, err)
			}
		}
	}
	if n := kept(x); n != 4 || reads != 1 {
		t.Errorf("%d views are kept of four, read %d times", n, reads)
	}
}

func kept(x *Introspection) (n int) {
	x.views.Range(func(any, any) bool { n++; return true })
	return n
}
