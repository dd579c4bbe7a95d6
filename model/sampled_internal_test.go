package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"fugu/sensitivity"
)

// law is a class's distribution on the values 0, 1, ...; what is missing to 1 is not selected.
type law []float64

// urn is a law whose probabilities are multiples of 2^-16.
type urn []int8

func (l law) urn() urn {
	var u urn
	sum := 0.
	for v, p := range l {
		for sum += p; float64(len(u)) < sum*(1<<16)-.5; {
			u = append(u, int8(v))
		}
	}
	for len(u) < 1<<16 {
		u = append(u, -1)
	}
	return u
}

// add counts the values of so many rows: four are drawn from each random number.
func (u urn) add(counts []int, r *rand.Rand, rows int) {
	for ; rows > 0; rows -= 4 {
		word := r.Uint64()
		for range min(rows, 4) {
			if v := u[uint16(word)]; v >= 0 {
				counts[v]++
			}
			word >>= 16
		}
	}
}

// exact is a reference so large that it leaves nothing open.
func (l law) exact(rows float64) []float64 {
	out := make([]float64, len(l))
	for v, p := range l {
		out[v] = p * rows
	}
	return out
}

func (l law) sample(r *rand.Rand, rows int) []float64 {
	out, u := make([]float64, len(l)), l.urn()
	for range rows {
		if v := u[r.Uint32()>>16]; v >= 0 {
			out[v]++
		}
	}
	return out
}

func listed(rows []float64) []valued {
	var out []valued
	for v, n := range rows {
		if n > 0 {
			out = append(out, valued{float64(v), n})
		}
	}
	return out
}

// percentile is PostgreSQL's (orderedsetaggs.c): of counts by value.
func percentile(counts []int, p float64, continuous bool) float64 {
	n := 0
	for _, c := range counts {
		n += c
	}
	if n == 0 {
		return 0
	}
	at := func(place int) float64 { // from 0
		for v, c := range counts {
			if place -= c; place < 0 {
				return float64(v)
			}
		}
		return math.NaN()
	}

	if !continuous {
		return at(max(1, int(math.Ceil(p*float64(n)))) - 1)
	}
	x := p * float64(n-1)
	low, high := at(int(math.Floor(x))), at(int(math.Ceil(x)))
	return low + (x-math.Floor(x))*(high-low)
}

// datasets draws coupled datasets of shares p and q of class 1, as counts by value: of the rows, numbered, those below
// a dataset's share of them are of class 1, or those whose random number is, and a row that has the same class in both
// datasets is the same row.
func datasets(r *rand.Rand, urns [2]urn, values, rows int, p, q float64, distribution bool) (a, b []int) {
	low, high := min(p, q), max(p, q)
	inBoth, inEither := int(math.Round(low*float64(rows))), int(math.Round(high*float64(rows)))
	if distribution {
		inBoth = int(distuv.Binomial{N: float64(rows), P: low, Src: r}.Rand())
		between := distuv.Binomial{N: float64(rows - inBoth), P: (high - low) / (1 - low), Src: r}
		inEither = inBoth + int(between.Rand())
	}

	a = make([]int, values)
	urns[1].add(a, r, inBoth)
	urns[0].add(a, r, rows-inEither)
	b = slices.Clone(a)
	less, more := a, b
	if p > q {
		less, more = b, a
	}
	urns[0].add(less, r, inEither-inBoth)
	urns[1].add(more, r, inEither-inBoth)
	return a, b
}

func lognormal(mean, sd float64, values int, selected float64) law {
	l, total := make(law, values), 0.
	for v := range l {
		x := math.Log(float64(v + 1))
		l[v] = math.Exp(-(x-mean)*(x-mean)/(2*sd*sd)) / float64(v+1)
		total += l[v]
	}
	for v := range l {
		l[v] *= selected / total
	}
	return l
}

// Percentiles of coupled datasets are within W but for the probability that is stated: 100,000 pairs of datasets of 500
// rows each, failure .001, at the ends of the secret's range and in both orders, from a reference of 3,000 rows. False
// alarm 1e-6 for each setting. A fifth of W, which is what half of the data's movement would be, is exceeded more
// often.
func TestPercentilesOfCoupledDatasets(t *testing.T) {
	if testing.Short() {
		t.Skip("takes longer than a save")
	}
	const rows, pairs, failure = 500, 100000, .001
	laws := [2]law{lognormal(2.5, .5, 60, .9), lognormal(3.2, .4, 60, .8)}
	urns := [2]urn{laws[0].urn(), laws[1].urn()}
	for _, test := range []struct {
		fraction     float64
		continuous   bool
		distribution bool
	}{{.5, true, false}, {.5, false, true}, {.9, false, false}, {.1, true, true}, {0, false, false}, {1, true, false}} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			psi := Psi{Distribution: test.distribution, Spans: []sensitivity.Span{{From: .3, To: .5, Within: .1}}}
			values := [][]valued{listed(laws[0].sample(r, 2000)), listed(laws[1].sample(r, 1000))}
			q := newQuantile(psi, rows, test.fraction, 0, 59, values, []float64{2000, 1000}, failure)
			w := q.width(failure)
			beyond, part := 0., 0.
			for i := range pairs {
				x, y := .3, .4
				if i%2 == 1 {
					x, y = .5, .4
				}
				a, b := datasets(r, urns, 60, rows, x, y, test.distribution)
				d := math.Abs(percentile(a, test.fraction, test.continuous) - percentile(b, test.fraction,
					test.continuous))
				if d > w {
					beyond++
				}
				if d > w/5 {
					part++
				}
			}

			t.Logf("W = %.3g: %g of %d beyond, %g beyond a fifth", w, beyond, pairs, part)
			if top := binomialTop(pairs, failure); beyond > top {
				t.Errorf("%g of %d pairs are further apart than %g; at most %g are allowed", beyond, pairs, w, top)
			} else if test.fraction > 0 && test.fraction < 1 && (part <= top || w >= 59) {
				t.Errorf("W = %g says nothing: a fifth of it is exceeded by %g pairs", w, part)
			}
		})
	}
}

// With a reference that leaves nothing open and many rows, W is what the model's own percentiles differ by.
func TestPercentilesInTheLimit(t *testing.T) {
	const values, rows = 500, 1e9
	laws := [2]law{make(law, values), make(law, values)}
	for v := range values { // uniform on [0, 2/3) and on [1/3, 1)
		if v < values*2/3 {
			laws[0][v] = 1
		}
		if v >= values/3 {
			laws[1][v] = 1
		}
	}

	for i := range laws {
		total := sumOf(laws[i])
		for v := range laws[i] {
			laws[i][v] /= total
		}
	}

	psi := Psi{Spans: []sensitivity.Span{{From: .2, To: .8, Within: .1}}}
	of := func(share, p float64) float64 {
		sum := 0.
		for v := range values {
			if sum += (1-share)*laws[0][v] + share*laws[1][v]; sum >= p {
				return float64(v)
			}
		}

		return values - 1
	}
	for _, p := range []float64{.1, .5, .75} {
		most := 0.
		for x := .2; x <= .7; x += .001 {
			most = math.Max(most, of(x+.1, p)-of(x, p))
		}
		q := newQuantile(psi, rows, p, 0, values-1, [][]valued{listed(laws[0].exact(1e14)),
			listed(laws[1].exact(1e14))}, []float64{1e14, 1e14}, 1e-9)
		w := q.width(1e-9)
		t.Logf("percentile %g: W = %v, the model's own %v", p, w, most)
		if w < most || w > most+4 { // a point of the grid on either side, and what the secret's range is cut into
			t.Errorf("percentile %g: W = %v, and percentiles of the model differ by %v", p, w, most)
		}
	}
}

// Numbers, sums and means of distinct values of coupled datasets are within W but for the probability that is stated:
// 100,000 pairs of datasets of 1,000 rows, failure .001; false alarm 1e-6 for each.
func TestDistinctValuesOfCoupledDatasets(t *testing.T) {
	if testing.Short() {
		t.Skip("takes longer than a save")
	}
	const rows, pairs, failure = 1000, 100000, .001
	laws := [2]law{make(law, 40), make(law, 40)}
	for v := range laws[0] {
		laws[0][v], laws[1][v] = math.Exp(-float64(v)/4), math.Exp(-float64(39-v)/5)
	}
	for i, selected := range []float64{.9, .7} {
		total := sumOf(laws[i])
		for v := range laws[i] {
			laws[i][v] *= selected / total
		}
	}
	urns := [2]urn{laws[0].urn(), laws[1].urn()}
	values := make([]float64, 40)
	for v := range values {
		values[v] = float64(v)
	}
	for _, distribution := range []bool{false, true} {
		r := rand.New(rand.NewPCG(5, 6))
		psi := Psi{Distribution: distribution, Spans: []sensitivity.Span{{From: .2, To: .6, Within: .1}}}
		of := [][]float64{laws[0].sample(r, 5000), laws[1].sample(r, 5000)}
		var bounds [][3]float64
		for _, named := range []bool{true, false} {
			v := newVariety(psi, rows, values, named, of, []float64{5000, 5000}, failure)
			m := v.moved(failure)
			bounds = append(bounds, [3]float64{m.count(named), m.sum(v, 0, 39), m.mean(v, 0, 39)})
		}
		t.Logf("shares of a distribution %v: W by name and without: %v", distribution, bounds)
		if bounds[0][0] >= bounds[1][0] || bounds[0][2] >= bounds[1][2] || bounds[0][0] >= 30 {
			t.Errorf("that the values are known does not help: %v", bounds)
		}
		var beyond [2][3]float64
		for i := range pairs {
			x, y := .2, .3
			if i%2 == 1 {
				x, y = .6, .5
			}
			a, b := datasets(r, urns, 40, rows, x, y, distribution)
			f, g := distinctOf(a), distinctOf(b)
			for k, w := range bounds {
				for j := range w {
					if math.Abs(f[j]-g[j]) > w[j] {
						beyond[k][j]++
					}
				}
			}
		}
		for k := range bounds {
			for j, n := range beyond[k] {
				if top := binomialTop(pairs, failure); n > top {
					t.Errorf("%g of %d pairs are further apart than %g; at most %g are allowed", n, pairs, bounds[k][j],
						top)
				}
			}
		}
	}
}

func distinctOf(counts []int) [3]float64 {
	var n, sum float64
	for v, c := range counts {
		if c > 0 {
			n, sum = n+1, sum+float64(v)
		}
	}
	return [3]float64{n, sum, sum / n}
}

// Where rows of one class are all different and those of the other all alike, every replaced row counts: W is the
// number of those, and no less would do.
func TestDistinctValuesNobodyHasSeen(t *testing.T) {
	psi := Psi{Spans: []sensitivity.Span{{From: .2, To: .3, Within: .1}}}
	alike := make([]float64, 1001)
	different := make([]float64, 1001)
	alike[0] = 1000
	for v := 1; v <= 1000; v++ {
		different[v] = 1
	}
	v := newVariety(psi, 500, make([]float64, 1001), false, [][]float64{alike, different}, []float64{1000, 1000}, 1e-6)
	if w := v.moved(1e-6).count(false); w != 50 {
		t.Errorf("50 of 500 rows are replaced, and W = %v", w)
	}
	psi.Distribution = true
	v.psi = psi
	if w := v.moved(1e-6).count(false); w < 80 || w > 110 { // 50 + 4.8 sd of a binomial at 2e-7, by Chernoff's bound
		t.Errorf("about 50 of 500 rows are replaced, and W = %v", w)
	}
}
