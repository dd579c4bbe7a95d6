package mechanism

import (
	"fmt"
	"math"

	"fugu/privacy"
	"fugu/sqlstate"
)

// extraShare is the least scale of the additional Laplace noise as a share of the other noise of its component: less
// would be finer than the grid, and this is one part in 4000 of the variance.
const extraShare = 1.0 / 128

// tightened returns the request with the budget at which to calibrate.
func (r Request) tightened() (Request, error) {
	r.promised = r.Budget
	if r.Relaxed == nil {
		return r, nil
	}

	// The model may be off, and what that may add to the loss is taken from the budget beforehand.
	var err error
	switch a, n := r.Relaxed.Approximated, r.Relaxed.Nearby; {
	case (a == nil) == (n == nil):
		return r, fmt.Errorf("one relaxation is expected")
	case n != nil && r.Relaxed.Reach != nil && len(r.Relaxed.Reach) != len(r.Components):
		return r, fmt.Errorf("the reach of %d components of %d", len(r.Relaxed.Reach), len(r.Components))
	case a != nil:
		r.Budget, err = a.Under(r.Relaxed.Limit.Epsilon, r.Budget).Calibrate(r.Budget)
	default:
		r.Budget, err = n.Calibrate(r.Budget)
	}

	if err != nil {
		return r, sqlstate.New(sqlstate.ModelUnfit,
			"the policy's model may be off by more than epsilon %g and delta %g of a statement can cover",
			float64(r.promised.Epsilon), float64(r.promised.Delta)).
			WithHint("Set a larger fugu.epsilon or fugu.delta.").Because(err)
	}
	return r, nil
}

// extended returns n with the additional Laplace noise of Nearby, independent in each component:
//
//	scale of component k: max(W·w_k/λ, 1/128 of its own noise) = t_k steps of its grid g_k
//
// With F = F̃ + x, Σ_k |x_k|/w_k ≤ W, the release is that of F̃ and, beside it, I + L: I the whole steps by which x
// moves F̃ on the grid, at most |x_k|/g_k + 1, L the noise, which hides the difference of two such I at 2W max_k
// w_k/(g_k t_k) + Σ_k 2/t_k. The scales are as much larger as makes that at most 2λ, with slack in place of 2.
func (r Request) extended(n Noise) Noise {
	if r.Relaxed == nil || r.Relaxed.Nearby == nil {
		return n
	}
	near := *r.Relaxed.Nearby
	scale, err := near.Scale()
	if err != nil || !n.valid() {
		return Noise{}
	}

	// Each component has extra noise as wide as its reach, but not below a small share of what it has.
	most, rounding := 0.0, 0.0
	scales := make([]float64, len(n.cells))
	for k, c := range n.cells {
		scales[k] = math.Max(scale*r.reach(k), extraShare*math.Ldexp(float64(c.laplace+c.sigma), c.exponent))
		most = math.Max(most, r.reach(k)/scales[k])
		rounding += slack / math.Ldexp(scales[k], -c.exponent)
	}

	wider := math.Max(1, (2*near.W*most+rounding)/(2*near.Lambda)*(1+1e-9))
	out := Noise{cells: append([]cell(nil), n.cells...), directions: n.directions}
	for k, c := range n.cells {
		if out.cells[k].extra = steps(wider*scales[k], c.exponent); out.cells[k].extra == 0 {
			return Noise{}
		}
	}
	return out
}

// reach is w_k.
func (r Request) reach(k int) float64 {
	if r.Relaxed.Reach == nil {
		return r.Components[k].Unit
	}
	return r.Relaxed.Reach[k]
}

// charged is what a release costs under the true distributions, whose loss is l under those of the request.
func (r Request) charged(l privacy.Loss) privacy.Loss {
	switch {
	case r.Relaxed == nil:
		return l
	case r.Relaxed.Approximated != nil:
		return r.Relaxed.Approximated.Loss(l, r.Relaxed.Limit)
	}
	return r.Relaxed.Nearby.Loss(l)
}

// chargedAll is charged for each secret.
func (r Request) chargedAll(losses map[string]privacy.Loss) map[string]privacy.Loss {
	if r.Relaxed == nil {
		return losses
	}
	out := make(map[string]privacy.Loss, len(losses))
	for secret, l := range losses {
		out[secret] = r.charged(l)
	}
	return out
}

// weakened makes certificates under the request's distributions certificates under the true ones.
func (r Request) weakened(certificates []Certificate) ([]Certificate, error) {
	if r.Relaxed == nil {
		return certificates, nil
	}
	guarantee := func(epsilon, delta float64) (privacy.Budget, error) {
		b := privacy.Budget{Epsilon: privacy.Epsilon(epsilon), Delta: privacy.Delta(delta)}
		if a := r.Relaxed.Approximated; a != nil {
			return a.Guarantee(b)
		}
		return r.Relaxed.Nearby.Guarantee(b)
	}

	// What holds under the model holds under the truth with more ε and δ.
	for i := range certificates {
		c := &certificates[i]
		b, err := guarantee(c.Epsilon, c.Delta)
		if err != nil {
			return nil, err
		}
		c.Epsilon, c.Delta = float64(b.Epsilon), float64(b.Delta)
		c.Assumptions = append(c.Assumptions, RelaxedModel)
		if c.Estimation > 0 {
			if b, err = guarantee(c.Estimation, float64(r.Budget.Delta)); err != nil || b.Delta > r.promised.Delta {
				c.Estimation = -1 // e^ε η alone is more than δ
			} else {
				c.Estimation = float64(b.Epsilon)
			}
		}
	}
	return certificates, nil
}
