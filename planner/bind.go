package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/sqlstate"
)

// settle binds the cut once and for all, if nothing in it depends on parameters or ordinary tables, and otherwise finds
// out what would be refused whatever they are.
func (c *Cut) settle(ctx context.Context, q Querier) error {
	// With every parameter NULL, what no value could repair is refused at Parse and not only at Bind.
	if len(c.Params) > 0 || len(c.Ordinary) > 0 {
		if _, err := c.withoutParameters(ctx, q, make([][]byte, len(c.Params))); err != nil {
			return err
		}
		b := &Bound{Cut: c, forms: c.written()}
		for i := range c.Keys {
			if _, err := b.domainSQL(i); err != nil {
				return err
			}
		}
		return nil
	}

	// Many cells take much memory for what is soon listed again.
	b, err := c.Bind(ctx, q, nil)
	if err == nil && (len(b.Cells) <= maxKept || b.shared()) {
		c.static = b
	}
	return err
}

// Bind puts the values of the parameters, in text form, into the cut.
func (c *Cut) Bind(ctx context.Context, q Querier, values [][]byte) (*Bound, error) {
	if c.static != nil {
		return c.static, nil
	}
	b, err := c.withoutParameters(ctx, q, values)
	if err != nil {
		return nil, err
	}

	// Whether rows are joined decides what the aggregates are made of, and that what the statement sums.
	if err := b.findPartners(ctx, q); err != nil {
		return nil, err
	}
	b.terms()
	b.statistics = b.compose()
	if b.Cells, err = b.cells(ctx, q); err != nil {
		return nil, err
	}
	b.packed = b.pack()
	b.decided, err = b.decide(ctx, q)
	return b, err
}

// withoutParameters puts the values of the parameters into the cut: every expression in the one form that equal
// questions share, and in which no row can make it fail; equal aggregates are one.
func (c *Cut) withoutParameters(ctx context.Context, q Querier, values [][]byte) (*Bound, error) {
	params := make([]Value, len(values))
	for i, v := range values {
		params[i] = Value{Text: string(v), Null: v == nil}
	}
	total, cost, err := c.typing.Bind(ctx, q, params)
	if err != nil {
		return nil, sqlstate.Place(err, c.cut.Position)
	}

	// They come back in the order of roots.
	next := func() parser.Expr {
		e := total[0]
		total = total[1:]
		return e
	}

	// The cut that is bound has no parameters, and aggregates of its own.
	cut, below := *c, *c.cut
	cut.Params, cut.ParamTypes, cut.number, cut.typing, cut.cut = nil, nil, nil, nil, &below
	b := &Bound{Cut: &cut, Cost: cost, forms: forms{on: map[int]parser.Expr{}}, given: map[int]string{}}
	for i, n := range c.Params {
		b.given[n] = params[i].Text
	}

	for range c.Keys {
		b.forms.keys = append(b.forms.keys, next())
	}
	b.takeAggregates(c, func(i int) []parser.Expr {
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

// takeAggregates takes over c's aggregates with the arguments that args gives in their order.
func (b *Bound) takeAggregates(c *Cut, args func(i int) []parser.Expr) {
	type one struct {
		text    string // the same for aggregates that are one; a sum of another type is another one
		args    []parser.Expr
		planned []int // the aggregates of c that it stands for
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

	// In the order of their texts, whatever the client's was: equal questions are equal statements.
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
