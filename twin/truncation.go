package twin

import (
	"fmt"
	"math"
)

// truncation is the least A, by doubling and halving, at which noise on Σ e_c = 0 with Pr(e) ∝ x^h(e), x = e^-rate, may
// be truncated to e_c ≤ A for all c, so that tables which differ by the classes of at most move rows are told apart by
// what only one of them can bring forth with probability delta at most. It does not depend on how many cells there are.
//
// Only e_c from above is bounded: that is all by which a class is known to have Ñ_c - A rows or more. Let N' = N - d,
// so that e' = e + d brings forth the same as e. It cannot, if e_c > A - d_c for some c, the probability of which is at
// most
//
//	Σ_c T(d_c⁺), T(j) = (R(A-j) - R(A))/(1 - C·R(A)), R(J) = Pr(e_c > J) without bounds,
//
// as C·R(A) is at least the mass that is cut away of a cell with C classes. Pr(e_c = j) falls for j ≥ 0, so that T(a) +
// T(b) ≤ T(a+b), and the sum over all classes of all cells is at most T(k), as Σ d_c⁺ ≤ k. Where neither can not, the
// weights are within x^-k, and the normalisers are the same. For two classes T(k) is exact.
func truncation(rate float64, classes int, move int64, delta float64) (int64, error) {
	fits := func(most int64) bool {
		beyond := tail(rate, classes, most)
		cut := float64(classes) * beyond
		return cut < 1 && (tail(rate, classes, most-move)-beyond)/(1-cut)*(1+1e-6) <= delta
	}
	low := move + int64(classes-2) // the formula of tail holds from here on
	high := low
	for !fits(high) {
		if high > maxRows {
			return 0, fmt.Errorf("delta %v is too small to truncate noise by", delta)
		}
		low, high = high, 2*high
	}

	// At high the bound is small enough; the least such number is looked for.
	for low < high {
		if mid := low + (high-low)/2; fits(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return high, nil
}

// tail is R(J) = Pr(e_c > J), J ≥ classes - 2, of noise on Σ e = 0 without bounds with Pr(e) ∝ x^(‖e‖₁/2), x = e^-rate.
//
// Let D = classes - 1 other entries make up -j, m = D - 1 and q = 1 - x. Their generating function is
// ((1-x)/((1-√x·z)(1-√x/z)))^D, of which the coefficient is a hypergeometric polynomial ₂F₁(j-m, -m; j+1; x) [Euler];
// about x = 1 all its terms are positive:
//
//	Σ_{e: e_c = j} x^h(e) = x^j Σ_i C(2m-i,m)·C(j-m+i-1,i)·q^(i-m), i = 0…m.
//
// Summed over j > J each term is the tail of a negative binomial law, that is Pr(Bin(J-m+i, q) ≤ i), and so
//
//	R(J) = x^(J+1) Σ_i C(2m-i,m) Σ_{s≤i} C(J-m+i,s) q^s x^(i-s) / Σ_j C(m+1,j)² x^j.
//
// For two classes it is x^(J+1)/(1+x).
func tail(rate float64, classes int, most int64) float64 {
	m := classes - 2
	x, q := math.Exp(-rate), -math.Expm1(-rate)
	sum := 0.
	for i := range m + 1 {
		ways := choose(2*m-i, m)
		term := 1. // C(J-m+i,s) q^s
		for s := range i + 1 {
			sum += ways * term * math.Pow(x, float64(i-s))
			term *= float64(most-int64(m)+int64(i)-int64(s)) * q / float64(s+1)
		}
	}
	all := 0.
	for j := range m + 2 {
		ways := choose(m+1, j)
		all += ways * ways * math.Pow(x, float64(j))
	}
	return math.Exp(-rate*float64(most+1)) * sum / all
}

// choose is a binomial coefficient.
func choose(n, k int) float64 {
	out := 1.
	for i := range k {
		out = out * float64(n-i) / float64(i+1)
	}
	return math.Round(out)
}
