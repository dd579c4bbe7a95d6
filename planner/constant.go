package planner

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/parser"
)

// Constant returns what an aggregate is in a cell whatever rows the protected tables have, by the policy and the
// statement alone: the number of rows of a whole table, and what decide finds. ok reports whether there is such a
// value.
func (b *Bound) Constant(cell, aggregate int) (v Value, ok bool) {
	if b.Whole(cell, aggregate) {
		return Value{Text: strconv.FormatInt(b.Table.Rows, 10)}, true
	}
	v, ok = b.decided[[2]int{cell, aggregate}]
	return v, ok
}

// decide finds the values that a cell's keys decide: those of aggregates to which no row of the cell adds anything, as
// the key makes the condition of CASE or FILTER false. WHERE would have left such a cell out.
//
// Every row of a cell has the cell's value in a column that its grouping set groups by as it is, also where that value
// is none that the policy declares of the others. So what an argument is there follows from that value as far as it
// reads such columns alone; PostgreSQL evaluates it, and no row has a part in that. If it is NULL, a count is 0 and
// everything else NULL, as over no rows; if it is NULL or 0, a sum and an average are 0.
func (b *Bound) decide(ctx context.Context, q Querier) (map[[2]int]Value, error) {
	out := map[[2]int]Value{}
	for s, set := range b.sets() {
		c := cases{b: b}
		for _, k := range set {
			if col, ok := b.forms.keys[k].(parser.Column); ok && b.told(col) {
				c.columns, c.keys = append(c.columns, parser.Column{Name: col.Name, Rel: col.Rel}), append(c.keys, k)
			}
		}
		of, tests := c.aggregates()
		if len(tests) == 0 {
			continue
		}

		// Each row of the answer is a cell, with two booleans for each aggregate.
		cells := b.inSet(s)
		rows, err := c.evaluate(ctx, q, cells, tests)
		if err != nil {
			return nil, fmt.Errorf("finding which groups a condition leaves out: %w", err)
		}
		for i, cell := range cells {
			for j, a := range of {
				there, counts := rows[i][2*j].Text == "t", rows[i][2*j+1].Text == "t"
				if v, ok := b.Aggregates[a].decided(there, counts); ok {
					out[[2]int{cell, a}] = v
				}
			}
		}
	}
	return out, nil
}

// decided is the aggregate's value over rows in which its argument may be there, or may count, that is be another
// number than 0.
func (a Aggregate) decided(there, counts bool) (v Value, ok bool) {
	switch {
	case !there && (a.Name == "count" || a.Name == "regr_count"):
		return Value{Text: "0"}, true
	case !there:
		return Value{Null: true}, true
	case !counts && (a.Name == "sum" || a.Name == "avg"):
		return Value{Text: "0"}, true
	}
	return Value{}, false
}

// cases asks what values arguments can have, if only the values of columns that are keys are known.
type cases struct {
	b       *Bound
	columns []parser.Column
	keys    []int // their places among the keys
}

// aggregates lists those of which the keys may decide something, each with two tests: whether all of its arguments may
// be there, and whether its argument may count.
func (c *cases) aggregates() (of []int, tests []string) {
	if len(c.keys) == 0 {
		return nil, nil
	}
	for i, a := range c.b.Aggregates {
		args := c.b.forms.args[i]
		if a.Sampled != nil || !slices.ContainsFunc(args, c.reads) {
			continue
		}
		var there []string
		for _, arg := range args {
			there = append(there, c.may(arg, isThere))
		}
		counts := c.may(args[0], isCounted)
		if all := and(there); all != yes || counts != yes {
			of, tests = append(of, i), append(tests, all, counts)
		}
	}
	return of, tests
}

// What may be asked of a value, as a condition of it.
func isThere(x string) string { return "(" + x + ") IS NOT NULL" }

func isCounted(x string) string {
	// By its text, as the type is not known: what is a zero in other words counts.
	return "COALESCE((" + x + ")::pg_catalog.text, '0') <> '0'"
}

const yes, no = "true", "false"

// may writes a condition over the known columns that holds wherever the value of e may be such as test says, whatever
// the other columns are.
func (c *cases) may(e parser.Expr, test func(string) string) string {
	if c.known(e) {
		return test(c.b.sql(e))
	}
	switch e := e.(type) {
	case parser.Cast: // of NULL it is NULL, and of 0 it is 0
		return c.may(e.X, test)
	case parser.Case:
		if e.Operand != nil {
			return yes
		}

		// From the last arm to the first: what may be the value if no earlier arm is it.
		rest := no
		if e.Else != nil {
			rest = c.may(e.Else, test)
		}
		for _, w := range slices.Backward(e.Whens) {
			result := c.may(w.Result, test)
			switch {
			case result == rest:
			case c.known(w.Cond): // whether it is this arm is certain
				rest = "CASE WHEN " + c.b.sql(w.Cond) + " THEN " + result + " ELSE " + rest + " END"
			default:
				rest = or(and([]string{c.holds(w.Cond), result}), rest)
			}
		}
		return rest
	}
	return yes
}

// holds writes a condition that is true wherever e may be: what is known of the conditions that e is made of.
func (c *cases) holds(e parser.Expr) string {
	var parts []string
	for _, x := range parser.Conjuncts(e) {
		if c.known(x) {
			parts = append(parts, "("+c.b.sql(x)+") IS TRUE")
		}
	}
	return and(parts)
}

// reads reports whether an expression reads a known column.
func (c *cases) reads(e parser.Expr) bool {
	return slices.ContainsFunc(columns(e), func(x parser.Column) bool { return slices.Contains(c.columns, x) })
}

// known reports whether an expression reads known columns alone, or none.
func (c *cases) known(e parser.Expr) bool {
	return !slices.ContainsFunc(columns(e), func(x parser.Column) bool { return !slices.Contains(c.columns, x) })
}

// and joins conditions that are true or false.
func and(parts []string) string {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == yes })
	switch {
	case slices.Contains(parts, no):
		return no
	case len(parts) == 0:
		return yes
	}
	return "(" + strings.Join(parts, " AND ") + ")"
}

func or(a, b string) string {
	switch {
	case a == yes || b == yes:
		return yes
	case a == no:
		return b
	case b == no:
		return a
	}
	return "(" + a + " OR " + b + ")"
}

// evaluate has PostgreSQL evaluate the tests for the keys of each cell.
func (c *cases) evaluate(ctx context.Context, q Querier, cells []int, tests []string) ([][]Value, error) {
	var arrays []string
	var params [][]byte
	var types []uint32
	columns := map[int][]string{} // by Rel: the known ones, in their types
	var rels []int                // in the order in which they come
	for i, k := range c.keys {
		col := c.columns[i]
		typ, err := c.b.sources.tables[col.Rel].ColumnType(col.Name)
		if err != nil {
			return nil, err
		}
		values := make([]Value, len(cells))
		for j, cell := range cells {
			values[j] = c.b.Cells[cell].Keys[k]
		}
		n := strconv.Itoa(i + 1)
		arrays = append(arrays, "pg_catalog.unnest($"+n+"::pg_catalog.text[])")
		params, types = append(params, Array(values)), append(types, pgtype.TextArrayOID)
		if columns[col.Rel] == nil {
			rels = append(rels, col.Rel)
		}
		columns[col.Rel] = append(columns[col.Rel], "CAST(cells.k"+n+" AS "+typ+") AS "+parser.QuoteIdent(col.Name))
	}

	// The values take the places of the tables' columns, under the aliases of these.
	names := make([]string, len(c.keys))
	for i := range names {
		names[i] = "k" + strconv.Itoa(i+1)
	}
	from := "ROWS FROM (" + strings.Join(arrays, ", ") + ") WITH ORDINALITY"
	from += " AS cells(" + strings.Join(names, ", ") + ", n)"
	for _, rel := range rels {
		from += " CROSS JOIN LATERAL (SELECT " + strings.Join(columns[rel], ", ") + ") AS " + parser.Alias("t", rel)
	}

	texts := make([]string, len(tests))
	for i, t := range tests {
		texts[i] = "CASE WHEN " + t + " THEN 't' ELSE 'f' END"
	}
	return q.Query(ctx, parser.SelectSQL(texts, from, "", nil)+" ORDER BY cells.n", params, types)
}
