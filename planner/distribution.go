package planner

import (
	"slices"
	"strconv"

	"fugu/parser"
)

// Distribution composes the statement over the reference whose rows give the distribution of a sampled aggregate's
// argument by the secrets' classes: a row holds the Head; the label of each secret that has classes; the value, as a
// number (but for a count of distinct ones, of which it is the text), and its text; and the number of rows. A value is
// NULL where a row does not count.
func (b *Bound) Distribution(aggregate int) string {
	s := b.Aggregates[aggregate].Sampled
	text := "(" + b.sql(b.forms.args[aggregate][0]) + ")::pg_catalog.text"
	value := text
	if i := b.argument(aggregate); i >= 0 {
		value = "CASE WHEN (" + b.Bases[i].args[0] + ") IS NOT NULL THEN " + b.float(false)(i) + " END"
	}
	if s.Percentile() {
		text = "NULL"
	}
	root := parser.Alias("t", b.sources.root)
	keys, columns := b.selected(root, true, nil)
	columns = append(columns, value+" AS v", text+" AS w")

	// A percentile looks at the value alone; a count of distinct ones at its text.
	labels := classLabels(b.Table)
	others := append(slices.Clone(labels), "v", "w")
	from := "(" + parser.SelectSQL(columns, b.from(true), b.forms.whereSQL(b.number), nil) + ") AS q"
	head, group := b.head(keys, others)
	head = append(append(head, labels...), "v::pg_catalog.text", "w", "pg_catalog.count(*)")
	return parser.SelectSQL(head, from, "", group)
}

// Shapes composes the statement over the references whose rows tell how far sums of the terms are from normal: a row
// holds the Head; one boolean for each secret that is a proportion; the number of rows; and for each of the Shaped
// terms its sum, and those of its second, third and fourth powers.
func (b *Bound) Shapes() string {
	keys, inner := b.inner(true, !b.once, b.float(true))
	var classes []string
	for i, s := range b.Table.Secrets {
		if s.Predicate != nil {
			classes = append(classes, "s"+strconv.Itoa(i))
		}
	}

	// With joins, what belongs to a row of the root is summed first.
	from := "(" + inner + ") AS q"
	columns, group := b.head(keys, classes)
	if !b.once {
		from = "(" + b.perRoot(inner, keys, classes) + ") AS q"
		columns, group = b.regroup(keys, classes)
	}

	columns = append(append(columns, classes...), "pg_catalog.count(*)")
	for _, i := range b.Shaped() {
		h := "(" + times(b.Terms[i].Factors, column) + ")"
		for _, power := range []string{"", "^2", "^3", "^4"} {
			columns = append(columns, "pg_catalog.sum("+h+power+")")
		}
	}
	return parser.SelectSQL(columns, from, "", group)
}

// Shaped lists the terms whose shapes are asked for: all but the first, and but products of values, whose powers are
// too high for double precision.
func (b *Bound) Shaped() []int {
	var out []int
	for i, t := range b.Terms {
		values := 0
		for _, f := range t.Factors {
			values += b.Bases[f].Degree()
		}
		if i > 0 && values <= 1 {
			out = append(out, i)
		}
	}
	return out
}
