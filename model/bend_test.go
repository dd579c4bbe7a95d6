package model_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"fugu/model"
	"fugu/planner"
	"fugu/sensitivity"
	"fugu/upstream"
)

// checkBend compares what a family bends by between two values with what its covariance leaves the straight line by. It
// returns the least ratio of a bound to what there is of a component.
func checkBend(t *testing.T, what string, f sensitivity.Bent, a, b float64, scale []float64) (tight float64) {
	t.Helper()
	rho := f.Bend(a, b)(scale)
	low, high := dense(f.Covariance(a)), dense(f.Covariance(b))
	n := len(rho)
	tight = math.Inf(1)
	for i := 1; i < 20; i++ {
		w := float64(i) / 20
		rest := dense(f.Covariance(a + w*(b-a)))
		for _, sign := range []float64{1, -1} {
			// diag(ρ) ± what leaves the line, in units of the standard deviations
			sum := mat.NewSymDense(n, nil)
			for k := range n {
				for l := k; l < n; l++ {
					v := sign * (rest.At(k, l) - (1-w)*low.At(k, l) - w*high.At(k, l))
					if k == l {
						if x := math.Abs(v); x > 1e-9*low.At(k, k) {
							tight = math.Min(tight, rho[k]/x)
						}
						v += rho[k]
					}

					sum.SetSym(k, l, v/math.Sqrt(low.At(k, k)*low.At(l, l)))
				}
			}
			var eig mat.EigenSym
			if !eig.Factorize(sum, false) || eig.Values(nil)[0] < -1e-9 {
				t.Fatalf("%s, [%g,%g] at %g: leaves the line by more than the bend, eigenvalue %g", what, a, b, w,
					eig.Values(nil)[0])
			}
		}
	}

	for k, r := range rho {
		if f.Affine() && r > 1e-9*low.At(k, k) {
			t.Errorf("%s: component %d is affine, and bends by %g", what, k, r)
		}
	}
	return tight
}

// The covariance leaves the straight line between two values by no more than Bend says, and by not much less: for every
// form of secret, averages and sums.
func TestBendBoundsTheCovariance(t *testing.T) {
	_, reader, table := people(t, 250)
	line := [][2][]float64{{{0.2, 0.5, 0.3}, {0.5, 0.4, 0.1}}}
	ends := [][2]float64{{.1, .15}, {.1, .6}, {.5, .53}}
	for name, c := range map[string]struct {
		secret int
		psi    model.Psi
		ends   [][2]float64
	}{
		"share":          {secretShare, psi, ends},
		"distribution":   {secretShare, model.Psi{Name: "s", Spans: psi.Spans, Distribution: true}, ends},
		"from reference": {secretShare, model.Psi{Name: "s", Spans: psi.Spans, FromReference: true}, ends},
		"categories":     {secretKinds, model.Psi{Name: "s", Vectors: line}, [][2]float64{{0, 1}, {.4, .5}}},
		"mean": {secretMean, model.Psi{Name: "s", Spans: []sensitivity.Span{{From: 120, To: 150, Within: 5}}},
			[][2]float64{{120, 150}, {130, 135}}},
	} {
		for _, sql := range [][]string{{averages}, {linear}, {mixed}, {overSets}, {mixed, overSets, linear}} {
			f := jointly(t, reader, table, c.secret, c.psi, sql...)
			n := f.Covariance(c.ends[0][0]).Len()
			what := fmt.Sprintf("%s, %s", name, sql)
			for _, in := range []struct {
				ends  [2]float64
				scale []float64
			}{{c.ends[0], nil}, {c.ends[len(c.ends)-1], nil}, {c.ends[0], uneven(n, 1)}, {c.ends[0], uneven(n, 2)}} {
				tight := checkBend(t, what, f, in.ends[0], in.ends[1], in.scale)
				if !f.Affine() && in.scale == nil && tight > 200 {
					t.Errorf("%s, %v: the bend is at least %.3g times what is there", what, in.ends, tight)
				}
			}
		}
	}
}

// mixed has averages over other rows than its counts, and sums of other values.
const mixed = `SELECT g, count(*), count(*) FILTER (WHERE y > 4), avg(x) FILTER (WHERE x > 4), avg(y), sum(y)
	FROM people GROUP BY g`

// What counts and sums have in common with averages is bounded by about what there is, in scales in which it is most of
// what they bend by: those of counts and sums are small.
func TestBendBesideAverages(t *testing.T) {
	_, reader, table := people(t, 250)
	for _, sql := range []string{averages, mixed} {
		cut, m := measure(t, reader, table, sql)
		f := m.Paths(secretShare, psi)[0]
		a, b := .3, .35
		low, half, high := dense(f.Covariance(a)), dense(f.Covariance((a+b)/2)), dense(f.Covariance(b))
		n := len(m.Components)
		scale := make([]float64, n)
		sum := make([]bool, n)
		for k, v := range f.Covariance(a).Diagonal() {
			name := cut.Aggregates[m.Components[k].Aggregate].Name
			sum[k] = name == "count" || name == "sum"
			if scale[k] = math.Sqrt(v); sum[k] {
				scale[k] *= .01
			}
		}

		rho := f.Bend(a, b)(scale)
		most := 0.0
		for k := range n {
			least := 0.0 // Σ |R_kl| d_l/d_k, as the bound has it
			for l := range n {
				least += math.Abs(half.At(k, l)-(low.At(k, l)+high.At(k, l))/2) * scale[k] / scale[l]
			}
			if sum[k] {
				most = math.Max(most, rho[k]/least)
			}
		}

		if most > 2 {
			t.Errorf("%s: counts and sums bend by up to %.3g times what there is", sql, most)
		}
	}
}

// uneven are n scales of quite different sizes: the bound holds for any.
func uneven(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(15, seed))
	out := make([]float64, n)
	for k := range out {
		out[k] = math.Exp(6 * (r.Float64() - .5))
	}
	return out
}

// In units of the noise, a count beside an average bends by far less than in units of its own deviation.
func TestBendInScalesOfTheNoise(t *testing.T) {
	_, reader, table := people(t, 250)
	_, m := measure(t, reader, table, "SELECT avg(x), count(*) FROM people WHERE x > 0")
	f := m.Paths(secretShare, psi)[0]
	variance, scale, count := f.Covariance(.1).Diagonal(), []float64{}, -1
	for k, c := range m.Components {
		by := 1.0
		if c.Aggregate == 1 {
			by, count = .05, k
		}
		scale = append(scale, by*math.Sqrt(variance[k]))
	}
	own, noise := f.Bend(.1, .15)(nil)[count], f.Bend(.1, .15)(scale)[count]
	if !(own > 0 && noise < .06*own) {
		t.Errorf("the count bends by %g, in units of the noise by %g", own, noise)
	}
}

// What every row has alike bends nowhere: its variances are nothing but rounding errors, which must not become
// infinite.
func TestBendOfConstants(t *testing.T) {
	_, reader, table := people(t, 250)
	_, m := measure(t, reader, table, "SELECT count(1), sum(2), avg(3), count('x') FROM people")
	f := m.Paths(secretShare, psi)[0]
	for k, r := range f.Bend(.1, .6)(nil) {
		if !(r < 1e-6) {
			t.Errorf("component %d of constants bends by %g", k, r)
		}
	}
}

// Beside an average, a count that is the same in every table of the model bends the average no more than it bends
// alone: that of all rows, and that of the rows of the secret's own class.
func TestBendBesideConstants(t *testing.T) {
	_, reader, table := people(t, 250)
	_, alone := measure(t, reader, table, "SELECT avg(x) FROM people")
	of := alone.Paths(secretShare, psi)[0].Bend(.1, .15)(nil)[0]
	for _, sql := range []string{"SELECT avg(x), count(*) FROM people", "SELECT avg(x), count(1), sum(2) FROM people"} {
		_, m := measure(t, reader, table, sql)
		for k, r := range m.Paths(secretShare, psi)[0].Bend(.1, .15)(nil) {
			if m.Components[k].Aggregate == 0 && !(r <= of*(1+1e-6)) {
				t.Errorf("%s: the average bends by %g, alone by %g", sql, r, of)
			}
		}
	}
}

// overSets has averages in groups that overlap.
const overSets = "SELECT k, g, avg(x), count(*) FROM people WHERE y > 2 GROUP BY GROUPING SETS ((k), (g), ())"

// jointly is f_θ of statements taken together; of one whose cells do not overlap, its own.
func jointly(t *testing.T, reader *upstream.Reader, table *planner.Table, secret int, psi model.Psi,
	statements ...string) sensitivity.Bent {
	t.Helper()
	var parts []*model.Moments
	for _, sql := range statements {
		_, m := measure(t, reader, table, sql)
		parts = append(parts, m)
	}
	joint, err := model.Join(t.Context(), reader, parts...)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := joint.Families(secret, psi)[0].(sensitivity.Bent)
	if !ok {
		t.Fatalf("nothing bounds how the covariances of %v bend", statements)
	}
	return f
}
