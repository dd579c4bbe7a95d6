package sensitivity

import (
	"math"
	"math/cmplx"
)

// room is what an evaluation works in.
type room[T float64 | complex128] struct{ diagonal, entries, side, inverse, column, z []T }

func (x *room[T]) of(e *elimination, r int) {
	if x.z == nil {
		m := len(e.order)
		x.diagonal, x.inverse, x.column = make([]T, m), make([]T, m), make([]T, m)
		x.entries, x.side, x.z = make([]T, len(e.row)), make([]T, m*r), make([]T, r*r)
	}
	clear(x.z)
}

// cancelled is the least share of its summands that a sum may be: below it too many digits are lost.
const cancelled = 1e-7

// logDet returns ln det(aP + bQ) and the quadratic form of its inverse at mean, for a, b for which the real part of
// aP + bQ is positive definite; ok is false where it finds that it is not, or cannot tell for rounding. The logarithm
// is the one that is real for real a and b, and analytic.
//
// A complex symmetric matrix with positive definite real part has factors LDLᵀ without pivoting, its Schur complements
// have the same property, and growth is bounded [George, Ikramov & Kucherov, "On the Growth Factor in Gaussian
// Elimination for Generalized Higham Matrices", 2002]. So all pivots of the blocks have positive real parts, and the
// sum of their principal logarithms is the analytic branch. The rank-one terms follow by the determinant lemma, those
// whose weights have positive real parts first: then the real part R of every partial sum M is positive definite.
// No factor 1 + w uᵀM⁻¹u is a real -x ≤ 0: else M + w/(1+x)·uuᵀ would be singular, while its real part lies between R
// and R + Re(w)uuᵀ, both positive definite. So their principal logarithms are on the same branch as well.
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

	number := func(v float64) complex128 { return complex(v, 0) }
	mixed := func(p, q float64) complex128 { return a*complex(p, 0) + b*complex(q, 0) }
	if !linked(x, w, sums, number, mixed, times) {
		return 0, 0, false
	}

	logdet = size.log()
	re := func(w complex128) float64 { return real(w) }
	quad, ok = updated(x, w.z, sums, mixed, re, func(f, by complex128) bool {
		logdet += cmplx.Log(f)
		return cmplx.Abs(f) > cancelled*(1+cmplx.Abs(by)) && (imag(f) != 0 || real(f) > 0)
	})

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

	// Components that meet no other, see logDet.
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

	number := func(v float64) float64 { return v }
	mixed := func(p, q float64) float64 { return a*p + b*q }
	if !linked(x, w, sums, number, mixed, times) {
		return 0, 0, false
	}

	logdet += math.Log(product)
	quad, ok = updated(x, w.z, sums, mixed, number, func(f, by float64) bool {
		logdet += math.Log(f)
		return f > cancelled*(1+math.Abs(by))
	})
	return logdet, quad, ok && finite(logdet) && finite(quad)
}

// linked eliminates the components that meet others from aP + bQ, whose entries mixed makes of P's and Q's. It hands on
// their pivots, and adds to sums what they are of uᵢᵀM⁻¹uⱼ; false if a pivot is refused.
func linked[T float64 | complex128](x *pencil, w *room[T], sums []T, number func(float64) T,
	mixed func(p, q float64) T, pivot func(T) bool) bool {
	if x.alone == len(x.order) {
		return true
	}
	r := len(x.u)
	for k := x.alone; k < len(x.order); k++ {
		w.diagonal[k] = mixed(x.p[k], x.q[k])
		for i, u := range x.u {
			w.side[k*r+i] = number(u[k])
		}
	}

	for i, v := range x.po {
		w.entries[i] = mixed(v, x.qo[i])
	}

	// L⁻¹ of the side, column by column, is all that quadratic forms need.
	factor(x.elimination, w.diagonal, w.entries, w.side, r, w.inverse, w.column)
	for k := x.alone; k < len(x.order); k++ {
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

// updated adds the rank-one terms to the matrix M of which sums holds uᵢᵀM⁻¹uⱼ, those whose weights have positive real
// parts first, and hands on the factor 1 + w uᵀM⁻¹u by which each changes the determinant, and what was added to 1. It
// returns the quadratic form at mean; false if a factor is refused. z is room for it.
func updated[T float64 | complex128](x *pencil, z, sums []T, mixed func(p, q float64) T, re func(T) float64,
	factor func(f, by T) bool) (quad T, ok bool) {
	r := len(x.u)
	unfold(z, sums, r)

	// Terms that add are taken before those that subtract, so that the matrix stays positive definite on the way.
	for _, positive := range []bool{true, false} {
		for i := range x.wp {
			w := mixed(x.wp[i], x.wq[i])
			if re(w) >= 0 != positive || w == 0 {
				continue
			}
			by := w * z[i*r+i]
			f := 1 + by
			if !factor(f, by) {
				return 0, false
			}
			lower(z, r, i, w/f)
		}
	}

	if x.mean {
		quad = z[r*r-1]
	}
	return quad, true
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
