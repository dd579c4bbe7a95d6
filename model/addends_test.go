package model_test

import (
	"math"
	"testing"

	"fugu/model"
	"fugu/privacy/joint"
	"fugu/test/normals"
)

// What covariances tell of a secret, Σ (2 sinh(y/2))² over the logarithms y of the ratios between two values, is within
// what Theorem 4 of docs/accounting.md makes of the addends, for functions of sums as well: their derivatives move with
// the secret. Made of the components' own variances as if they were sums it is not. A hundredth of the variance is the
// least noise: with less, a sum, a number and their quotient tell nothing new but what the delta method makes of them.
func TestAddendsBoundWhatCovariancesTell(t *testing.T) {
	_, reader, table := people(t, 250)
	short := 0
	for _, sql := range []string{
		averages, linear,
		"SELECT g, avg(x), stddev(x), corr(x, y), count(*) FROM people GROUP BY g",
		"SELECT avg(CASE WHEN s THEN 8 ELSE x END), avg(CASE WHEN s THEN 7 ELSE y END) FROM people WHERE s OR x > 14",
	} {
		_, m := measure(t, reader, table, sql)
		f := m.Paths(secretShare, psi)[0]
		sp := f.Span()
		for _, a := range []float64{sp.From, (sp.From + sp.To) / 2, sp.To - sp.Within} {
			b := a + sp.Within
			bend := math.Max(sp.Within/a, sp.Within/(1-b))
			low, high := f.Covariance(a), f.Covariance(b)
			for _, noise := range []float64{.01, .1, 1, 100} {
				v := low.Diagonal()
				bound, naive := 0.0, 0.0
				for k := range v {
					v[k] = math.Max(v[k]*noise, 1e-9)
					most := 0.0
					for _, addends := range m.Addends(k, []model.Psi{psi}) {
						most = math.Max(most, joint.Weight(addends, v[k]))
					}
					bound += bend * bend * most
					naive += bend * bend * joint.Weight([]float64{math.Sqrt(math.Max(low.Diagonal()[k],
						high.Diagonal()[k]))}, v[k])
				}

				told := 0.0
				for _, e := range normals.Ratios(t, dense(low.WithDiagonal(1, v)), dense(high.WithDiagonal(1, v))) {
					told += e + 1/e - 2
				}
				if told > bound*(1+1e-6)+1e-9 {
					t.Errorf("%s, %g against %g, noise %g: covariances tell %g, bounded by %g", sql, a, b, noise, told,
						bound)
				}

				if told > naive*(1+1e-6)+1e-9 {
					short++
				}
			}
		}
	}

	if short == 0 {
		t.Error("the components' own variances would do: it is no test")
	}
}
