package planner

import (
	"fmt"
	"slices"
	"strings"

	"fugu/parser"
)

// Vector describes the query vector of one component under limits. Two statistics with the same text, also of different
// cuts, are equal whatever the tables hold. The text is empty if other tables have a part in the statistic, since
// nobody compares these.
func (b *Bound) Vector(cell, aggregate int, limits []Limit) string {
	if !b.sources.single() || len(b.Ordinary) > 0 {
		return ""
	}
	c, a := b.Cells[cell], b.Aggregates[aggregate]

	// The keys that the cell's set groups by, in whatever order they were named.
	var keys []string
	texts := b.keys()
	for _, k := range b.sets()[c.Set] {
		keys = append(keys, fmt.Sprintf("%s = %t %q", texts[k], c.Keys[k].Null, c.Keys[k].Text))
	}
	slices.Sort(keys)

	out := []string{b.from(false), b.forms.whereSQL(b.number), strings.Join(keys, ", "), a.Name, a.Type,
		a.Sampled.key()}
	for _, e := range b.forms.args[aggregate] {
		out = append(out, parser.SQL(e, "t", b.number))
	}

	// Of other limits the row functions are others.
	for _, t := range a.Terms {
		for _, i := range b.Terms[t].Factors {
			if l := limits[i]; !b.Bases[i].Indicator {
				if l.Sets != nil {
					l = l.Sets[b.LimitSet(c.Set)]
				}
				out = append(out, l.Low.RatString()+".."+l.High.RatString())
			}
		}
	}
	return strings.Join(out, "\n")
}
