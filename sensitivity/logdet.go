package sensitivity

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
)

// pencil evaluates determinants and quadratic forms of aP + bQ for two covariance matrices and complex a, b, in time
// proportional to their blocks and low-rank vectors. Components are scaled so that Q has a unit diagonal; ratios of
// determinants do not notice.
type pencil struct {
	sizes  []int
	p, q   []float64   // the blocks' entries, one block after the other
	u      [][]float64 // vectors of the rank-one terms
	wp, wq []float64   // their weights in P and Q
	mean   []float64   // a vector whose quadratic form is wanted; nil: none
	wide   int         // the largest block
}

var errNotPositive = errors.New("a covariance is not positive definite")

// newPencil checks that P and Q are finite, symmetric and of one shape. Whether they are positive definite shows when
// they are evaluated.
func newPencil(p, q Covariance, mean []float64) (*pencil, error) {
	m := 0
	if len(p.Blocks) != len(q.Blocks) {
		return nil, fmt.Errorf("covariances of %d and %d blocks", len(p.Blocks), len(q.Blocks))
	}
	x := &pencil{}
	for i, b := range p.Blocks {
		c := q.Blocks[i]
		if b.Size < 1 || b.Size != c.Size || len(b.Entries) != b.Size*b.Size || len(c.Entries) != len(b.Entries) {
			return nil, fmt.Errorf("block %d: sizes %d and %d with %d and %d entries", i, b.Size, c.Size, len(b.Entries), len(c.Entries))
		}
		x.sizes = append(x.sizes, b.Size)
		x.wide = max(x.wide, b.Size)
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
	base := 0
	for i, b := range p.Blocks {
		c := q.Blocks[i]
		for j := range b.Size {
			for l := range b.Size {
				s := scale[base+j] * scale[base+l]
				x.p = append(x.p, s*b.Entries[j*b.Size+l])
				x.q = append(x.q, s*c.Entries[j*b.Size+l])
				if o := l*b.Size + j; math.Abs(b.Entries[o]-b.Entries[j*b.Size+l])*s > 1e-12 || math.Abs(c.Entries[o]-c.Entries[j*b.Size+l])*s > 1e-12 {
					return nil, fmt.Errorf("block %d is not symmetric", i)
				}
			}
		}
		base += b.Size
	}
	for _, side := range []struct {
		low []RankOne
		p   float64
	}{{p.Low, 1}, {q.Low, 0}} {
		for _, t := range side.low {
			if len(t.Vector) != m {
				return nil, fmt.Errorf("a rank-one term of %d entries for %d components", len(t.Vector), m)
			}
			x.add(t, scale, side.p)
		}
	}
	if mean != nil {
		x.mean = make([]float64, m)
		for k, v := range mean {
			x.mean[k] = v * scale[k]
		}
	}
	for _, list := range append([][]float64{x.p, x.q, x.wp, x.wq, x.mean}, x.u...) {
		for _, v := range list {
			if !finite(v) {
				return nil, errors.New("a covariance or mean is not finite")
			}
		}
	}
	return x, nil
}

// add takes in a rank-one term of P (side 1) or Q (side 0); terms that share their vector become one.
func (x *pencil) add(t RankOne, scale []float64, side float64) {
	v := make([]float64, len(t.Vector))
	zero := true
	for k := range v {
		v[k] = t.Vector[k] * scale[k]
		zero = zero && v[k] == 0
	}
	if zero || t.Weight == 0 {
		return
	}
	i := 0
	for ; i < len(x.u); i++ {
		same := true
		for k := range v {
			if v[k] != x.u[i][k] {
				same = false
				break
			}
		}
		if same {
			break
		}
	}
	if i == len(x.u) {
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
	n := len(x.u)
	r := n
	if x.mean != nil {
		r++
	}
	column := func(j int) []float64 {
		if j < n {
			return x.u[j]
		}
		return x.mean
	}
	z := make([]complex128, r*r) // z[i][j] = u_iᵀ M⁻¹ u_j, i ≤ j
	block := make([]complex128, x.wide*x.wide)
	side := make([]complex128, x.wide*r)
	product := complex(1, 0)
	base, at := 0, 0
	for _, size := range x.sizes {
		for i := range size * size {
			block[i] = a*complex(x.p[at+i], 0) + b*complex(x.q[at+i], 0)
		}
		for i := range size {
			for j := range r {
				side[i*r+j] = complex(column(j)[base+i], 0)
			}
		}
		for i := range size {
			d := block[i*size+i]
			if !(real(d) > 0) {
				return 0, 0, false
			}
			// The product of two numbers of the right half plane has the sum of their arguments as its argument.
			if m := math.Abs(real(product)) + math.Abs(imag(product)); real(product) > 0 && m > 1e-100 && m < 1e100 {
				product *= d
			} else {
				logdet += cmplx.Log(product)
				product = d
			}
			inv := 1 / d
			for j := range r {
				if s := side[i*r+j]; s != 0 {
					s *= inv
					for k := j; k < r; k++ {
						z[j*r+k] += s * side[i*r+k]
					}
				}
			}
			for l := i + 1; l < size; l++ {
				f := block[l*size+i] * inv
				if f == 0 {
					continue
				}
				for k := i + 1; k < size; k++ {
					block[l*size+k] -= f * block[i*size+k]
				}
				for j := range r {
					side[l*r+j] -= f * side[i*r+j]
				}
			}
		}
		base += size
		at += size * size
	}
	logdet += cmplx.Log(product)
	for _, positive := range []bool{true, false} {
		for i := range n {
			w := a*complex(x.wp[i], 0) + b*complex(x.wq[i], 0)
			if real(w) >= 0 != positive || w == 0 {
				continue
			}
			f := 1 + w*z[i*r+i]
			if size := cmplx.Abs(f); !(size > cancelled*(1+cmplx.Abs(w*z[i*r+i]))) || imag(f) == 0 && real(f) <= 0 {
				return 0, 0, false
			}
			logdet += cmplx.Log(f)
			g := w / f
			get := func(j int) complex128 {
				if j < i {
					return z[j*r+i]
				}
				return z[i*r+j]
			}
			zi := make([]complex128, r)
			for j := range r {
				zi[j] = get(j)
			}
			for j := range r {
				for k := j; k < r; k++ {
					z[j*r+k] -= g * zi[j] * zi[k]
				}
			}
		}
	}
	if x.mean != nil {
		quad = z[r*r-1]
	}
	return logdet, quad, !cmplx.IsNaN(logdet) && !cmplx.IsInf(logdet) && !cmplx.IsNaN(quad) && !cmplx.IsInf(quad)
}
