package channel

import "math"

// Divergence is an f-divergence of two laws, D_f(p‖q) = Σ q f(p/q) for a convex f with f(1) = 0 [Csiszár 1967; Kawamoto
// & Murakami, Definition 6]. It is 0 for equal laws, never below 0, and may differ with the order of the two.
type Divergence struct {
	Name  string
	f     func(ratio float64) float64
	alone float64 // lim f(t)/t: what a unit of probability counts for that p has and q excludes
}

// The divergences of Kawamoto & Murakami's Table I, as textbooks define them: in nats where there is a logarithm, total
// variation and Hellinger's between 0 and 1.
var (
	KL = Divergence{"KL", func(t float64) float64 {
		if t == 0 {
			return 0
		}
		return t * math.Log(t)
	}, math.Inf(1)}
	ReverseKL      = Divergence{"reverse KL", func(t float64) float64 { return -math.Log(t) }, 0}
	TotalVariation = Divergence{"total variation", func(t float64) float64 { return math.Abs(t-1) / 2 }, .5}
	ChiSquared     = Divergence{"χ²", func(t float64) float64 { return (t - 1) * (t - 1) }, math.Inf(1)}
	Hellinger      = Divergence{"Hellinger", func(t float64) float64 {
		return (math.Sqrt(t) - 1) * (math.Sqrt(t) - 1) / 2
	}, .5}
)

// Divergences are those of the table, in its order.
var Divergences = []Divergence{KL, ReverseKL, TotalVariation, ChiSquared, Hellinger}

// Beyond is the f-divergence whose value is the least δ with which p(S) ≤ e^ε q(S) + δ for every set S: Σ max(0, p -
// e^ε q). So a promise of (ε,δ) is one in this divergence, and says that the δ-approximate max-divergence is at most ε
// [Kawamoto & Murakami, Proposition 1].
func Beyond(epsilon float64) Divergence {
	e := math.Exp(epsilon)
	return Divergence{"beyond ε", func(t float64) float64 { return math.Max(0, t-e) }, 1}
}

// Of is D_f(p‖q). Both are laws over the same values.
func (d Divergence) Of(p, q []float64) (sum float64) {
	for x := range p {
		switch {
		case q[x] > 0:
			sum += q[x] * d.f(p[x]/q[x])
		case p[x] > 0:
			sum += p[x] * d.alone
		}
	}
	return sum
}
