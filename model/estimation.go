package model

import "fugu/sensitivity"

// Estimation is the covariance of the error of Mean at x: the classes' means are those of N_c rows of the reference,
// and n p_c rows of the table have them, so that
//
//	Cov Σ̂h  n² Σ p_c² (M_c - m_c m_cᵀ)/N_c
//	        n² (1 + (x - ḡ)²/Var g) (M - m mᵀ - Var(g) β βᵀ)/N   of a mean: the usual error of a line's height
//
// carried to other functions than sums by the delta method. The shares p_c are not estimates: they are what x says.
// Where the table's rows are drawn from the reference's its means are those that they are drawn around, and there is no
// error.
func (p *Path) Estimation(x float64) sensitivity.Covariance { return whole(p.estimation(x)) }

// estimation is Estimation as covariance has it, with the same terms.
func (p *Path) estimation(x float64) sensitivity.Covariance {
	weight, gradients := p.unknown(x), p.gradients(x)
	out := sensitivity.Covariance{Blocks: p.blocks(weight, gradients)}
	for c, w := range weight {
		out.Low = append(out.Low, lowRank(-w, p.c.mean[c], gradients))
	}
	if p.beta != nil {
		out.Low = append(out.Low, lowRank(-weight[0]*p.c.Variance, p.beta, gradients))
	}
	return out
}

// unknown returns what the second moments of each class count in the error of the mean at x.
func (p *Path) unknown(x float64) []float64 {
	n, out := p.m.rows(), p.shares(x)
	for c, share := range out {
		out[c] = n * share * n * share / p.c.Size[c]
		if p.psi.FromReference {
			out[c] = 0
		} else if p.beta != nil {
			out[c] *= 1 + (x-p.c.Mean)*(x-p.c.Mean)/p.c.Variance
		}
	}
	return out
}
