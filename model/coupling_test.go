package model_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fugu/model"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// coupled draws the difference of F between two coupled datasets of the people: n rows, of which k differ in class.
type coupled struct {
	r     *rand.Rand
	class [2][]person // outside, inside
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
	add := func(total *[4]float64, class int) {
		for i, v := range c.class[class][c.r.IntN(len(c.class[class]))].linear() {
			total[i] += v
		}
	}
	low, high := int(math.Round(p*float64(rows))), int(math.Round(q*float64(rows)))
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
			var row [4]float64
			add(&row, class)
			for j, v := range row {
				f[j] += v
				g[j] += v
			}
		default:
			add(&f, 0)
			add(&g, 1)
		}
	}
	return f, g
}

// The bounds for coupled datasets hold on T = 100,000 pairs of datasets of 400 rows: the movement, less what Along and
// Beside explain, is at most what Norm2 and Norm1 say but in a share of failure = 1/20 of the pairs; an average's is
// within Along and Beside (of 4000 rows). The number of failures is binomial, at most T/20 expected; 6 standard
// deviations more are a false alarm of 1e-9. Without the scatter far more pairs are beyond.
func TestCouplingsHold(t *testing.T) {
	if testing.Short() {
		t.Skip("takes longer than a save")
	}
	const failure, p, q = 0.05, 0.3, 0.4
	for name, c := range map[string]struct {
		sql   string
		names []string // of the components: the cell, then the aggregate
		psi   model.Psi
		T     int
		rows  int
	}{
		"sums": {"SELECT g, count(*), sum(x) FROM people WHERE x > 4 GROUP BY g",
			[]string{"acount(*)", "asum(x)", "bcount(*)", "bsum(x)"}, model.Psi{}, 100_000, 400},
		"averages": {"SELECT g, avg(x) FROM people WHERE x > 4 GROUP BY g", []string{"aavg(x)", "bavg(x)"},
			model.Psi{}, 20_000, 4000},
		"both": {"SELECT g, count(*), avg(x) FROM people WHERE x > 4 GROUP BY g",
			[]string{"aavg(x)", "acount(*)", "bavg(x)", "bcount(*)"}, model.Psi{}, 100_000, 400},
		"distribution": {"SELECT g, count(*), sum(x) FROM people WHERE x > 4 GROUP BY g",
			[]string{"acount(*)", "asum(x)", "bcount(*)", "bsum(x)"}, model.Psi{Distribution: true}, 100_000, 400},
	} {
		t.Run(name, func(t *testing.T) {
			T, rows := c.T, c.rows
			all, reader, table := people(t, int64(rows))
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
			s := shifts[0]
			sd, scale := make([]float64, len(s.Along)), make([]float64, len(s.Along))
			for k := range sd {
				sd[k] = 1 + 10*float64(k%2) // any noise will do
				scale[k] = 2 + 5*float64(k%2)
			}
			norm2, norm1 := s.Scatter.Norm2(sd), s.Scatter.Norm1(scale)
			draws := &coupled{r: rand.New(rand.NewPCG(13, 14))}
			for _, row := range all {
				draws.class[inside(row)] = append(draws.class[inside(row)], row)
			}
			var beyond2, beyond1, beside, without int
			worst, norms := 0.0, make([]float64, 0, T)
			sums, squares := make([]float64, len(s.Along)), make([]float64, len(s.Along))
			for range T {
				f, g := draws.pair(rows, p, q, c.psi.Distribution)
				a, b := draws.value(f, c.names), draws.value(g, c.names)
				square, sum, out, outside := 0.0, 0.0, false, false
				for k := range a {
					left := math.Abs(b[k] - a[k] - s.Along[k])
					if c.names[k][1:] == "avg(x)" {
						out = out || left > s.Beside[k]
						worst = math.Max(worst, left/s.Beside[k])
						continue
					}
					sums[k] += b[k] - a[k]
					squares[k] += (b[k] - a[k]) * (b[k] - a[k])
					outside = outside || left > s.Beside[k]
					square += left * left / sd[k] / sd[k]
					sum += left / scale[k]
				}
				norms = append(norms, math.Sqrt(square))
				if math.Sqrt(square) > norm2 {
					beyond2++
				}
				if sum > norm1 {
					beyond1++
				}
				if out {
					beside++
				}
				if outside {
					without++
				}
			}
			for k := range s.Along {
				if c.names[k][1:] == "avg(x)" {
					continue
				}
				// The variance of each component's movement is what the scatter says (a standard error is about √(2/T),
				// .45%); by chance it is w² of the squared mean difference less.
				mean := sums[k] / float64(T)
				variance := squares[k]/float64(T) - mean*mean
				if c.psi.Distribution {
					variance += mean * mean / float64(rows)
				}
				if ratio := variance / s.Scatter.Variance[k]; math.Abs(ratio-1) > 0.035 {
					t.Errorf("component %d: variance %g, scatter %g", k, variance, s.Scatter.Variance[k])
				}
			}
			slices.Sort(norms)
			reached := norms[int((1-failure)*float64(T))] / norm2
			t.Logf("the quantile of the Euclidean norm is %.2f of its bound; beyond: %d, %d of the sum norm, %d "+
				"averages (at most %.2f of the bound); %d without scatter",
				reached, beyond2, beyond1, beside, worst, without)
			if name == "sums" && reached < 0.25 {
				t.Errorf("the bound is loose: %.2f of it are reached", reached)
			}
			if most := T/20 + int(6*math.Sqrt(float64(T)/20)); beyond2 > most || beyond1 > most || beside > most {
				t.Errorf("beyond the bound: %d of the Euclidean norm, %d of the sum norm, %d averages", beyond2,
					beyond1, beside)
			}
			if name != "averages" && without < T/4 {
				t.Errorf("without the scatter only %d pairs are beyond", without)
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
