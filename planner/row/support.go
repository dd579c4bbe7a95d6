package row

import (
	"cmp"
	"slices"
)

// Rule says how an operation is kept from failing.
type Rule struct {
	Name  string // as people write it
	Total string // empty: it cannot fail
}

// Rules lists the operations that row expressions can be made of, in order of their names.
func Rules() []Rule {
	var out []Rule
	for _, r := range rules {
		out = append(out, Rule{r.name, r.total})
	}
	slices.SortFunc(out, func(a, b Rule) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Total, b.Total)) })
	return slices.Compact(out)
}
