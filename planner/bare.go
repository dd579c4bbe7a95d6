package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/planner/row"
	"fugu/sqlstate"
)

// roots lists the expressions below the cut, in the order of all.
func (f forms) roots(c *Cut) []row.Root {
	var out []row.Root
	for _, k := range f.keys {
		out = append(out, row.Root{Expr: k})
	}
	for i, args := range f.args {
		for k, arg := range args {
			root := c.Aggregates[i].Sampled.root(c.cut.Aggregates[i], arg)
			root.Further = k > 0
			out = append(out, root)
		}
	}
	for _, s := range c.sources.list {
		if s.On != nil {
			out = append(out, row.Root{Condition: true, Expr: s.On})
		}
	}
	if len(f.where) > 0 {
		out = append(out, row.Root{Condition: true, Expr: parser.Logic{Op: "AND", Args: f.where}})
	}
	return out
}

// bare is the cut without parameters: every expression in the one form that equal questions share, and in which no row
// can make it fail; equal aggregates are one.
func (c *Cut) bare(ctx context.Context, q Querier, values [][]byte) (*Bound, error) {
	params := make([]Value, len(values))
	for i, v := range values {
		params[i] = Value{Text: string(v), Null: v == nil}
	}
	total, cost, err := c.typing.Bind(ctx, q, params)
	if err != nil {
		return nil, c.somewhere(err)
	}
	next := func() parser.Expr {
		e := total[0]
		total = total[1:]
		return e
	}
	cut, below := *c, *c.cut
	cut.Params, cut.ParamTypes, cut.number, cut.typing, cut.cut = nil, nil, nil, nil, &below
	b := &Bound{Cut: &cut, Cost: cost, forms: forms{on: map[int]parser.Expr{}}, given: map[int]string{}}
	for i, n := range c.Params {
		b.given[n] = params[i].Text
	}
	for range c.Keys {
		b.forms.keys = append(b.forms.keys, next())
	}
	b.aggregates(c, func(i int) []parser.Expr {
		var args []parser.Expr
		for range c.cut.Aggregates[i].Args {
			if e := next(); e != nil { // every row counts
				args = append(args, e)
			}
		}
		return args
	})
	for _, s := range c.sources.list {
		if s.On != nil {
			b.forms.on[s.Rel] = next()
		}
	}
	if len(c.sources.where) > 0 {
		if e := next(); e != nil {
			b.forms.where = []parser.Expr{e}
		}
	}
	if len(total) > 0 {
		return nil, fmt.Errorf("binding a cut: %d expressions too many", len(total))
	}
	return b, nil
}

// somewhere points at the cut where an error of the client's knows no place.
func (c *Cut) somewhere(err error) error {
	if e := sqlstate.As(err); e.Code != sqlstate.InternalError && e.Position == 0 {
		return e.At(c.cut.Position)
	}
	return err
}

// aggregates takes over c's aggregates with the arguments that args gives in their order.
func (b *Bound) aggregates(c *Cut, args func(i int) []parser.Expr) {
	type one struct {
		text    string // equal for equal ones; a sum of another type is another one
		args    []parser.Expr
		planned []int
	}
	var list []one
	for i, a := range c.Aggregates {
		given := args(i)
		text := a.Name + " " + a.Type + " " + a.Sampled.key()
		for _, e := range given {
			text += parser.SQL(e, "t", nil) + " "
		}
		k := slices.IndexFunc(list, func(o one) bool { return o.text == text })
		if k < 0 {
			k = len(list)
			list = append(list, one{text: text, args: given})
		}
		list[k].planned = append(list[k].planned, i)
	}
	slices.SortFunc(list, func(x, y one) int { return strings.Compare(x.text, y.text) })
	b.Columns = make([]int, len(c.Aggregates))
	b.cut.Aggregates, b.Cut.Aggregates = nil, nil
	for k, o := range list {
		b.forms.args = append(b.forms.args, o.args)
		b.Cut.Aggregates = append(b.Cut.Aggregates, c.Aggregates[o.planned[0]])
		b.cut.Aggregates = append(b.cut.Aggregates, c.cut.Aggregates[o.planned[0]])
		for _, i := range o.planned {
			b.Columns[i] = k
		}
	}
}

// ordered is c with its keys, and its grouping sets, in an order of their own: what GROUP BY names first does not matter.
// Of the statement's tree, which plans outlive, there is nothing in it.
func ordered(c *parser.Cut) *parser.Cut {
	out := parser.Cut{Sources: c.Sources, Where: c.Where, Aggregates: c.Aggregates, Alias: c.Alias, Position: c.Position}
	order := make([]int, len(c.Keys)) // from new places to old
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return strings.Compare(parser.SQL(c.Keys[a].Expr, "t", nil), parser.SQL(c.Keys[b].Expr, "t", nil))
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
