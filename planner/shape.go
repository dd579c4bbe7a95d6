package planner

import "strconv"

// Shapes composes the statement over the references whose rows tell how far sums of the terms are from normal: a row
// holds the Head; one boolean for each secret that is a proportion; the number of rows; and for each of the Shaped terms its
// sum, and those of its second, third and fourth powers.
func (b *Bound) Shapes() string {
	keys, inner := b.inner(true, !b.once, b.float(true))
	var classes []string
	for i, s := range b.Table.Secrets {
		if s.Predicate != nil {
			classes = append(classes, "s"+strconv.Itoa(i))
		}
	}
	from := "(" + inner + ") AS q"
	columns, group := b.head(keys, classes)
	if !b.once {
		from = "(" + b.perRoot(inner, keys, classes) + ") AS q"
		columns, group = b.regroup(keys, classes)
	}
	columns = append(append(columns, classes...), "pg_catalog.count(*)")
	for _, i := range b.Shaped() {
		h := "(" + times(b.Terms[i].Factors, column) + ")"
		columns = append(columns, "pg_catalog.sum("+h+")", "pg_catalog.sum("+h+"^2)", "pg_catalog.sum("+h+"^3)", "pg_catalog.sum("+h+"^4)")
	}
	return selectSQL(columns, from, "", group)
}

// Shaped lists the terms whose shapes are asked for: all but the first, and but products of values, whose powers are too
// high for double precision.
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
