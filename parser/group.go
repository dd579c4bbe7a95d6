package parser

import (
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// maxSets bounds the grouping sets of a cut: CUBE of n keys has 2^n.
const maxSets = 64

// groups reads GROUP BY, or the DISTINCT that stands for one.
func (a *analysis) groups(c *Cut) error {
	s := c.sel
	items := s.GroupClause
	if len(items) == 0 && s.HavingClause == nil && !callsAggregate(s) {
		// SELECT DISTINCT a, b: the rows of GROUP BY a, b.
		if s.DistinctClause[0].GetNode() != nil {
			return a.refuse(location(s.DistinctClause[0]), "Aggregate the rows of each: SELECT x, count(*), avg(y), "+
				"with GROUP BY x.", "DISTINCT ON shows single rows of protected tables")
		}
		for _, t := range s.TargetList {
			if _, err := a.key(c, t.GetResTarget().Val); err != nil {
				return err
			}
		}
		return nil
	}

	// Items that stand side by side are multiplied (manual, section 7.2.4).
	sets := [][]int{{}}
	several := false
	for _, n := range items {
		more, err := a.sets(c, n)
		if err != nil {
			return err
		}
		several = several || n.GetGroupingSet() != nil
		if len(sets)*len(more) > maxSets {
			return a.refuse(location(n), "Use fewer of them.", "more than %d grouping sets", maxSets)
		}
		var product [][]int
		for _, x := range sets {
			for _, y := range more {
				product = append(product, union(x, y))
			}
		}
		sets = product
	}

	if !several {
		return nil
	}

	// A set that comes twice would give each of its groups twice, with other noise.
	c.Sets = [][]int{}
	for _, x := range sets {
		if slices.ContainsFunc(c.Sets, func(y []int) bool { return slices.Equal(x, y) }) {
			if s.GroupDistinct {
				continue
			}
			return a.refuse(location(items[0]), "Write GROUP BY DISTINCT, or name each set once.",
				"the same grouping set comes twice")
		}
		c.Sets = append(c.Sets, x)
	}
	return nil
}

func union(x, y []int) []int {
	out := append(slices.Clone(x), y...)
	slices.Sort(out)
	return slices.Compact(out)
}

// sets are the grouping sets that one item of GROUP BY stands for (PostgreSQL manual, section 7.2.4).
func (a *analysis) sets(c *Cut, n *pg.Node) ([][]int, error) {
	g := n.GetGroupingSet()
	if g == nil {
		set, err := a.keySet(c, n)
		return [][]int{set}, err
	}

	if g.Kind == pg.GroupingSetKind_GROUPING_SET_EMPTY {
		return [][]int{{}}, nil
	}

	if g.Kind == pg.GroupingSetKind_GROUPING_SET_SETS {
		var out [][]int
		for _, m := range g.Content {
			more, err := a.sets(c, m)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
		return out, nil
	}

	// ROLLUP and CUBE are of lists of keys, each of which is in a set as a whole or not.
	var parts [][]int
	for _, m := range g.Content {
		set, err := a.keySet(c, m)
		if err != nil {
			return nil, err
		}
		parts = append(parts, set)
	}

	out := [][]int{{}}
	switch g.Kind {
	case pg.GroupingSetKind_GROUPING_SET_ROLLUP:
		for _, p := range parts {
			out = append([][]int{union(out[0], p)}, out...)
		}
	case pg.GroupingSetKind_GROUPING_SET_CUBE:
		for _, p := range parts {
			if len(out) > maxSets {
				break
			}
			for _, x := range slices.Clone(out) {
				out = append(out, union(x, p))
			}
		}
	default:
		return nil, a.refuse(location(n), "Use GROUP BY with columns.",
			"this kind of GROUP BY cannot be used on protected data")
	}
	return out, nil
}

// keySet reads a key, or a list of keys in parentheses.
func (a *analysis) keySet(c *Cut, n *pg.Node) ([]int, error) {
	if row := n.GetRowExpr(); row != nil {
		var set []int
		for _, m := range row.Args {
			one, err := a.keySet(c, m)
			if err != nil {
				return nil, err
			}
			set = union(set, one)
		}
		return set, nil
	}
	k, err := a.key(c, n)
	if err != nil || k < 0 {
		return nil, err
	}
	return []int{k}, nil
}

// key reads one key: an expression, the number of an output column, or an output column's name. A constant groups
// nothing: it is no key, and gives -1. A column of a subquery that is constant is one, since what stands above names
// it.
func (a *analysis) key(c *Cut, g *pg.Node) (int, error) {
	target := g
	if i := g.GetAConst().GetIval(); i != nil {
		if i.Ival < 1 || int(i.Ival) > len(c.sel.TargetList) {
			return 0, sqlstate.New(sqlstate.InvalidColumnReference, "GROUP BY position %d is not in select list",
				i.Ival).At(a.src.position(location(g)))
		}
		target = c.sel.TargetList[i.Ival-1].GetResTarget().Val
	} else if r := g.GetColumnRef(); r != nil && len(r.Fields) == 1 &&
		!c.read.names.has(r.Fields[0].GetString_().GetSval()) {
		for _, t := range c.sel.TargetList {
			if rt := t.GetResTarget(); rt.Name != "" && rt.Name == r.Fields[0].GetString_().GetSval() {
				target = rt.Val
			}
		}
	}

	e, err := c.read.expr(target)
	if err != nil {
		return 0, err
	}
	if _, ok := e.(Const); ok && target.GetColumnRef() == nil {
		return -1, nil
	}
	if i := c.keyOf(e); i >= 0 {
		return i, nil
	}

	// It has its column's name above the cut, where that is one and not taken.
	k := Key{Expr: e, Source: SQL(e, "", nil), Position: max(a.src.position(location(target)), 1)}
	if r := target.GetColumnRef(); r != nil {
		k.Name = tree.LastString(r.Fields)
	}
	if k.Name == "" || slices.ContainsFunc(c.Keys, func(o Key) bool { return o.Name == k.Name }) {
		k.Name = fmt.Sprintf("fugu key %d", len(c.Keys)+1)
	}
	c.Keys = append(c.Keys, k)
	return len(c.Keys) - 1, nil
}
