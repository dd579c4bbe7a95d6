package mechanism

import (
	"errors"
	"math"

	"fugu/privacy"
	"fugu/privacy/rowsum"
	"fugu/sensitivity"
)

// exactly certifies noise for one sum over independent rows by the sum's own law (package rowsum), and not by a normal
// one, and says what for: nothing where F is no such sum.
//
// Where the law takes too long to compute, nothing of the rows' randomness is counted: the noise alone hides by how
// much the sum moves, if that is all that it does (Translation).
func (r Request) exactly(n Noise, f sensitivity.Family, over rowsum.PairSet) (
	c sensitivity.Certificate, taken []string, err error) {
	sum := r.summed(n, f)
	if sum == nil {
		return c, nil, nil
	}
	release := n.release(r.shiftsOf(f.Secret()), f.Covariance(f.Span().From))
	if release.Along == nil || !moves(sum, f, release.Along[0]) {
		return c, nil, nil
	}
	noise, beside := release.Gaussian.At(0, 0), 0.0
	for _, unseen := range append(release.Unseen, nil) {
		s := sensitivity.Shift{Along: []float64{0}, Beside: release.Beside, Unseen: unseen}
		beside = math.Max(beside, s.Norm2(nil))
	}

	// What drawing on a grid costs comes off the budget first.
	extra := release.Extra
	epsilon := float64(r.Budget.Epsilon) - extra.Pure
	delta := (float64(r.Budget.Delta) - extra.Delta) * math.Exp(-extra.Pure)
	got, err := sum.Certify(rowsum.Ask{Epsilon: epsilon, Delta: delta, Noise: noise, Aside: beside,
		Between: r.Between}, over)
	taken = []string{IndependentRows, Translation}
	if errors.Is(err, rowsum.ErrBeyond) {
		taken = taken[1:]
		kappa := (math.Abs(release.Along[0]) + beside) / math.Sqrt(noise)
		if got.Delta = privacy.GaussianDelta(epsilon, kappa); !(got.Delta <= delta) {
			err = rowsum.ErrMore
		} else {
			err = nil
		}
	}
	if err != nil {
		return c, taken, sensitivity.ErrUncertified
	}
	total := float64(sum.Rows())
	return sensitivity.Certificate{Epsilon: epsilon + extra.Pure, Delta: got.Delta*math.Exp(extra.Pure) + extra.Delta,
		Pair: [2]float64{float64(got.Pair[0]) / total, float64(got.Pair[1]) / total}}, taken, nil
}

// summed is the sum that F is; nil: it is none, or noise is not normal alone.
func (r Request) summed(n Noise, f sensitivity.Family) *rowsum.Sum {
	s, ok := f.(sensitivity.Summed)
	if !ok || len(r.Components) != 1 || n.hasLaplace() {
		return nil
	}
	return s.Rows(0)
}

// moves reports whether the sum's mean moves as the family's does, and so as the shift says.
func moves(sum *rowsum.Sum, f sensitivity.Family, along float64) bool {
	const rounding = 1e-9
	sp := f.Span()
	apart := (f.Mean(sp.To)[0] - f.Mean(sp.From)[0]) * sp.Within / (sp.To - sp.From)
	step := sum.Step() * float64(sum.Rows()) * sp.Within
	return math.Abs(math.Abs(apart)-math.Abs(along)) <= rounding*math.Abs(along) &&
		math.Abs(math.Abs(apart)-math.Abs(step)) <= rounding*math.Abs(along)
}
