package mechanism

import (
	"errors"
	"fmt"
	"math"

	"fugu/privacy"
	"fugu/sqlstate"
)

// markovQuilt is the Attribute-Private Markov Quilt Mechanism: it hides parameters of the distribution that the data is
// drawn from, which a Bayesian network relates to each other.
//
//	e_i   max-influence of parameter i on its quilt
//	Δ_i   the most by which the columns near it move F, Σ_k |x_k|/u_k
//	b   = max over sensitive parameters of Δ_i/(ε - e_i)
//	noise of component k: Laplace(max(b·u_k, h_k)), independent
//
// (ε,0)-distributional attribute private, if columns are independent given all parameters [Zhang, Ohrimenko & Cummings,
// section 5; Song, Wang & Chaudhuri 2017, Theorem 4.3]. Losses are Δ_i/b + e_i. They may be added up over releases that
// use the same quilt of a parameter, and only those: given the parameters of the quilt and those that it separates,
// with all of their columns, each release's F moves by at most its own Δ_i, so that its noise hides that at Δ_i/b
// whatever came before, and e_i bounds once and for all what the quilt itself tells [Song, Wang & Chaudhuri, Theorem
// 4.4, for the general form, which adds e_i for each release, as is done here]. For other quilts nothing is known of
// the joint law.
var markovQuilt = mechanism{kind: MarkovQuilt, design: designQuilts, losses: quiltLosses, certify: certifyQuilts}

func designQuilts(r Request) (design, error) {
	if len(r.Quilts) == 0 {
		return nil, sqlstate.New(sqlstate.InvalidParameterValue,
			"mechanism %s hides parameters of a network, and this table has none", MarkovQuilt).
			WithHint("Set fugu.mechanism to %s.", Auto)
	}
	scale, epsilon := 0.0, float64(r.Budget.Epsilon)
	for _, q := range r.Quilts {
		if q.Influence >= epsilon {
			return nil, sqlstate.New(sqlstate.InvalidParameterValue,
				"epsilon %.4g is not above %.4g, what parameter %s has to do with those that separate it from the rest",
				epsilon, q.Influence, q.Attribute).
				WithHint("Set a larger fugu.epsilon.")
		}
		scale = math.Max(scale, q.Scale(epsilon))
	}
	return r.cells(scale, setLaplace), nil
}

// quiltLosses is what noise n costs each parameter: Δ_i/b + e_i for the integer scales that are drawn, and what
// rounding F to the grid, before and after, may add to Δ_i.
func quiltLosses(r Request, n Noise) map[string]privacy.Loss {
	most, rounding := 0.0, 0.0
	for k, c := range n.cells {
		if c.laplace == 0 { // it hides nothing at any price
			rounding = math.Inf(1)
			break
		}
		most = math.Max(most, r.Components[k].Unit/math.Ldexp(float64(c.laplace), c.exponent))
		rounding += slack / float64(c.laplace)
	}
	losses := make(map[string]privacy.Loss, len(r.Quilts))
	for _, q := range r.Quilts {
		losses[q.Attribute] = privacy.Loss{Pure: q.Influence + q.Width*most + rounding}
	}
	return losses
}

// certifyQuilts certifies what the losses say, of each parameter.
func certifyQuilts(r Request, _ Noise, losses map[string]privacy.Loss) (out []Certificate, _ error) {
	for _, q := range r.Quilts {
		out = append(out, Certificate{
			Mechanism: MarkovQuilt, Assumptions: []string{IndependentColumns},
			Secret: q.Attribute, Epsilon: losses[q.Attribute].Pure,
		})
	}
	return out, nil
}

// checkQuilts refuses quilts that are malformed, stand beside other secrets, or are asked of another mechanism.
func (r Request) checkQuilts(kind Kind) error {
	if len(r.Quilts) == 0 {
		return nil
	}
	if len(r.Shifts)+len(r.Families)+len(r.Close) > 0 {
		return errors.New("parameters and other secrets in one request")
	}
	if kind != MarkovQuilt && kind != Auto {
		return sqlstate.New(sqlstate.InvalidParameterValue, "mechanism %s cannot hide a parameter of a network", kind).
			WithHint("Set fugu.mechanism to %s or %s.", MarkovQuilt, Auto)
	}

	// A parameter has one quilt, by which its noise is scaled.
	seen := map[string]bool{}
	for _, q := range r.Quilts {
		if seen[q.Attribute] || !(q.Width >= 0 && q.Width <= magnitude && q.Influence >= 0) ||
			math.IsInf(q.Influence, 1) {
			return fmt.Errorf("parameter %q: two quilts, or one without width or influence", q.Attribute)
		}
		seen[q.Attribute] = true
	}
	return nil
}
