package model_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fugu/model"
	"fugu/sensitivity"
)

const averages = "SELECT g, count(*), avg(x), sum(x) FROM people WHERE x > 4 GROUP BY g"

// vector draws shares of three classes, each in [from, to].
func vector(r *rand.Rand, from, to float64) []float64 {
	for {
		a, b := r.Float64(), r.Float64()
		v := []float64{math.Min(a, b), math.Abs(a - b), 1 - math.Max(a, b)}
		if math.Min(v[0], math.Min(v[1], v[2])) >= from && math.Max(v[0], math.Max(v[1], v[2])) <= to {
			return v
		}
	}
}

// drawVectors draws two vectors of shares, often in the corners of the range, which are the furthest, and often only a
// little apart; at most within apart, and by how much of it.
func drawVectors(r *rand.Rand, within float64) (p, q []float64, d float64) {
	p, q = vector(r, 0.05, 0.7), vector(r, 0.05, 0.7)
	if r.IntN(2) == 0 {
		p, q = []float64{0.05, 0.25, 0.7}, []float64{0.05, 0.25, 0.7}
		r.Shuffle(3, func(i, j int) { p[i], p[j] = p[j], p[i] })
		r.Shuffle(3, func(i, j int) { q[i], q[j] = q[j], q[i] })
		if r.IntN(2) == 0 {
			copy(q, p)
			i := r.IntN(3)
			j := (i + 1 + r.IntN(2)) % 3
			q[i], q[j] = q[i]-0.01, q[j]+0.01
			if slices.Min(q) < 0.05 || slices.Max(q) > 0.7 {
				return drawVectors(r, within)
			}
		}
	}

	d = (math.Abs(p[0]-q[0]) + math.Abs(p[1]-q[1]) + math.Abs(p[2]-q[2])) / 2
	if d > within { // as far as the pair may lie apart
		for i := range q {
			q[i] = p[i] + (q[i]-p[i])*within/d
		}
	}
	return p, q, math.Min(1, d/within)
}

// drawFunctional draws one component, and often some others with it.
func drawFunctional(r *rand.Rand, m int) []float64 {
	out := make([]float64, m)
	out[r.IntN(m)] = 1
	for k := range out {
		if r.IntN(3) == 0 {
			out[k] = r.NormFloat64()
		}
	}
	return out
}

// farthestAlong is how far a functional moves at most by any of the shifts, and by their directions alone.
func farthestAlong(shifts []sensitivity.Shift, functional []float64) (most, straight float64) {
	for _, s := range shifts {
		along, beside := 0.0, 0.0
		for k, w := range functional {
			along += w * s.Along[k]
			beside += math.Abs(w) * s.Beside[k]
		}
		most, straight = math.Max(most, math.Abs(along)+beside), math.Max(straight, math.Abs(along))
	}
	return most, straight
}

// Every pair of vectors of a simplex moves F by a convex combination of the shifts: along any functional no further
// than the furthest of them. A bound for single moves would not do where averages bend: their Beside is needed.
func TestEdgesCoverTheSimplex(t *testing.T) {
	_, reader, table := people(t, 1000)
	_, m := measure(t, reader, table, averages)
	within := 0.15
	simplex := &model.Simplex{From: 0.05, To: 0.7, Within: within}
	widened, err := m.Shifts(secretKinds, model.Psi{Name: "kinds", Simplex: simplex}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(widened) != 3 {
		t.Fatalf("%d shifts of three classes", len(widened))
	}
	var shifts []sensitivity.Shift // without the reference's resolution, which would hide a bound that is too small
	for _, e := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		low, high := m.EdgeBounds(secretKinds, simplex, e[0], e[1])
		s, err := sensitivity.Between("kinds", sensitivity.Span{Within: within}, low, high, make([]float64, len(low)))
		if err != nil {
			t.Fatal(err)
		}
		for k, w := range widened[len(shifts)].Beside {
			if w <= s.Beside[k] {
				t.Errorf("component %d has no resolution", k)
			}
		}

		shifts = append(shifts, s)
	}

	r := rand.New(rand.NewPCG(9, 10))
	reached, bent := 0.0, 0.0
	for range 20_000 {
		p, q, part := drawVectors(r, within)
		path := m.Paths(secretKinds, model.Psi{Vectors: [][2][]float64{{p, q}}})[0]
		a, b := path.Mean(0), path.Mean(1)
		functional := drawFunctional(r, len(a))
		moved := 0.0
		for k, w := range functional {
			moved += w * (b[k] - a[k])
		}

		most, straight := farthestAlong(shifts, functional)
		if part > 0 { // a pair that is closer moves by no more than its part
			most, straight = most*part, straight*part
		}
		if math.Abs(moved) > most*(1+1e-9)+1e-12 {
			t.Fatalf("%v to %v moves %v by %g, at most %g by the shifts", p, q, functional, moved, most)
		}
		if most > 0 {
			reached = math.Max(reached, math.Abs(moved)/most)
		}
		if straight > 0 {
			bent = math.Max(bent, math.Abs(moved)/straight)
		}
	}

	if reached < 0.6 || bent < 1.001 {
		t.Errorf("the furthest pair reaches %.2f of the bound, %.4f of the directions alone", reached, bent)
	}
}

// another is a reference drawn anew from one of 1200 people, class by class, by its sums: of the classes the means of x
// and 1, of the whole reference, drawn once more, the products with the number 2y+100 of which the mean is secret.
type another struct {
	n        float64
	s, c     [2][2]float64 // class, group: sums of x and of 1
	size     [2]float64
	gh       [2][2]float64 // group: products of the number with 1 and x
	h        [2][2]float64
	g, g2    float64
	p        float64 // the share
	center   float64 // and the mean at which slopes are wanted
	variance float64
}

func drawAnother(all []person, r *rand.Rand, p, center float64) another {
	a := another{n: float64(len(all)), p: p, center: center}
	for i := range all {
		class := 0
		row := all[300+r.IntN(900)]
		if i < 300 {
			class, row = 1, all[r.IntN(300)]
		}
		a.size[class]++
		v := row.linear()
		for j := range 2 {
			a.c[class][j] += v[2*j]
			a.s[class][j] += v[2*j+1]
		}

		row = all[r.IntN(len(all))] // the regression: rows of the whole reference
		v, z := row.linear(), 2*row.y+100
		a.g, a.g2 = a.g+z, a.g2+z*z
		for j := range 2 {
			a.h[j][0], a.h[j][1] = a.h[j][0]+v[2*j], a.h[j][1]+v[2*j+1]
			a.gh[j][0], a.gh[j][1] = a.gh[j][0]+z*v[2*j], a.gh[j][1]+z*v[2*j+1]
		}
	}

	a.variance = a.g2/a.n - a.g*a.g/a.n/a.n
	return a
}

// slopes are those of an aggregate of group j with the share and with the mean.
func (a another) slopes(aggregate string, j int) [2]float64 {
	s1, s0 := a.s[1][j]/a.size[1], a.s[0][j]/a.size[0]
	c1, c0 := a.c[1][j]/a.size[1], a.c[0][j]/a.size[0]
	bc := (a.gh[j][0]/a.n - a.h[j][0]*a.g/a.n/a.n) / a.variance
	bs := (a.gh[j][1]/a.n - a.h[j][1]*a.g/a.n/a.n) / a.variance
	switch aggregate {
	case "count":
		return [2]float64{1000 * (c1 - c0), 1000 * bc}
	case "sum":
		return [2]float64{1000 * (s1 - s0), 1000 * bs}
	}
	ac, as := a.h[j][0]/a.n+bc*(a.center-a.g/a.n), a.h[j][1]/a.n+bs*(a.center-a.g/a.n)
	size := a.p*c1 + (1-a.p)*c0
	return [2]float64{(s1*c0 - s0*c1) / size / size, (bs*ac - as*bc) / ac / ac}
}

// The standard errors of the slopes against references drawn anew, class by class: T = 4000 of them. A standard
// deviation over 4000 draws has a standard error of about 1.3%; 10% are 8 of them for a normal estimate.
func TestStandardErrors(t *testing.T) {
	all, reader, table := people(t, 1000)
	cut, m := measure(t, reader, table, averages)
	share := m.Paths(secretShare, psi)[0]
	mean := m.Paths(secretMean, model.Psi{Name: "mean", Spans: psi.Spans})[0]
	r := rand.New(rand.NewPCG(11, 12))
	const T, p, center = 4000, 0.3, 140.0
	var sums, squares [2][]float64
	for i := range sums {
		sums[i], squares[i] = make([]float64, len(m.Components)), make([]float64, len(m.Components))
	}
	for range T {
		drawn := drawAnother(all, r, p, center)
		for k, comp := range m.Components {
			j := 0
			if cut.Cells[comp.Cell].Keys[0].Text == "b" {
				j = 1
			}
			for i, v := range drawn.slopes(cut.Aggregates[comp.Aggregate].Name, j) {
				sums[i][k] += v / T
				squares[i][k] += v * v / T
			}
		}
	}

	for i, got := range [][]float64{share.Deviation(p), mean.Deviation(center)} {
		for k, d := range got {
			sd := math.Sqrt(squares[i][k] - sums[i][k]*sums[i][k])
			ratio := d / sd
			if low, high := 0.9, 1.1; i == 0 && (ratio < low || ratio > high) {
				t.Errorf("component %d: standard error %g, of references drawn anew %g", k, d, sd)
			}
			// The regression's errors are estimated as if residuals did not depend on g; here they do.
			if i == 1 && (ratio < 0.85 || ratio > 2) {
				t.Errorf("component %d: standard error in the mean %g, of references drawn anew %g", k, d, sd)
			}
		}
	}
}

// As many standard errors as are asked for widen what is beside the direction.
func TestStandardErrorsWiden(t *testing.T) {
	_, reader, table := people(t, 1000)
	_, m := measure(t, reader, table, averages)
	shifts, err := m.Shifts(secretShare, psi, 2)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := m.Shifts(secretShare, psi, 0)
	if err != nil {
		t.Fatal(err)
	}
	for k, d := range shifts[0].Error {
		if want := plain[0].Beside[k] + 2*d; math.Abs(shifts[0].Beside[k]-want) > 1e-9*want || !(d > 0) {
			t.Errorf("component %d: two standard errors of %g widen %g to %g", k, d, plain[0].Beside[k],
				shifts[0].Beside[k])
		}
	}
}
