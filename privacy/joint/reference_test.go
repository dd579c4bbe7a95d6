package joint

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"fugu/sensitivity"
)

// slow is an accountant written from the definitions: the terms as a dense matrix, every moment by its formula, and a
// fresh solve for every question.
type slow struct {
	sample   Sample
	releases []Release
	terms    [][]float64 // by component: of each row
	noise    []float64
	lines    [][]float64
	hidden   []map[string]bool // by component
	still    []bool
}

func (a *slow) add(r Release) {
	dense := make([][]float64, r.Terms.Width())
	for k := range dense {
		dense[k] = make([]float64, a.sample.Rows)
		a.hidden = append(a.hidden, r.Hidden)
		a.still = append(a.still, r.Still != nil && r.Still[k])
	}
	for _, line := range r.Lines {
		a.lines = append(a.lines, append(make([]float64, len(a.terms)), line...))
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
	var total *mat.Dense
	if g, ok := a.sample.Numbers[s.Name]; ok {
		total, delta = a.regression(s, p, g)
	} else {
		total, delta, differ = a.mixtures(s, p)
	}

	sigma = mat.NewSymDense(m, nil)
	for k := range m {
		for l := k; l < m; l++ {
			sigma.SetSym(k, l, total.At(k, l))
		}
	}

	for k, h := range a.hidden {
		if h[s.Name] || a.still[k] {
			delta[k] = 0
		}
	}
	return sigma, delta, differ
}

// addScaled adds weight·x to a matrix.
func addScaled(to *mat.Dense, weight float64, x mat.Matrix) {
	var y mat.Dense
	y.Scale(weight, x)
	to.Add(to, &y)
}

// regression is of a secret mean: all rows move by what they have in common with its number g, and vary by the rest.
func (a *slow) regression(s Secret, p Pair, g []float64) (total *mat.Dense, delta []float64) {
	m := len(a.terms)
	total, delta = mat.NewDense(m, m, nil), make([]float64, m)
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
	addScaled(total, s.N, cov)
	addScaled(total, -s.N, &outer)
	return total, delta
}

// mixtures is of secret shares: a row is of a class, and moves F by its class's mean.
func (a *slow) mixtures(s Secret, p Pair) (total *mat.Dense, delta []float64, differ []*mat.Dense) {
	m := len(a.terms)
	total, delta = mat.NewDense(m, m, nil), make([]float64, m)
	difference, between := mat.NewDense(m, m, nil), mat.NewDense(m, m, nil)
	mu := [2][]float64{make([]float64, m), make([]float64, m)}
	for c := range p.P {
		mean, cov := a.within(func(r int) bool { return int(a.sample.Classes[s.Name][r]) == c })
		addScaled(total, s.N*math.Min(p.P[c], p.Q[c]), cov)
		addScaled(difference, s.N*(p.P[c]-p.Q[c]), cov)
		v := mat.NewVecDense(m, mean)
		var outer mat.Dense
		outer.Outer(1, v, v)
		addScaled(between, s.N*(p.P[c]-p.Q[c]), &outer)
		for k := range delta {
			delta[k] += s.N * (p.P[c] - p.Q[c]) * mean[k]
			mu[0][k] += p.P[c] * mean[k]
			mu[1][k] += p.Q[c] * mean[k]
		}
	}

	if !s.Distribution {
		return total, delta, []*mat.Dense{difference}
	}

	// Rows that have their classes by chance vary between the classes' means, too.
	for _, at := range mu {
		d := mat.DenseCopyOf(difference)
		d.Add(d, between)
		x, y := mat.NewVecDense(m, at), mat.NewVecDense(m, delta)
		var o mat.Dense
		o.Outer(1, x, y)
		addScaled(d, -1, &o)
		addScaled(d, -1, o.T())
		differ = append(differ, d)
	}
	return total, delta, differ
}

// noisy adds the noise to a covariance.
func (a *slow) noisy(sigma *mat.SymDense) {
	for k, n := range a.noise {
		sigma.SetSym(k, k, sigma.At(k, k)+n)
	}
	for _, line := range a.lines {
		sigma.SymRankOne(sigma, 1, mat.NewVecDense(len(a.noise),
			append(slices.Clone(line), make([]float64, len(a.noise)-len(line))...)))
	}
}

// cost has Delta'S⁻¹Delta, S = Sigma0 and the noise, and the greatest norms of L⁻¹DL⁻ᵀ at the ends, LL' = S.
func (a *slow) cost(s Secret, p Pair) Cost {
	sigma, delta, differ := a.moments(s, p)
	a.noisy(sigma)
	var c Cost
	var chol mat.Cholesky
	if !chol.Factorize(sigma) {
		panic("not positive definite")
	}
	var l mat.TriDense
	chol.LTo(&l)
	for _, d := range differ {
		var x, w mat.Dense
		if x.Solve(&l, d) != nil || w.Solve(&l, x.T()) != nil {
			panic("singular")
		}
		square := 0.0
		for k := range a.noise {
			row := 0.0
			for l := range a.noise {
				v := math.Abs(w.At(k, l))
				square, row = square+v*v, row+v
			}
			c.Slope = math.Max(c.Slope, row)
		}

		c.G = math.Max(c.G, square)
	}
	var x mat.VecDense
	d := mat.NewVecDense(len(delta), slices.Clone(delta))
	if err := chol.SolveVecTo(&x, d); err != nil {
		panic(err)
	}
	c.Kappa2 = mat.Dot(d, &x)
	return c
}

// experiment is all releases under both values of a pair, with their covariances: of the class's rows, and of how many
// there are, where they are drawn. What hides Delta in hidden ones is not among it.
func (a *slow) experiment(t interface{ Fatal(...any) }, s Secret, p Pair, laplace []float64) *sensitivity.Experiment {
	m := len(a.noise)
	_, delta, _ := a.moments(s, p)
	pair := sensitivity.Pair{Mean: delta}
	for _, side := range []struct {
		shares []float64
		to     *sensitivity.Covariance
	}{{p.P, &pair.P}, {p.Q, &pair.Q}} {
		sigma, _, _ := a.moments(s, Pair{P: side.shares, Q: side.shares})
		a.noisy(sigma)
		if s.Distribution {
			mu := make([]float64, m)
			for c, share := range side.shares {
				mean, _ := a.within(func(r int) bool { return int(a.sample.Classes[s.Name][r]) == c })
				sigma.SymRankOne(sigma, s.N*share, mat.NewVecDense(m, mean))
				floats.AddScaled(mu, share, mean)
			}

			sigma.SymRankOne(sigma, -s.N, mat.NewVecDense(m, mu))
		}
		b := sensitivity.Block{Size: m, Entries: make([]float64, m*m)}
		for k := range m {
			for l := range m {
				b.Entries[k*m+l] = sigma.At(k, l)
			}
		}

		side.to.Blocks = []sensitivity.Block{b}
	}
	e, err := sensitivity.NewExperiment(laplace, 0, &pair)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
