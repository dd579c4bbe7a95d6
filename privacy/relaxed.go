package privacy

import (
	"fmt"
	"math"
)

// Approximated says how well distributions f̃_θ, for which noise is calibrated, stand for the true ones f_θ: for all θ
//
//	max(D∞^η(f̃_θ‖f_θ), D∞^η(f_θ‖f̃_θ)) ≤ λ
//
// in η-approximate max-divergence [Chen & Ohrimenko, Definition 4.1].
type Approximated struct{ Eta, Lambda float64 }

// Guarantee returns what a mechanism that is (ε,δ)-distribution private for f̃ is for f: (ε + 2λ, (1 + e^(ε+λ))η + e^λ δ)
// [Chen & Ohrimenko, Theorem 4.6]. It fails where that is no guarantee.
func (a Approximated) Guarantee(b Budget) (Budget, error) {
	if !(a.Eta >= 0 && a.Eta < 1 && a.Lambda >= 0) {
		return Budget{}, fmt.Errorf("no relaxation with η = %v, λ = %v", a.Eta, a.Lambda)
	}
	e, d := float64(b.Epsilon), float64(b.Delta)
	return checked(e+2*a.Lambda, (1+math.Exp(e+a.Lambda))*a.Eta+math.Exp(a.Lambda)*d)
}

// Calibrate returns the (ε,δ) at which to calibrate for f̃ to be within b for f: the inverse of Guarantee.
func (a Approximated) Calibrate(b Budget) (Budget, error) {
	if !(a.Eta >= 0 && a.Eta < 1 && a.Lambda >= 0) {
		return Budget{}, fmt.Errorf("no relaxation with η = %v, λ = %v", a.Eta, a.Lambda)
	}
	e := float64(b.Epsilon) - 2*a.Lambda
	return checked(e, (float64(b.Delta)-(1+math.Exp(e+a.Lambda))*a.Eta)*math.Exp(-a.Lambda))
}

// Nearby says that for all θ the true f_θ is within ∞-Wasserstein distance W of f̃_θ, for which noise is calibrated, and
// that independent Laplace(W/λ) noise is added to each component besides.
type Nearby struct{ W, Lambda float64 }

// Guarantee returns what a mechanism that is (ε,δ)-distribution private for f̃ is for f with that noise:
// (ε + 2λ, e^λ δ) [Chen & Ohrimenko, Theorem 4.7].
func (n Nearby) Guarantee(b Budget) (Budget, error) {
	if _, err := n.Scale(); err != nil {
		return Budget{}, err
	}
	return checked(float64(b.Epsilon)+2*n.Lambda, math.Exp(n.Lambda)*float64(b.Delta))
}

// Calibrate returns the (ε,δ) at which to calibrate for f̃ to be within b for f: the inverse of Guarantee.
func (n Nearby) Calibrate(b Budget) (Budget, error) {
	if _, err := n.Scale(); err != nil {
		return Budget{}, err
	}
	return checked(float64(b.Epsilon)-2*n.Lambda, math.Exp(-n.Lambda)*float64(b.Delta))
}

// Scale is the scale of the additional Laplace noise of each component, W/λ.
func (n Nearby) Scale() (float64, error) {
	if !(n.W >= 0 && n.Lambda > 0) || math.IsInf(n.W/n.Lambda, 1) {
		return 0, fmt.Errorf("no relaxation with W = %v, λ = %v", n.W, n.Lambda)
	}
	return n.W / n.Lambda, nil
}

func checked(epsilon, delta float64) (Budget, error) {
	e, err := NewEpsilon(epsilon)
	if err != nil {
		return Budget{}, err
	}
	d, err := NewDelta(delta)
	if err != nil {
		return Budget{}, err
	}
	return Budget{e, d}, nil
}
