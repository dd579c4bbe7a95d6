package estimate

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// propagated is a normal law of numbers z in the places of which there are factors, each of which expectation
// propagation has replaced by a normal one of a precision and a shift: exp(-precision z²/2 + shift z).
type propagated struct {
	before           *normal // z without the factors
	factors          []factor
	precision, shift []float64
	law              *normal // z with the normal factors
}

// Limits of the propagation. It converges within ten or twenty sweeps.
const (
	maxSweeps = 60
	settled   = 1e-6 // by how much a mean may still move in its standard deviation, and a precision in itself
	nearly    = 1e-3 // by how much at the end, which is well below what is approximated
)

var errUnsettled = errors.New("estimates: the propagation does not settle")

// propagate finds the normal factors, beginning with those of start, which were found for nearly the same; nil: with
// none. Every factor is log-concave, so that no precision is negative.
func propagate(before *normal, factors []factor, start *propagated) (*propagated, error) {
	n := len(factors)
	p := &propagated{before: before, factors: factors, precision: make([]float64, n), shift: make([]float64, n)}
	if start != nil {
		copy(p.precision, start.precision)
		copy(p.shift, start.shift)
	}
	if err := p.refresh(); err != nil {
		return nil, err
	}
	moved := 0.0
	for sweep := range maxSweeps {
		// What goes to and fro settles by half steps.
		step := 1.0
		moved = 0
		if sweep >= maxSweeps/3 {
			step = .5
		}
		for i := range factors {
			moved = math.Max(moved, p.update(i, step))
		}

		// The rank-one steps of a sweep leave rounding errors behind.
		if err := p.refresh(); err != nil {
			return nil, err
		}
		if moved < settled {
			return p, nil
		}
	}
	if moved < nearly {
		return p, nil
	}
	return nil, errUnsettled
}

// update fits one factor in the context of all others, goes a step of the way there, and returns how far that moved the
// law of its number.
func (p *propagated) update(i int, step float64) (moved float64) {
	variance, mean := p.law.covariance.At(i, i), p.law.mean[i]
	if !(variance > 0) {
		return 0 // what is known already
	}
	cavity := 1/variance - p.precision[i]
	if !(cavity > 0) {
		return 0
	}
	shift := mean/variance - p.shift[i]
	_, first, second := p.factors[i].moments(shift/cavity, 1/cavity)

	// The normal factor is what makes the law's mean and variance those with the factor itself.
	precision := math.Max(0, 1/second-cavity)
	change, turn := step*(precision-p.precision[i]), step*(first*(precision+cavity)-shift-p.shift[i])
	p.precision[i], p.shift[i] = p.precision[i]+change, p.shift[i]+turn

	column := make([]float64, len(p.factors))
	for j := range column {
		column[j] = p.law.covariance.At(i, j)
	}
	gain := 1 / (1 + change*variance)
	for j, c := range column {
		p.law.mean[j] += c * gain * (turn - change*mean)
	}
	p.law.covariance.SymRankOne(p.law.covariance, -change*gain, mat.NewVecDense(len(column), column))
	return math.Max(math.Abs(p.law.mean[i]-mean)/math.Sqrt(variance), math.Abs(change)*variance)
}

// refresh computes the law anew: with K the covariance before, T the precisions and ν the shifts,
//
//	covariance  K - K √T B⁻¹ √T K,  B = 1 + √T K √T,        mean  m + covariance (ν - T m).
func (p *propagated) refresh() error {
	n := len(p.factors)
	p.law = &normal{append([]float64(nil), p.before.mean...), mat.NewSymDense(max(1, n), nil)}
	if n == 0 {
		return nil
	}
	solver, err := p.solver()
	if err != nil {
		return err
	}

	// The covariance is what was before, less what the factors tell.
	half := mat.NewDense(n, n, nil) // √T K
	for i := range n {
		for j := range n {
			half.Set(i, j, math.Sqrt(p.precision[i])*p.before.covariance.At(i, j))
		}
	}
	var solved, less mat.Dense
	if err := solver.SolveTo(&solved, half); err != nil {
		return err
	}
	less.Mul(half.T(), &solved)
	for i := range n {
		for j := range i + 1 {
			p.law.covariance.SetSym(i, j, p.before.covariance.At(i, j)-(less.At(i, j)+less.At(j, i))/2)
		}
	}

	for j := range n {
		rest := p.shift[j] - p.precision[j]*p.before.mean[j]
		for i := range n {
			p.law.mean[i] += p.law.covariance.At(i, j) * rest
		}
	}
	return nil
}

// solver factorizes B.
func (p *propagated) solver() (*mat.Cholesky, error) {
	n := len(p.factors)
	b := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := math.Sqrt(p.precision[i]*p.precision[j]) * p.before.covariance.At(i, j)
			if i == j {
				v++
			}
			b.SetSym(i, j, v)
		}
	}
	var c mat.Cholesky
	if !c.Factorize(b) {
		return nil, errUnsettled
	}
	return &c, nil
}

// carry returns the law of all numbers of a normal law, of which z are forms, with the normal factors on z.
func (p *propagated) carry(to *normal, forms []form) (*normal, [][]float64, error) {
	out := &normal{append([]float64(nil), to.mean...), mat.NewSymDense(len(to.mean), nil)}
	out.covariance.CopySym(to.covariance)
	n, size := len(forms), len(to.mean)
	if n == 0 {
		return out, nil, nil
	}
	solver, err := p.solver()
	if err != nil {
		return nil, nil, err
	}

	// C is the covariance of the forms with the numbers; √T B⁻¹ √T takes the place of an inverse of K + 1/T, as a
	// precision may be 0.
	c, half := mat.NewDense(n, size, nil), mat.NewDense(n, size, nil)
	for i, f := range forms {
		with := to.with(f)
		c.SetRow(i, with)
		for k := range with {
			with[k] *= math.Sqrt(p.precision[i])
		}
		half.SetRow(i, with)
	}
	var solved, less mat.Dense
	if err := solver.SolveTo(&solved, half); err != nil {
		return nil, nil, err
	}
	less.Mul(half.T(), &solved)
	for k := range size {
		for l := range k + 1 {
			out.covariance.SetSym(k, l, out.covariance.At(k, l)-(less.At(k, l)+less.At(l, k))/2)
		}
	}

	// What z and the numbers have in common afterwards: (1 - C-part) of C, row by row.
	var common mat.Dense
	inner := mat.NewDense(n, n, nil) // K √T
	for i := range n {
		for j := range n {
			inner.Set(i, j, p.before.covariance.At(i, j)*math.Sqrt(p.precision[j]))
		}
	}
	common.Mul(inner, &solved)
	common.Sub(c, &common)
	rows := make([][]float64, n)
	for i := range n {
		rows[i] = common.RawRowView(i)
		rest := p.shift[i] - p.precision[i]*p.before.mean[i]
		for k := range size {
			out.mean[k] += rows[i][k] * rest
		}
	}
	return out, rows, nil
}
