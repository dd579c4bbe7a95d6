package mechanism

import (
	"math"

	"fugu/privacy"
	"fugu/sensitivity"
)

// expmGaussian is the Expected Value Mechanism with Gaussian noise, calibrated exactly.
//
//	u_k   unit of component k           h_k   its lattice
//	Δ2  = max over secrets and the d by which they move F of √(Σ_k (d_k/u_k)²)
//	σ   = Δ2/κ*(ε,δ)
//	noise of component k: N(0, max(σ·u_k, h_k)²), independent
//
// [Chen & Ohrimenko, Theorem 4.2, with the σ of Balle & Wang, "Improving the Gaussian Mechanism for Differential
// Privacy", 2018, Theorem 8, in place of √(2 ln(1.25/δ))·Δ2/ε, which holds for ε < 1 only.] A shift by d is a Gaussian
// shift of squared size κ² = Σ_k (d_k/sd_k)². Where f_θ is known, σ is widened until the difference of the
// covariances fits into δ as well; F's own spread then helps to hide its movement.
var expmGaussian = mechanism{kind: ExpmGaussian, auto: true, joint: always, design: designExpmGaussian}

func designExpmGaussian(r Request) (design, error) {
	// What chance leaves of δ is what the noise may fail with.
	left := r.Budget
	left.Delta = privacy.Delta(float64(r.Budget.Delta) - r.failure())

	kappa := privacy.Kappa(left)
	if kappa == 0 || r.Budget.Epsilon > maxGaussianEpsilon {
		return nil, unmetNormal(ExpmGaussian, 0, r)
	}

	delta2 := r.widest(func(s sensitivity.Shift) float64 {
		length := s.Norm2(r.units())
		if s.Scatter != nil {
			length += s.Scatter.Norm2(r.units())
		}
		return length
	})
	return r.cells(r.wideEnough(delta2/kappa), setSigma), nil
}

func setSigma(c *cell, sigma int64) { c.sigma = sigma }

// wideEnough returns about the least σ from the given one on at which the covariances, too, are likely to be hidden
// within δ. It guides: what it returns is certified, and widened where that fails.
func (r Request) wideEnough(least float64) float64 {
	if len(r.certifiable()) == 0 {
		return least
	}
	fits := func(more float64) bool {
		d, err := r.probe(r.cells(least*(1+more), setSigma)(1))
		return err == nil && d <= searchShare*float64(r.Budget.Delta)
	}

	// Doubled until it fits, and then halved to the fraction that a certificate resolves.
	lo, hi := 0., .05
	for hi <= 64 && !fits(hi) {
		lo, hi = hi, 2*hi
	}
	for hi-lo > .004*(1+hi) {
		if mid := (lo + hi) / 2; fits(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return least * (1 + hi)
}

// probe returns δ of the noise at the pairs of the certifiable families where it is largest; an error is that of a
// family for which that cannot be worked out.
func (r Request) probe(n Noise) (float64, error) {
	worst := 0.0
	for _, f := range r.certifiable() {
		p, err := sensitivity.NewProbe(f, n.release(r.shiftsOf(f.Secret()), f.Covariance(f.Span().From)), r.Budget)
		if err != nil {
			return 0, err
		}
		worst = math.Max(worst, p.Delta())
	}
	return worst, nil
}
