package history

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// slow is an accountant written from the definitions: the terms as a dense matrix, every moment by its formula, and a
// fresh solve for every question.
type slow struct {
	sample   Sample
	releases []Release
	terms    [][]float64 // by component: of each row
	noise    []float64
	hidden   []map[string]bool // by component
}

func (a *slow) add(r Release) {
	dense := make([][]float64, r.Terms.Width())
	for k := range dense {
		dense[k] = make([]float64, a.sample.Rows)
		a.hidden = append(a.hidden, r.Hidden)
	}
	r.Terms.each(func(row, component int, v float64) { dense[component][row] += v })
	a.terms = append(a.terms, dense...)
	a.noise = append(a.noise, r.Noise...)
	a.releases = append(a.releases, r)
}

// within returns mean and covariance of the terms over the rows that are in.
func (a *slow) within(in func(row int) bool) (mean []float64, cov *mat.Dense) {
	m := len(a.terms)
	mean, cov = make([]float64, m), mat.NewDense(m, m, nil)
	rows := 0.0
	for r := range a.sample.Rows {
		if !in(r) {
			continue
		}
		rows++
		for k := range m {
			mean[k] += a.terms[k][r]
		}
	}
	if rows == 0 {
		return mean, cov
	}
	for k := range mean {
		mean[k] /= rows
	}
	for k := range m {
		for l := range m {
			sum := 0.0
			for r := range a.sample.Rows {
				if in(r) {
					sum += (a.terms[k][r] - mean[k]) * (a.terms[l][r] - mean[l])
				}
			}
			cov.Set(k, l, sum/rows)
		}
	}
	return mean, cov
}

// moments returns Sigma0 and Delta for a pair, and D at both its ends.
func (a *slow) moments(s Secret, p Pair) (sigma *mat.SymDense, delta []float64, differ []*mat.Dense) {
	m := len(a.terms)
	total, difference := mat.NewDense(m, m, nil), mat.NewDense(m, m, nil)
	delta = make([]float64, m)
	add := func(to *mat.Dense, weight float64, x mat.Matrix) {
		var y mat.Dense
		y.Scale(weight, x)
		to.Add(to, &y)
	}
	if g, ok := a.sample.Numbers[s.Name]; ok {
		mean, cov := a.within(func(int) bool { return true })
		mg, vg := 0.0, 0.0
		for _, v := range g {
			mg += v / float64(len(g))
		}
		for _, v := range g {
			vg += (v - mg) * (v - mg) / float64(len(g))
		}
		beta := make([]float64, m)
		for k := range beta {
			for r, v := range g {
				beta[k] += (a.terms[k][r] - mean[k]) * (v - mg) / float64(len(g)) / vg
			}
			delta[k] = s.N * beta[k] * p.Move
		}
		b := mat.NewVecDense(m, beta)
		var outer mat.Dense
		outer.Outer(vg, b, b)
		add(total, s.N, cov)
		add(total, -s.N, &outer)
	} else {
		means, mu := make([][]float64, len(p.P)), [2][]float64{make([]float64, m), make([]float64, m)}
		between := mat.NewDense(m, m, nil)
		for c := range p.P {
			mean, cov := a.within(func(r int) bool { return int(a.sample.Classes[s.Name][r]) == c })
			means[c] = mean
			add(total, s.N*math.Min(p.P[c], p.Q[c]), cov)
			add(difference, s.N*(p.P[c]-p.Q[c]), cov)
			v := mat.NewVecDense(m, mean)
			var outer mat.Dense
			outer.Outer(1, v, v)
			add(between, s.N*(p.P[c]-p.Q[c]), &outer)
			for k := range delta {
				delta[k] += s.N * (p.P[c] - p.Q[c]) * mean[k]
				mu[0][k] += p.P[c] * mean[k]
				mu[1][k] += p.Q[c] * mean[k]
			}
		}
		if !s.Distribution {
			differ = append(differ, difference)
		} else {
			for _, at := range mu {
				d := mat.DenseCopyOf(difference)
				d.Add(d, between)
				x, y := mat.NewVecDense(m, at), mat.NewVecDense(m, delta)
				var o mat.Dense
				o.Outer(1, x, y)
				add(d, -1, &o)
				add(d, -1, o.T())
				differ = append(differ, d)
			}
		}
	}
	sigma = mat.NewSymDense(m, nil)
	for k := range m {
		for l := k; l < m; l++ {
			sigma.SetSym(k, l, total.At(k, l))
		}
	}
	for k, h := range a.hidden {
		if h[s.Name] {
			delta[k] = 0
		}
	}
	return sigma, delta, differ
}

// kappa2 is Delta'(Sigma0 + diag N)⁻¹Delta.
func (a *slow) kappa2(s Secret, p Pair) float64 {
	sigma, delta, _ := a.moments(s, p)
	for k, n := range a.noise {
		sigma.SetSym(k, k, sigma.At(k, k)+n)
	}
	return quadratic(sigma, delta)
}

func quadratic(sigma *mat.SymDense, delta []float64) float64 {
	var chol mat.Cholesky
	if !chol.Factorize(sigma) {
		panic("not positive definite")
	}
	var x mat.VecDense
	d := mat.NewVecDense(len(delta), slices.Clone(delta))
	if err := chol.SolveVecTo(&x, d); err != nil {
		panic(err)
	}
	return mat.Dot(d, &x)
}
