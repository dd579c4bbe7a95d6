package sensitivity

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"slices"
)

// pencil evaluates determinants and quadratic forms of aP + bQ for two covariance matrices and complex a, b, in time
// proportional to their entries, as far as components meet, and low-rank vectors. Components are scaled so that Q has a
// unit diagonal; ratios of determinants do not notice. It is for one goroutine: it keeps room for its work.
type pencil struct {
	*elimination
	p, q   []float64 // the diagonals, in the order of elimination
	po, qo []float64 // the entries of L's shape
	u      [][]float64
	// u are the vectors of the rank-one terms and, behind them, one whose quadratic form is wanted; wp and wq the
	// terms' weights in P and Q.
	wp, wq   []float64
	mean     bool      // there is a vector whose quadratic form is wanted
	products []float64 // of components that meet no other, u_i·u_j for i ≤ j
	real     room[float64]
	complex  room[complex128]
}

// room is what an evaluation works in.
type room[T float64 | complex128] struct{ diagonal, entries, side, inverse, column, z []T }

func (x *room[T]) of(e *elimination, r int) {
	if x.z == nil {
		m := len(e.order)
		x.diagonal, x.inverse, x.column, x.entries, x.side, x.z = make([]T, m), make([]T, m), make([]T, m), make([]T, len(e.row)), make([]T, m*r), make([]T, r*r)
	}
	clear(x.z)
}

// small is up to how many components rank-one terms are written out. What the blocks have and rank-one terms take away, as of
// counts that are constant, then does not have to cancel, and K is defined wherever the sums are positive definite.
const small = 12

var errNotPositive = errors.New("a covariance is not positive definite")

// newPencil checks that P and Q are finite, symmetric and of one shape. Whether they are positive definite shows when
// they are evaluated. order may be that of an earlier pencil: it is used if it has room for all that meet here.
func newPencil(p, q Covariance, mean []float64, order *elimination) (*pencil, error) {
	m := 0
	if len(p.Blocks) != len(q.Blocks) {
		return nil, fmt.Errorf("covariances of %d and %d blocks", len(p.Blocks), len(q.Blocks))
	}
	for i, b := range p.Blocks {
		c := q.Blocks[i]
		if b.Size < 1 || b.Size != c.Size || len(b.Entries) != b.Size*b.Size || len(c.Entries) != len(b.Entries) {
			return nil, fmt.Errorf("block %d: sizes %d and %d with %d and %d entries", i, b.Size, c.Size, len(b.Entries), len(c.Entries))
		}
		m += b.Size
	}
	if m == 0 || mean != nil && len(mean) != m {
		return nil, fmt.Errorf("covariances of %d components, means of %d", m, len(mean))
	}
	scale := make([]float64, m)
	for k, v := range q.Diagonal() {
		if !(v > 0) {
			return nil, errNotPositive
		}
		scale[k] = 1 / math.Sqrt(v)
	}
	for _, c := range []Covariance{p, q} {
		for _, t := range c.Low {
			if len(t.Vector) != m {
				return nil, fmt.Errorf("a rank-one term of %d entries for %d components", len(t.Vector), m)
			}
		}
		for _, e := range c.Off {
			if e.Row < 0 || e.Row >= e.Col || e.Col >= m {
				return nil, fmt.Errorf("an entry at %d, %d for %d components", e.Row, e.Col, m)
			}
		}
	}
	x := &pencil{}
	if m <= small {
		p, q = p.Whole(), q.Whole()
	}
	if err := x.place(p, q, scale, order); err != nil {
		return nil, err
	}
	for _, side := range []struct {
		low []RankOne
		p   float64
	}{{p.Low, 1}, {q.Low, 0}} {
		for _, t := range side.low {
			x.add(t, scale, side.p)
		}
	}
	if mean != nil {
		x.mean = true
		x.u = append(x.u, x.scaled(mean, scale))
	}
	for _, list := range append([][]float64{x.p, x.q, x.po, x.qo, x.wp, x.wq}, x.u...) {
		for _, v := range list {
			if !finite(v) {
				return nil, errors.New("a covariance or mean is not finite")
			}
		}
	}
	for k := range x.alone {
		for i, u := range x.u {
			for _, v := range x.u[i:] {
				x.products = append(x.products, u[k]*v[k])
			}
		}
	}
	return x, nil
}

// scaled brings a vector into the pencil's coordinates.
func (x *pencil) scaled(v, scale []float64) []float64 {
	out := make([]float64, len(v))
	for i, k := range x.order {
		out[i] = v[k] * scale[k]
	}
	return out
}

// place puts the entries of P and Q where the elimination wants them.
func (x *pencil) place(p, q Covariance, scale []float64, order *elimination) error {
	m := len(scale)
	diagonal := [2][]float64{make([]float64, m), make([]float64, m)}
	var meet [][2]int
	var values [][2]float64
	base := 0
	for i, b := range p.Blocks {
		c := q.Blocks[i]
		for j := range b.Size {
			k := base + j
			o := j * (b.Size + 1)
			diagonal[0][k], diagonal[1][k] = scale[k]*scale[k]*b.Entries[o], scale[k]*scale[k]*c.Entries[o]
			for l := j + 1; l < b.Size; l++ {
				s := scale[k] * scale[base+l]
				o, t := j*b.Size+l, l*b.Size+j
				if math.Abs(b.Entries[t]-b.Entries[o])*s > 1e-12 || math.Abs(c.Entries[t]-c.Entries[o])*s > 1e-12 {
					return fmt.Errorf("block %d is not symmetric", i)
				}
				if b.Entries[o] != 0 || c.Entries[o] != 0 {
					meet, values = append(meet, [2]int{k, base + l}), append(values, [2]float64{s * b.Entries[o], s * c.Entries[o]})
				}
			}
		}
		base += b.Size
	}
	for i, off := range [][]Entry{p.Off, q.Off} {
		for _, e := range off {
			v := [2]float64{}
			v[i] = scale[e.Row] * scale[e.Col] * e.Value
			meet, values = append(meet, [2]int{e.Row, e.Col}), append(values, v)
		}
	}
	if !order.holds(m, meet) {
		order = newElimination(m, meet)
	}
	x.elimination = order
	x.p, x.q, x.po, x.qo = make([]float64, m), make([]float64, m), make([]float64, len(order.row)), make([]float64, len(order.row))
	for i, k := range order.order {
		x.p[i], x.q[i] = diagonal[0][k], diagonal[1][k]
	}
	for i, v := range values {
		at := order.at(meet[i][0], meet[i][1])
		x.po[at] += v[0]
		x.qo[at] += v[1]
	}
	return nil
}

// add takes in a rank-one term of P (side 1) or Q (side 0); terms that share their vector become one.
func (x *pencil) add(t RankOne, scale []float64, side float64) {
	v := x.scaled(t.Vector, scale)
	zero := true
	for _, c := range v {
		zero = zero && c == 0
	}
	if zero || t.Weight == 0 {
		return
	}
	i := slices.IndexFunc(x.u, func(u []float64) bool { return slices.Equal(u, v) })
	if i < 0 {
		i = len(x.u)
		x.u, x.wp, x.wq = append(x.u, v), append(x.wp, 0), append(x.wq, 0)
	}
	x.wp[i] += side * t.Weight
	x.wq[i] += (1 - side) * t.Weight
}

// cancelled is the least share of its summands that a sum may be: below it too many digits are lost.
const cancelled = 1e-7

// logDet returns ln det(aP + bQ) and the quadratic form of its inverse at mean, for a, b for which the real part of
// aP + bQ is positive definite; ok is false where it finds that it is not, or cannot tell for rounding. The logarithm is
// the one that is real for real a and b, and analytic.
//
// A complex symmetric matrix with positive definite real part has factors LDLᵀ without pivoting, its Schur complements
// have the same property, and growth is bounded [George, Ikramov & Kucherov, "On the Growth Factor in Gaussian
// Elimination for Generalized Higham Matrices", 2002]. So all pivots of the blocks have positive real parts, and the
// sum of their principal logarithms is the analytic branch. The rank-one terms follow by the determinant lemma, those
// whose weights have positive real parts first: then the real part R of every partial sum M is positive definite.
// No factor 1 + w uᵀM⁻¹u is a real -x ≤ 0: else M + w/(1+x)·uuᵀ would be singular, while its real part lies between R and
// R + Re(w)uuᵀ, both positive definite. So their principal logarithms are on the same branch as well.
func (x *pencil) logDet(a, b complex128) (logdet, quad complex128, ok bool) {
	if imag(a) == 0 && imag(b) == 0 {
		d, q, ok := x.realLogDet(real(a), real(b))
		return complex(d, 0), complex(q, 0), ok
	}
	r := len(x.u)
	w := &x.complex
	w.of(x.elimination, r)
	var size winding
	size.z = 1
	times := func(d complex128) bool {
		size.times(d)
		return real(d) > 0
	}

	// Components that meet no other, in real numbers: it is most of the work where there are many.
	pairs := r * (r + 1) / 2
	sums := make([]complex128, pairs) // u_iᵀ M⁻¹ u_j, i ≤ j
	for k := range x.alone {
		re, im := real(a)*x.p[k]+real(b)*x.q[k], imag(a)*x.p[k]+imag(b)*x.q[k]
		if !times(complex(re, im)) {
			return 0, 0, false
		}
		n := 1 / (re*re + im*im)
		re, im = re*n, -im*n
		for i, v := range x.products[k*pairs : (k+1)*pairs] {
			sums[i] += complex(v*re, v*im)
		}
	}

	for k := x.alone; k < len(x.order); k++ {
		w.diagonal[k] = a*complex(x.p[k], 0) + b*complex(x.q[k], 0)
		for i, u := range x.u {
			w.side[k*r+i] = complex(u[k], 0)
		}
	}
	for i, v := range x.po {
		w.entries[i] = a*complex(v, 0) + b*complex(x.qo[i], 0)
	}
	if !linked(x.elimination, w, r, sums, times) {
		return 0, 0, false
	}

	logdet = size.log()
	weights := make([]complex128, len(x.wp))
	for i := range weights {
		weights[i] = a*complex(x.wp[i], 0) + b*complex(x.wq[i], 0)
	}
	unfold(w.z, sums, r)
	ok = updated(w.z, r, weights, func(w complex128) float64 { return real(w) }, func(f, by complex128) bool {
		logdet += cmplx.Log(f)
		return cmplx.Abs(f) > cancelled*(1+cmplx.Abs(by)) && (imag(f) != 0 || real(f) > 0)
	})
	if x.mean {
		quad = w.z[r*r-1]
	}
	finite := !cmplx.IsNaN(logdet) && !cmplx.IsInf(logdet) && !cmplx.IsNaN(quad) && !cmplx.IsInf(quad)
	return logdet, quad, ok && finite
}

// realLogDet is logDet for real a and b, in a fraction of the time.
func (x *pencil) realLogDet(a, b float64) (logdet, quad float64, ok bool) {
	r := len(x.u)
	w := &x.real
	w.of(x.elimination, r)
	product := 1.
	times := func(d float64) bool { // a logarithm now and then, before the product leaves the range of numbers
		if product *= d; !(product > 1e-100 && product < 1e100) {
			logdet += math.Log(product)
			product = 1
		}
		return d > 0
	}

	pairs := r * (r + 1) / 2
	sums := make([]float64, pairs)
	for k := range x.alone {
		d := a*x.p[k] + b*x.q[k]
		if !times(d) {
			return 0, 0, false
		}
		d = 1 / d
		for i, v := range x.products[k*pairs : (k+1)*pairs] {
			sums[i] += v * d
		}
	}

	for k := x.alone; k < len(x.order); k++ {
		w.diagonal[k] = a*x.p[k] + b*x.q[k]
		for i, u := range x.u {
			w.side[k*r+i] = u[k]
		}
	}
	for i, v := range x.po {
		w.entries[i] = a*v + b*x.qo[i]
	}
	if !linked(x.elimination, w, r, sums, times) {
		return 0, 0, false
	}

	logdet += math.Log(product)
	weights := make([]float64, len(x.wp))
	for i := range weights {
		weights[i] = a*x.wp[i] + b*x.wq[i]
	}
	unfold(w.z, sums, r)
	ok = updated(w.z, r, weights, func(w float64) float64 { return w }, func(f, by float64) bool {
		logdet += math.Log(f)
		return f > cancelled*(1+math.Abs(by))
	})
	if x.mean {
		quad = w.z[r*r-1]
	}
	return logdet, quad, ok && finite(logdet) && finite(quad)
}

// linked eliminates the components that meet others, hands on their pivots, and adds to sums what they are of the side;
// false if a pivot is refused.
func linked[T float64 | complex128](e *elimination, w *room[T], r int, sums []T, pivot func(T) bool) bool {
	if e.alone == len(e.order) {
		return true
	}
	factor(e, w.diagonal, w.entries, w.side, r, w.inverse, w.column)
	for k := e.alone; k < len(e.order); k++ {
		if !pivot(w.diagonal[k]) {
			return false
		}
		n, side := 0, w.side[k*r:(k+1)*r]
		for i, s := range side {
			s *= w.inverse[k]
			for _, t := range side[i:] {
				sums[n] += s * t
				n++
			}
		}
	}
	return true
}

// updated adds rank-one terms of the given weights to a matrix M of which z holds u_iᵀM⁻¹u_j, those of positive real
// parts first, and hands on the factor 1 + w uᵀM⁻¹u by which each changes the determinant, and what was added to 1; false
// if a factor is refused.
func updated[T float64 | complex128](z []T, r int, weights []T, re func(T) float64, factor func(f, by T) bool) bool {
	for _, positive := range []bool{true, false} {
		for i, w := range weights {
			if re(w) >= 0 != positive || w == 0 {
				continue
			}
			by := w * z[i*r+i]
			f := 1 + by
			if !factor(f, by) {
				return false
			}
			lower(z, r, i, w/f)
		}
	}
	return true
}

// unfold writes an upper triangle out.
func unfold[T float64 | complex128](z, upper []T, r int) {
	n := 0
	for i := range r {
		for j := i; j < r; j++ {
			z[i*r+j], z[j*r+i] = upper[n], upper[n]
			n++
		}
	}
}

// lower takes g·z_i z_iᵀ from z.
func lower[T float64 | complex128](z []T, r, i int, g T) {
	row := append([]T(nil), z[i*r:(i+1)*r]...)
	for j := range r {
		f := g * row[j]
		for k := range r {
			z[j*r+k] -= f * row[k]
		}
	}
}
