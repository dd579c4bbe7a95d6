package planner

import (
	"context"
	"math/big"
	"slices"
	"strings"

	"fugu/parser"
)

// Bound is a cut with the values of its parameters in their places: what it asks for, down to the last row. Equal
// questions are equal here, however they were spelled.
type Bound struct {
	*Cut
	Cells []Cell // in domain order, the last key fastest, set after set; one without keys
	Terms []Term // the row functions that the aggregates are made of

	Aggregates []Aggregate // the cut's, in an order of their own and each once, with the terms they are made of
	Columns    []int       // for each aggregate of the cut as it was planned, the one here that is its value

	forms      forms
	statistics string
}

// Term is a row function h: 1, 1[x is not null], or x with NULL as 0. F is made of its sums. Where rows are joined, h is a
// sum over all that belongs to one row of the root.
type Term struct {
	Label     string // as people read it
	Indicator bool   // 1[x is not null]
	Sum       bool   // x, or a sum
	Low, High string // what the policy says of x; empty: nothing

	arg   string // printed; empty for the constant 1
	whole bool   // x is of type int2 or int4
}

// Single reports whether a row of the root counts at most once: h is 0 or 1.
func (t Term) Single() bool { return !t.Sum }

// Limit bounds what one row may contribute to a term that is not Single, in text form: less and more is taken for the
// bound. They come from the policy or the reference, and so from nothing that a protected row could change.
type Limit struct{ Low, High *big.Rat }

// forms are the expressions below a cut as they are evaluated.
type forms struct {
	keys  []parser.Expr
	args  []parser.Expr // of each aggregate; nil: every row counts
	where []parser.Expr
	on    map[int]parser.Expr // of LEFT JOIN, by Rel
}

// written are the expressions as the client wrote them.
func (c *Cut) written() forms {
	f := forms{where: c.sources.where, on: map[int]parser.Expr{}}
	for _, k := range c.cut.Keys {
		f.keys = append(f.keys, k.Expr)
	}
	for _, a := range c.cut.Aggregates {
		f.args = append(f.args, a.Arg)
	}
	for _, s := range c.sources.list {
		if s.Left {
			f.on[s.Rel] = s.On
		}
	}
	return f
}

func (f forms) whereSQL(number map[int]int) string {
	var parts []string
	for _, e := range f.where {
		parts = append(parts, parser.SQL(e, "t", number))
	}
	return strings.Join(parts, " AND ")
}

// settle binds the cut once and for all, if nothing in it depends on parameters or ordinary tables, and otherwise finds
// out what would be refused whatever they are.
func (c *Cut) settle(ctx context.Context, q Querier) error {
	if len(c.Params) > 0 || len(c.Ordinary) > 0 {
		if _, err := c.bare(ctx, q, make([][]byte, len(c.Params))); err != nil {
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
	b, err := c.bare(ctx, q, values)
	if err != nil {
		return nil, err
	}
	b.terms()
	b.statistics = b.compose()
	b.Cells, err = b.cells(ctx, q)
	return b, err
}

// terms lays out what the aggregates are made of.
func (b *Bound) terms() {
	b.Terms = []Term{{Label: "count(*)"}}
	b.Aggregates = slices.Clone(b.Cut.Aggregates)
	joined := !b.sources.single()
	for i := range b.Aggregates {
		a := &b.Aggregates[i]
		a.Count, a.Sum = 0, -1
		if b.forms.args[i] == nil {
			if joined {
				a.Count = b.term(Term{Label: "count(*)", Sum: true, arg: "1"})
			}
			continue
		}
		arg := parser.SQL(b.forms.args[i], "t", b.number)
		label := parser.SQL(b.cut.Aggregates[i].Arg, "", nil)
		if joined {
			a.Count = b.term(Term{Label: "count(" + label + ")", Sum: true, arg: "(CASE WHEN (" + arg + ") IS NULL THEN 0 ELSE 1 END)"})
		} else {
			a.Count = b.term(Term{Label: "count(" + label + ")", Indicator: true, arg: arg})
		}
		if a.Func != "count" {
			t := Term{Label: label, Sum: true, arg: arg, whole: a.whole && !joined}
			if col, ok := b.forms.args[i].(parser.Column); ok && !joined {
				t.Low, t.High = b.Table.bounds(col.Name)
			}
			a.Sum = b.term(t)
		}
	}
}

func (b *Bound) term(t Term) int {
	if i := slices.IndexFunc(b.Terms, func(o Term) bool { return o.arg == t.arg && o.Indicator == t.Indicator && o.Sum == t.Sum }); i >= 0 {
		return i
	}
	b.Terms = append(b.Terms, t)
	return len(b.Terms) - 1
}
