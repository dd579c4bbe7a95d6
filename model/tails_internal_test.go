package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"fugu/sensitivity"
)

// binomialTop is the largest count of n trials of probability p that is not exceeded but with probability 1e-6
// (Chernoff).
func binomialTop(n, p float64) float64 {
	for k := math.Floor(n * p); ; k++ {
		if k >= n || k > n*p && n*divergence(k/n, p) > -math.Log(1e-6) {
			return k
		}
	}
}

// Every arc's bound holds at once, as often as is said: 4000 samples of 100 rows, failure .05, for a continuous law and
// one of 12 atoms. False alarm 1e-6. Bounds of half the level fail more often than that.
func TestCoverage(t *testing.T) {
	const n, trials, failure = 100, 4000, .05
	for _, atoms := range []int{0, 12} {
		for _, level := range []float64{1, .25} {
			r := rand.New(rand.NewPCG(1, uint64(atoms)))
			c := newCoverage(n, failure)
			c.level *= level
			least := make([]float64, n+1)
			for k := range least {
				least[k] = c.least(float64(k))
			}
			failed := 0.
			u := make([]float64, n)
			for range trials {
				for i := range u {
					if u[i] = r.Float64(); atoms > 0 {
						u[i] = math.Floor(u[i] * float64(atoms))
					}
				}
				slices.Sort(u)
				bad := false
				for i := range u {
					for j := i; j < n && !bad; j++ {
						inside, width := j-i+1, u[j]-u[i]
						if atoms > 0 { // all rows of the atoms at the ends belong to the arc
							inside, width = sort.SearchFloat64s(u, u[j]+.5)-sort.SearchFloat64s(u, u[i]-.5),
								(width+1)/float64(atoms)
						}
						bad = width < least[inside] || 1-width < least[n-inside]
					}
				}

				if bad {
					failed++
				}
			}
			t.Logf("%d atoms, level %g: %g of %d", atoms, level, failed, trials)
			if top := binomialTop(trials, failure); (failed > top) != (level < 1) && atoms == 0 {
				t.Errorf("level %g: bounds fail in %g of %d samples, at most %g are allowed", level, failed, trials,
					top)
			} else if failed > top && level == 1 {
				t.Errorf("%d atoms: bounds fail in %g of %d samples, at most %g are allowed", atoms, failed, trials,
					top)
			}
		}
	}
}

// moment is the logarithm of the moment generating function of 100 rows of a pair p, q, by its definition: rows that
// are of one class in both datasets add shared, and where they are not first in the one and second in the other.
func moment(p, q, shared, first, second []float64, distribution bool) float64 {
	const rows = 100.
	var sum, both, out, in, moved float64
	for c := range p {
		m, o, i := math.Min(p[c], q[c]), math.Max(0, p[c]-q[c]), math.Max(0, q[c]-p[c])
		sum += m*shared[c] + o*first[c] + i*second[c]
		both, moved = both+m*math.Exp(shared[c]), moved+o
		out, in = out+o*math.Exp(first[c]), in+i*math.Exp(second[c])
	}
	if !distribution {
		return rows * sum
	}
	if moved > 0 {
		both += out * in / moved
	}
	return rows * math.Log(both)
}

// drawShares draws a vector of shares.
func drawShares(r *rand.Rand, classes int) []float64 {
	v, sum := make([]float64, classes), 0.
	for i := range v {
		v[i] = r.ExpFloat64() + .1
		sum += v[i]
	}
	for i := range v {
		v[i] /= sum
	}
	return v
}

// drawPsi draws a secret of two classes or more, and some of its pairs.
func drawPsi(r *rand.Rand, classes int) (psi Psi, pairs [][2][]float64) {
	psi.Distribution = r.IntN(2) == 0
	from := .1 + .3*r.Float64()
	span := sensitivity.Span{From: from, To: from + .4, Within: .05 + .3*r.Float64()}
	switch kind := r.IntN(3); {
	case classes == 2 && kind == 0:
		psi.Spans = []sensitivity.Span{span}
		for range 20 {
			x := span.From + (span.To-span.From)*r.Float64()
			y := math.Max(span.From, math.Min(span.To, x+span.Within*(2*r.Float64()-1)))
			pairs = append(pairs, [2][]float64{{1 - x, x}, {1 - y, y}})
		}
	case kind == 1:
		for range 2 {
			psi.Vectors = append(psi.Vectors, [2][]float64{drawShares(r, classes), drawShares(r, classes)})
		}
		pairs = append(slices.Clone(psi.Vectors), [2][]float64{psi.Vectors[0][1], psi.Vectors[0][0]})
	default:
		psi.Simplex = &Simplex{From: 0, To: 1, Within: .3}
		for range 20 {
			p, q := drawShares(r, classes), drawShares(r, classes)
			off := 0.
			for c := range p {
				off += math.Max(0, p[c]-q[c])
			}
			for c := range q { // no further than Within
				q[c] = p[c] + (q[c]-p[c])*math.Min(1, .3/math.Max(off, 1e-9))
			}
			pairs = append(pairs, [2][]float64{p, q})
		}
	}
	return psi, pairs
}

// The bound over all pairs is no less than the moment of any pair, and that of one of them on a span.
func TestCouple(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const rows = 100.
	for range 2000 {
		classes := 2 + r.IntN(3)
		shared, first, second := make([]float64, classes), make([]float64, classes), make([]float64, classes)
		for c := range shared {
			shared[c], first[c], second[c] = -r.Float64(), r.NormFloat64(), r.NormFloat64()
		}
		psi, pairs := drawPsi(r, classes)
		of := func(p, q []float64) float64 { return moment(p, q, shared, first, second, psi.Distribution) }

		bound := psi.couple(rows, shared, first, second)
		slack := 1e-9 * math.Abs(bound)
		for _, pair := range pairs {
			p, q := pair[0], pair[1]
			if m := of(p, q); m > bound+slack {
				t.Fatalf("%+v: a pair has %v, more than %v", psi, m, bound)
			}
			if !slices.ContainsFunc(psi.parts(), func(part Psi) bool {
				inside := part.Spans == nil || math.Min(p[1], q[1]) >= part.Spans[0].From-1e-12 &&
					math.Max(p[1], q[1]) <= part.Spans[0].To+1e-12
				return inside && of(p, q) <= part.couple(rows, shared, first, second)+slack
			}) {
				t.Fatalf("%+v: the pair %v is in no part", psi, pair)
			}
		}

		// On a span the moment is greatest at a vertex of the pairs.
		if psi.Spans != nil {
			most := math.Inf(-1)
			x, y, w := psi.Spans[0].From, psi.Spans[0].To, psi.Spans[0].Within
			for _, e := range [][2]float64{{x, x}, {y, y}, {x, x + w}, {x + w, x}, {y, y - w}, {y - w, y}} {
				most = math.Max(most, of([]float64{1 - e[0], e[0]}, []float64{1 - e[1], e[1]}))
			}
			if math.Abs(most-bound) > slack {
				t.Fatalf("the bound is %v, and the most at the vertices %v", bound, most)
			}
		}
	}
}
