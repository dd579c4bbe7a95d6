package mechanism

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"fugu/privacy"
	"fugu/sensitivity"
)

// loss bounds what a release with noise n tells about a secret, by its noise alone. Write a pair's shift as a·Along +
// r.
//
// A Laplace direction of the secret's own hides a·Along: y moves by a·reach steps, a loss of |a|·reach/scale; with what
// another one lends, so does its y (see hidden). Without one, each Gaussian direction j takes a share: y_j moves by the
// integer next to a·c_j, a Gaussian shift of at most (|c_j|+½)/σ_j. What that leaves, |r_k| and ρ_k = |Along_k - Σ_j
// c_j·w_jk| and rounding, is hidden by the cells. The argument reveals every y and composes: given them, the shifts
// left to the cells are bounded by constants. So for any c
//
//	κ² = Σ_j ((|c_j|+½)/σ_j)² + ‖ρ_k + Beside_k + rounding_k, Unseen‖²
//
// with the norm of Shift.Norm2 for the cells' σ_k is sound, and for the c of shares, but for rounding and Beside, it is
// Alongᵀ Σ_Z⁻¹ Along, the least possible.
//
// In grid steps, rounding F and F' separately moves their difference by at most 1; moving y_j by whole steps only
// leaves ½|w_jk|; and round(w(y+i)) - round(wy) differs from wi by at most 1. slack is the first, the last of one
// direction, and what floating-point arithmetic may lack.
//
// Discrete Laplace noise of scale t hides an integer shift i at |i|/t exactly; for discrete Gaussian noise, whether of
// a cell or of a direction's y, see gaussianDeviation.
func (n Noise) loss(s sensitivity.Shift) privacy.Loss {
	var l privacy.Loss
	moves, left, _ := n.hidden(s)
	rounding := make([]float64, len(n.cells))
	for k, c := range n.cells {
		left[k] = shifted(left[k], -c.exponent) // in steps
		if len(moves) > 1 {
			rounding[k] = roundingLent
		}
	}

	for _, v := range moves {
		l.Pure += v
	}
	for j, share := range n.shares(left) {
		d := n.directions[j]
		if d.sigma == 0 {
			continue
		}
		// A direction that takes no share does not move.
		if share != 0 {
			moved := (math.Abs(share) + .5) / float64(d.sigma)
			l = l.Plus(privacy.Loss{Kappa2: moved * moved})
			for k, w := range d.weights {
				left[k] -= share * w
				rounding[k] += 1 + math.Abs(w)/2
			}
		}

		l = l.Plus(gaussianDeviation(float64(d.sigma)))
	}

	// What no direction hides is for the noise of single components, with what rounding adds.
	rest := sensitivity.Shift{Along: left, Beside: make([]float64, len(n.cells)), Unseen: s.Unseen}
	for k, c := range n.cells {
		left[k] = shifted(left[k], c.exponent)
		rest.Beside[k] = s.Beside[k] + shifted(rounding[k]+slack, c.exponent)
		if c.laplace == 0 {
			l = l.Plus(gaussianDeviation(float64(c.sigma)))
		}
	}

	scale, sd := n.scales()
	kappa := rest.Norm2(sd)
	l = l.Plus(privacy.Loss{Pure: rest.Norm1(scale), Kappa2: kappa * kappa})
	l.Delta += s.Failure
	return n.scattered(l, s.Scatter)
}

// scales returns, in F's units, the scales of the cells' Laplace noise and the standard deviations of their Gaussian
// noise. A cell that has no noise of one kind has +Inf there.
func (n Noise) scales() (scale, sd []float64) {
	scale, sd = make([]float64, len(n.cells)), make([]float64, len(n.cells))
	for k, c := range n.cells {
		scale[k], sd[k] = math.Inf(1), math.Inf(1)
		if c.laplace > 0 {
			scale[k] = shifted(float64(c.laplace), c.exponent)
		} else {
			sd[k] = shifted(float64(c.sigma), c.exponent)
		}
	}
	return scale, sd
}

// scattered adds what is left to chance, in the metric of each kind of the cells' noise: the norms' triangle
// inequality.
func (n Noise) scattered(l privacy.Loss, s *sensitivity.Scatter) privacy.Loss {
	if s == nil {
		return l
	}
	scale, sd := n.scales()
	laplace, gaussian := false, false
	for _, c := range n.cells {
		laplace, gaussian = laplace || c.laplace > 0, gaussian || c.laplace == 0
	}

	l.Delta += s.Beside

	// Chance is counted once for each kind of noise, in its own norm.
	if laplace {
		l.Pure += s.Norm1(scale)
		l.Delta += s.Failure
	}

	if gaussian {
		kappa := math.Sqrt(l.Kappa2) + s.Norm2(sd)
		l.Kappa2 = kappa * kappa
		l.Delta += s.Failure
	}
	return l
}

// shares returns, for each direction, by how many steps the y of a Gaussian one should move to hide a shift (in steps
// of the cells): the c with the least Σ_j (c_j/σ_j)² + Σ_k ((shift_k - Σ_j c_j·w_jk)/σ_k)². Errors of the arithmetic
// make a worse c, not a wrong loss.
func (n Noise) shares(shift []float64) []float64 {
	out := make([]float64, len(n.directions))
	var index []int
	for j, d := range n.directions {
		if d.sigma > 0 {
			index = append(index, j)
		}
	}

	moves := false
	for _, v := range shift {
		moves = moves || v != 0
	}
	if len(index) == 0 || !moves {
		return out
	}

	// Least squares: the shares that leave the least to single components, a share's own cost included.
	a, b := mat.NewDense(len(n.cells), len(index), nil), mat.NewVecDense(len(n.cells), nil)
	for k, c := range n.cells {
		own := float64(c.sigma + c.laplace)
		b.SetVec(k, shift[k]/own)
		for i, j := range index {
			a.Set(k, i, n.directions[j].weights[k]*float64(n.directions[j].sigma)/own)
		}
	}

	normal, z := mat.NewSymDense(len(index), nil), mat.NewVecDense(len(index), nil)
	normal.SymOuterK(1, a.T())
	for i := range index {
		normal.SetSym(i, i, normal.At(i, i)+1)
	}
	z.MulVec(a.T(), b)
	var chol mat.Cholesky
	if !chol.Factorize(normal) || chol.SolveVecTo(z, z) != nil {
		return out
	}
	for i, j := range index {
		if c := z.AtVec(i) * float64(n.directions[j].sigma); math.Abs(c) <= maxScale {
			out[j] = c
		}
	}
	return out
}

// gaussianDeviation is the loss of taking D, discrete Gaussian noise, for R, a continuous N(0,σ²) rounded to integers
// (which, shifted by integers, is post-processing of a continuous Gaussian shift), in one component. With
// Z = Σ_j exp(-j²/2σ²) and S = √(2π)σ, Poisson summation gives 1 ≤ Z/S ≤ 1 + 3exp(-2π²σ²), and
//
//	Pr(R=k)/Pr(D=k) = Z/S · 2∫_0^½ cosh(kx/σ²) exp(-x²/2σ²) dx
//
// is at least exp(-1/8σ²) for every k, as cosh ≥ 1, and at most Z/S·exp(k²/8σ⁴), as cosh y ≤ exp(y²/2). So, with T the
// chance that R is beyond 40σ, Pr_D ≤ e^(1/8σ²) Pr_R and Pr_R ≤ e^(200.5/σ²) Pr_D + T. An (ε',δ') guarantee of R is for
// D
//
//	Pr ≤ e^(1/8σ²) (e^ε' (e^(200.5/σ²) Pr' + T) + δ'),
//
// which is a pure loss of 201/σ² more, and 1/4σ² + (1+e^ε')T more in δ.
func gaussianDeviation(sigma float64) privacy.Loss {
	return privacy.Loss{Pure: closeness / (sigma * sigma), Delta: 1/(4*sigma*sigma) + tailOutside}
}

// laplaceDeviation is the cost of taking discrete Laplace noise D of scale t for a continuous one rounded to integers,
// R. With x = 1/2t,
//
//	Pr(R=k)/Pr(D=k) = cosh x for k ≠ 0, (1-e^-x)/tanh x for k = 0:
//
// between e^-x and e^x, so that both changes, in P and in Q, cost a pure 2x. Losses do not need it: for them, shifts of
// discrete Laplace noise are hidden exactly.
func laplaceDeviation(t float64) privacy.Loss { return privacy.Loss{Pure: 1 / t} }
