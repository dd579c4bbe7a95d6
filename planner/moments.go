package planner

import (
	"math/big"
	"slices"
	"strconv"
)

// Moments composes the statement over the references whose rows give the class moments of the terms, split by the
// secrets' classes. A row holds: the Head; the label of each secret that has classes; the sum of each of the Products; for
// each secret mean of g the sum of the product of g with each Term; and for each Base x that is no Indicator the number of
// x ≠ 0 and the sum of |x| unless they are Known, and the least and greatest x where the policy has no bounds. With joins x is
// the sum over all that belongs to one row of the root.
func (b *Bound) Moments() string {
	high := slices.ContainsFunc(b.products, func(p []int) bool { return len(p) > 2 })
	base := b.float(high)
	if b.sources.single() {
		base = b.countable(base)
	}
	keys, inner := b.inner(true, !b.sources.single(), base)
	var labels, numbers []string
	for i, s := range b.Table.Secrets {
		if s.Number == nil {
			labels = append(labels, "s"+strconv.Itoa(i))
		} else {
			numbers = append(numbers, "s"+strconv.Itoa(i))
		}
	}
	columns, group := b.head(keys, labels)
	if !b.sources.single() {
		inner = b.perRoot(inner, keys, slices.Concat(labels, numbers))
		columns, group = b.regroup(keys, labels)
	} else if len(b.Bases) > 0 {
		inner += once
	}
	columns = append(columns, labels...)
	for _, p := range b.products {
		switch {
		case len(p) == 0:
			columns = append(columns, "pg_catalog.count(*)")
		case b.counted(p[0]):
			columns = append(columns, "pg_catalog.count("+column(p[0])+")")
		default:
			columns = append(columns, "pg_catalog.sum("+times(p, column)+")")
		}
	}
	for _, g := range numbers {
		for _, t := range b.Terms {
			columns = append(columns, "pg_catalog.sum("+times(t.Factors, column, g)+")")
		}
	}
	for i, x := range b.Bases {
		if h := column(i); !x.Indicator {
			number, sum := b.Known(i)
			if number < 0 {
				columns = append(columns, "pg_catalog.count(NULLIF("+h+", 0))")
			}
			if sum < 0 {
				columns = append(columns, "pg_catalog.sum(pg_catalog.abs("+h+"))")
			}
			if x.Low == "" {
				columns = append(columns, "pg_catalog.min("+h+")", "pg_catalog.max("+h+")")
			}
		}
	}
	return selectSQL(columns, "("+inner+") AS q", "", group)
}

// once keeps a subselect from being taken apart, which would evaluate each of its columns wherever it is named. The literal
// has no type of its own: over OFFSET 0, an int4 that is cast, PostgreSQL would not plan for parallel workers.
const once = " OFFSET '0'"

// counted reports whether a base is an indicator of which nothing but the sum is asked for: what it is of can be counted.
func (b *Bound) counted(base int) bool {
	if !b.Bases[base].Indicator || !b.sources.single() || slices.ContainsFunc(b.Table.Secrets, func(s Secret) bool { return s.Number != nil }) {
		return false
	}
	return !slices.ContainsFunc(b.products, func(p []int) bool { return len(p) > 1 && slices.Contains(p, base) })
}

// countable writes the bases as base does, but what those that are counted are of as it is.
func (b *Bound) countable(base func(int) string) func(int) string {
	return func(i int) string {
		if b.counted(i) {
			return b.Bases[i].given[0]
		}
		return base(i)
	}
}

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
		case high && !x.whole && b.sources.single(): // fourth powers are summed
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
