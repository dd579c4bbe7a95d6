package model

import (
	"math"

	"fugu/sensitivity"
)

// couple bounds an exponential moment of coupled datasets D and D' over every pair of the secret, in both orders. Where
// the shares of the classes are p and p', a share Σ_c min(p_c, p'_c) of the n rows is in both; (p_c - p'_c)₊ n rows of
// class c are in D alone, and (p'_c - p_c)₊ n in D' alone. Each row is drawn for itself. shared, first and second hold
// ln E e^X of what one row of each class adds to a sum where it is in both, in D, in D'; the result bounds ln E e^Σ.
//
// For the table's own shares that is linear in (p, p'), and for shares of a distribution n times the logarithm of what
// is, so that it is largest at a vertex of the pairs: the bound holds for the continuum.
func (psi Psi) couple(n float64, shared, first, second []float64) float64 {
	worst := math.Inf(-1)
	pair := func(p, q []float64) {
		var all, total, lost, gained float64
		for c := range p {
			both, out, in := math.Min(p[c], q[c]), math.Max(0, p[c]-q[c]), math.Max(0, q[c]-p[c])
			if !psi.Distribution {
				all += both*shared[c] + out*first[c] + in*second[c]
				continue
			}
			total += both * math.Exp(shared[c])
			lost, gained = lost+out*math.Exp(first[c]), gained+in*math.Exp(second[c])
		}

		if psi.Distribution {
			all = math.Log(total + replacedAlike(p, q, lost, gained))
		}
		worst = math.Max(worst, n*all)
	}

	// The moment is convex in the pair, so that the vertices are enough.
	switch {
	case psi.Simplex != nil:
		return psi.Simplex.couple(n, psi.Distribution, shared, first, second)
	case psi.Vectors != nil:
		for _, v := range psi.Vectors {
			pair(v[0], v[1])
			pair(v[1], v[0])
		}
	default:
		for _, s := range psi.Spans {
			w := math.Min(s.Within, s.To-s.From)
			for _, x := range [][2]float64{{s.From, s.From}, {s.To, s.To}, {s.From, s.From + w}, {s.To - w, s.To}} {
				p, q := []float64{1 - x[0], x[0]}, []float64{1 - x[1], x[1]}
				pair(p, q)
				pair(q, p)
			}
		}
	}
	return worst
}

// parts are sets of pairs that together hold every pair: of a span, overlapping pieces twice as long as pairs are wide.
// What holds for the pairs of each part but for a probability holds for every pair but for the same.
func (psi Psi) parts() []Psi {
	var out []Psi
	for _, v := range psi.Vectors {
		part := psi
		part.Vectors = [][2][]float64{v}
		out = append(out, part)
	}

	// Pieces overlap by as much as a pair is wide, so that each pair is in one of them.
	for _, s := range psi.Spans {
		for from := s.From; ; from += s.Within {
			part := psi
			part.Spans = []sensitivity.Span{{From: from, To: math.Min(s.To, from+2*s.Within), Within: s.Within}}
			if left := s.To - from; left < s.Within && from > s.From {
				break
			}
			out = append(out, part)
		}
	}

	if psi.Simplex != nil {
		out = append(out, psi)
	}
	return out
}

// replacedAlike is the moment of a row that is drawn anew: which class it leaves and which it enters are independent.
func replacedAlike(p, q []float64, lost, gained float64) float64 {
	moved := 0.0
	for c := range p {
		moved += math.Max(0, p[c]-q[c])
	}
	if moved == 0 {
		return 0
	}
	return lost * gained / moved
}

// couple is the same for every pair of a simplex: of what both have, no more than Within is lost, and that by the
// classes that add least; what takes its place is of the classes that add most.
func (s *Simplex) couple(n float64, distribution bool, shared, first, second []float64) float64 {
	if distribution {
		shared, first, second = exponentials(shared), exponentials(first), exponentials(second)
	}
	_, most := s.bounds(shared)
	least, out, in := math.Inf(1), math.Inf(-1), math.Inf(-1)
	for c := range shared {
		least, out, in = math.Min(least, shared[c]), math.Max(out, first[c]), math.Max(in, second[c])
	}
	if distribution {
		return n * math.Log(math.Max(most, most+s.Within*(out*in-least)))
	}
	return n * math.Max(most, most+s.Within*(out+in-least))
}

func exponentials(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Exp(x)
	}
	return out
}

// tail looks for an s > 0 with moment(s) ≤ target, where moment(s) bounds ln Pr by exponential moments and is convex. s
// is where it looks first, and where it was found.
func tail(target float64, s *float64, moment func(s float64) float64) bool {
	if moment(*s) <= target {
		return true
	}

	// Golden section, in the logarithm of s, of a function with one minimum.
	lo, hi := math.Log(1e-6), math.Log(50)
	const ratio = 0.6180339887498949
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := moment(math.Exp(a)), moment(math.Exp(b))
	for hi-lo > .01 {
		if fa <= target || fb <= target {
			break
		}
		if fa < fb || math.IsInf(fb, 1) {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = moment(math.Exp(a))
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
			fb = moment(math.Exp(b))
		}
	}

	switch {
	case fa <= target:
		*s = math.Exp(a)
	case fb <= target:
		*s = math.Exp(b)
	default:
		return false
	}
	return true
}

// coverage bounds probabilities from a class's n independent reference rows, all at once but for a probability of
// failure.
//
// Write each row's value as a quantile of a uniform number, with what is no value at all at one place, and the line
// closed to a circle there. Between the first and the last of k+1 sample points along an arc lie k gaps of the uniform
// numbers, or more, whose sum has the law Beta(k, n+1-k); so that the arc has less than q with probability at most
// Pr(Bin(n, q) ≥ k) ≤ e^(-n KL(k/n ‖ q)) for q < k/n [Chernoff 1952; the order statistics of uniform numbers]. There
// are at most n² such arcs; every arc of values holds the one from its first sample point to its last.
//
// Of a number of events that do not depend on the sample, each has at least q with Pr(Bin(n, q) ≥ k), k its sample
// points.
type coverage struct {
	n, level, ends float64
	known          map[float64]float64 // what least has found, by count
}

func newCoverage(n, failure float64) coverage {
	return coverage{n, math.Log(n * n / failure), 1, map[float64]float64{}}
}

// coverageOf bounds the probabilities of so many events.
func coverageOf(events, n, failure float64) coverage {
	return coverage{n, math.Log(events / failure), 0, map[float64]float64{}}
}

// least bounds from below the probability of an arc, or an event, that has count of the sample's points.
func (c coverage) least(count float64) float64 {
	k := count - c.ends
	if !(k > 0) {
		return 0
	}
	if lo, ok := c.known[count]; ok {
		return lo
	}

	// Chernoff's bound, solved by halving: the divergence falls as the probability comes closer to what was seen.
	p := k / c.n
	lo, hi := 0.0, p
	for range 60 {
		mid := (lo + hi) / 2
		if mid <= lo || mid >= hi {
			break
		}
		if c.n*divergence(p, mid) >= c.level {
			lo = mid
		} else {
			hi = mid
		}
	}

	c.known[count] = lo
	return lo
}

// most bounds it from above.
func (c coverage) most(count float64) float64 { return 1 - c.least(c.n-count) }

// divergence is KL(Bernoulli p ‖ Bernoulli q).
func divergence(p, q float64) float64 {
	d := p * math.Log(p/q)
	if p < 1 {
		d += (1 - p) * math.Log((1-p)/(1-q))
	}
	return d
}
