package unlisted

import (
	"slices"

	"fugu/internal/hook"
	"fugu/parser"
	"fugu/sqlstate"
)

// chained refuses twins that are joined in another way than along the policy's links, from one table to what its rows
// belong to. Then the joined rows are those of one table, each once. Where a condition says how often a row is there,
// one row can be there so often that an average, or a median, is its own.
func (c *Cut) chained() error {
	if hook.TwinSingleRows {
		return nil
	}

	// Each source but one is what the rows of another belong to; nothing is there twice.
	ends, seen := 0, map[string]bool{}
	for _, s := range c.cut.Sources {
		table := c.tables[s.Rel].String()
		belongs := slices.ContainsFunc(c.cut.Sources, func(own parser.Source) bool { return c.linked(own, s) })
		if !belongs {
			ends++
		}
		if seen[table] || ends > 1 {
			return sqlstate.New(sqlstate.NotAnswerable,
				"%s cannot be joined in this way: rows that are not listed are joined along their links", s.Table).
				WithHint("Join a table with the one that its rows belong to, by the columns of the policy's link, or " +
					"aggregate each in a subquery of its own, and join the results.").At(s.Position)
		}
		seen[table] = true
	}
	return nil
}

// linked reports whether each row of own stands beside the row of to that it belongs to, and beside no other.
func (c *Cut) linked(own, to parser.Source) bool {
	link := c.tables[own.Rel].Link
	if link == nil || link.To.String() != c.tables[to.Rel].String() {
		return false
	}

	// What the LEFT JOIN of a third source asks for does not keep any row of these two apart.
	conditions := slices.Concat(parser.Conjuncts(c.cut.Where), parser.Conjuncts(own.On), parser.Conjuncts(to.On))
	for _, k := range link.Keys {
		said := slices.ContainsFunc(conditions, func(e parser.Expr) bool {
			b, ok := e.(parser.Binary)
			l, left := b.L.(parser.Column)
			r, right := b.R.(parser.Column)
			if !ok || !left || !right || b.Op != "=" {
				return false
			}
			is := func(c parser.Column, rel int, name string) bool { return c.Rel == rel && c.Name == name }
			return is(l, own.Rel, k.Own) && is(r, to.Rel, k.To) || is(r, own.Rel, k.Own) && is(l, to.Rel, k.To)
		})
		if !said {
			return false
		}
	}
	return true
}
