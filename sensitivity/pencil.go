package sensitivity

import (
	"errors"
	"fmt"
	"math"
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

// small is up to how many components rank-one terms are written out. What the blocks have and rank-one terms take away,
// as of counts that are constant, then does not have to cancel, and K is defined wherever the sums are positive
// definite.
const small = 12

var errNotPositive = errors.New("a covariance is not positive definite")

// newPencil checks that P and Q are finite, symmetric and of one shape. Whether they are positive definite shows when
// they are evaluated. order may be that of an earlier pencil: it is used if it has room for all that meet here.
func newPencil(p, q Covariance, mean []float64, order *elimination) (*pencil, error) {
	m, err := sameShape(p, q)
	if err != nil {
		return nil, err
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

	if err := errors.Join(p.within(m), q.within(m)); err != nil {
		return nil, err
	}

	x := &pencil{}
	if m <= small {
		p, q = p.Whole(), q.Whole()
	}
	if err := x.place(p, q, scale, order); err != nil {
		return nil, err
	}
	for _, t := range p.Low {
		x.add(t, scale, 1)
	}
	for _, t := range q.Low {
		x.add(t, scale, 0)
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

	// Of components that meet no other, the products that every evaluation asks for.
	for k := range x.alone {
		for i, u := range x.u {
			for _, v := range x.u[i:] {
				x.products = append(x.products, u[k]*v[k])
			}
		}
	}
	return x, nil
}

// sameShape returns the number of components of two covariances, and an error where their blocks differ in size.
func sameShape(p, q Covariance) (m int, err error) {
	if len(p.Blocks) != len(q.Blocks) {
		return 0, fmt.Errorf("covariances of %d and %d blocks", len(p.Blocks), len(q.Blocks))
	}
	for i, b := range p.Blocks {
		c := q.Blocks[i]
		if b.Size < 1 || b.Size != c.Size || len(b.Entries) != b.Size*b.Size || len(c.Entries) != len(b.Entries) {
			return 0, fmt.Errorf("block %d: sizes %d and %d with %d and %d entries", i, b.Size, c.Size,
				len(b.Entries), len(c.Entries))
		}
		m += b.Size
	}
	return m, nil
}

// within refuses rank-one terms and entries that are not of m components.
func (c Covariance) within(m int) error {
	for _, t := range c.Low {
		if len(t.Vector) != m {
			return fmt.Errorf("a rank-one term of %d entries for %d components", len(t.Vector), m)
		}
	}
	for _, e := range c.Off {
		if e.Row < 0 || e.Row >= e.Col || e.Col >= m {
			return fmt.Errorf("an entry at %d, %d for %d components", e.Row, e.Col, m)
		}
	}
	return nil
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
	var meet [][2]int       // pairs of components,
	var values [][2]float64 // and what they have in common in P and in Q
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
					meet = append(meet, [2]int{k, base + l})
					values = append(values, [2]float64{s * b.Entries[o], s * c.Entries[o]})
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

	// To find an order takes longer than an evaluation, so that one which has room is used again.
	if !order.holds(m, meet) {
		order = newElimination(m, meet)
	}
	x.elimination = order
	x.p, x.q = make([]float64, m), make([]float64, m)
	x.po, x.qo = make([]float64, len(order.row)), make([]float64, len(order.row))
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
