package shadow

import (
	"testing"
)

// Every shadow can be read, also those that no statement of the other tests asks for: a statement finds out when it is
// the first to name one.
func TestEveryShadowIsRead(t *testing.T) {
	columns := map[string][]Column{}
	for _, name := range Relations() {
		r := shadowed[name]
		for _, column := range append([]string{r.key, r.database, "masked column"}, append(r.keep, r.mask...)...) {
			if column != "" {
				columns[name] = append(columns[name], Column{column, "timestamp with time zone"})
			}
		}
	}
	s, err := New([]Root{{Schema: "public", Name: "adult", OID: 16400, Rows: 35222, Twin: true}}, columns,
		Database{Name: "beside", OID: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.relations) != len(shadowed) {
		t.Errorf("%d shadows of %d relations", len(s.relations), len(shadowed))
	}
	for name, read := range s.relations {
		if item, err := read(); err != nil || item.GetRangeSubselect() == nil {
			t.Errorf("%s: %v, %v", name, item, err)
		}
	}
}
