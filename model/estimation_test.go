package model_test

import "testing"

// What the reference's own rows leave open of the mean at a share: 20,000 references of 300 rows inside and 900
// outside, drawn from this one, of which the means are those of 35 and 65 rows.
func TestEstimation(t *testing.T) {
	all, reader, table := people(t, 100)
	cut, m := measure(t, reader, table, linear)
	path := m.Paths(secretShare, psi)[0]
	s := newSampler(all, order(cut, m), 2, inside)
	agrees(t, 20_000, path.Mean(0.35), dense(path.Estimation(0.35)), func() []float64 {
		var f [4]float64
		for c, rows := range []float64{65, 35} {
			var of [4]float64
			n := len(s.class[c])
			for range n {
				s.sum(&of, c, s.r.IntN(n))
			}
			for i, v := range of {
				f[i] += rows * v / float64(n)
			}
		}
		return s.components(f)
	})
}

// Rows that are drawn from the reference are drawn around its own means.
func TestNoEstimationOfTheReferencesOwnRows(t *testing.T) {
	_, reader, table := people(t, 250)
	_, m := measure(t, reader, table, linear)
	d := psi
	d.FromReference = true
	e := dense(m.Paths(secretShare, d)[0].Estimation(0.4))
	for k := range e.SymmetricDim() {
		if e.At(k, k) != 0 {
			t.Errorf("component %d has the error variance %g", k, e.At(k, k))
		}
	}
}
