package privacy

import "math"

// GaussianDelta returns δ(ε;κ): the smallest δ for which N(0,1) and N(κ,1) are (ε,δ)-indistinguishable,
//
//	δ(ε;κ) = Φ(κ/2 - ε/κ) - e^ε Φ(-κ/2 - ε/κ)
//
// [Balle & Wang 2018, Theorem 5; Dong, Roth & Su, Corollary 2.13]. It grows with κ ≥ 0 and falls with ε, which may be
// any real number; for ε < 0 the same formula holds. κ = 0 gives max(0, 1-e^ε). The second term is evaluated in log
// space, so that a large ε neither overflows nor turns into 0·∞; the result is within about 1e-15 of the true value.
func GaussianDelta(epsilon, kappa float64) float64 {
	switch {
	case math.IsNaN(epsilon) || math.IsNaN(kappa) || kappa < 0 || math.IsInf(kappa, 1):
		return 1
	case kappa == 0:
		return math.Max(0, -math.Expm1(epsilon))
	}
	a := kappa/2 - epsilon/kappa
	b := -kappa/2 - epsilon/kappa
	d := math.Exp(LogPhi(a)) - math.Exp(epsilon+LogPhi(b))
	return math.Min(1, math.Max(0, d))
}

// Kappa returns κ*(ε,δ): the largest κ with δ(ε;κ) ≤ δ, rounded down. N(μ1,S) and N(μ2,S) are (ε,δ)-indistinguishable
// exactly when (μ1-μ2)ᵀS⁻¹(μ1-μ2) ≤ κ*². δ = 0 gives 0: no Gaussian noise is enough.
func Kappa(b Budget) float64 {
	e, d := float64(b.Epsilon), float64(b.Delta)
	if d <= 0 {
		return 0
	}

	// A κ at which exp(-(ε/κ-κ/2)²/2) ≥ δ(ε;κ) is δ is allowed, and not far below the largest; so is 0.
	at := func(kappa float64) Point { return Point{kappa, Excess(GaussianDelta(e, kappa), d)} }
	deviations := math.Sqrt(math.Max(0, -2*math.Log(d)))
	lo := at(2 * e / (deviations + math.Sqrt(deviations*deviations+2*e)))
	if !(lo.At > 0) || lo.Over() {
		lo = Point{0, math.Inf(-1)}
	}

	hi := at(1)
	if lo.At > 0 {
		hi = at(2 * lo.At)
	}
	for !hi.Over() {
		if math.IsInf(2*hi.At, 1) {
			return hi.At
		}
		lo, hi = hi, at(2*hi.At)
	}

	lo, _ = Narrowed(func(kappa float64) float64 { return at(kappa).Is }, lo, hi, 0)
	return lo.At
}

// LogPhi returns ln Φ(x), Φ the standard normal distribution function, for every finite x: also where Φ(x) underflows.
func LogPhi(x float64) float64 {
	if x > -30 {
		return math.Log(math.Erfc(-x/math.Sqrt2) / 2)
	}
	// Abramowitz & Stegun 26.2.12; the first term left out is below 1e-7 of the bracket, and ln Φ itself is below -450.
	y := 1 / (x * x)
	return -x*x/2 - math.Log(-x) - math.Log(2*math.Pi)/2 + math.Log1p(y*(-1+y*(3-15*y)))
}
