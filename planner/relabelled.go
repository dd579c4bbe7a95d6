package planner

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"fugu/parser"
)

// relabelled finds the keys that are one protected column with declared values in other words: each of these values has
// a value of the key to itself, and none has NULL. It returns the columns by key. No protected row has a part in it,
// nor has the reference.
//
// Such a key's groups are the column's, but for rows whose value is not declared: the column leaves them out, and an
// expression may put them into a group. Whether there can be such rows is for Undeclared to say.
func (b *Bound) relabelled(ctx context.Context, q Querier) (map[int]parser.Column, error) {
	out := map[int]parser.Column{}
	for i, e := range b.forms.keys {
		if _, plain := e.(parser.Column); plain {
			continue
		}
		c, ok := b.only(e)
		if !ok {
			continue
		}
		from, ok, err := b.preimage(e, b.Keys[i])
		if err != nil || !ok {
			continue // the key is refused, or has values of another kind
		}

		// It is one to one if it has as many values, NULL not counted, as the column has.
		value := "CAST(" + b.sql(e) + " AS " + b.Keys[i].Type + ")"
		declared := len(b.sources.tables[c.Rel].Domains[c.Name])
		apart := "pg_catalog.count(DISTINCT " + value + ") = " + strconv.Itoa(declared)
		rows, err := q.Query(ctx, parser.SelectSQL([]string{apart}, from, "", nil), nil, nil)
		if err != nil {
			return nil, fmt.Errorf("finding whether %s is one to one: %w", b.Keys[i].Label, err)
		}
		if len(rows) == 1 && rows[0][0].Text == "t" {
			out[i] = c
		}
	}
	return out, nil
}

// only is the protected column with declared values that an expression is all over, none of them NULL.
func (b *Bound) only(e parser.Expr) (c parser.Column, ok bool) {
	all := slices.Compact(columns(e))
	if len(all) != 1 || b.sources.tables[all[0].Rel] == nil || b.sources.source(all[0].Rel).Left {
		return c, false
	}
	// In a collation of its own, values that nobody declared may equal some that are.
	domain, ok := b.declared(all[0])
	ok = ok && !b.collated(all[0])
	return all[0], ok && !slices.ContainsFunc(domain, func(v Value) bool { return v.Null })
}

// Undeclared reports whether the reference has rows in which a column of a choice's Relabelled has no declared value.
func (b *Bound) Undeclared(ctx context.Context, ref Querier, choice Choice) (bool, error) {
	for _, c := range choice.Relabelled {
		t := b.sources.tables[c.Rel]
		typ, err := t.ColumnType(c.Name)
		if err != nil {
			return false, err
		}

		// NULL is no declared value: a comparison that is not known is not true.
		declared := "SELECT CAST(v AS " + typ + ") FROM pg_catalog.unnest(" +
			parser.QuoteLiteral(string(Array(t.Domains[c.Name]))) + "::pg_catalog.text[]) AS u(v)"
		where := "(" + parser.SQL(c, "t", nil) + " IN (" + declared + ")) IS NOT TRUE"
		some, err := b.hasRow(ctx, ref, c.Rel, where)
		if err != nil {
			return false, fmt.Errorf("looking for values of %s that are not declared: %w", c.Name, err)
		}
		if some {
			return true, nil
		}
	}
	return false, nil
}

// hasRow reports whether the reference of a protected source has a row that meets a condition. A row is enough to know,
// and of its values nothing is asked. The reference is as it was when the policy was loaded: it is asked once.
func (b *Bound) hasRow(ctx context.Context, ref Querier, rel int, where string) (bool, error) {
	from := b.sources.tables[rel].Reference + " AS " + parser.Alias("t", rel)
	one := parser.SelectSQL([]string{"1"}, from, where, nil) + " LIMIT 1"
	sql := "SELECT pg_catalog.count(*) FROM (" + one + ") AS q"

	none, known := b.Table.Kept.Declared.Load(sql)
	if !known {
		rows, err := ref.Query(ctx, sql, nil, nil)
		if err != nil {
			return false, err
		}
		none = len(rows) == 1 && rows[0][0].Text == "0"
		b.Table.Kept.Declared.Store(sql, none, 1, maxAlone)
	}
	return !none, nil
}
