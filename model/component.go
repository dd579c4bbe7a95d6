package model

import (
	"math"
	"math/big"

	"fugu/planner"
)

// The symbols of this package: n rows; h the row functions (terms); μ = E h of one row. A component of F is a smooth
// function φ of a few sums S = Σ h, E S = n μ. [Chen & Ohrimenko, sections 2 and 4.]

func (m *Moments) rows() float64 { return float64(m.cut.Table.Rows) }

func (m *Moments) aggregate(k Component) planner.Aggregate { return m.cut.Aggregates[k.Aggregate] }

// at returns the indices of the sums that a component is a function of in the cell × term layout.
func (m *Moments) at(k Component) []int {
	var out []int
	for _, t := range m.aggregate(k).Terms {
		out = append(out, k.Cell*m.terms+t)
	}
	return out
}

// total is the term whose sum a component is, in the cell × term layout; -1 for other functions.
func (m *Moments) total(k Component) int {
	if m.aggregate(k).Linear() {
		return m.at(k)[0]
	}
	return -1
}

// quotient returns the sum and the number whose quotient an average is, in the cell × term layout; false for other
// functions.
func (m *Moments) quotient(k Component) (sum, count int, ok bool) {
	a := m.aggregate(k)
	if at := m.at(k); len(at) == 2 && !a.Second() {
		return at[1], at[0], true // N comes first
	}
	return 0, 0, false
}

// sums returns E S of the sums that a component is a function of, where a row's terms have the expectations mu.
func (m *Moments) sums(k Component, mu []float64) []float64 {
	var out []float64
	for _, i := range m.at(k) {
		out = append(out, m.rows()*mu[i])
	}
	return out
}

// value returns the component's expectation: φ(E S), which is exact for counts and sums, and the delta method's for the
// rest; NaN where it is undefined.
func (m *Moments) value(k Component, mu []float64) float64 {
	return m.aggregate(k).Value(m.sums(k, mu))
}

type weighted struct {
	term   int // in the cell × term layout
	weight float64
}

// gradient returns the derivatives of a component by its sums, and how they change as the expectations of a row's terms
// move by d.
func (m *Moments) gradient(k Component, mu, d []float64) (gradient, change []weighted) {
	g, c := m.aggregate(k).Gradient(m.sums(k, mu), m.sums(k, d))
	for j, t := range m.at(k) {
		gradient, change = append(gradient, weighted{t, g[j]}), append(change, weighted{t, c[j]})
	}
	return gradient, change
}

// farthest bounds |Σ w h| over one row.
func (m *Moments) farthest(k Component, f []weighted) float64 {
	w := make([]float64, len(f))
	for j := range f {
		w[j] = f[j].weight
	}
	return m.extreme(k, w)
}

// extent bounds by how much h of a component that is a sum differs between two rows, of which one may be in another cell,
// where h is 0.
func (m *Moments) extent(k Component) float64 {
	t := m.aggregate(k).Terms[0]
	low, high := 0.0, 0.0
	switch of := m.cut.Terms[t].Factors; {
	case len(of) == 1 && !m.cut.Bases[of[0]].Indicator:
		e := m.within(of[0], m.limitSet(k))
		low, high = e.min, e.max
	default:
		high = m.largestIn(k, t)
		if len(of) > 1 {
			low = -high
		}
	}
	return math.Max(0, high) - math.Min(0, low)
}

// LatticeSteps returns a bound on the lattice step of each component: what φ changes by when a sum of the highest degree
// moves by a step and the other sums stay. Of an average that is a step over the fewest rows that its cell is expected
// to hold under any value of the secret.
func (m *Moments) LatticeSteps(secret int, psi Psi) []float64 {
	out := make([]float64, len(m.Components))
	var ends [][]float64 // what a row's terms are expected to be at the ends of the paths
	if psi.Simplex == nil {
		for _, p := range m.Paths(secret, psi) {
			ends = append(ends, p.expected(p.span.From), p.expected(p.span.To))
		}
	}
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

// column returns the class means of one term.
func (c *classes) column(term int) []float64 {
	out := make([]float64, len(c.mean))
	for i, mean := range c.mean {
		out[i] = mean[term]
	}
	return out
}

// Typical returns what stands in for component k where the protected rows give it no value: 0 for counts and sums, and
// for the rest the reference's, which is public.
func (m *Moments) Typical(k int) *big.Rat {
	c := m.Components[k]
	if m.aggregate(c).Extensive {
		return new(big.Rat)
	}
	return new(big.Rat).SetFloat64(m.aggregate(c).Value(m.all(c)))
}
