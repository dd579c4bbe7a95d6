package model

import (
	"math"
	"slices"
)

// variety bounds how an aggregate over the distinct values of the rows of one cell moves between coupled datasets:
// their number, their sum or their mean.
//
// The values that the shared rows have are in D and in D'. What else is in D is of one of the rows of D alone, so that
// the numbers differ by at most N, the larger number of selected rows that are in one dataset alone. That holds
// whatever values there are, and whether or not anybody has seen them.
//
// Where the policy names the values, those which the shared rows have under every value of the secret, but for a
// probability that adds up over them, are of no concern; let R be the others. The numbers differ by at most |R|, and by
// at most the number of the rows that are in one dataset alone and have a value of R. The least of the three bounds is
// W.
type variety struct {
	psi     Psi
	rows    float64 // n
	values  []float64
	classes []kinds
	named   bool // no other values count than those
}

// kinds are a class's reference rows by value.
type kinds struct {
	coverage
	of       []float64 // the selected rows that have each value
	selected float64
}

// newVariety takes for each class the numbers of rows by value, in the order of values, and the rows of the class's
// reference, selected or not; failure is the probability that the reference misleads.
func newVariety(psi Psi, rows float64, values []float64, named bool, of [][]float64, sizes []float64,
	failure float64) *variety {
	v := &variety{psi: psi, rows: rows, values: values, named: named}
	for c := range of {
		events := 1. // that a row is selected
		if named {
			events += 2 * float64(len(values)) // and has a value, or has not
		}
		v.classes = append(v.classes, kinds{coverageOf(events, sizes[c], failure/float64(len(of))), of[c],
			sumOf(of[c])})
	}
	return v
}

// moved are bounds on what differs between coupled datasets.
type moved struct {
	rows  float64 // N
	rest  []int   // R; nil: not known
	known []int   // the values that both have
	among float64 // rows of N with a value of R
}

// events is how many probabilities are added up in moved: N and its part in R, each in D and in D'; and R.
const varietyEvents = 5

func (v *variety) moved(failure float64) moved {
	each := failure / varietyEvents
	share := make([]float64, len(v.classes))
	for c, k := range v.classes {
		share[c] = k.most(k.selected)
	}
	out := moved{rows: v.replaced(share, each)}
	if !v.named {
		return out
	}

	// The values by how unlikely it is that no shared row has them: as many as fit the probability are known.
	absent := make([]float64, len(v.values)) // ln of the probability that no shared row has the value
	order := make([]int, len(v.values))
	none, shared := make([]float64, len(v.classes)), make([]float64, len(v.classes))
	for i := range v.values {
		order[i] = i
		for c, k := range v.classes {
			shared[c] = math.Log1p(-k.least(k.of[i]))
		}
		absent[i] = v.psi.couple(v.rows, shared, none, none)
	}

	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case absent[i] < absent[j]:
			return -1
		case absent[i] > absent[j]:
			return 1
		}

		return 0
	})
	total := 0.0
	for at, i := range order {
		if total += math.Exp(absent[i]); total > each {
			out.known, out.rest = order[:at], order[at:]
			break
		}
		out.known = order[:at+1]
	}

	for c, k := range v.classes {
		part := 0.0
		for _, i := range out.rest {
			part += k.most(k.of[i])
		}
		share[c] = math.Min(share[c], part)
	}

	out.among = v.replaced(share, each)
	return out
}

// replaced bounds the number of rows that are in one dataset alone and are among a share of their class, but for a
// probability of failure in either dataset.
func (v *variety) replaced(share []float64, failure float64) float64 {
	one, none, out := make([]float64, len(share)), make([]float64, len(share)), make([]float64, len(share))
	for c := range one {
		one[c] = 1
	}
	most := v.rows
	if !v.psi.Distribution { // no more than are replaced at all
		most = math.Floor(v.psi.couple(v.rows, none, one, none)*(1+1e-12) + 1e-9)
	}
	target, s := math.Log(failure), 1.0
	fits := func(rows float64) bool { // more than so many, with no larger probability
		return tail(target, &s, func(s float64) float64 {
			for c, p := range share {
				out[c] = math.Log1p(p * math.Expm1(s))
			}
			// Both orders of a pair are looked at: what holds for D holds for D'.
			return v.psi.couple(v.rows, none, out, none) - s*(rows+1)
		})
	}

	lo, hi := -1.0, most
	for hi-lo > 1 {
		if mid := math.Floor((lo + hi) / 2); fits(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// count bounds how far numbers of distinct values are apart.
func (m moved) count(named bool) float64 {
	if !named {
		return m.rows
	}
	return math.Min(m.rows, math.Min(float64(len(m.rest)), m.among))
}

// sum bounds how far sums of distinct values are apart that lie in [lo, hi]: a row that goes takes a value with it, and
// one that comes brings one.
func (m moved) sum(v *variety, lo, hi float64) float64 {
	spread := func(lo, hi float64) float64 { return math.Max(0, hi) - math.Min(0, lo) }
	most := m.rows * spread(lo, hi)
	if !v.named {
		return most
	}
	total, least, greatest := 0.0, 0.0, 0.0
	for _, i := range m.rest {
		x := v.values[i]
		total, least, greatest = total+math.Abs(x), math.Min(least, x), math.Max(greatest, x)
	}
	return math.Min(most, math.Min(total, m.among*spread(least, greatest)))
}

// mean bounds how far means of distinct values are apart that lie in [lo, hi]: both have the known ones, and any of the
// rest.
func (m moved) mean(v *variety, lo, hi float64) float64 {
	if !v.named || len(m.known) == 0 {
		return hi - lo
	}
	sum := 0.0
	for _, i := range m.known {
		sum += v.values[i]
	}

	// The mean is furthest with the values beyond it and none before it: they are added while they move it.
	rest := make([]float64, len(m.rest))
	for k, i := range m.rest {
		rest[k] = v.values[i]
	}
	slices.Sort(rest)
	extreme := func(list []float64, further func(x, mean float64) bool) float64 {
		s, n := sum, float64(len(m.known))
		for _, x := range list {
			if further(x, s/n) {
				s, n = s+x, n+1
			}
		}

		return s / n
	}

	low := extreme(rest, func(x, mean float64) bool { return x < mean })
	slices.Reverse(rest)
	high := extreme(rest, func(x, mean float64) bool { return x > mean })
	return math.Min(hi-lo, high-low)
}
