package model

import "math"

// FewRows is what the covariance of averages misses, for each component at x, where few rows have a part in them: how
// much more, as a variance, the table's average may differ from the reference's than Covariance and Estimation say. It
// is for beliefs about a table (package estimate), and no noise depends on it. Of other components it is 0, and where
// the table's rows are drawn from the reference.
//
// The delta method has v/λ + v/k, for v the variance of the k rows of the reference, and λ rows expected in the table.
// Of a handful of rows that is too little on either side:
//
//   - v is small by chance, and 0 of a single row. By the rows of all groups the variance is σ²; v is taken for a draw
//     about it, worth as much as ν = 4 rows. Given k rows the variance then has an inverse χ² law with ν + k - 1
//     degrees of freedom and the mean (ν σ² + k v)/(ν + k - 3) [Gelman et al., "Bayesian Data Analysis", section 3.3].
//   - the number of rows is a Poisson one, and the mean of 1/N over N ≥ 1 is more than 1/λ: 1.30 times of three rows.
func (p *Path) FewRows(x float64) []float64 {
	out := make([]float64, len(p.m.Components))
	if p.psi.FromReference {
		return out
	}
	seen := make([]groupRows, len(out))
	pooled := map[[2]int]*struct{ squares, degrees float64 }{}
	for i, k := range p.m.Components {
		g, ok := p.groupRows(k, x)
		if !ok {
			continue
		}
		seen[i] = g
		at := [2]int{k.Aggregate, p.m.cut.Cells[k.Cell].Set}
		if pooled[at] == nil {
			pooled[at] = new(struct{ squares, degrees float64 })
		}
		pooled[at].squares += g.rows * g.variance
		pooled[at].degrees += math.Max(0, g.rows-1)
	}

	// A group's own variance is shrunk towards that of all groups.
	for i, k := range p.m.Components {
		all := pooled[[2]int{k.Aggregate, p.m.cut.Cells[k.Cell].Set}]
		if seen[i].rows > 0 && all.degrees > 0 {
			out[i] = seen[i].missed(all.squares / all.degrees)
		}
	}
	return out
}

// groupRows are the rows that have a part in one average.
type groupRows struct {
	variance float64 // of the reference's, around their mean
	rows     float64 // that the reference has: as many as know the mean as well, if the classes weigh otherwise
	expected float64 // in the table
}

// groupRows of a component at x; false: it is no average, or its rows are none that count once.
func (p *Path) groupRows(k Component, x float64) (g groupRows, ok bool) {
	sum, count, ok := p.m.quotient(k)
	if !ok {
		return g, false
	}
	one := []weighted{{count, 1}}
	around := []weighted{{sum, 1}, {count, -p.m.value(k, p.expected(x))}}

	// The residual is measured around the mean of the group, in the rows of each class.
	here, squares, error := 0., 0., 0.
	for c, share := range p.shares(x) {
		mean := p.c.mean[c][count]
		if math.Abs(p.c.product(c, p.m.terms, one, one)-mean) > 1e-9*mean {
			return g, false // a row of the root stands for several
		}
		here += share * mean
		squares += share * p.c.product(c, p.m.terms, around, around)
		error += share * share * mean / p.c.Size[c]
	}

	if !(here > 0 && error > 0) || math.IsNaN(squares) {
		return g, false
	}
	return groupRows{math.Max(0, squares/here), here * here / error, p.m.rows() * here}, true
}

// likeness is how many rows' worth it is that groups vary alike. Of the census' averages by age and by country fewer
// intervals hold with 8 where the reference has seven rows or less (.92 of schooling by age, .89 of hours), and .95 and
// .92 with 4; of larger groups it makes no difference.
const likeness = 4

// missed is the variance beyond the delta method's, where rows of all groups vary by pooled.
func (g groupRows) missed(pooled float64) float64 {
	variance := (likeness*pooled + g.rows*g.variance) / (likeness + g.rows - 3)
	whole := variance * (meanInverse(g.expected) + 1/g.rows)
	return math.Max(0, whole-g.variance*(1/g.expected+1/g.rows))
}

// meanInverse is E(1/N | N ≥ 1) of a Poisson number with the mean λ > 0.
func meanInverse(lambda float64) float64 {
	if lambda > 50 {
		return 1/lambda + 1/(lambda*lambda) + 2/(lambda*lambda*lambda)
	}
	chance, sum, whole := math.Exp(-lambda), 0., -math.Expm1(-lambda)
	for n := 1.; n < 200; n++ {
		chance *= lambda / n
		sum += chance / n
	}
	return sum / whole
}
