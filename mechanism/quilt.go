package mechanism

import (
	"errors"
	"math"

	"fugu/privacy"
	"fugu/sensitivity"
)

// MarkovQuilt is the Attribute-Private Markov Quilt Mechanism: it hides parameters of the distribution that the data is
// drawn from, which a Bayesian network relates to each other.
//
//	e_i   max-influence of parameter i on its quilt     Δ_i   the most by which the columns near it move F, Σ_k |x_k|/u_k
//	b   = max over sensitive parameters of Δ_i/(ε - e_i)
//	noise of component k: Laplace(max(b·u_k, h_k)), independent
//
// (ε,0)-distributional attribute private, if columns are independent given all parameters [Zhang, Ohrimenko & Cummings,
// section 5; Song, Wang & Chaudhuri 2017, Theorem 4.3]. Widths of quilts are in units. Losses are Δ_i/b + e_i. They may
// be added up over releases that use the same quilts, and only those: for others nothing is known of the joint law
// [Song, Wang & Chaudhuri, Theorem 4.4]. No policy can declare a network, so nothing but a program chooses this mechanism.
func MarkovQuilt(quilts []sensitivity.Quilt, components []Component, b privacy.Budget) (Calibration, error) {
	r := Request{Components: components, Budget: b}
	scale := 0.0
	for _, q := range quilts {
		r.Shifts = append(r.Shifts, sensitivity.Shift{Secret: q.Attribute, Along: make([]float64, len(components)), Beside: make([]float64, len(components))})
		scale = math.Max(scale, q.Scale(float64(b.Epsilon)))
		if !(q.Width >= 0 && q.Influence >= 0) {
			return Calibration{}, errors.New("calibrate: a quilt without width or influence")
		}
	}
	if err := r.check(); err != nil {
		return Calibration{}, err
	}
	if math.IsInf(scale, 1) || math.IsNaN(scale) {
		return Calibration{}, unmet("markov-quilt")
	}
	cost := func(q sensitivity.Quilt, n Noise) float64 {
		loss := q.Influence
		most := 0.0
		for k, c := range n.cells {
			most = math.Max(most, components[k].Unit/math.Ldexp(float64(c.laplace), c.exponent))
			loss += slack / float64(c.laplace)
		}
		return loss + q.Width*most
	}
	m := mechanism{kind: "markov-quilt",
		design: func(r Request) (design, error) {
			return r.cells(scale, func(c *cell, scale int64) { c.laplace = scale }), nil
		},
		holds: func(r Request, n Noise) bool {
			for _, q := range quilts {
				if !(cost(q, n) <= float64(b.Epsilon)) {
					return false
				}
			}
			return true
		},
		certify: func(_ Request, n Noise, _ map[string]privacy.Loss) (out []Certificate, _ error) {
			for _, q := range quilts {
				out = append(out, Certificate{Mechanism: "markov-quilt", Assumptions: []string{"independent columns"}, Secret: q.Attribute, Epsilon: cost(q, n)})
			}
			return out, nil
		}}
	c, err := m.calibrate(r)
	if err != nil {
		return Calibration{}, err
	}
	for _, q := range quilts {
		c.Losses[q.Attribute] = privacy.Loss{Pure: cost(q, c.Noise)}
	}
	return c, nil
}
