package model

import (
	"strings"
	"testing"

	"fugu/parser"
	"fugu/planner"
)

// Predicates that are one, opposites, nested, exclusive or nearly the same are tied; independent ones are not.
func TestTied(t *testing.T) {
	a := planner.Secret{Name: "a", Predicate: parser.Column{Name: "a"}}
	b := planner.Secret{Name: "b", Predicate: parser.Column{Name: "b"}}
	for name, c := range map[string]struct {
		table [][]float64
		same  bool
		what  string
	}{
		"equal":           {[][]float64{{700, 0}, {0, 300}}, true, "follow"},
		"opposite":        {[][]float64{{0, 700}, {300, 0}}, true, "follow"},
		"nested":          {[][]float64{{600, 100}, {0, 300}}, false, "no row inside the predicate of a and outside"},
		"exclusive":       {[][]float64{{400, 300}, {300, 0}}, false, "no row inside"},
		"nearly the same": {[][]float64{{690, 10}, {10, 290}}, false, "correlation is 0.95"},
		"independent":     {[][]float64{{350, 350}, {150, 150}}, false, ""},
		"none by chance":  {[][]float64{{690, 10}, {10, 0}}, false, ""},
	} {
		tie, ok := tied(a, b, c.table)
		if ok != (c.what != "") || tie.Same != c.same || !strings.Contains(tie.What, c.what) {
			t.Errorf("%s: %+v, %v", name, tie, ok)
		}
	}
}
