package published

import (
	"errors"
	"fmt"
	"math"

	"fugu/privacy"
)

// Exponential is the Wasserstein exponential mechanism over finitely many outputs [Seeman, Reimherr & Slavković,
// Theorem 9]: output y has a probability in proportion to base_y·exp(-ε·loss_y/2σ). The losses are those of the table
// at hand, σ is the most by which the loss of an output differs between tables Δ_z apart, and Δ_z the W∞ distance of
// the tables' laws under a pair, given what is public. The base measure may depend on what is public, and is 0 where an
// output contradicts it; nil: 1 for each output. A loss may be +Inf: that output is never given.
func Exponential(loss, base []float64, sigma float64, epsilon privacy.Epsilon) ([]float64, error) {
	if _, err := privacy.NewEpsilon(float64(epsilon)); err != nil {
		return nil, err
	}
	if len(loss) == 0 || base != nil && len(base) != len(loss) {
		return nil, fmt.Errorf("%d losses with a base measure of %d outputs", len(loss), len(base))
	}
	if !(sigma > 0) || !finite(sigma) {
		return nil, fmt.Errorf("no exponential mechanism for losses that change by %v", sigma)
	}

	// Densities are measured from the largest, as only their ratios matter and exponents may be large.
	logs, top := make([]float64, len(loss)), math.Inf(-1)
	for y, l := range loss {
		weight := 1.0
		if base != nil {
			weight = base[y]
		}
		if !(l >= 0) || !(weight >= 0) || !finite(weight) {
			return nil, fmt.Errorf("output %d has the loss %v and the measure %v", y, l, weight)
		}
		logs[y] = math.Log(weight) - float64(epsilon)*l/(2*sigma)
		top = math.Max(top, logs[y])
	}
	if math.IsInf(top, -1) {
		return nil, errors.New("no output has a density")
	}

	out, total := make([]float64, len(loss)), 0.0
	for y, l := range logs {
		out[y] = math.Exp(l - top)
		total += out[y]
	}
	for y := range out {
		out[y] /= total
	}
	return out, nil
}

// KNormGradient is the Wasserstein K-norm gradient mechanism over finitely many outputs [Theorem 10]: output y has a
// probability in proportion to base_y·exp(-ε·gradient_y/2σ_y), gradient_y the K-norm of the loss's gradient at y and
// σ_y the most by which that gradient differs, in the K-norm, between tables Δ_z apart. It is Exponential with the loss
// gradient_y/σ_y, which changes by at most 1 [the paper's proof].
func KNormGradient(gradient, sigma, base []float64, epsilon privacy.Epsilon) ([]float64, error) {
	if len(gradient) != len(sigma) {
		return nil, fmt.Errorf("%d gradients with %d bounds", len(gradient), len(sigma))
	}
	loss := make([]float64, len(gradient))
	for y, g := range gradient {
		if !(sigma[y] > 0) {
			return nil, fmt.Errorf("the gradient at output %d changes by %v", y, sigma[y])
		}
		loss[y] = g / sigma[y]
	}
	return Exponential(loss, base, 1, epsilon)
}

// MedianErrors are the mean absolute errors of the median of n values that stand evenly in [0, 1], by Exponential with
// the loss Σ_i |y-x_i| and by KNormGradient with its gradient, for pairs that change one value (Δ_z = 1): the loss
// changes by 1 at most, and its gradient, by how many more values are below y than above, by 2. By Theorem 11 the
// second falls with 1/n; the first falls with 1/√n, as sampling errors do.
func MedianErrors(n int, epsilon privacy.Epsilon) (exponential, gradient float64, err error) {
	const grid = 20_000
	loss, slope, bound := make([]float64, grid+1), make([]float64, grid+1), make([]float64, grid+1)

	// Both are taken on one grid, on which the median is in the middle.
	for i := range loss {
		y := float64(i) / grid
		for j := range n {
			x := (float64(j) + .5) / float64(n)
			loss[i] += math.Abs(y - x)
			slope[i] += math.Copysign(1, y-x)
		}
		slope[i], bound[i] = math.Abs(slope[i]), 2
	}

	away := func(law []float64) (total float64) {
		for i, p := range law {
			total += p * math.Abs(float64(i)/grid-.5)
		}
		return total
	}
	given, err := Exponential(loss, nil, 1, epsilon)
	if err != nil {
		return 0, 0, err
	}
	steep, err := KNormGradient(slope, bound, nil, epsilon)
	return away(given), away(steep), err
}
