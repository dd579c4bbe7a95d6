package model_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"fugu/model"
	"fugu/sensitivity"
)

// The covariance leaves the straight line between two values by no more than Bend says, and by not much less: for every
// form of secret, averages and sums.
func TestBendBoundsTheCovariance(t *testing.T) {
	_, reader, table := people(t, 250)
	line := [][2][]float64{{{0.2, 0.5, 0.3}, {0.5, 0.4, 0.1}}}
	for name, c := range map[string]struct {
		secret int
		psi    model.Psi
		ends   [][2]float64
	}{
		"share":          {secretShare, psi, [][2]float64{{.1, .15}, {.1, .6}, {.5, .53}}},
		"distribution":   {secretShare, model.Psi{Name: "s", Spans: psi.Spans, Distribution: true}, [][2]float64{{.1, .15}, {.1, .6}, {.5, .53}}},
		"from reference": {secretShare, model.Psi{Name: "s", Spans: psi.Spans, FromReference: true}, [][2]float64{{.1, .15}, {.1, .6}, {.5, .53}}},
		"categories":     {secretKinds, model.Psi{Name: "s", Vectors: line}, [][2]float64{{0, 1}, {.4, .5}}},
		"mean":           {secretMean, model.Psi{Name: "s", Spans: []sensitivity.Span{{From: 120, To: 150, Within: 5}}}, [][2]float64{{120, 150}, {130, 135}}},
	} {
		for _, sql := range []string{averages, linear} {
			_, m := measure(t, reader, table, sql)
			f := m.Paths(c.secret, c.psi)[0]
			n := len(m.Components)
			for _, ends := range c.ends {
				a, b := ends[0], ends[1]
				rho := f.Bend(a, b)
				low, high := dense(f.Covariance(a)), dense(f.Covariance(b))
				tight := math.Inf(1)
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
							t.Fatalf("%s, %s, [%g,%g] at %g: leaves the line by more than the bend, eigenvalue %g", name, sql, a, b, w, eig.Values(nil)[0])
						}
					}
				}
				for k, r := range rho {
					if f.Affine() && r > 1e-9*low.At(k, k) {
						t.Errorf("%s, %s: component %d is affine, and bends by %g", name, sql, k, r)
					}
				}
				if !f.Affine() && tight > 200 {
					t.Errorf("%s, %s, [%g,%g]: the bend is at least %.3g times what is there", name, sql, a, b, tight)
				}
			}
		}
	}
}

// What every row has alike bends nowhere: its variances are nothing but rounding errors, which must not become infinite.
func TestBendOfConstants(t *testing.T) {
	_, reader, table := people(t, 250)
	_, m := measure(t, reader, table, "SELECT count(1), sum(2), avg(3), count('x') FROM people")
	f := m.Paths(secretShare, psi)[0]
	for k, r := range f.Bend(.1, .6) {
		if !(r < 1e-6) {
			t.Errorf("component %d of constants bends by %g", k, r)
		}
	}
}

// Beside an average, a count that is the same in every table of the model bends the average no more than it bends alone:
// that of all rows, and that of the rows of the secret's own class.
func TestBendBesideConstants(t *testing.T) {
	_, reader, table := people(t, 250)
	_, alone := measure(t, reader, table, "SELECT avg(x) FROM people")
	of := alone.Paths(secretShare, psi)[0].Bend(.1, .15)[0]
	for _, sql := range []string{"SELECT avg(x), count(*) FROM people", "SELECT avg(x), count(1), sum(2) FROM people"} {
		_, m := measure(t, reader, table, sql)
		for k, r := range m.Paths(secretShare, psi)[0].Bend(.1, .15) {
			if m.Components[k].Aggregate == 0 && !(r <= of*(1+1e-6)) {
				t.Errorf("%s: the average bends by %g, alone by %g", sql, r, of)
			}
		}
	}
}
