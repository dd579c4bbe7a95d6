package planner

import (
	"slices"
	"strconv"

	"fugu/parser"
)

// Moments composes the statement over the references whose rows give the class moments of the terms, split by the
// secrets' classes. A row holds: the Head; the labels that Classes reads; the sum of each of the Products; for each
// secret mean of g the sum of the product of g with each Term; and for each Base x that is no Indicator the number of x
// ≠ 0 and the sum of |x| unless they are Known, and the least and greatest x where the policy has no bounds. With joins
// x is the sum over all that belongs to one row of the root.
func (b *Bound) Moments() string {
	// Each row is evaluated in a subselect: its keys, its classes, numbers whose means are secret, and the bases.
	root := parser.Alias("t", b.sources.root)
	keys, evaluated := b.selected(root, false, nil)
	labels, of := b.labels(root)
	evaluated = append(evaluated, of...)
	var numbers []string
	for i, s := range b.Table.Secrets {
		if s.Number != nil {
			numbers = append(numbers, "s"+strconv.Itoa(i))
			evaluated = append(evaluated, s.Mean(root)+" AS s"+strconv.Itoa(i))
		}
	}
	var e evaluation
	if b.once {
		e = b.ofRows()
	} else {
		e = b.ofSums()
		evaluated = append(evaluated, place(root)...)
	}
	inner := parser.SelectSQL(append(evaluated, e.columns...), b.from(true), b.forms.whereSQL(b.number), nil)

	// With joins, what belongs to a row of the root is summed in a further one.
	columns, group := b.head(keys, labels)
	switch {
	case !b.once:
		inner = b.perRoot(inner, keys, slices.Concat(labels, numbers))
		columns, group = b.regroup(keys, labels)
	case len(b.Bases) > 0:
		inner += once
		if len(e.pairs) > 0 {
			inner = parser.SelectSQL(append([]string{"r.*"}, e.pairs...), "("+inner+") AS r", "", nil) + once
		}
	}

	columns = append(columns, labels...)
	for _, p := range e.products {
		columns = append(columns, p.sum())
	}
	for _, g := range numbers {
		for t := range b.Terms { // each is the product of its own number
			columns = append(columns, e.products[t].with(g))
		}
	}
	columns = append(columns, b.sizes()...)
	return parser.SelectSQL(columns, "("+inner+") AS q", "", group)
}

// once keeps a subselect from being taken apart, which would evaluate each of its columns wherever it is named. The
// literal has no type of its own: over OFFSET 0, an int4 that is cast, PostgreSQL would not plan for parallel workers.
const once = " OFFSET '0'"
