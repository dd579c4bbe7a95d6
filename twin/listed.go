package twin

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"fugu/mechanism"
	"fugu/policy"
)

// listed is K for a secret whose pairs are listed. The values of the pairs are the vertices of a graph and the pairs
// its edges; Pr(ṽ|v) is proportional to x^d(v,ṽ), x = e^(-ε/f), for the ṽ that are connected with v.
//
// Along an edge every distance changes by at most 1, so that a weight changes by the factor e^(ε/f) at most, and so
// does the normaliser Σ x^d. If all values of a component have the same numbers of values at each distance, the
// normalisers are equal and f = 1 will do; otherwise f = 2. For a single pair it is randomised response: the other
// value has probability 1/(1+e^ε).
type listed struct {
	rate
	factor   int64     // f
	values   [][]int64 // counts by class
	distance [][]int64 // between values; -1: not connected
}

const maxListed = 256

// errNotListed is of secrets that this is no law for; another one is.
var errNotListed = errors.New("the pairs of the secrets are not listed")

func newListed(s Spec, epsilon float64) (*listed, error) {
	pairs, err := s.pairs()
	if err != nil {
		return nil, err
	}
	l := &listed{factor: 1}

	// A value of two pairs is one vertex.
	index := func(counts []int64) int {
		i := slices.IndexFunc(l.values, func(v []int64) bool { return slices.Equal(v, counts) })
		if i < 0 {
			i, l.values = len(l.values), append(l.values, counts)
		}
		return i
	}

	var edges [][2]int
	for _, pair := range pairs {
		edges = append(edges, [2]int{index(pair[0]), index(pair[1])})
	}

	if len(l.values) > maxListed {
		return nil, fmt.Errorf("pairs of more than %d values; write values: {from, to, within}", maxListed)
	}
	l.measure(edges)

	// The factor is 1 where all values of a component see the same numbers of others at each distance.
	for i := range l.values {
		for j := range l.values {
			if l.distance[i][j] >= 0 && !slices.Equal(l.profile(i), l.profile(j)) {
				l.factor = 2
			}
		}
	}

	l.rate, err = newRate(epsilon, l.factor)
	return l, err
}

// pairs are the counts of the values of each pair, of the one secret that there is, in whole rows.
func (s Spec) pairs() (out [][2][]int64, err error) {
	secret := s.Secrets[0]
	if len(s.Secrets) > 1 || s.Public != nil || secret.Nullable || secret.About == policy.AboutDistribution ||
		secret.Categories == "" && !secret.Listed || secret.Range != nil {
		return nil, errNotListed
	}
	for _, span := range secret.Spans {
		out = append(out, [2][]int64{s.whole([]float64{span.From, 1 - span.From}),
			s.whole([]float64{span.To, 1 - span.To})})
	}
	for _, pair := range secret.Vectors {
		out = append(out, [2][]int64{s.whole(secret.vector(pair[0])), s.whole(secret.vector(pair[1]))})
	}
	return out, nil
}

// whole rounds n·shares to whole rows, n in all: each to the nearest, and the ones that were rounded most make up for
// what is left or missing.
func (s Spec) whole(shares []float64) []int64 {
	out, left := make([]int64, len(shares)), s.Rows
	order := make([]int, len(shares))
	part := make([]float64, len(shares))
	for c, share := range shares {
		x := float64(s.Rows) * share
		out[c] = int64(math.Round(x))
		order[c], part[c] = c, x-float64(out[c])
		left -= out[c]
	}

	// Those that lost most by rounding are the first to get one more, or those that gained most to lose one.
	step := int64(1)
	if left < 0 {
		step = -1
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch d := (part[b] - part[a]) * float64(step); {
		case d > 0:
			return 1
		case d < 0:
			return -1
		}

		return 0
	})

	for _, c := range order {
		if left == 0 {
			break
		}
		out[c], left = out[c]+step, left-step
	}
	return out
}

// measure fills in the distances, in edges.
func (l *listed) measure(edges [][2]int) {
	n := len(l.values)
	l.distance = make([][]int64, n)
	for from := range n {
		l.distance[from] = slices.Repeat([]int64{-1}, n)
		l.distance[from][from] = 0
		for d, frontier := int64(0), []int{from}; len(frontier) > 0; d++ {
			var next []int
			for _, e := range edges {
				for _, e := range [][2]int{e, {e[1], e[0]}} {
					if slices.Contains(frontier, e[0]) && l.distance[from][e[1]] < 0 {
						l.distance[from][e[1]] = d + 1
						next = append(next, e[1])
					}
				}
			}
			frontier = next
		}
	}
}

// profile is the distances from a value, in order: it determines the normaliser.
func (l *listed) profile(i int) []int64 { return slices.Sorted(slices.Values(l.distance[i])) }

func (l *listed) String() string {
	if len(l.values) == 2 {
		return fmt.Sprintf("randomised response: the other value of the pair with probability %.3g",
			1/(1+math.Exp(l.epsilon())))
	}
	return fmt.Sprintf("the graph of %d values, e^(-%.3g) for each step", len(l.values), l.epsilon()/float64(l.factor))
}

func (l *listed) draws() int { return 100 * maxListed }

// draw proposes every connected value alike and accepts with x^d. Of a table with other counts it takes the nearest
// value.
func (l *listed) draw(i *mechanism.Integers, counts []int64) []int64 {
	from := l.nearest(counts)
	near := l.connected(from)
	for i.Err() == nil {
		to := near[i.Below(uint64(len(near)))]
		if i.Yes(uint64(l.distance[from][to]), l.num, l.den*uint64(l.factor)) {
			return slices.Clone(l.values[to])
		}
	}
	return nil
}

func (l *listed) connected(from int) (out []int) {
	for to, d := range l.distance[from] {
		if d >= 0 {
			out = append(out, to)
		}
	}
	return out
}

func (l *listed) nearest(counts []int64) int {
	best, least := 0, int64(math.MaxInt64)
	for i, v := range l.values {
		if d := moved(v, counts); d < least {
			best, least = i, d
		}
	}
	return best
}

// moved is how many rows change their class between counts: half of their distance in L1.
func moved(a, b []int64) (out int64) {
	for c := range a {
		out += max(0, a[c]-b[c])
	}
	return out
}

func (l *listed) least(noisy []int64) []int64 {
	out := slices.Clone(noisy)
	for _, i := range l.connected(l.nearest(noisy)) {
		for c := range out {
			out[c] = min(out[c], l.values[i][c])
		}
	}
	return out
}

func (l *listed) covers(counts []int64) bool {
	return slices.Equal(l.values[l.nearest(counts)], counts)
}

func (l *listed) unit() (num, den uint64) { return l.num, l.den * uint64(l.factor) }
func (l *listed) steps() int64            { return l.factor }

func (l *listed) law(x *big.Rat, counts []int64) []Outcome {
	from := l.nearest(counts)
	weights, total := map[int]*big.Rat{}, new(big.Rat)
	for _, to := range l.connected(from) {
		weights[to] = power(x, l.distance[from][to])
		total.Add(total, weights[to])
	}
	return normalised(weights, total, func(to int) []int64 { return l.values[to] })
}

func (l *listed) expect(counts []int64, sizes func(noisy []int64) []int64) []Expected {
	from, total := l.nearest(counts), 0.
	weight := func(to int) float64 {
		return math.Exp(-float64(l.distance[from][to]) * l.epsilon() / float64(l.factor))
	}
	for _, to := range l.connected(from) {
		total += weight(to)
	}
	var sum sums
	for _, to := range l.connected(from) {
		sum.add(counts, l.values[to], sizes(l.values[to]), weight(to)/total)
	}
	return sum.expected()
}

func (l *listed) pairwise(_ int, counts, other []int64, each func(noisy []int64, p, q float64)) {
	from, to := l.nearest(counts), l.nearest(other)
	for i, v := range l.values {
		each(v, l.logarithm(from, i), l.logarithm(to, i))
	}
}

// logarithm is that of the probability that one value becomes another.
func (l *listed) logarithm(from, to int) float64 {
	if l.distance[from][to] < 0 {
		return math.Inf(-1)
	}
	total := 0.
	for _, i := range l.connected(from) {
		total += math.Exp(-float64(l.distance[from][i]) * l.epsilon() / float64(l.factor))
	}
	return -float64(l.distance[from][to])*l.epsilon()/float64(l.factor) - math.Log(total)
}

// spread is how far all classes together are off, given Ñ, if each connected value was as likely beforehand. That
// bounds the error of any group, and is exact for two classes.
func (l *listed) spread(noisy []int64) []float64 {
	to := l.nearest(noisy)
	weights, squares := 0., 0.
	for _, from := range l.connected(to) {
		w := math.Exp(l.logarithm(from, to))
		weights += w
		for c, rows := range l.values[from] {
			squares += w * math.Pow(float64(noisy[c]-rows), 2)
		}
	}
	classes := float64(len(noisy))
	return slices.Repeat([]float64{math.Sqrt(squares / weights * (classes - 1) / classes)}, len(noisy))
}
