package model

import "math"

// LatticeSteps returns a bound on the lattice step of each component: what φ changes by when a sum of the highest
// degree moves by a step and the other sums stay. Of an average that is a step over the fewest rows that its cell is
// expected to hold under any value of the secret.
func (m *Moments) LatticeSteps(secret int, psi Psi) []float64 {
	out := make([]float64, len(m.Components))
	var ends [][]float64 // what a row's terms are expected to be at the ends of the paths
	if psi.Simplex == nil {
		for _, p := range m.Paths(secret, psi) {
			ends = append(ends, p.expected(p.span.From), p.expected(p.span.To))
		}
	}

	// All vectors of a simplex are bounded together; else the ends of the paths say how few rows there can be.
	for i, k := range m.Components {
		if psi.Simplex != nil {
			out[i] = 1
			if t := m.aggregate(k).Terms; m.total(k) >= 0 {
				out[i] = m.Lattice(t[0])
			} else if _, count, ok := m.quotient(k); ok {
				least, _ := psi.Simplex.bounds(m.secrets[secret].column(count))
				out[i] = m.Lattice(t[1]) / math.Max(m.rows()*least, 1)
			}

			continue
		}
		for _, mu := range ends {
			out[i] = math.Max(out[i], m.latticeStep(k, m.sums(k, mu)))
		}
	}
	return out
}

func (m *Moments) latticeStep(k Component, s []float64) float64 {
	a := m.aggregate(k)
	if !a.Linear() && s[0] < 1 { // there is at least a row, or no value
		for j := len(s) - 1; j >= 0; j-- {
			s[j] /= s[0]
		}
	}
	g, _ := a.Gradient(s, make([]float64, len(s)))
	step, top := 0.0, a.Sums[len(s)-1].Degree()
	for j, t := range a.Terms {
		if a.Sums[j].Degree() == top {
			step += math.Abs(g[j]) * m.Lattice(t)
		}
	}
	return step
}

// Lattice bounds the step of the lattice on which the sums of a term lie. Where the sums of the factors stay as they
// are, two rows can change those of a product by two steps of it, and by no less: (x+a)² + (y-a)² is x² + y² + 2a(x-y)
// + 2a².
func (m *Moments) Lattice(term int) float64 {
	step, factors := 1.0, 0
	for _, i := range m.cut.Terms[term].Factors {
		if !m.cut.Bases[i].Indicator {
			step *= m.step(i)
			factors++
		}
	}
	if factors > 1 {
		step *= 2
	}
	return step
}
