package mechanism

import (
	"math"

	"fugu/privacy"
	"fugu/sensitivity"
)

// expmGaussian is the Expected Value Mechanism with Gaussian noise, calibrated exactly.
//
//	u_k   unit of component k           h_k   its lattice
//	d_k   |Along_k| + Beside_k, the most that a secret moves it
//	Δ2  = max over secrets of √(Σ_k (d_k/u_k)²)
//	σ   = Δ2/κ*(ε,δ)
//	noise of component k: N(0, max(σ·u_k, h_k)²), independent
//
// [Chen & Ohrimenko, Theorem 4.2, with the σ of Balle & Wang, "Improving the Gaussian Mechanism for Differential
// Privacy", 2018, Theorem 8, in place of √(2 ln(1.25/δ))·Δ2/ε, which holds for ε < 1 only.] A shift by d is a Gaussian
// shift of squared size κ² = Σ_k (d_k/sd_k)².
func expmGaussian(r Request) (design, error) {
	kappa := privacy.Kappa(r.Budget)
	if kappa == 0 || r.Budget.Epsilon > maxGaussianEpsilon {
		return nil, unmet(ExpmGaussian)
	}
	delta2 := r.widest(func(s sensitivity.Shift) float64 {
		var sum float64
		for k, c := range r.Components {
			d := (math.Abs(s.Along[k]) + s.Beside[k]) / c.Unit
			sum += d * d
		}
		return math.Sqrt(sum)
	})
	return r.cells(delta2/kappa, func(c *cell, sigma int64) { c.sigma = sigma }), nil
}
