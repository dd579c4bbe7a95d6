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

// Guarantee returns what a mechanism that is (ε,δ)-distribution private for f̃ is for f: (ε + 2λ, (1 + e^(ε+λ))η + e^λ
// δ) [Chen & Ohrimenko, Theorem 4.6]. It fails where that is no guarantee.
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

// Under returns a for a release that is one of many, all of which together may reach limit: with as much more η as
// makes Calibrate leave room in b for what Loss adds.
func (a Approximated) Under(limit Epsilon, b Budget) Approximated {
	if limit > b.Epsilon {
		a.Eta *= (1 + math.Exp(float64(limit)-a.Lambda)) / (1 + math.Exp(float64(b.Epsilon)-a.Lambda))
	}
	return a
}

// Loss returns what to charge, for f, for a release whose loss is l for f̃, where f̃_θ and f_θ are the joint
// distributions of the statistics of all releases, which together stay within limit:
//
//	pure + 2λ      κ²·e^(3λ)      e^λ δ + (1 + e^(E-λ))η      E the ε of limit
//
// Let n ≥ 1 releases cost (P, K, D) in all for f̃: they are (ε, δ(ε-P;√K)+D)-private for every ε, and so, by Theorem
// 4.6, (E, e^λ(δ(E-2λ-P;√K)+D) + (1+e^(E-λ))η)-private for f. What is charged for them has the same terms, or n times
// them, but for the first, e^λ δ(E-2λ-P;√K), in place of which it has δ(E-2nλ-P; √K e^(3λ/2)). That is at least as
// much: with a = κ/2 - ε/κ and g = δ(ε;κ), dg/dκ = φ(a). Where a ≤ 0, φ(t/2-ε/t) grows with t up to κ, and g ≤ κφ(a).
// Elsewhere it is at most φ(0), and g ≤ κφ(0); and g ≥ 2Φ(a)-1, as e^ε Φ(-κ/2-ε/κ) = φ(a)·Φ(-b)/φ(b) ≤ Φ(-a) for b =
// κ/2+ε/κ ≥ a. So while g ≤ ½, a ≤ 0.675 and κφ(a)/g ≥ φ(.675)/φ(0) > ⅔: a κ that is e^(3λ/2) times as large has a g
// that is e^λ times as large, or above ½, where no limit of at most ½ lets it pass. Loss is infinite for other limits.
func (a Approximated) Loss(l Loss, limit Budget) Loss {
	if !(a.Eta >= 0 && a.Eta < 1 && a.Lambda >= 0 && limit.Delta <= .5) {
		return Loss{Pure: math.Inf(1)}
	}
	return Loss{Pure: l.Pure + 2*a.Lambda, Kappa2: l.Kappa2 * math.Exp(3*a.Lambda),
		Delta: math.Exp(a.Lambda)*l.Delta + (1+math.Exp(float64(limit.Epsilon)-a.Lambda))*a.Eta}
}

// Nearby says that for all θ the true f_θ is within ∞-Wasserstein distance W of f̃_θ, for which noise is calibrated,
// and that independent Laplace(W/λ) noise is added to each component besides. Where that holds but for a probability η
// of each f_θ, Failure is (1 + e^E)η, E the ε of all releases together.
type Nearby struct{ W, Lambda, Failure float64 }

// Guarantee returns what a mechanism that is (ε,δ)-distribution private for f̃ is for f with that noise: (ε + 2λ, e^λ
// δ) [Chen & Ohrimenko, Theorem 4.7], and Failure more: the distribution that is within W is η from the true one in
// total variation, on either side of the guarantee, and on one of them it counts e^ε times.
func (n Nearby) Guarantee(b Budget) (Budget, error) {
	if _, err := n.Scale(); err != nil {
		return Budget{}, err
	}
	return checked(float64(b.Epsilon)+2*n.Lambda, math.Exp(n.Lambda)*float64(b.Delta)+n.Failure)
}

// Calibrate returns the (ε,δ) at which to calibrate for f̃ to be within b for f: the inverse of Guarantee.
func (n Nearby) Calibrate(b Budget) (Budget, error) {
	if _, err := n.Scale(); err != nil {
		return Budget{}, err
	}
	return checked(float64(b.Epsilon)-2*n.Lambda, math.Exp(-n.Lambda)*(float64(b.Delta)-n.Failure))
}

// Loss returns what to charge, for f, for a release whose loss is l for f̃: a pure 2λ more. With f̃_θi and f̃_θj
// coupled, as l supposes, and each with the f_θ that it stands for, the two true values of the statistic differ by what
// l hides and, beside it, by at most 2W in L1, which the additional noise hides at 2W/(W/λ), whatever else is known.
// One coupling of the data serves all releases, so these losses add up like others, and e^λ of Guarantee, which is
// there for distributions that no such coupling relates, is not needed. The failures of many releases add up in the
// same way.
func (n Nearby) Loss(l Loss) Loss {
	if _, err := n.Scale(); err != nil {
		return Loss{Pure: math.Inf(1)}
	}
	l.Pure += 2 * n.Lambda
	l.Delta += n.Failure
	return l
}

// Scale is the scale of the additional Laplace noise of each component, W/λ.
func (n Nearby) Scale() (float64, error) {
	if !(n.W >= 0 && n.Lambda > 0 && n.Failure >= 0) || math.IsInf(n.W/n.Lambda, 1) {
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
