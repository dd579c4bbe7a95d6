package aggregate

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	_ "fugu/test/seeded" // what rapid draws is the same at every run
)

// pair is a row with two arguments.
type pair struct{ x, y float64 }

// precise is a number of 200 bits.
func precise(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }

// twoPasses are the number of rows, the sum of x, the means, and the sums of squares and of products about the means.
func twoPasses(rows []pair) (n, sx, mx, my, xx, xy, yy *big.Float) {
	n, mx, my = precise(float64(len(rows))), precise(0), precise(0)
	for _, r := range rows {
		mx.Add(mx, precise(r.x))
		my.Add(my, precise(r.y))
	}

	sx = new(big.Float).Copy(mx)
	mx.Quo(mx, n)
	my.Quo(my, n)
	xx, xy, yy = precise(0), precise(0), precise(0)
	for _, r := range rows {
		dx, dy := precise(0).Sub(precise(r.x), mx), precise(0).Sub(precise(r.y), my)
		xx.Add(xx, precise(0).Mul(dx, dx))
		xy.Add(xy, precise(0).Mul(dx, dy))
		yy.Add(yy, precise(0).Mul(dy, dy))
	}
	return n, sx, mx, my, xx, xy, yy
}

// direct computes an aggregate from its definition over rows (PostgreSQL manual, section 9.21, and the definitions of
// SQL:2003, 10.9), in 200 bits.
func direct(name string, rows []pair) float64 {
	n, sx, mx, my, xx, xy, yy := twoPasses(rows)
	less := precise(0).Sub(n, precise(1))
	div := func(a, b *big.Float) *big.Float { return precise(0).Quo(a, b) }
	root := func(a *big.Float) *big.Float { return precise(0).Sqrt(a) }
	var v *big.Float
	switch name {
	case "count", "regr_count":
		v = n
	case "sum":
		v = sx
	case "avg", "regr_avgx":
		v = mx
	case "regr_avgy":
		v = my
	case "variance", "var_samp":
		v = div(xx, less)
	case "var_pop":
		v = div(xx, n)
	case "stddev", "stddev_samp":
		v = root(div(xx, less))
	case "stddev_pop":
		v = root(div(xx, n))
	case "covar_samp":
		v = div(xy, less)
	case "covar_pop":
		v = div(xy, n)
	case "regr_sxx":
		v = xx
	case "regr_syy":
		v = yy
	case "regr_sxy":
		v = xy
	case "regr_slope":
		v = div(xy, xx)
	case "regr_intercept":
		v = precise(0).Sub(my, precise(0).Mul(div(xy, xx), mx))
	case "corr":
		v = div(xy, precise(0).Mul(root(xx), root(yy)))
	case "regr_r2":
		v = div(precise(0).Mul(div(xy, xx), xy), yy)
	}

	out, _ := v.Float64()
	return out
}

// sumsOf are the sums of rows in the order of a function's.
func sumsOf(f Function, rows []pair) (exact []*big.Rat, rounded []float64) {
	term := func(s Sum, r pair) *big.Rat {
		x, y := new(big.Rat).SetFloat64(r.x), new(big.Rat).SetFloat64(r.y)
		switch s {
		case X:
			return x
		case Y:
			return y
		case XX:
			return x.Mul(x, x)
		case XY:
			return x.Mul(x, y)
		case YY:
			return y.Mul(y, y)
		}

		return big.NewRat(1, 1)
	}
	for _, s := range f.Sums {
		total := new(big.Rat)
		for _, r := range rows {
			total.Add(total, term(s, r))
		}
		v, _ := total.Float64()
		exact, rounded = append(exact, total), append(rounded, v)
	}
	return exact, rounded
}

func sample(r *rand.Rand, n int, centre float64) []pair {
	rows := make([]pair, n)
	for i := range rows {
		x := centre + math.Round(1000*r.NormFloat64())/8
		rows[i] = pair{x, 3 + 0.25*x + math.Round(900*r.ExpFloat64())/16}
	}
	return rows
}

func TestExactIsTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range Names() {
		f, _ := Lookup(name)
		for i := range 40 {
			rows := sample(r, 2+r.IntN(30), []float64{0, 40, -1e6}[i%3])
			s, _ := sumsOf(f, rows)
			v, ok := f.Exact(s)
			if !ok {
				t.Fatalf("%s is undefined", name)
			}
			got, _ := v.Float64()
			if want := direct(name, rows); math.Abs(got-want) > 1e-14*math.Abs(want) {
				t.Errorf("%s of %d rows is %g, want %g", name, len(rows), got, want)
			}
		}
	}
}

// Where PostgreSQL says NULL there is no value, and regr_r2 of a level line is 1.
func TestUndefined(t *testing.T) {
	for _, c := range []struct {
		rows []pair
		null []string
	}{
		{nil, []string{"avg", "regr_avgx", "regr_avgy", "variance", "var_samp", "var_pop", "stddev", "stddev_samp",
			"stddev_pop", "covar_samp", "covar_pop",
			"regr_sxx", "regr_sxy", "regr_syy", "regr_slope", "regr_intercept", "regr_r2", "corr"}},
		{[]pair{{2, 5}}, []string{"variance", "var_samp", "stddev", "stddev_samp", "covar_samp", "regr_slope",
			"regr_intercept", "regr_r2", "corr"}},
		{[]pair{{2, 5}, {2, 6}}, []string{"regr_slope", "regr_intercept", "regr_r2", "corr"}},
		{[]pair{{2, 5}, {3, 5}}, []string{"corr"}},
	} {
		null := map[string]bool{}
		for _, name := range c.null {
			null[name] = true
		}
		for _, name := range Names() {
			f, _ := Lookup(name)
			s, _ := sumsOf(f, c.rows)
			v, ok := f.Exact(s)
			if ok == null[name] {
				t.Errorf("%s of %v: %v", name, c.rows, v)
			}
			if name == "regr_r2" && ok && v.Cmp(big.NewRat(1, 1)) != 0 {
				t.Errorf("regr_r2 of a level line is %v", v)
			}
		}
	}

	// Sums that no rows have, as bounds on what a row of the root contributes can make them.
	corr, _ := Lookup("corr")
	if v, ok := corr.Exact([]*big.Rat{big.NewRat(9, 1), new(big.Rat), new(big.Rat), big.NewRat(1, 1), big.NewRat(5, 1),
		big.NewRat(1, 1)}); !ok || v.Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("a correlation of 5 is %v", v)
	}

	slope, _ := Lookup("regr_slope")
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(900), nil))
	if v, ok := slope.Exact([]*big.Rat{big.NewRat(9, 1), new(big.Rat), new(big.Rat), tiny, big.NewRat(-5, 1)}); !ok ||
		v.Cmp(new(big.Rat).SetFloat64(-1e300)) != 0 {
		t.Errorf("a slope of -5e900 is %v", v)
	}
}

// Derivatives against exact differences: of second order they are off by the third derivative alone.
func TestGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	at := func(f Function, s []float64, steps ...float64) float64 {
		x := make([]*big.Rat, len(s))
		for i := range s {
			x[i] = new(big.Rat).SetFloat64(s[i])
			if i < len(steps) {
				x[i].Add(x[i], new(big.Rat).SetFloat64(steps[i]))
			}
		}

		v, _ := f.Exact(x)
		out, _ := v.Float64()
		return out
	}
	for _, name := range Names() {
		f, _ := Lookup(name)
		for range 20 {
			_, s := sumsOf(f, sample(r, 200, 3))
			d := make([]float64, len(s))
			for i := range d {
				d[i] = s[i] * (r.Float64() - 0.5) / 4
			}
			g, change := f.Gradient(s, d)
			along := make([]float64, len(s)) // what the gradient is at s + h d and s - h d
			const h = 1e-4
			up, down := make([]float64, len(s)), make([]float64, len(s))
			for i := range s {
				up[i], down[i] = s[i]+h*d[i], s[i]-h*d[i]
			}
			gu, _ := f.Gradient(up, d)
			gd, _ := f.Gradient(down, d)
			for i := range s {
				step := math.Max(math.Abs(s[i]), 1) * 1e-5
				steps := make([]float64, len(s))
				steps[i] = step
				hi := at(f, s, steps...)
				steps[i] = -step
				lo := at(f, s, steps...)
				if want := (hi - lo) / (2 * step); math.Abs(g[i]-want) > 1e-5*math.Abs(want)+
					1e-9*math.Abs(at(f, s))/math.Max(math.Abs(s[i]), 1) {
					t.Errorf("%s: derivative %d is %g, want %g", name, i, g[i], want)
				}

				along[i] = (gu[i] - gd[i]) / (2 * h)
				if math.Abs(change[i]-along[i]) > 1e-4*math.Abs(along[i])+1e-8*math.Abs(g[i]) {
					t.Errorf("%s: change of derivative %d is %g, want %g", name, i, change[i], along[i])
				}
			}
		}
	}
}

// exactBetween returns a function's value at each point of the segment from a to b, 0 to 1.
func exactBetween(f Function, a, b []float64) func(l float64) *big.Rat {
	return func(l float64) *big.Rat {
		x := make([]*big.Rat, len(a))
		for i := range x {
			s, e := new(big.Rat).SetFloat64(a[i]), new(big.Rat).SetFloat64(b[i])
			x[i] = s.Add(s, e.Sub(e, s).Mul(e, new(big.Rat).SetFloat64(l)))
		}
		v, _ := f.Exact(x)
		return v
	}
}

// slopesBetween returns the least and greatest slope at the ends of pieces of the segment from a to b.
func slopesBetween(f Function, a, b []float64, pieces int) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	d := make([]float64, len(a))
	for i := range d {
		d[i] = b[i] - a[i]
	}
	for i := range pieces + 1 {
		s := make([]float64, len(a))
		for k := range s {
			s[k] = a[k] + d[k]*float64(i)/float64(pieces)
		}
		g, _ := f.Gradient(s, d)
		v := 0.0
		for k := range g {
			v += g[k] * d[k]
		}
		least, most = math.Min(least, v), math.Max(most, v)
	}
	return least, most
}

// Between any two points of a segment the mean slope, computed exactly, is within the bounds; and the bounds are no
// wider than the slopes that occur by more than 16% of them (0.1 of their range and 0.04 of the largest are allowed by
// design).
func TestSlopeBoundsTheSegment(t *testing.T) {
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(Names()).Draw(t, "function")
		f, _ := Lookup(name)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		centre := rapid.SampledFrom([]float64{0, 300, -20000}).Draw(t, "centre")
		_, from := sumsOf(f, sample(r, 20+r.IntN(200), centre))
		_, to := sumsOf(f, sample(r, 20+r.IntN(200), centre+200*r.Float64()))
		// A span of shares: not the classes alone, but mixtures of them.
		a, b := from, make([]float64, len(from))
		share := 0.2 + 0.8*r.Float64()
		for i := range b {
			b[i] = from[i] + share*(to[i]-from[i])
		}
		lo, hi, err := f.Slope(a, b)
		if err != nil {
			t.Fatalf("%s between %v and %v: %v", name, a, b, err)
		}

		const pieces = 64
		at := exactBetween(f, a, b)
		last := at(0)
		for i := range pieces {
			next := at(float64(i+1) / pieces)
			d := new(big.Rat).Sub(next, last)
			d.Mul(d, big.NewRat(pieces, 1))
			// Roots are rounded to 2^-256, relatively: 2^-60 of a slope is room for that and nothing else.
			slack := new(big.Rat).Mul(new(big.Rat).Abs(d), new(big.Rat).SetFloat64(math.Ldexp(1, -60)))
			if new(big.Rat).Add(d, slack).Cmp(new(big.Rat).SetFloat64(lo)) < 0 ||
				new(big.Rat).Sub(d, slack).Cmp(new(big.Rat).SetFloat64(hi)) > 0 {
				t.Fatalf("%s: slope %s is outside [%g, %g]", name, d.FloatString(12), lo, hi)
			}

			last = next
		}

		least, most := slopesBetween(f, a, b, pieces)
		excess := ((hi - lo) - (most - least)) / (math.Max(math.Abs(most), math.Abs(least)) + most - least + 1e-300)
		worst = math.Max(worst, excess)
		if excess > 0.16 {
			t.Fatalf("%s: slopes [%g, %g] are bounded by [%g, %g]", name, least, most, lo, hi)
		}
	})
	t.Logf("bounds are too wide by at most %.3g of the slopes", worst)
}

// Intervals hold every result of every operation on what they hold, the last bit included.
func TestIntervalsHoldEveryResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-1e6, 1e6), rapid.Just(0.0), rapid.Float64Range(-1e-3, 1e-3))
		draw := func(name string) (interval, *big.Rat) {
			a, b := number.Draw(t, name), number.Draw(t, name)
			x := interval{min(a, b), max(a, b)}
			if rapid.Bool().Draw(t, "thin") {
				x.hi = x.lo
			}
			inside := new(big.Rat).SetFloat64(x.hi)
			lo := new(big.Rat).SetFloat64(x.lo)
			share := big.NewRat(int64(rapid.IntRange(0, 8).Draw(t, "share")), 8)
			return x, lo.Add(lo, share.Mul(share, inside.Sub(inside, lo)))
		}

		x, p := draw("x")
		y, q := draw("y")
		holds := func(op string, r interval, v exact) {
			if math.IsNaN(r.lo) {
				return
			}
			if v.r == nil || v.r.Cmp(new(big.Rat).SetFloat64(r.lo)) < 0 || v.r.Cmp(new(big.Rat).SetFloat64(r.hi)) > 0 {
				t.Fatalf("%s of %v and %v is %v, without %v", op, x, y, r, v.r)
			}
		}

		holds("sum", x.Add(y), exact{p}.Add(exact{q}))
		holds("difference", x.Sub(y), exact{p}.Sub(exact{q}))
		holds("product", x.Mul(y), exact{p}.Mul(exact{q}))
		if y.lo > 0 || y.hi < 0 {
			holds("quotient", x.Div(y), exact{p}.Div(exact{q}))
		} else if r := x.Div(y); !math.IsNaN(r.lo) {
			t.Fatalf("a quotient by zero is %v", r)
		}

		if x.lo > 0 {
			holds("root", x.Sqrt(), exact{p}.Sqrt())
		} else if r := x.Sqrt(); x.lo < 0 && !math.IsNaN(r.lo) {
			t.Fatalf("a root of %v is %v", x, r)
		}
	})
}

func TestSlopeOfWhatIsUndefined(t *testing.T) {
	variance, _ := Lookup("var_samp")
	for _, ends := range [][2][]float64{
		{{0.5, 1, 9}, {20, 30, 90}},          // one row on the way
		{{20, math.NaN(), 9}, {20, 30, 90}},  //
		{{20, 10, math.Inf(1)}, {20, 3, 90}}, //
	} {
		if lo, hi, err := variance.Slope(ends[0], ends[1]); !errors.Is(err, ErrUndefined) {
			t.Errorf("%v: [%g, %g]", ends, lo, hi)
		}
	}
	avg, _ := Lookup("avg")
	if lo, hi, err := avg.Slope([]float64{-1, 3}, []float64{1, 4}); !errors.Is(err, ErrUndefined) {
		t.Errorf("an average over no rows on the way: [%g, %g]", lo, hi)
	}
	stddev, _ := Lookup("stddev_pop")
	if lo, hi, err := stddev.Slope([]float64{10, 10, 10}, []float64{10, 10, 30}); !errors.Is(err, ErrUndefined) {
		t.Errorf("a standard deviation that starts at zero: [%g, %g]", lo, hi)
	}
}
