package model

import (
	"context"

	"fugu/planner"
	"fugu/privacy/joint"
	"fugu/sensitivity"
)

// RowSums are what each row of the reference adds to the sums that components are functions of.
type RowSums struct {
	sample joint.Sample
	parts  map[*Moments]partSums
}

// partSums are those of one cut.
type partSums struct {
	terms *joint.Terms
	at    [][]int // of each component: its Totals among the components of terms
}

// ReadRowSums reads what each row of the reference adds to the components of cuts over one table.
func ReadRowSums(ctx context.Context, ref planner.Querier, p *Places, cuts ...*Moments) (*RowSums, error) {
	out := &RowSums{p.Sample, map[*Moments]partSums{}}
	for _, m := range cuts {
		var part partSums
		var totals []Total
		for k := range m.Components {
			var at []int
			for _, t := range m.Totals(k) {
				at, totals = append(at, len(totals)), append(totals, t)
			}
			part.at = append(part.at, at)
		}
		var err error
		if part.terms, err = m.Terms(ctx, ref, p, totals); err != nil {
			return nil, err
		}
		out.parts[m] = part
	}
	return out, nil
}

// Shape returns the family with its Cumulants, where it is one of the cuts' or of all of them together.
func (r *RowSums) Shape(f sensitivity.Family) sensitivity.Family {
	switch f := f.(type) {
	case *Path:
		return shapedPath{f, r}
	case *jointPath:
		return shapedJoint{f, r}
	}
	return f
}

// shapedPath is a Path of which it is known how far F is from normal.
type shapedPath struct {
	*Path
	rows *RowSums
}

// Cumulants are the third and the fourth of Σ_k w_k F_k at x, by the delta method for averages. With X = w·h, what a
// row adds, and its central moments in the classes of the reference they are sums over independent rows, as the
// variance is:
//
//	n Σ p_c (E(X-m_c)³)                      and n Σ p_c (E(X-m_c)⁴ - 3 Var_c²): the table's own shares
//	n (E(X-μ)³)                              and so on, over all classes together: shares of a distribution
//	the same of X - β(g - ḡ), β = Cov(X,g)/Var(g): given the table's own mean of g
//
// Rows that are drawn from the reference without replacement have at most these: their third cumulant has the factor
// (1-f)(1-2f) for a part f of the class.
func (p shapedPath) Cumulants(x float64, w []float64) (third, fourth float64, known bool) {
	added, known := p.rows.combined(p.Path, x, w)
	if known {
		third, fourth = p.cumulants(x, p.rows.sample, added)
	}
	return third, fourth, known
}

// shapedJoint is the same of several cuts together.
type shapedJoint struct {
	*jointPath
	rows *RowSums
}

// Cumulants are those of the parts together: they are over the same rows.
func (f shapedJoint) Cumulants(x float64, w []float64) (third, fourth float64, known bool) {
	added := make([]float64, f.rows.sample.Rows)
	for _, p := range f.paths {
		own, known := f.rows.combined(p, x, w[:len(p.m.Components)])
		if !known {
			return 0, 0, false
		}
		w = w[len(p.m.Components):]
		for r, v := range own {
			added[r] += v
		}
	}
	third, fourth = f.paths[0].cumulants(x, f.rows.sample, added)
	return third, fourth, true
}

// combined is what each row of the reference adds to Σ_k w_k F_k.
func (r *RowSums) combined(p *Path, x float64, w []float64) (added []float64, known bool) {
	part, known := r.parts[p.m]
	if !known {
		return nil, false
	}
	weights := make([]float64, part.terms.Width())
	for k, gradient := range p.gradients(x) {
		for i, g := range gradient {
			weights[part.at[k][i]] += w[k] * g.weight
		}
	}
	return part.terms.Combined(weights), true
}

// cumulants are those of the sum over the table's rows of what each row of the reference adds.
func (p *Path) cumulants(x float64, sample joint.Sample, added []float64) (third, fourth float64) {
	n := p.m.rows()
	if p.beta != nil {
		if !p.psi.Distribution {
			added = residuals(added, sample.Numbers[p.psi.Name])
		}
		of := momentsOf(added, nil, 0)
		return n * of.third, n * of.fourth
	}

	class, shares := sample.Classes[p.psi.Name], p.shares(x)
	if p.psi.Distribution {
		of := mixed(added, class, shares)
		return n * of.third, n * of.fourth
	}

	// Where the rows of each class are a fixed number, the classes add up.
	for c, share := range shares {
		of := momentsOf(added, class, c)
		third, fourth = third+n*share*of.third, fourth+n*share*of.fourth
	}
	return third, fourth
}

// cumulantsOfOne are the third and the fourth cumulant of one row's value.
type cumulantsOfOne struct{ third, fourth float64 }

// momentsOf are the cumulants of the values of a class; all values where class is nil.
func momentsOf(values []float64, class []int16, which int) cumulantsOfOne {
	weight := make([]float64, len(values))
	for r := range values {
		if class == nil || int(class[r]) == which {
			weight[r] = 1
		}
	}
	return weighed(values, weight)
}

// mixed are the cumulants of a row that is of each class with its share.
func mixed(values []float64, class []int16, shares []float64) cumulantsOfOne {
	size := make([]float64, len(shares))
	for _, c := range class {
		if c >= 0 {
			size[c]++
		}
	}
	weight := make([]float64, len(values))
	for r, c := range class {
		if c >= 0 {
			weight[r] = shares[c] / size[c]
		}
	}
	return weighed(values, weight)
}

// weighed are the cumulants of a value that is each of these with a probability in proportion to its weight.
func weighed(values, weight []float64) cumulantsOfOne {
	total, mean := 0.0, 0.0
	for r, v := range values {
		total, mean = total+weight[r], mean+weight[r]*v
	}
	if total == 0 {
		return cumulantsOfOne{}
	}
	mean /= total
	var second, third, fourth float64
	for r, v := range values {
		d := v - mean
		second, third, fourth = second+weight[r]*d*d, third+weight[r]*d*d*d, fourth+weight[r]*d*d*d*d
	}
	second /= total
	return cumulantsOfOne{third / total, fourth/total - 3*second*second}
}

// residuals are what a regression on numbers leaves of values.
func residuals(values, numbers []float64) []float64 {
	n := float64(len(values))
	var mean, level, square, product float64
	for r, v := range values {
		mean, level = mean+v/n, level+numbers[r]/n
	}
	for r, v := range values {
		square += (numbers[r] - level) * (numbers[r] - level)
		product += (numbers[r] - level) * (v - mean)
	}
	out := make([]float64, len(values))
	for r, v := range values {
		out[r] = v
		if square > 0 {
			out[r] -= product / square * (numbers[r] - level)
		}
	}
	return out
}
