package parser

import (
	"slices"
	"strings"
)

// Ordered is c with its keys, and its grouping sets, in an order of their own: what GROUP BY names first does not
// matter.
// Of the statement's tree, which plans outlive, there is nothing in it.
func Ordered(c *Cut) *Cut {
	out := Cut{Sources: c.Sources, Where: c.Where, Aggregates: c.Aggregates, Alias: c.Alias, Position: c.Position,
		Spreads: slices.Clone(c.Spreads)}
	order := make([]int, len(c.Keys)) // from new places to old
	for i := range order {
		order[i] = i
	}

	// Keys are ordered as they read, and the sets follow them.
	slices.SortStableFunc(order, func(a, b int) int {
		return strings.Compare(SQL(c.Keys[a].Expr, "t", nil), SQL(c.Keys[b].Expr, "t", nil))
	})
	for _, old := range order {
		out.Keys = append(out.Keys, c.Keys[old])
	}

	moved := func(list []int) []int {
		places := make([]int, len(list))
		for i, old := range list {
			places[i] = slices.Index(order, old)
		}
		return places
	}

	out.Sets, out.Groupings = slices.Clone(c.Sets), slices.Clone(c.Groupings)
	for i, set := range out.Sets {
		out.Sets[i] = moved(set)
		slices.Sort(out.Sets[i])
	}
	slices.SortStableFunc(out.Sets, slices.Compare)
	for i := range out.Groupings {
		out.Groupings[i].Keys = moved(out.Groupings[i].Keys)
	}
	return &out
}
