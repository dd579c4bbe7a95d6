package planner

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"fugu/internal/hook"
)

// column is the name of a base in a subquery.
func column(base int) string { return "h" + strconv.Itoa(base+1) }

// times writes the product of factors, with more before them.
func times(factors []int, text func(int) string, more ...string) string {
	out := slices.Clone(more)
	for _, i := range factors {
		out = append(out, text(i))
	}
	return strings.Join(out, " * ")
}

// between writes x kept within two bounds, where it is not NULL.
func between(x, low, high string) string {
	return "LEAST(GREATEST(" + x + ", " + low + "), " + high + ")"
}

// most bounds what enters products, so that none of four factors overflows in a sum.
const most = "1e70"

// maxFactor bounds integers of types int2 and int4, and of expressions of these types that PostgreSQL would give a
// value, so that products of two fit int8.
const maxFactor = 3037000499

// value writes a base as a number of the type, 0 where it has no value. A factor of a product is kept within ±most.
func (x Base) value(typ, most string) string {
	if len(x.args) == 0 && len(x.given) == 0 {
		return "CAST(1 AS " + typ + ")"
	}
	var out []string
	for _, a := range x.args {
		v := "COALESCE(CAST(" + a + " AS " + typ + "), 0)"
		if len(x.args) > 1 && most != "" {
			v = between(v, "-"+most, most)
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		out = []string{"1"}
	}

	// An argument that is NULL is 0 as a factor; what else has to be there is looked at.
	var missing []string
	for _, g := range x.given {
		if !slices.Contains(x.args, g) {
			missing = append(missing, "("+g+") IS NULL")
		}
	}
	v := strings.Join(out, " * ")
	if len(missing) > 0 {
		v = "CASE WHEN " + strings.Join(missing, " OR ") + " THEN 0 ELSE " + v + " END"
	}
	return v
}

// exact is the type in which a base's values are bounded and summed: neither overflow nor the order of rows can show in
// a sum of it.
func (x Base) exact() string {
	switch {
	case x.whole:
		return "pg_catalog.int8"
	case hook.FloatSums:
		return "pg_catalog.float8"
	}
	return "pg_catalog.numeric"
}

// magnitude is the largest magnitude of the values of a base, at least 1; false unless they are integers that the
// policy bounds.
func (x Base) magnitude() (most *big.Int, ok bool) {
	low, lowOK := new(big.Int).SetString(x.Low, 10)
	high, highOK := new(big.Int).SetString(x.High, 10)
	if !x.whole || !lowOK || !highOK {
		return nil, false
	}
	most = big.NewInt(1)
	for _, x := range []*big.Int{low, high} {
		if x.Abs(x); x.Cmp(most) > 0 {
			most = x
		}
	}
	return most, true
}

// float writes the bases as numbers that are never NULL; high, where products of more than two are summed.
func (b *Bound) float(high bool) func(int) string {
	return func(i int) string {
		switch x := b.Bases[i]; {
		case x.Indicator:
			return "CASE WHEN (" + x.given[0] + ") IS NULL THEN 0::pg_catalog.float8 ELSE 1::pg_catalog.float8 END"
		case x.Low != "":
			return "CASE WHEN (" + x.args[0] + ") IS NULL THEN 0 ELSE " +
				between("CAST("+x.args[0]+" AS pg_catalog.float8)", x.Low, x.High) + " END"
		case high && !x.whole && b.once: // fourth powers are summed
			return between(x.value("pg_catalog.float8", ""), "-"+most, most)
		default:
			return x.value("pg_catalog.float8", most)
		}
	}
}

// high reports whether products of more than two factors are summed.
func (b *Bound) high() bool {
	return slices.ContainsFunc(b.products, func(p []int) bool { return len(p) > 2 })
}

// integers tells which bases are summed as integers: all products that they are in are bounded by what an int4 can
// hold, and sum(int4) is an int8, which is exact and takes less than sums in double precision.
func (b *Bound) integers() []bool {
	out := make([]bool, len(b.Bases))
	for i, x := range b.Bases {
		_, out[i] = x.magnitude()
	}

	// A base that is no integer in one product is none in the others, which may then be too large in turn.
	for again := true; again; {
		again = false
		for _, p := range b.products {
			values := slices.DeleteFunc(slices.Clone(p), func(i int) bool { return b.Bases[i].Indicator })
			size := big.NewInt(1)
			fits := true
			for _, i := range values {
				if fits = fits && out[i]; fits {
					most, _ := b.Bases[i].magnitude()
					size.Mul(size, most)
				}
			}
			if fits && size.Cmp(big.NewInt(math.MaxInt32)) <= 0 {
				continue
			}
			for _, i := range values {
				again, out[i] = again || out[i], false
			}
		}
	}
	return out
}

// nullable writes the value of a base, NULL where it has none. GREATEST and LEAST would pass over NULL.
func (b *Bound) nullable(i int, integer, high bool) string {
	x := b.Bases[i]
	arg, typ := x.args[0], "pg_catalog.float8"
	if integer {
		typ = "pg_catalog.int4"
	}

	// A value that is there is brought within its bounds; CASE keeps NULL as it is.
	within := func(low, high string) string {
		return "CASE WHEN (" + arg + ") IS NOT NULL THEN " +
			between("CAST("+arg+" AS pg_catalog.float8)", low, high) + " END"
	}
	switch {
	case x.Low != "" && x.whole: // comparing integers takes less
		return "CASE WHEN (" + arg + ") < " + x.Low + " THEN " + x.Low + "::" + typ +
			" WHEN (" + arg + ") > " + x.High + " THEN " + x.High + "::" + typ +
			" ELSE CAST(" + arg + " AS " + typ + ") END"
	case x.Low != "":
		return within(x.Low, x.High)
	case high && !x.whole: // fourth powers are summed
		return within("-"+most, most)
	}
	return "CAST(" + arg + " AS pg_catalog.float8)"
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
