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

// Shares that add up, and one that says whether two others agree, are tied together; three that are independent are
// not, nor where a few rows only happen to be so.
func TestTiedTogether(t *testing.T) {
	secrets := []planner.Secret{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	// table has so many rows of each two classes of a and b, and the class of c that they make, or either of them.
	table := func(rows float64, c func(a, b int) []int) (out []combination) {
		for a := range 2 {
			for b := range 2 {
				for _, class := range c(a, b) {
					out = append(out, combination{[]int{a, b, class}, rows})
				}
			}
		}

		return out
	}
	agree := func(a, b int) []int { return []int{a ^ b} }
	for name, c := range map[string]struct {
		table []combination
		pairs []Tie
		want  int
	}{
		"agreement":             {table(250, agree), nil, 1},
		"independent":           {table(250, func(int, int) []int { return []int{0, 1} }), nil, 0},
		"by chance":             {table(4, agree), nil, 0},
		"with two that are one": {table(250, agree), []Tie{{A: "a", B: "c"}}, 0},
		"all of one class":      {table(250, func(int, int) []int { return []int{0} }), nil, 0},
	} {
		got := tiedTogether(secrets, c.table, c.pairs)
		if len(got) != c.want {
			t.Errorf("%s: %+v", name, got)
		}
		for _, tie := range got {
			if tie.A != "a, b" && tie.A != "a, c" && tie.A != "b, c" || !strings.Contains(tie.What,
				"follow from the others together") {
				t.Errorf("%s: %+v", name, tie)
			}
		}
	}
}
