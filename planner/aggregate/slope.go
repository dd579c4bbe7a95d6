package aggregate

import (
	"errors"
	"math"
)

// ErrUndefined says that a function is not defined everywhere on a segment as far as can be told: a denominator or the
// argument of a root comes near 0 there, or an end of the segment is no number.
var ErrUndefined = errors.New("the aggregate is not defined on the whole of the segment")

// Slope bounds dφ/dλ along the segment from + λ(to-from): lo ≤ dφ/dλ ≤ hi for every λ in [0,1], rounding included. The
// error is ErrUndefined; then the bounds mean nothing.
//
// Where the slope is monotone the ends of the segment say it all: for one sum, and for a quotient of two, whose slope
// is (s₁c₀ - s₀c₁)/c(λ)². Otherwise the segment is cut into pieces. On a piece about λ₀ of half the length w the slope
// is in
//
//	φ'(λ₀) + [-w,w]·φ''(piece)   and in   φ'(piece),
//
// the derivatives taken by the rules of differentiation in interval arithmetic [Moore, Interval Analysis, 1966, the
// mean value form]. Sums are moved to an origin near the piece's own mean first, so that second moments do not cancel.
// Pieces are halved until their bounds stay close to the slopes that do occur.
func (f Function) Slope(from, to []float64) (lo, hi float64, err error) {
	ends := f.on(from, to, 0, 0).a.hull(f.on(from, to, 1, 1).a)
	if f.monotone {
		// Where the slope has bounds on the whole, no denominator vanishes on the way.
		return f.on(from, to, 0, 1).a.defined(ends).bounds()
	}
	for i := range probes {
		ends = ends.hull(f.on(from, to, float64(i)/probes, float64(i)/probes).a)
	}
	room := 0.05*(ends.hi-ends.lo) + 0.02*math.Max(math.Abs(ends.lo), math.Abs(ends.hi))
	s := f.pieces(from, to, 0, 1, 0, interval{ends.lo - room, ends.hi + room})
	return s.bounds()
}

// bounds are the interval's ends; ErrUndefined: they are none.
func (x interval) bounds() (lo, hi float64, err error) {
	if !finite(x.lo) || !finite(x.hi) {
		err = ErrUndefined
	}
	return x.lo, x.hi, err
}

const (
	probes     = 8  // slopes that show what bound is close
	closeDepth = 8  // of pieces that are halved for a closer bound
	maxDepth   = 10 // of pieces on which there is no bound yet
)

// pieces bounds the slope on [a,b] of the segment, by no more than close if it can.
func (f Function) pieces(from, to []float64, a, b float64, depth int, close interval) interval {
	mid := a + (b-a)/2
	piece, point := f.on(from, to, a, b), f.on(from, to, mid, mid)
	w := math.Max(b-mid, mid-a) // exact: a, b and mid are multiples of 2^-11
	s := piece.a.both(point.a.Add(piece.ab.Mul(interval{-w, w})))
	if depth == maxDepth || s.lo >= close.lo && s.hi <= close.hi || depth >= closeDepth && !math.IsNaN(s.lo) &&
		!math.IsNaN(s.hi) {
		return s
	}
	left := f.pieces(from, to, a, mid, depth+1, close)
	if math.IsNaN(left.lo) {
		return left
	}
	return left.hull(f.pieces(from, to, mid, b, depth+1, close))
}

// on evaluates φ with its first and second derivative by λ on [a,b] of the segment.
func (f Function) on(from, to []float64, a, b float64) jet[interval] {
	l := f.line(from, to, a+(b-a)/2, f.Second())
	var p point[jet[interval]]
	p.x, p.y = p.x.Of(l.x), p.y.Of(l.y)
	for _, k := range f.Sums { // φ reads no other
		p.s[k], p.mean[k] = l.sum(k, a, b), l.mean(k, a, b)
	}
	return evaluate(f.Name, &p)
}

// Weight bounds the size of a derivative of φ by a sum on a whole segment, and those of its own first and second
// derivative by λ.
type Weight [3]float64

// Weights returns a Weight for each of a function's sums about an origin near the middle of the segment, and what each
// of these is of the sums about the arguments' own: moved[i]·s. The error is ErrUndefined; then the weights bound
// nothing, and moved holds.
func (f Function) Weights(from, to []float64) (weights []Weight, moved [][]float64, err error) {
	if f.Linear() { // φ is the sum itself
		return []Weight{{1, 0, 0}}, [][]float64{{1}}, nil
	}
	l := f.line(from, to, 0.5, true)
	inverse := l.sum(N, 0, 1).Of(1).Div(l.sum(N, 0, 1))
	var all point[jet[jet[interval]]]
	all.x, all.y = all.x.Of(l.x), all.y.Of(l.y)
	for _, k := range f.Sums { // φ reads no other
		all.s[k].v, all.mean[k].v = l.sum(k, 0, 1), l.mean(k, 0, 1)
	}

	for _, by := range f.Sums {
		// φ with its derivative by one sum, each with its first and second derivative by λ.
		p := all
		p.s[by].b, p.mean[by].b = inverse.Of(1), inverse
		if by == N {
			for _, k := range f.Sums {
				p.mean[k].b = p.mean[k].b.Sub(p.mean[k].v.Mul(inverse))
			}
		}

		d := evaluate(f.Name, &p).b
		w := Weight{d.v.size(), d.a.size(), d.ab.size()}
		if !finite(w[0]) || !finite(w[1]) || !finite(w[2]) {
			err = ErrUndefined
		}
		weights, moved = append(weights, w), append(moved, f.moved(by, l.x, l.y))
	}
	return weights, moved, err
}

// moved writes a sum about (x, y) as a combination of the sums about the origin.
func (f Function) moved(s Sum, x, y float64) []float64 {
	parts := map[Sum]map[Sum]float64{
		N: {N: 1}, X: {X: 1, N: -x}, Y: {Y: 1, N: -y},
		XX: {XX: 1, X: -2 * x, N: x * x}, XY: {XY: 1, X: -y, Y: -x, N: x * y}, YY: {YY: 1, Y: -2 * y, N: y * y},
	}
	out := make([]float64, len(f.Sums))
	for i, k := range f.Sums {
		out[i] = parts[s][k]
	}
	return out
}

// size is the largest absolute value in x.
func (x interval) size() float64 { return max(math.Abs(x.lo), math.Abs(x.hi)) }

// line is a segment of sums about (x, y).
type line struct {
	ends [2][sums]interval
	x, y float64
}

// line returns the segment about the origin or, if that is wanted, about its own mean at λ.
func (f Function) line(from, to []float64, at float64, centred bool) *line {
	l := &line{}
	for i, s := range [][]float64{from, to} {
		for k, sum := range f.Sums {
			l.ends[i][sum] = interval{s[k], s[k]}
		}
	}
	if centred {
		at := func(k Sum) float64 { return l.ends[0][k].lo + at*(l.ends[1][k].lo-l.ends[0][k].lo) }
		if n := at(N); n > 0 {
			l.x, l.y = at(X)/n, at(Y)/n
		}
		move(&l.ends[0], l.x, l.y)
		move(&l.ends[1], l.x, l.y)
	}
	return l
}

// sum is a sum on [a,b] of the segment.
func (l *line) sum(k Sum, a, b float64) jet[interval] { return l.ends[0][k].along(l.ends[1][k], a, b) }

// mean is s/n on [a,b] of the segment. Both are affine in λ: with κ = s'n - s n', which is constant,
//
//	u' = κ/n²,  u'' = -2κ n'/n³,
//
// so that u is monotone, and a change of n alone moves no mean.
func (l *line) mean(k Sum, a, b float64) jet[interval] {
	n := l.sum(N, a, b)
	κ := l.sum(k, a, b).a.Mul(l.ends[0][N]).Sub(l.ends[0][k].Mul(n.a))
	u := jet[interval]{v: l.sum(k, a, a).v.Div(l.sum(N, a, a).v).hull(l.sum(k, b, b).v.Div(l.sum(N, b, b).v))}
	u.a = κ.Div(n.v).Div(n.v)
	u.b = u.a
	u.ab = u.a.Mul(n.a).Mul(interval{-2, -2}).Div(n.v)
	return u
}

// along is a sum on [a,b] of the segment from x to y.
func (x interval) along(y interval, a, b float64) jet[interval] {
	d := y.Sub(x)
	return jet[interval]{v: x.Add(d.Mul(interval{a, a})).hull(x.Add(d.Mul(interval{b, b}))), a: d, b: d}
}

// move takes sums about the origin to sums about (x, y): of (x_i-x)(y_i-y) and so on.
func move(s *[sums]interval, x, y float64) {
	c := [sums]interval{X: {x, x}, Y: {y, y}}
	product := func(xy, x, y Sum) interval {
		return s[xy].Sub(c[x].Mul(s[y])).Sub(c[y].Mul(s[x])).Add(c[x].Mul(c[y]).Mul(s[N]))
	}
	s[XX], s[XY], s[YY] = product(XX, X, X), product(XY, X, Y), product(YY, Y, Y)
	s[X], s[Y] = s[X].Sub(c[X].Mul(s[N])), s[Y].Sub(c[Y].Mul(s[N]))
}
