package aggregate

import (
	"math"
	"math/big"
)

// number is what a function can be evaluated on. What is undefined (a quotient by zero, a root of less than zero) is a
// number too, and makes everything undefined that is computed from it.
type number[T any] interface {
	Add(T) T
	Sub(T) T
	Mul(T) T
	Div(T) T
	Sqrt() T
	Of(x float64) T // the number x
}

// float is a number with rounding; NaN is undefined.
type float float64

func (x float) Add(y float) float  { return x + y }
func (x float) Sub(y float) float  { return x - y }
func (x float) Mul(y float) float  { return x * y }
func (x float) Sqrt() float        { return float(math.Sqrt(float64(x))) }
func (x float) Of(v float64) float { return float(v) }
func (x float) Div(y float) float {
	if y == 0 {
		return float(math.NaN())
	}
	return x / y
}

// exact is a rational number; nil is undefined.
type exact struct{ r *big.Rat }

// rootBits is the precision of roots, relative: far beyond what is published, and the same for all rows that have the
// same sums.
const rootBits = 256

func (x exact) with(y exact, op func(z, x, y *big.Rat) *big.Rat) exact {
	if x.r == nil || y.r == nil {
		return exact{}
	}
	return exact{op(new(big.Rat), x.r, y.r)}
}

func (x exact) Add(y exact) exact { return x.with(y, (*big.Rat).Add) }
func (x exact) Sub(y exact) exact { return x.with(y, (*big.Rat).Sub) }
func (x exact) Mul(y exact) exact { return x.with(y, (*big.Rat).Mul) }
func (x exact) Div(y exact) exact {
	if y.r == nil || y.r.Sign() == 0 {
		return exact{}
	}
	return x.with(y, (*big.Rat).Quo)
}

func (x exact) Sqrt() exact {
	if x.r == nil || x.r.Sign() < 0 {
		return exact{}
	}
	root := new(big.Float).SetPrec(rootBits).SetRat(x.r)
	r, _ := root.Sqrt(root).Rat(nil)
	return exact{r}
}

func (exact) Of(v float64) exact { return exact{new(big.Rat).SetFloat64(v)} }

// interval holds every number of [lo, hi]; its results hold every result, rounding included. NaN is undefined.
type interval struct{ lo, hi float64 }

var nowhere = interval{math.NaN(), math.NaN()}

// outward widens an interval by what rounding to nearest may have taken away.
func outward(lo, hi float64) interval {
	return interval{math.Nextafter(lo, math.Inf(-1)), math.Nextafter(hi, math.Inf(1))}
}

func (x interval) Add(y interval) interval { return outward(x.lo+y.lo, x.hi+y.hi) }
func (x interval) Sub(y interval) interval { return outward(x.lo-y.hi, x.hi-y.lo) }
func (interval) Of(v float64) interval     { return interval{v, v} }

func (x interval) Mul(y interval) interval {
	if zero := (interval{}); x == zero || y == zero { // exactly, and so is the product of what is defined
		return x.Add(y).defined(zero)
	}
	a, b, c, d := x.lo*y.lo, x.lo*y.hi, x.hi*y.lo, x.hi*y.hi
	return outward(min(a, b, c, d), max(a, b, c, d)) // min and max of NaN are NaN
}

func (x interval) Div(y interval) interval {
	if !(y.lo > 0 || y.hi < 0) {
		return nowhere
	}
	a, b, c, d := x.lo/y.lo, x.lo/y.hi, x.hi/y.lo, x.hi/y.hi
	return outward(min(a, b, c, d), max(a, b, c, d))
}

func (x interval) Sqrt() interval {
	if !(x.lo >= 0) {
		return nowhere
	}
	r := outward(math.Sqrt(x.lo), math.Sqrt(x.hi))
	r.lo = max(r.lo, 0)
	return r
}

// defined is v where x is defined.
func (x interval) defined(v interval) interval {
	if math.IsNaN(x.lo) || math.IsNaN(x.hi) || math.IsInf(x.lo, 0) || math.IsInf(x.hi, 0) {
		return nowhere
	}
	return v
}

// hull is the least interval that holds both.
func (x interval) hull(y interval) interval { return interval{min(x.lo, y.lo), max(x.hi, y.hi)} }

// both is what is in x and in y, which both hold what is meant.
func (x interval) both(y interval) interval { return interval{max(x.lo, y.lo), min(x.hi, y.hi)} }

// jet is a number with its derivatives along two directions of the sums: by one, by the other, by both (hyper-dual
// numbers).
type jet[T number[T]] struct{ v, a, b, ab T }

func (x jet[T]) Add(y jet[T]) jet[T] {
	return jet[T]{x.v.Add(y.v), x.a.Add(y.a), x.b.Add(y.b), x.ab.Add(y.ab)}
}

func (x jet[T]) Sub(y jet[T]) jet[T] {
	return jet[T]{x.v.Sub(y.v), x.a.Sub(y.a), x.b.Sub(y.b), x.ab.Sub(y.ab)}
}

func (x jet[T]) Mul(y jet[T]) jet[T] {
	return jet[T]{
		x.v.Mul(y.v),
		x.a.Mul(y.v).Add(x.v.Mul(y.a)),
		x.b.Mul(y.v).Add(x.v.Mul(y.b)),
		x.ab.Mul(y.v).Add(x.a.Mul(y.b)).Add(x.b.Mul(y.a)).Add(x.v.Mul(y.ab)),
	}
}

// Div solves q·y = x for q and its derivatives.
func (x jet[T]) Div(y jet[T]) jet[T] {
	q := x.v.Div(y.v)
	a := x.a.Sub(q.Mul(y.a)).Div(y.v)
	b := x.b.Sub(q.Mul(y.b)).Div(y.v)
	return jet[T]{q, a, b, x.ab.Sub(a.Mul(y.b)).Sub(b.Mul(y.a)).Sub(q.Mul(y.ab)).Div(y.v)}
}

// Sqrt solves r·r = x for r and its derivatives.
func (x jet[T]) Sqrt() jet[T] {
	r := x.v.Sqrt()
	twice := r.Add(r)
	a, b := x.a.Div(twice), x.b.Div(twice)
	ab := a.Mul(b)
	return jet[T]{r, a, b, x.ab.Sub(ab).Sub(ab).Div(twice)}
}

func (x jet[T]) Of(v float64) jet[T] {
	zero := x.v.Of(0)
	return jet[T]{x.v.Of(v), zero, zero, zero}
}
