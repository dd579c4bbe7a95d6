package twin

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"fugu/mechanism"
)

// vector is K for any number of classes: Ñ is the vector of counts in the bounds nearest to N + e, and e has Σ e_c = 0 and
// a probability proportional to x^h(e), x = e^(-ε/k), where h(e) = ‖e‖₁/2 is how many rows e moves.
//
// A pair differs by the classes of at most k rows, however the moved rows divide over the other classes: h is a norm, so
// that weights change by the factor x^-k = e^ε at most, and the normaliser does not depend on N. What comes after e is
// added, clamping too, tells nothing more. As e has no bounds, a class is known to have no more rows than its range says.
type vector struct {
	rate
	move    int64 // k
	n       int64
	classes []Class
}

func newVector(d domain, n int64, epsilon float64) (*vector, error) {
	r, err := newRate(epsilon, 2*d.move)
	if err != nil {
		return nil, err
	}
	return &vector{rate: r, move: d.move, n: n, classes: d.classes}, nil
}

func (v *vector) String() string {
	return fmt.Sprintf("noise on %d classes, e^(-1/%.4g) for each row moved", len(v.classes), float64(v.move)/v.epsilon())
}

func (v *vector) draws() int { return 1000 * len(v.classes) }

// draw draws all entries of e but the last as independent discrete Laplace noise, Pr(e_c) ∝ x^(|e_c|/2), and accepts with
// the last one's factor x^(|e_last|/2).
func (v *vector) draw(i *mechanism.Integers, counts []int64) []int64 {
	scale := 2 * uint64(v.move) * v.den
	raw := make([]int64, len(counts))
	for i.Err() == nil {
		last := int64(0)
		for c := range len(counts) - 1 {
			e := i.Laplace(scale, v.num)
			raw[c], last = counts[c]+e, last-e
		}
		if i.Yes(uint64(abs(last)), v.num, scale) {
			raw[len(raw)-1] = counts[len(raw)-1] + last
			return v.nearest(raw)
		}
	}
	return nil
}

// nearest is the vector in the bounds that is nearest to raw, n rows in all: every entry lowered by as much and clamped, and
// by one less the first of those that make up n.
func (v *vector) nearest(raw []int64) []int64 {
	lowered := func(by int64) (out []int64, total int64) {
		out = make([]int64, len(raw))
		for c, class := range v.classes {
			out[c] = min(max(raw[c]-by, class.Least), class.Most)
			total += out[c]
		}
		return out, total
	}
	low, high := slices.Min(raw)-v.n, slices.Max(raw)+1 // lowered by these all are at their most, or at their least
	for low+1 < high {
		mid := low + (high-low)/2
		if _, total := lowered(mid); total >= v.n {
			low = mid
		} else {
			high = mid
		}
	}
	out, total := lowered(low)
	next, _ := lowered(low + 1)
	for c := range out {
		if total > v.n && next[c] < out[c] {
			out[c], total = out[c]-1, total-1
		}
	}
	return out
}

func (v *vector) least([]int64) []int64 {
	out := make([]int64, len(v.classes))
	for c, class := range v.classes {
		out[c] = class.Least
	}
	return out
}

func (v *vector) covers(counts []int64) bool {
	for c, class := range v.classes {
		if counts[c] < class.Least || counts[c] > class.Most {
			return false
		}
	}
	return true
}

func (v *vector) unit() (num, den uint64) { return v.num, v.den * uint64(v.move) }
func (v *vector) steps() int64            { return v.move }

// law goes through the vectors N + e near the table, the same for every N. An outcome without counts is all others together. The normaliser
// Σ x^h(e) counts the points of the root lattice A_d by their distance: Σ_j C(d,j)² x^j / (1-x)^d, d classes but one
// [Conway & Sloane 1997].
func (v *vector) law(x *big.Rat, counts []int64) []Outcome {
	d := int64(len(counts) - 1)
	total := new(big.Rat)
	for j := range d + 1 {
		ways := new(big.Int).Binomial(d, j)
		total.Add(total, new(big.Rat).Mul(new(big.Rat).SetInt(ways.Mul(ways, ways)), power(x, j)))
	}
	total.Quo(total, power(new(big.Rat).Sub(big.NewRat(1, 1), x), d))

	weights, outcomes := map[string]*big.Rat{}, map[string][]int64{}
	reach, rest := v.n+8, new(big.Rat).Set(total)
	raw := make([]int64, len(counts))
	var each func(c int, left int64)
	each = func(c int, left int64) {
		if c < len(raw)-1 {
			for raw[c] = -reach; raw[c] <= v.n+reach; raw[c]++ {
				each(c+1, left-raw[c])
			}
			return
		}
		raw[c] = left
		noisy := v.nearest(raw)
		key := fmt.Sprint(noisy)
		if outcomes[key] == nil {
			outcomes[key], weights[key] = noisy, new(big.Rat)
		}
		w := power(x, moved(raw, counts))
		weights[key].Add(weights[key], w)
		rest.Sub(rest, w)
	}
	each(0, v.n)
	weights[""] = rest
	return normalised(weights, total, func(key string) []int64 { return outcomes[key] })
}

// expect takes noise without bounds, as continuous noise has its variance: sizes do not depend on it.
func (v *vector) expect(counts []int64, sizes func(noisy []int64) []int64) []Expected {
	var sum sums
	noisy := v.nearest(counts)
	sum.add(counts, noisy, sizes(noisy), 1)
	out := sum.expected()
	for c := range out {
		// Clamped noise is no further off than the range is wide.
		width := float64(v.classes[c].Most - v.classes[c].Least)
		out[c].Noise = math.Min(width, deviation(len(counts))*float64(v.move)/v.epsilon())
	}
	return out
}

// deviation is the standard deviation of an entry of e, in units of k/ε: √2 for two classes. e is the difference of the
// rows that come and those that go, and h follows a gamma law of the dimension, among which the rows divide as in a simplex.
func deviation(classes int) float64 {
	d := float64(classes - 1)
	// With p classes that gain, h ~ Gamma(d), split evenly on the simplex of p: E e² = E h²·2/(p(p+1)); by symmetry the
	// share of p is C(d+1,p)·C(d-1,p-1), up to a factor.
	total, sum := 0., 0.
	for p := 1.; p <= d; p++ {
		lg := func(x float64) float64 { y, _ := math.Lgamma(x + 1); return y }
		ways := math.Exp(lg(d+1) - lg(p) - lg(d+1-p) + lg(d-1) - lg(p-1) - lg(d-p))
		gain, lose := p/(d+1)*2/(p*(p+1)), (d+1-p)/(d+1)*2/((d+1-p)*(d+2-p))
		total += ways
		sum += ways * (gain + lose)
	}
	return math.Sqrt(sum / total * d * (d + 1))
}

// pairwise takes for Ñ an answer that tells a pair apart as well as any ε-hiding one does, with the same sizes, which do not
// depend on Ñ: randomised response.
func (v *vector) pairwise(counts, other []int64, each func(noisy []int64, p, q float64)) {
	loss := float64(moved(counts, other)) * v.epsilon() / float64(v.move)
	yes, no := -math.Log1p(math.Exp(-loss)), -math.Log1p(math.Exp(loss))
	noisy := v.nearest(counts)
	each(noisy, yes, no)
	each(noisy, no, yes)
}
