package planner

import (
	"math/big"
	"slices"
	"strconv"

	"fugu/parser"
)

// Moments composes the statement over the references whose rows give the class moments of the terms, split by the
// secrets' classes. A row holds: the Head; the labels that Classes reads; the sum of each of the Products; for
// each secret mean of g the sum of the product of g with each Term; and for each Base x that is no Indicator the number of
// x ≠ 0 and the sum of |x| unless they are Known, and the least and greatest x where the policy has no bounds. With joins x is
// the sum over all that belongs to one row of the root.
func (b *Bound) Moments() string {
	root := parser.Alias("t", b.sources.root)
	keys, evaluated := b.selected(root, false, nil)
	labels, of := b.labels(root)
	evaluated = append(evaluated, of...)
	var numbers []string
	for i, s := range b.Table.Secrets {
		if s.Number != nil {
			numbers = append(numbers, "s"+strconv.Itoa(i))
			evaluated = append(evaluated, s.number(root)+" AS s"+strconv.Itoa(i))
		}
	}
	var e evaluation
	if b.once {
		e = b.ofRows()
	} else {
		e = b.ofSums()
		evaluated = append(evaluated, place(root)...)
	}
	inner := selectSQL(append(evaluated, e.columns...), b.from(true), b.forms.whereSQL(b.number), nil)
	columns, group := b.head(keys, labels)
	switch {
	case !b.once:
		inner = b.perRoot(inner, keys, slices.Concat(labels, numbers))
		columns, group = b.regroup(keys, labels)
	case len(b.Bases) > 0:
		inner += once
		if len(e.pairs) > 0 {
			inner = selectSQL(append([]string{"r.*"}, e.pairs...), "("+inner+") AS r", "", nil) + once
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
	return selectSQL(columns, "("+inner+") AS q", "", group)
}

// sizes writes what tells how large the values of the bases are; where one is NULL it counts as 0.
func (b *Bound) sizes() []string {
	var columns []string
	for i, x := range b.Bases {
		if x.Indicator {
			continue
		}
		h := column(i)
		low, bounded := new(big.Rat).SetString(x.Low)
		number, sum := b.Known(i)
		switch {
		case number >= 0:
		case bounded && low.Sign() > 0:
			columns = append(columns, "pg_catalog.count("+h+")")
		default:
			columns = append(columns, "pg_catalog.count(NULLIF("+h+", 0))")
		}
		switch {
		case sum >= 0:
		case bounded && low.Sign() >= 0:
			columns = append(columns, "COALESCE(pg_catalog.sum("+h+"), 0)")
		default:
			columns = append(columns, "COALESCE(pg_catalog.sum(pg_catalog.abs("+h+")), 0)")
		}
		if x.Low == "" {
			columns = append(columns, "pg_catalog.min(COALESCE("+h+", 0))", "pg_catalog.max(COALESCE("+h+", 0))")
		}
	}
	return columns
}

// once keeps a subselect from being taken apart, which would evaluate each of its columns wherever it is named. The literal
// has no type of its own: over OFFSET 0, an int4 that is cast, PostgreSQL would not plan for parallel workers.
const once = " OFFSET '0'"

// Known returns those of the Products that are the number of x ≠ 0, since x is positive by the policy where there is
// one, and the sum of |x|, since x is never negative; -1 where none is.
func (b *Bound) Known(base int) (number, sum int) {
	low, ok := new(big.Rat).SetString(b.Bases[base].Low)
	if !ok || low.Sign() < 0 {
		return -1, -1
	}
	is := func(match func(Base) bool) int {
		return slices.IndexFunc(b.products, func(p []int) bool { return len(p) == 1 && match(b.Bases[p[0]]) })
	}
	x := b.Bases[base]
	number, sum = -1, is(func(o Base) bool {
		return !o.Indicator && slices.Equal(o.args, x.args) && slices.Equal(o.given, x.given)
	})
	if low.Sign() > 0 {
		number = is(func(o Base) bool { return o.Indicator && slices.Equal(o.given, x.args) })
	}
	return number, sum
}

// most bounds what enters products, so that none of four factors overflows in a sum.
const most = "1e70"

// float writes the bases as numbers that are never NULL; high, where products of more than two are summed.
func (b *Bound) float(high bool) func(int) string {
	return func(i int) string {
		switch x := b.Bases[i]; {
		case x.Indicator:
			return "CASE WHEN (" + x.given[0] + ") IS NULL THEN 0::pg_catalog.float8 ELSE 1::pg_catalog.float8 END"
		case x.Low != "":
			return "CASE WHEN (" + x.args[0] + ") IS NULL THEN 0 ELSE LEAST(GREATEST(CAST(" + x.args[0] + " AS pg_catalog.float8), " + x.Low + "), " + x.High + ") END"
		case high && !x.whole && b.once: // fourth powers are summed
			return "LEAST(GREATEST(" + x.value("pg_catalog.float8", "") + ", -" + most + "), " + most + ")"
		default:
			return x.value("pg_catalog.float8", most)
		}
	}
}

// ClassTotals composes the statement that counts the reference's rows by the secrets' classes: a row holds the label of
// each secret that has classes, and the number of rows.
func (t *Table) ClassTotals() string {
	var cols, group []string
	for _, s := range t.Secrets {
		if s.Number == nil {
			cols = append(cols, s.label("t"))
			group = append(group, strconv.Itoa(len(cols)))
		}
	}
	return selectSQL(append(cols, "pg_catalog.count(*)"), t.Reference+" AS t", "", group)
}

// NumberTotals composes the statement that describes the number g whose mean is secret over the reference: the rows, those
// where g is not NULL, its mean, its variance (divided by the rows), its least and its greatest value.
func (t *Table) NumberTotals(s Secret) string {
	g := s.number("t")
	return selectSQL([]string{"pg_catalog.count(*)", "pg_catalog.count(" + g + ")", "pg_catalog.avg(" + g + ")", "pg_catalog.var_pop(" + g + ")",
		"pg_catalog.min(" + g + ")", "pg_catalog.max(" + g + ")"}, t.Reference+" AS t", "", nil)
}

// NumberByClass composes the statement that tells how a number whose mean is secret goes with another secret's classes: a
// row for each label holds the rows where the number is not NULL, its mean, and its variance among them.
func (t *Table) NumberByClass(number, classes Secret) string {
	g := number.number("t")
	return selectSQL([]string{"pg_catalog.count(" + g + ")", "coalesce(pg_catalog.avg(" + g + "), 0)", "coalesce(pg_catalog.var_pop(" + g + "), 0)"},
		t.Reference+" AS t", "", []string{classes.label("t")})
}

// Correlation composes the statement for the correlation of two numbers whose means are secret; 0 where one does not vary.
func (t *Table) Correlation(a, b Secret) string {
	return selectSQL([]string{"coalesce(pg_catalog.corr(" + a.number("t") + ", " + b.number("t") + "), 0)"}, t.Reference+" AS t", "", nil)
}
