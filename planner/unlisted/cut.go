// Package unlisted plans what is asked of twins whose rows are not listed: the policy lets them be aggregated, in
// groups of at least so many rows of the sample. It composes the statement in which the reader does so. It makes no
// twin, and no noise: what the statement returns is what the client sees.
package unlisted

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/parser"
	"fugu/planner/protected"
	"fugu/planner/row"
	"fugu/sqlstate"
)

// Cut is a cut of twins whose rows are not listed. The reader aggregates the twins' rows as PostgreSQL does, leaves
// out groups of fewer rows of the sample than the policy says, and what is left takes the place of the cut as arrays.
//
// The guest has no right on such a twin, and only what parser.Expr can say is evaluated on its rows, in the form in
// which no row can make it fail. So there is no way for rows to be seen but in the columns of this relation.
type Cut struct {
	Params     []int    // the client's parameter numbers that stand below the cut
	ParamTypes []uint32 // and their types
	Label      string   // as people read it: count(*), avg(age) of public.adult by sex

	nested  bool // it does not stand by itself: what is above it may aggregate its groups
	cut     *parser.Cut
	columns []parser.RelationColumn  // above the cut: keys, groupings, aggregates
	tables  map[int]*protected.Table // by Rel
	counted [][]product              // by aggregate: whose rows are counted beside those of the argument
	typing  *row.Typing
	types   []uint32 // of each argument of each aggregate, in order
	number  map[int]int
}

// New lays out a cut and asks PostgreSQL for its types. given are the types that the client gave for parameters.
func New(
	ctx context.Context, c *parser.Cut, tables protected.Tables, db protected.Database, given []uint32,
) (*Cut, error) {
	out := &Cut{nested: c.Nested, cut: parser.Ordered(c), tables: map[int]*protected.Table{}, number: map[int]int{}}
	c = out.cut
	for _, s := range c.Sources {
		t, ok := tables.Protected(s.Table.Schema, s.Table.Name)
		if !s.Table.Aggregates || !ok || t.AtLeast == 0 {
			return nil, sqlstate.New(sqlstate.NotAnswerable,
				"%s cannot be read in the same SELECT as rows of a twin that are not listed", s.Table).
				WithHint("Aggregate the twin in a subquery of its own, and join the result.").At(s.Position)
		}
		out.tables[s.Rel] = t
	}
	if err := out.chained(); err != nil {
		return nil, err
	}
	roots, err := out.roots()
	if err != nil {
		return nil, err
	}
	out.typing, err = row.Resolve(ctx, db, out.beside(), roots, func(n int) uint32 { return given[n-1] })
	if err != nil {
		return nil, sqlstate.Place(err, out.cut.Position)
	}
	out.Params, out.ParamTypes = out.typing.Params, out.typing.ParamTypes
	for i, n := range out.Params {
		out.number[n] = i + 1
	}
	if err := out.layOut(ctx, db); err != nil {
		return nil, err
	}

	// What would be refused whatever the parameters are is refused before they are there.
	_, err = out.Bind(ctx, db, make([][]byte, len(out.Params)))
	return out, err
}

// roots lists the expressions below the cut: keys, arguments, conditions of LEFT JOIN, WHERE, factors that are counted.
func (c *Cut) roots() (roots []row.Root, err error) {
	for _, k := range c.cut.Keys {
		roots = append(roots, row.Root{Expr: k.Expr})
	}

	// The cut's own arguments are without the ELSE that only says which rows count.
	expand := newExpansion(c.tables)
	c.cut.Aggregates = slices.Clone(c.cut.Aggregates)
	for i := range c.cut.Aggregates {
		a := &c.cut.Aggregates[i]
		args, counted, err := expand.contributions(*a)
		if err != nil {
			return nil, err
		}
		a.Args, c.counted = args, append(c.counted, counted)
		for k, arg := range a.Args {
			value := a.Fraction != "" || a.Distinct && a.Func == "count"
			roots = append(roots, row.Root{Aggregate: a.Func, Expr: arg, Further: k > 0, Value: value,
				Position: a.Position})
		}
	}

	for _, s := range c.cut.Sources {
		if s.On != nil {
			roots = append(roots, row.Root{Condition: true, Expr: s.On})
		}
	}
	if c.cut.Where != nil {
		roots = append(roots, row.Root{Condition: true, Expr: c.cut.Where})
	}
	for _, p := range slices.Concat(c.counted...) {
		for _, f := range p.factors {
			roots = append(roots, row.Root{Expr: f})
		}
	}
	for _, r := range roots {
		if err := noSubquery(r.Expr); err != nil {
			return nil, err
		}
	}
	return roots, nil
}

// noSubquery refuses an expression that asks other tables about a row.
func noSubquery(e parser.Expr) (err error) {
	parser.Walk(e, func(e parser.Expr) {
		if s, ok := e.(parser.Semi); ok && err == nil {
			err = sqlstate.New(sqlstate.NotAnswerable,
				"%s cannot be asked about rows of a twin that are not listed", s.Sources[0].Table).
				WithHint("Group the twin by the column, and compare above: SELECT ... FROM " +
					"(SELECT x, count(*) ... GROUP BY x) t WHERE x IN (...).").
				At(s.Sources[0].Position)
		}
	})
	return err
}

// layOut names the columns above the cut, with their types.
func (c *Cut) layOut(ctx context.Context, q protected.Querier) error {
	oids := map[int]uint32{} // by column: of those whose types have no name yet
	for i, k := range c.cut.Keys {
		column := parser.RelationColumn{Name: k.Name}
		if col, ok := k.Expr.(parser.Column); ok {
			var err error
			if column.Type, err = c.tables[col.Rel].ColumnType(col.Name); err != nil {
				return err
			}
		} else {
			oids[len(c.columns)] = c.typing.Results[i]
		}
		c.columns = append(c.columns, column)
	}
	for _, g := range c.cut.Groupings {
		c.columns = append(c.columns, parser.RelationColumn{Name: g.Name, Type: "pg_catalog.int4"})
	}

	// Types and results come in the order of roots: keys, then the arguments of each aggregate.
	next := len(c.cut.Keys)
	var labels []string
	for _, a := range c.cut.Aggregates {
		result := uint32(pgtype.Int8OID) // of count(*)
		if len(a.Args) > 0 {
			var err error
			if result, err = resultOf(a, c.typing.Results[next], c.typing.Types[next]); err != nil {
				return err
			}
		}
		c.types = append(c.types, c.typing.Types[next:next+len(a.Args)]...)
		next += len(a.Args)
		oids[len(c.columns)] = result
		c.columns = append(c.columns, parser.RelationColumn{Name: a.Name})
		labels = append(labels, a.Source)
	}
	c.describe(labels)
	return c.nameTypes(ctx, q, oids)
}

// describe writes the cut for people.
func (c *Cut) describe(aggregates []string) {
	var keys []string
	for _, k := range c.cut.Keys {
		keys = append(keys, k.Source)
	}
	c.Label = strings.Join(aggregates, ", ")
	if c.Label == "" {
		c.Label = "groups"
	}
	c.Label += " of " + c.cut.Sources[0].Table.String()
	if len(keys) > 0 {
		c.Label += " by " + strings.Join(keys, ", ")
	}
}

// nameTypes writes the types of columns as SQL.
func (c *Cut) nameTypes(ctx context.Context, q protected.Querier, oids map[int]uint32) error {
	var list []string
	for i := range c.columns {
		if oid, ok := oids[i]; ok {
			list = append(list, fmt.Sprintf("(%d, %d)", i, oid))
		}
	}
	if len(list) == 0 {
		return nil
	}

	rows, err := q.Query(ctx, "SELECT v.i, n.nspname, t.typname FROM (VALUES "+strings.Join(list, ", ")+
		") AS v(i, oid) JOIN pg_catalog.pg_type AS t ON t.oid = v.oid "+
		"JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace ORDER BY v.i", nil, nil)
	if err != nil {
		return err
	}
	if len(rows) != len(list) {
		return fmt.Errorf("naming the types of a cut: %d of %d", len(rows), len(list))
	}

	// The rows are ordered by the columns that they are about.
	for i := range c.columns {
		if _, ok := oids[i]; ok {
			c.columns[i].Type = parser.QuoteIdent(rows[0][1].Text) + "." + parser.QuoteIdent(rows[0][2].Text)
			rows = rows[1:]
		}
	}
	return nil
}

// Relation is the cut's place above it, from a parameter on.
func (c *Cut) Relation(first int) parser.Relation {
	return parser.Relation{First: first, Columns: c.columns}
}

// Width is the number of the relation's columns.
func (c *Cut) Width() int { return len(c.columns) }

// Position is where the cut stands in the client's text.
func (c *Cut) Position() int { return c.cut.Position }

// Uses lists the functions, operators and types that stand below the cut.
func (c *Cut) Uses() []row.Use { return c.typing.Uses() }

// Bind puts the values of the parameters, in text form, into the cut, and gives the statement that the reader runs.
func (c *Cut) Bind(ctx context.Context, db row.Evaluator, values [][]byte) (string, error) {
	params := make([]protected.Value, len(values))
	for i, v := range values {
		params[i] = protected.Value{Text: string(v), Null: v == nil}
	}
	total, _, err := c.typing.Bind(ctx, db, params)
	if err != nil {
		return "", sqlstate.Place(err, c.cut.Position)
	}

	// They come back in the order of roots.
	next := func() parser.Expr {
		e := total[0]
		total = total[1:]
		return e
	}
	b := bound{Cut: c, on: map[int]parser.Expr{}}

	for range c.cut.Keys {
		b.keys = append(b.keys, next())
	}
	for _, a := range c.cut.Aggregates {
		var args []parser.Expr
		for range a.Args {
			args = append(args, next())
		}
		b.args = append(b.args, args)
	}
	for _, s := range c.cut.Sources {
		if s.On != nil {
			b.on[s.Rel] = next()
		}
	}
	if c.cut.Where != nil {
		b.where = next()
	}
	b.there = c.there(total)
	return b.sql(), nil
}
