package planner

import (
	"slices"
	"strings"

	"fugu/parser"
	"fugu/planner/aggregate"
)

// terms lays out what the aggregates are made of.
func (b *Bound) terms() {
	b.Terms = []Term{{Label: "count(*)"}}
	b.Aggregates = slices.Clone(b.Cut.Aggregates)
	for i := range b.Aggregates {
		a := &b.Aggregates[i]

		var args, labels []string
		for k, e := range b.forms.args[i] {
			args = append(args, parser.SQL(e, "t", b.number))
			labels = append(labels, parser.SQL(b.cut.Aggregates[i].Args[k], "", nil))
		}

		// Where rows are joined, values are summed per row of the root first.
		a.Terms = nil
		for _, s := range a.Sums {
			if b.once {
				a.Terms = append(a.Terms, b.single(i, s, args, labels))
			} else {
				a.Terms = append(a.Terms, b.perRow(s, args, labels))
			}
		}
	}
	b.multiply()
	b.domains()
}

// domains gives the distinct aggregates over a column with public values those values.
func (b *Bound) domains() {
	for i := range b.Aggregates {
		a := &b.Aggregates[i]
		if a.Sampled == nil || a.Sampled.Percentile() {
			continue
		}
		own := *a.Sampled
		own.Domain = nil
		if column, ok := columnOf(b.forms.args[i][0]); ok {
			for _, v := range b.Table.Domains[column.Name] {
				if !v.Null {
					own.Domain = append(own.Domain, v)
				}
			}
		}
		a.Sampled = &own
	}
}

// factors are the arguments, by their place, whose product a sum is over: PostgreSQL calls f(x) or f(y, x).
func factors(s aggregate.Sum, arguments int) []int {
	x, y := arguments-1, 0
	switch s {
	case aggregate.X:
		return []int{x}
	case aggregate.Y:
		return []int{y}
	case aggregate.XX:
		return []int{x, x}
	case aggregate.XY:
		return []int{x, y}
	case aggregate.YY:
		return []int{y, y}
	}
	return nil
}

// single is the term of one of an aggregate's sums where a row stands for itself: a product of its arguments, which is
// 0 where one of them is not there.
func (b *Bound) single(aggregate int, s aggregate.Sum, args, labels []string) int {
	var t Term
	var text []string
	of := factors(s, len(args))
	for _, k := range of {
		base := Base{Label: labels[k], args: args[k : k+1], whole: b.Aggregates[aggregate].whole[k]}
		if col, ok := b.forms.args[aggregate][k].(parser.Column); ok && col.Rel == b.sources.root {
			bounds := b.Table.Bounds[col.Name]
			base.Low, base.High = bounds[0], bounds[1]
		}
		t.Factors, text = append(t.Factors, b.base(base)), append(text, labels[k])
	}

	// An argument that is no factor counts by being there: in regr_count(y, x), both do.
	for k := range args {
		if !slices.Contains(of, k) {
			there := Base{Label: "count(" + labels[k] + ")", Indicator: true, given: args[k : k+1]}
			t.Factors = append(t.Factors, b.base(there))
		}
	}
	if t.Label = strings.Join(text, " * "); len(of) == 0 {
		t.Label = "count(" + strings.Join(append(labels, "*")[:max(1, len(labels))], ", ") + ")"
	}
	return b.term(t)
}

// perRow is the same where many joined rows may belong to one of the root: a sum over them, bounded as a whole.
func (b *Bound) perRow(s aggregate.Sum, args, labels []string) int {
	base := Base{given: args}
	var text []string
	for _, k := range factors(s, len(args)) {
		base.args, text = append(base.args, args[k]), append(text, labels[k])
	}
	if base.Label = strings.Join(text, " * "); len(text) == 0 {
		base.Label = "count(" + strings.Join(append(labels, "*")[:max(1, len(labels))], ", ") + ")"
	}
	return b.term(Term{Label: base.Label, Factors: []int{b.base(base)}})
}

func (b *Bound) base(x Base) int {
	if i := slices.IndexFunc(b.Bases, func(o Base) bool {
		return o.Indicator == x.Indicator && slices.Equal(o.args, x.args) && slices.Equal(o.given, x.given)
	}); i >= 0 {
		return i
	}
	b.Bases = append(b.Bases, x)
	return len(b.Bases) - 1
}

func (b *Bound) term(t Term) int {
	t.Factors = b.normal(t.Factors)
	if i := slices.IndexFunc(b.Terms, func(o Term) bool { return slices.Equal(o.Factors, t.Factors) }); i >= 0 {
		return i
	}
	b.Terms = append(b.Terms, t)
	return len(b.Terms) - 1
}

// normal orders factors, and leaves out the indicators that change nothing: of what is a factor, too, and of what is
// there twice.
func (b *Bound) normal(factors []int) []int {
	var out []int
	for _, i := range slices.Sorted(slices.Values(factors)) {
		if x := b.Bases[i]; x.Indicator && (slices.Contains(out, i) || slices.ContainsFunc(factors, func(k int) bool {
			return !b.Bases[k].Indicator && slices.Equal(b.Bases[k].args, x.given)
		})) {
			continue
		}
		out = append(out, i)
	}
	return out
}

// multiply finds the products of two terms that are different: x·x² and 1·x³ are the same.
func (b *Bound) multiply() {
	find := func(factors []int) int {
		factors = b.normal(factors)
		if i := slices.IndexFunc(b.products, func(o []int) bool { return slices.Equal(o, factors) }); i >= 0 {
			return i
		}
		b.products = append(b.products, factors)
		return len(b.products) - 1
	}
	for _, t := range b.Terms {
		find(t.Factors)
	}
	b.product = nil
	for _, t := range b.Terms {
		for _, u := range b.Terms {
			b.product = append(b.product, find(slices.Concat(t.Factors, u.Factors)))
		}
	}
}
