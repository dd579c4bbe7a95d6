package quote

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"fugu/privacy"
)

// Misled is what becomes of a statement's promise if the reference is not the truth.
type Misled struct {
	// Epsilon is, by secret, the ε that the policy's noise keeps for every law that the reference may have been drawn
	// from, but for the chance asked about; +Inf: none.
	Epsilon map[string]float64
	// Noise is how many times as large the noise would be that keeps the policy's own ε for all of these laws: the root
	// of the sum of the values' variances against what that is now.
	Noise float64
}

// Misled says so for a chance of delta over the reference, whatever the policy says of estimation. It rests on the
// assumption of translation: covariances are those of the reference.
func (r *Request) Misled(ctx context.Context, delta privacy.Delta) (Misled, error) {
	taken, err := r.estimated(ctx, 0)
	if err != nil {
		return Misled{}, err
	}
	covered, err := r.estimated(ctx, delta)
	if err != nil {
		return Misled{}, err
	}
	out := Misled{Epsilon: map[string]float64{}, Noise: 1}
	if taken.Width == 0 {
		return out, nil
	}
	out.Epsilon = taken.Calibration.EpsilonFor(covered.Shifts, float64(r.Budget.Delta))
	out.Noise = floats.Norm(covered.Calibration.SD, 2) / floats.Norm(taken.Calibration.SD, 2)
	return out, nil
}

// estimated derives the request under its policy with another estimation, and without totals that hold if the reference
// is the truth.
func (r *Request) estimated(ctx context.Context, delta privacy.Delta) (*draft, error) {
	q, p := *r, *r.Policy
	p.Privacy.Estimation.Delta = delta
	q.Policy, q.unbound = &p, true
	return q.derive(ctx, nil)
}
