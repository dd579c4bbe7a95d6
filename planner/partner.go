package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/parser"
)

// partners finds the sources of which each row of the root has one row at most: the root itself, and each ordinary table
// that is joined on what no two of its rows have in common, such as a dimension table on its key. Where all sources are
// such, the rows that the cut reads are the root's, each once at most, and are summed as they are. Where at least the keys
// speak of no others, a row of the root is in one cell at most.
//
// That no two rows have it in common is asked of the rows themselves, in the snapshot in which the statement reads them
// afterwards. A unique index that is there when the statement is prepared may be gone when it runs, and one of a parent
// says nothing of its children's rows; and where there is none, the rows may be unique all the same.
func (b *Bound) partners(ctx context.Context, q Querier) error {
	b.partnered = map[int]bool{b.sources.root: true}

	// A source that is found may be what another one is joined on.
	for again := true; again; {
		again = false
		for i := range b.sources.list {
			src := &b.sources.list[i]
			if b.partnered[src.Rel] || !src.Table.Ordinary {
				continue
			}
			found, err := b.unique(ctx, q, src)
			if err != nil {
				return err
			}
			again, b.partnered[src.Rel] = again || found, found
		}
	}

	b.once = !slices.ContainsFunc(b.sources.list, func(s parser.Source) bool { return !b.partnered[s.Rel] })
	b.apart = !slices.ContainsFunc(b.forms.keys, func(k parser.Expr) bool { return !b.settled(k) })
	return nil
}

// settled reports whether an expression has one value for each row of the root: it speaks of sources alone of which there
// is one row at most.
func (b *Bound) settled(e parser.Expr) bool {
	return !slices.ContainsFunc(columns(e), func(c parser.Column) bool { return !b.partnered[c.Rel] })
}

// unique reports whether at most one row of an ordinary table can stand beside a row of the root: no two of those that the
// conditions on the table alone let through have the same values of all that is equated with what is settled. Without
// such an equality that is a table of one row.
func (b *Bound) unique(ctx context.Context, q Querier, src *parser.Source) (bool, error) {
	var values []string
	where := b.ownConditions(src)
	for _, c := range b.joinedBy(src) {
		equal, ok := c.(parser.Binary)
		if !ok || equal.Op != "=" {
			continue
		}
		for _, side := range [][2]parser.Expr{{equal.L, equal.R}, {equal.R, equal.L}} {
			own := columns(side[0])
			if len(own) > 0 && ofOnly(own, src.Rel) && b.settled(side[1]) {
				v := b.sql(side[0])
				values, where = append(values, v), append(where, v+" IS NOT NULL") // NULL equals nothing
			}
		}
	}

	name := parser.QuoteIdent(src.Table.Schema) + "." + parser.QuoteIdent(src.Table.Name)
	alike := selectSQL(nil, name+" AS "+parser.Alias("t", src.Rel), strings.Join(where, " AND "), values)
	rows, err := q.Query(ctx, "SELECT EXISTS ("+alike+" HAVING pg_catalog.count(*) > 1)", nil, nil)
	if err != nil {
		return false, fmt.Errorf("looking for rows of %s that are joined alike: %w", src.Table, err)
	}
	return len(rows) == 1 && rows[0][0].Text == "f", nil
}

// joinedBy are the conditions that all hold where a row of a source stands in what the cut reads. An outer join's own are
// among them: what stands there where no row fits them is none of the source's.
func (b *Bound) joinedBy(src *parser.Source) []parser.Expr {
	out := b.conjuncts()
	if on := b.forms.on[src.Rel]; on != nil {
		out = append(out, conjuncts(on)...)
	}
	return out
}

// ownConditions are those of them that speak of the source alone.
func (b *Bound) ownConditions(src *parser.Source) []string {
	var out []string
	for _, c := range b.joinedBy(src) {
		if of := columns(c); len(of) > 0 && ofOnly(of, src.Rel) {
			out = append(out, b.sql(c))
		}
	}
	return out
}

// ofOnly reports whether all columns are of one source.
func ofOnly(of []parser.Column, rel int) bool {
	return !slices.ContainsFunc(of, func(c parser.Column) bool { return c.Rel != rel })
}

// Joined reports whether a row of the root can stand in several rows of what the cut reads.
func (b *Bound) Joined() bool { return !b.once }

// Apart reports whether a row of the root is in one cell of each grouping set at most.
func (b *Bound) Apart() bool { return b.apart }
