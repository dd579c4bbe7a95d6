package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/parser"
)

// findPartners finds the sources that have at most one row beside each row of the root: the root itself, and each
// ordinary table that is joined on what no two of its rows have in common, such as a dimension table on its key. If all
// sources are partners, the cut reads each row of the root at most once, and rows are summed as they are. If at least
// the keys read no other sources, a row of the root is in one cell at most.
//
// Whether two rows have it in common is looked up in the rows themselves, in the snapshot in which the statement reads
// them afterwards. A unique index that is there when the statement is prepared may be gone when it runs, and one of a
// parent says nothing about its children's rows; and where there is none, the rows may be unique all the same.
func (b *Bound) findPartners(ctx context.Context, q Querier) error {
	var err error
	if b.partnered, err = b.partnersOf(ctx, q, b.sources.root); err != nil {
		return err
	}
	b.beside = b.partnered
	if len(b.sources.protected) > 1 {
		if b.beside, err = b.partnersOf(ctx, q, b.sources.protected...); err != nil {
			return err
		}
	}
	b.once = !slices.ContainsFunc(b.sources.list, func(s parser.Source) bool { return !b.partnered[s.Rel] })
	b.apart = !slices.ContainsFunc(b.forms.keys, func(k parser.Expr) bool { return !settled(k, b.partnered) })
	return nil
}

// partnersOf finds the sources of which one row at most stands beside each combination of rows of some sources, and
// these.
func (b *Bound) partnersOf(ctx context.Context, q Querier, some ...int) (map[int]bool, error) {
	out := map[int]bool{}
	for _, rel := range some {
		out[rel] = true
	}

	// A source that is found may be what another one is joined on.
	for again := true; again; {
		again = false
		for i := range b.sources.list {
			src := &b.sources.list[i]
			if out[src.Rel] || !src.Table.Ordinary {
				continue
			}
			found, err := b.unique(ctx, q, src, out)
			if err != nil {
				return nil, err
			}
			again, out[src.Rel] = again || found, found
		}
	}
	return out, nil
}

// unique reports whether at most one row of an ordinary table can stand beside rows of some sources: no two of those
// that the conditions on the table alone let through have the same values of all that is equated with what these say.
// Without such an equality that is a table of one row.
func (b *Bound) unique(ctx context.Context, q Querier, src *parser.Source, some map[int]bool) (bool, error) {
	// What the conditions equate with columns of the other sources is what rows of the table may be told apart by.
	var values []string
	where := b.ownConditions(src)
	for _, c := range b.joinedBy(src) {
		equal, ok := c.(parser.Binary)
		if !ok || equal.Op != "=" {
			continue
		}
		for _, side := range [][2]parser.Expr{{equal.L, equal.R}, {equal.R, equal.L}} {
			own := columns(side[0])
			if len(own) > 0 && ofOnly(own, src.Rel) && settled(side[1], some) {
				v := b.sql(side[0])
				values, where = append(values, v), append(where, v+" IS NOT NULL") // NULL equals nothing
			}
		}
	}

	// Two rows that are alike in all of it would both stand beside one row of the sources.
	name := parser.QuoteIdent(src.Table.Schema) + "." + parser.QuoteIdent(src.Table.Name)
	alike := parser.SelectSQL(nil, name+" AS "+parser.Alias("t", src.Rel), strings.Join(where, " AND "), values)
	rows, err := q.Query(ctx, "SELECT EXISTS ("+alike+" HAVING pg_catalog.count(*) > 1)", nil, nil)
	if err != nil {
		return false, fmt.Errorf("looking for rows of %s that are joined alike: %w", src.Table, err)
	}
	return len(rows) == 1 && rows[0][0].Text == "f", nil
}
