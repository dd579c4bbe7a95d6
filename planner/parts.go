package planner

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fugu/parser"
)

// part is a set of keys that depend on each other, and the combinations of values that they can have.
type part struct {
	keys []int
	rows [][]Value
}

// parts divides the keys: those that read the same column, the same ordinary table, or one that an outer join leaves
// out whole, have only the combinations that a value of the column, or a row of the table, gives them.
func (b *Bound) parts(ctx context.Context, q Querier) ([]part, error) {
	var out []part

	// A key joins all parts that it depends on into one.
	for i := range b.Keys {
		p := part{keys: []int{i}}
		out = slices.DeleteFunc(out, func(o part) bool {
			if !b.dependent(o.keys, p.keys) {
				return false
			}
			p.keys = append(slices.Clone(o.keys), p.keys...)
			return true
		})
		out = append(out, p)
	}

	for n := range out {
		p := &out[n]
		slices.Sort(p.keys)
		if len(p.keys) == 1 {
			domain, err := b.domain(ctx, q, p.keys[0])
			if err != nil {
				return nil, err
			}
			for _, v := range domain {
				p.rows = append(p.rows, []Value{v})
			}
			continue
		}

		sql, err := b.jointSQL(p.keys)
		if err != nil {
			return nil, err
		}
		if p.rows, err = q.Query(ctx, sql, nil, nil); err != nil {
			return nil, fmt.Errorf("finding the values of %s and others: %w", b.Keys[p.keys[0]].Label, err)
		}
	}
	slices.SortFunc(out, func(x, y part) int { return x.keys[0] - y.keys[0] })
	return out, nil
}

// domain lists the values that a key can have.
func (b *Bound) domain(ctx context.Context, q Querier, i int) ([]Value, error) {
	if d, ok := b.declared(b.forms.keys[i]); ok && len(b.filters(b.forms.keys[i])) == 0 {
		return d, nil
	}

	// The statement has to be asked: conditions leave out some values, or the key is an expression.
	sql, err := b.domainSQL(i)
	if err != nil {
		return nil, err
	}
	rows, err := q.Query(ctx, sql, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("finding the values of %s: %w", b.Keys[i].Label, err)
	}
	if len(rows) > maxCells {
		return nil, b.tooMany(b.Keys[i].position)
	}
	out := make([]Value, len(rows))
	for j, r := range rows {
		out[j] = r[0]
	}
	return out, nil
}

// dependent reports whether keys can be listed together with others, and have something in common with them.
func (b *Bound) dependent(keys, others []int) bool {
	all := b.together(slices.Concat(keys, others))
	if _, ok, err := b.preimage(all, b.Keys[keys[0]]); !ok || err != nil {
		return false
	}
	other := columns(b.together(others))
	return slices.ContainsFunc(columns(b.together(keys)), func(x parser.Column) bool {
		return slices.ContainsFunc(other, func(y parser.Column) bool {
			whole := b.sources.tables[x.Rel] == nil || b.sources.source(x.Rel).Left // its row decides them all
			return x.Rel == y.Rel && (x.Name == y.Name || whole)
		})
	})
}

// together is an expression of all columns of some keys.
func (b *Bound) together(keys []int) parser.Expr {
	var all []parser.Expr
	for _, k := range keys {
		all = append(all, b.forms.keys[k])
	}
	return parser.Logic{Op: "AND", Args: all}
}

// jointSQL composes a statement whose rows are all the combinations of values that dependent keys can have, in order.
func (b *Bound) jointSQL(keys []int) (string, error) {
	all := b.together(keys)
	from, _, err := b.preimage(all, b.Keys[keys[0]])
	if err != nil {
		return "", err
	}

	var values, texts, order []string
	for i, k := range keys {
		v := "v" + strconv.Itoa(i)
		values = append(values, b.valueOf(b.forms.keys[k], b.Keys[k])+" AS "+v)
		texts, order = append(texts, v+"::pg_catalog.text"), append(order, v)
	}
	inner := "SELECT DISTINCT " + strings.Join(values, ", ") + " FROM " + from

	// Sorted by the values and not by their texts: 9 stands before 10.
	if f := b.filters(all); len(f) > 0 {
		inner += " WHERE " + forms{where: f}.whereSQL(b.number)
	}
	return "SELECT " + strings.Join(texts, ", ") + " FROM (" + inner + ") AS d" +
		" ORDER BY " + strings.Join(order, ", "), nil
}

// of gives the combinations of those keys of the part that are in set, and these keys.
func (p part) of(set []int) (keys []int, rows [][]Value) {
	var at []int
	for i, k := range p.keys {
		if slices.Contains(set, k) {
			keys, at = append(keys, k), append(at, i)
		}
	}
	if len(at) == len(p.keys) || len(at) == 0 {
		return keys, p.rows
	}

	// Without some of the keys, combinations may be equal.
	seen := map[string]bool{}
	for _, r := range p.rows {
		var some []Value
		for _, i := range at {
			some = append(some, r[i])
		}
		if key := indexKey(some); !seen[key] {
			seen[key] = true
			rows = append(rows, some)
		}
	}
	return keys, rows
}
