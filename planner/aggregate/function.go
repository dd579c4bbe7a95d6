package aggregate

import (
	"maps"
	"math"
	"math/big"
	"slices"
)

// Sum is a sum over the rows in which no argument is NULL. The arguments are those of PostgreSQL's two-argument
// aggregates, f(y, x); an aggregate with one argument is over x.
type Sum int

const (
	N    Sum = iota // of 1: how many rows there are
	X               // of x
	Y               // of y
	XX              // of x²
	XY              // of xy
	YY              // of y²
	sums            // how many there are
)

// Degree is how many factors x or y a term of the sum has.
func (s Sum) Degree() int { return [sums]int{0, 1, 1, 2, 2, 2}[s] }

// Function is one of PostgreSQL's aggregates.
type Function struct {
	Name      string
	Arguments int   // 2, or at most 1
	Sums      []Sum // what it is a function of: the order of all slices of sums here

	// Extensive functions are 0 over no rows; the others are undefined there.
	Extensive bool

	monotone  bool    // its slope is monotone along every segment of sums on which N > 0
	low, high float64 // within which all its values lie
}

var functions = func() map[string]Function {
	out := map[string]Function{}
	add := func(arguments int, sums []Sum, low, high float64, names ...string) {
		for _, name := range names {
			out[name] = Function{Name: names[0], Arguments: arguments, Sums: sums, low: low, high: high}
		}
	}
	const most = 1e300 // fits double precision; nothing that is published is larger
	variance, product, line, all := []Sum{N, X, XX}, []Sum{N, X, Y, XY}, []Sum{N, X, Y, XX, XY},
		[]Sum{N, X, Y, XX, XY, YY}
	add(1, []Sum{N}, 0, most, "count")
	add(1, []Sum{X}, -most, most, "sum")
	add(1, []Sum{N, X}, -most, most, "avg")
	add(1, variance, 0, most, "var_samp", "variance")
	add(1, variance, 0, most, "var_pop")
	add(1, variance, 0, most, "stddev_samp", "stddev")
	add(1, variance, 0, most, "stddev_pop")
	add(2, []Sum{N}, 0, most, "regr_count")
	add(2, []Sum{N, X}, -most, most, "regr_avgx")
	add(2, []Sum{N, Y}, -most, most, "regr_avgy")
	add(2, variance, 0, most, "regr_sxx")
	add(2, []Sum{N, Y, YY}, 0, most, "regr_syy")
	add(2, product, -most, most, "covar_samp")
	add(2, product, -most, most, "covar_pop")
	add(2, product, -most, most, "regr_sxy")
	add(2, line, -most, most, "regr_slope")
	add(2, line, -most, most, "regr_intercept")
	add(2, all, -1, 1, "corr")
	add(2, all, 0, 1, "regr_r2")
	for _, name := range []string{"count", "sum", "avg", "regr_count", "regr_avgx", "regr_avgy"} {
		f := out[name]
		f.monotone = true
		out[name] = f
	}
	for _, name := range []string{"count", "sum", "regr_count", "regr_sxx", "regr_syy", "regr_sxy"} {
		f := out[name]
		f.Extensive = true
		out[name] = f
	}
	return out
}()

// Lookup finds a function by a name that it has in PostgreSQL; false: no function is called so. Its Name is the same
// for all of its names.
func Lookup(name string) (Function, bool) {
	f, ok := functions[name]
	return f, ok
}

// Names lists the functions.
func Names() []string { return slices.Sorted(maps.Keys(functions)) }

// Linear reports whether f is one of its sums itself.
func (f Function) Linear() bool { return len(f.Sums) == 1 }

// Second reports whether f is made of second moments.
func (f Function) Second() bool { return f.Sums[len(f.Sums)-1].Degree() == 2 }

// point is where a function is evaluated.
type point[T number[T]] struct {
	s    [sums]T // the sums, about the origin (x, y), which the arguments' own is moved to
	mean [sums]T // s/n
	x, y T
}

// at makes a point of sums in the order of f.Sums, about the arguments' own origin. What f does not depend on is 0.
func at[T number[T]](f Function, sum func(i int) T) *point[T] {
	p := &point[T]{}
	for i := range p.s {
		p.s[i] = p.s[i].Of(0)
	}
	p.x, p.y = p.s[N], p.s[N]
	for i, s := range f.Sums {
		p.s[s] = sum(i)
	}
	for i := range p.mean {
		p.mean[i] = p.s[i].Div(p.s[N])
	}
	return p
}

// central is the mean of (x_i-x̄)(y_i-ȳ). It does not depend on the origin.
func (p *point[T]) central(xy, x, y Sum) T { return p.mean[xy].Sub(p.mean[x].Mul(p.mean[y])) }

// evaluate is the function.
func evaluate[T number[T]](name string, p *point[T]) T {
	n := p.s[N]

	// of a population's variance: v n/(n-1), with n in it once
	sample := func(v T) T { return v.Add(v.Div(n.Sub(n.Of(1)))) }
	slope := func() T { return p.central(XY, X, Y).Div(p.central(XX, X, X)) }
	switch name {
	case "count", "regr_count":
		return n
	case "sum":
		return p.s[X]
	case "avg", "regr_avgx":
		return p.x.Add(p.mean[X])
	case "regr_avgy":
		return p.y.Add(p.mean[Y])
	case "var_samp":
		return sample(p.central(XX, X, X))
	case "var_pop":
		return p.central(XX, X, X)
	case "stddev_samp":
		return sample(p.central(XX, X, X)).Sqrt()
	case "stddev_pop":
		return p.central(XX, X, X).Sqrt()
	case "covar_samp":
		return sample(p.central(XY, X, Y))
	case "covar_pop":
		return p.central(XY, X, Y)
	case "regr_sxx":
		return n.Mul(p.central(XX, X, X))
	case "regr_syy":
		return n.Mul(p.central(YY, Y, Y))
	case "regr_sxy":
		return n.Mul(p.central(XY, X, Y))
	case "regr_slope":
		return slope()
	case "regr_intercept":
		return p.y.Add(p.mean[Y]).Sub(slope().Mul(p.x.Add(p.mean[X])))
	case "corr":
		return p.central(XY, X, Y).Div(p.central(XX, X, X).Sqrt().Mul(p.central(YY, Y, Y).Sqrt()))
	case "regr_r2":
		return slope().Mul(p.central(XY, X, Y).Div(p.central(YY, Y, Y)))
	}
	return n.Of(0).Div(n.Of(0))
}

// Exact returns φ(s), and whether it is defined; where it is not, SQL has NULL. It is PostgreSQL's value, but for the
// rounding of roots beyond 70 digits.
func (f Function) Exact(s []*big.Rat) (*big.Rat, bool) {
	p := at(f, func(i int) exact { return exact{s[i]} })
	v := evaluate(f.Name, p)
	if f.Name == "regr_r2" && v.r == nil { // of points on a level line (SQL:2003, 10.9)
		if yy, xx := p.central(YY, Y, Y).r, p.central(XX, X, X).r; yy != nil && yy.Sign() == 0 && xx.Sign() > 0 {
			return big.NewRat(1, 1), true
		}
	}
	if v.r == nil {
		return nil, false
	}
	if low := new(big.Rat).SetFloat64(f.low); v.r.Cmp(low) < 0 {
		return low, true
	}
	if high := new(big.Rat).SetFloat64(f.high); v.r.Cmp(high) > 0 {
		return high, true
	}
	return v.r, true
}

// Value returns φ(s), NaN where it is undefined.
func (f Function) Value(s []float64) float64 {
	return float64(evaluate(f.Name, at(f, func(i int) float { return float(s[i]) })))
}

// Gradient returns ∂φ/∂s at s, and its change along d, Σ_j d_j ∂²φ/∂s∂s_j. Entries are NaN where φ is undefined.
func (f Function) Gradient(s, d []float64) (gradient, change []float64) {
	gradient, change = make([]float64, len(s)), make([]float64, len(s))
	for i := range s {
		v := evaluate(f.Name, at(f, func(j int) jet[float] {
			x := jet[float]{v: float(s[j]), a: float(d[j])}
			if i == j {
				x.b = 1
			}
			return x
		}))
		gradient[i], change[i] = float64(v.b), float64(v.ab)
	}
	return gradient, change
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
