package model_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fugu/model"
	"fugu/sensitivity"
	"fugu/sqlstate"
	"fugu/test/nightly"
)

// coupled draws the difference of F between two coupled datasets of the people: n rows, of which k differ in class.
type coupled struct {
	r     *rand.Rand
	class [2][][4]float64 // what a row outside, and one inside, adds to the terms
}

// value evaluates the components of averages, from the terms' sums.
func (c *coupled) value(total [4]float64, names []string) []float64 {
	out := make([]float64, len(names))
	for i, name := range names {
		j := 2 * int(name[0]-'a')
		switch name[1:] {
		case "count(*)":
			out[i] = total[j]
		case "sum(x)":
			out[i] = total[j+1]
		default:
			out[i] = total[j+1] / total[j]
		}
	}
	return out
}

// pair draws F of two datasets with the shares p and q, p < q; by chance: of independent rows with these probabilities.
func (c *coupled) pair(rows int, p, q float64, chance bool) (f, g [4]float64) {
	drawn := func(class int) *[4]float64 { return &c.class[class][c.r.IntN(len(c.class[class]))] }
	low, high := int(math.Round(p*float64(rows))), int(math.Round(q*float64(rows)))
	var both [4]float64
	for i := range rows {
		inP, inQ := i < low, i < high
		if chance {
			u := c.r.Float64()
			inP, inQ = u < p, u < q
		}
		switch {
		case inP == inQ:
			class := 0
			if inP {
				class = 1
			}
			for j, v := range drawn(class) {
				both[j] += v
			}
		default:
			for j, v := range drawn(0) {
				f[j] += v
			}
			for j, v := range drawn(1) {
				g[j] += v
			}
		}
	}

	for j, v := range both {
		f[j], g[j] = f[j]+v, g[j]+v
	}
	return f, g
}

// couplings counts how often the difference of F between coupled datasets is beyond its bounds.
type couplings struct {
	names         []string // of the components
	s             sensitivity.Shift
	sd, scale     []float64
	norm2, norm1  float64
	beyond2       int     // pairs whose Euclidean norm is beyond its bound,
	beyond1       int     // whose sum norm is,
	beside        int     // and of which an average is;
	without       int     // and pairs that would be without the scatter
	worst         float64 // of averages, what they reach of their bound
	norms         []float64
	sums, squares []float64 // of each component's movement
}

func newCouplings(names []string, s sensitivity.Shift) *couplings {
	m := len(s.Along)
	c := &couplings{names: names, s: s, sd: make([]float64, m), scale: make([]float64, m)}
	c.sums, c.squares = make([]float64, m), make([]float64, m)
	for k := range m { // any noise will do
		c.sd[k] = 1 + 10*float64(k%2)
		c.scale[k] = 2 + 5*float64(k%2)
	}
	c.norm2, c.norm1 = s.Scatter.Norm2(c.sd), s.Scatter.Norm1(c.scale)
	return c
}

func (c *couplings) average(k int) bool { return c.names[k][1:] == "avg(x)" }

// count takes in a pair of datasets with the values a and b.
func (c *couplings) count(a, b []float64) {
	square, sum, out, outside := 0.0, 0.0, false, false
	for k := range a {
		left := math.Abs(b[k] - a[k] - c.s.Along[k])
		if c.average(k) {
			out = out || left > c.s.Beside[k]
			c.worst = math.Max(c.worst, left/c.s.Beside[k])
			continue
		}

		c.sums[k] += b[k] - a[k]
		c.squares[k] += (b[k] - a[k]) * (b[k] - a[k])
		outside = outside || left > c.s.Beside[k]
		square += left * left / c.sd[k] / c.sd[k]
		sum += left / c.scale[k]
	}

	c.norms = append(c.norms, math.Sqrt(square))
	for of, is := range map[*int]bool{&c.beyond2: math.Sqrt(square) > c.norm2, &c.beyond1: sum > c.norm1,
		&c.beside: out, &c.without: outside} {
		if is {
			*of++
		}
	}
}

// checkVariances compares the variance of each component's movement with what the scatter says (a standard error is
// about √(2/T), .63%); by chance it is w² of the squared mean difference less.
func (c *couplings) checkVariances(t *testing.T, rows int, chance bool) {
	t.Helper()
	T := float64(len(c.norms))
	for k := range c.s.Along {
		if c.average(k) {
			continue
		}
		mean := c.sums[k] / T
		variance := c.squares[k]/T - mean*mean
		if chance {
			variance += mean * mean / float64(rows)
		}
		if ratio := variance / c.s.Scatter.Variance[k]; math.Abs(ratio-1) > 0.035 {
			t.Errorf("component %d: variance %g, scatter %g", k, variance, c.s.Scatter.Variance[k])
		}
	}
}

// checkBeyond fails if more pairs were beyond a bound than chance explains, and returns what share of the bound of the
// Euclidean norm its quantile reaches.
func (c *couplings) checkBeyond(t *testing.T, failure float64) (reached float64) {
	t.Helper()
	T := float64(len(c.norms))
	slices.Sort(c.norms)
	reached = c.norms[int((1-failure)*T)] / c.norm2
	t.Logf("the quantile of the Euclidean norm is %.2f of its bound; beyond: %d, %d of the sum norm, %d averages "+
		"(at most %.2f of the bound); %d without scatter",
		reached, c.beyond2, c.beyond1, c.beside, c.worst, c.without)

	most := int(T/20) + int(6*math.Sqrt(T/20))
	if c.beyond2 > most || c.beyond1 > most || c.beside > most {
		t.Errorf("beyond the bound: %d of the Euclidean norm, %d of the sum norm, %d averages",
			c.beyond2, c.beyond1, c.beside)
	}
	return reached
}

// The bounds for coupled datasets hold on T = 50,000 pairs of datasets of 400 rows: the movement, less what Along and
// Beside explain, is at most what Norm2 and Norm1 say but in a share of failure = 1/20 of the pairs; an average's is
// within Along and Beside (of 4000 rows). The number of failures is binomial, at most T/20 expected; 6 standard
// deviations more are a false alarm of 1e-9. Without the scatter far more pairs are beyond.
func TestCouplingsHold(t *testing.T) {
	if testing.Short() {
		t.Skip("takes longer than a save")
	}
	const failure, p, q = 0.05, 0.3, 0.4
	const sums = "SELECT g, count(*), sum(x) FROM people WHERE x > 4 GROUP BY g"
	many := nightly.Or(100_000, 50_000)
	sumNames := []string{"acount(*)", "asum(x)", "bcount(*)", "bsum(x)"}
	for name, c := range map[string]struct {
		sql   string
		names []string // of the components: the cell, then the aggregate
		psi   model.Psi
		T     int
		rows  int
	}{
		"sums": {sums, sumNames, model.Psi{}, many, 400},
		"averages": {"SELECT g, avg(x) FROM people WHERE x > 4 GROUP BY g", []string{"aavg(x)", "bavg(x)"},
			model.Psi{}, 20_000, 4000},
		"both": {"SELECT g, count(*), avg(x) FROM people WHERE x > 4 GROUP BY g",
			[]string{"aavg(x)", "acount(*)", "bavg(x)", "bcount(*)"}, model.Psi{}, many, 400},
		"distribution": {sums, sumNames, model.Psi{Distribution: true}, many, 400},
	} {
		t.Run(name, func(t *testing.T) {
			all, reader, table := people(t, int64(c.rows))
			cut, m := measure(t, reader, table, c.sql)
			for i, k := range m.Components {
				if got := cut.Cells[k.Cell].Keys[0].Text + cut.Aggregates[k.Aggregate].Label; got != c.names[i] {
					t.Fatalf("component %d is %s, not %s", i, got, c.names[i])
				}
			}

			c.psi.Name, c.psi.Spans = "share", []sensitivity.Span{{From: p, To: q, Within: q - p}}
			shifts, err := m.Coupled(secretShare, c.psi, 0, failure)
			if err != nil {
				t.Fatal(err)
			}

			draws := &coupled{r: rand.New(rand.NewPCG(13, 14))}
			for _, row := range all {
				draws.class[inside(row)] = append(draws.class[inside(row)], row.linear())
			}
			seen := newCouplings(c.names, shifts[0])
			for range c.T {
				f, g := draws.pair(c.rows, p, q, c.psi.Distribution)
				seen.count(draws.value(f, c.names), draws.value(g, c.names))
			}

			seen.checkVariances(t, c.rows, c.psi.Distribution)

			if reached := seen.checkBeyond(t, failure); name == "sums" && reached < 0.25 {
				t.Errorf("the bound is loose: %.2f of it are reached", reached)
			}
			if name != "averages" && seen.without < c.T/4 {
				t.Errorf("without the scatter only %d pairs are beyond", seen.without)
			}
		})
	}
}

// A secret mean has no coupling.
func TestMeansAreNotCoupled(t *testing.T) {
	_, reader, table := people(t, 400)
	_, m := measure(t, reader, table, linear)
	if _, err := m.Coupled(secretMean, model.Psi{Name: "mean", Spans: psi.Spans}, 0, 0.01); !sqlstate.Is(err,
		sqlstate.ModelUnfit) {
		t.Errorf("got %v", err)
	}
}
