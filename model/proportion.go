package model

import (
	"math"
	"math/big"
)

// The symbols of this file: n rows, of which a share p has the secret's predicate; h the row functions (terms), with
// class means m1 (inside) and m0 (outside) and class covariances C1, C0. A component of F is a sum S = Σ h, or the ratio
// of two. [Chen & Ohrimenko, sections 2 and 4; the class mixture is the law of total expectation.]

// mix returns the expected sum of a term over one row drawn from the mixture: p m1 + (1-p) m0.
func (c *classes) mix(p float64, i int) float64 { return p*c.mean[1][i] + (1-p)*c.mean[0][i] }

// at returns the indices of a component's sum and count terms in the cell × term layout; sum is -1 for a count.
func (m *Moments) at(k Component) (sum, count int) {
	a := m.cut.Aggregates[k.Aggregate]
	base := k.Cell * len(m.terms)
	if a.Sum < 0 {
		return -1, base + a.Count
	}
	return base + a.Sum, base + a.Count
}

func (m *Moments) function(k Component) string { return m.cut.Aggregates[k.Aggregate].Func }

// Mean returns E F under the proportion p of the secret: n(p m1 + (1-p) m0), and for averages the ratio of two such.
func (m *Moments) Mean(secret int, p float64) []float64 {
	s := &m.secrets[secret]
	n := float64(m.cut.Table.Rows)
	out := make([]float64, len(m.Components))
	for i, k := range m.Components {
		sum, count := m.at(k)
		switch m.function(k) {
		case "count":
			out[i] = n * s.mix(p, count)
		case "sum":
			out[i] = n * s.mix(p, sum)
		case "avg":
			if c := s.mix(p, count); c > 0 {
				out[i] = s.mix(p, sum) / c
			}
		}
	}
	return out
}

// Slope returns d E F / dp at p. It is constant for counts and sums; for an average it is monotone in p, since with
// class means s and c of its sum and count the average is (p s1 + (1-p) s0)/(p c1 + (1-p) c0), and
//
//	slope = (s1 c0 - s0 c1) / (p c1 + (1-p) c0)².
func (m *Moments) Slope(secret int, p float64) []float64 {
	s := &m.secrets[secret]
	n := float64(m.cut.Table.Rows)
	out := make([]float64, len(m.Components))
	for i, k := range m.Components {
		sum, count := m.at(k)
		switch m.function(k) {
		case "count":
			out[i] = n * (s.mean[1][count] - s.mean[0][count])
		case "sum":
			out[i] = n * (s.mean[1][sum] - s.mean[0][sum])
		case "avg":
			if c := s.mix(p, count); c > 0 {
				out[i] = (s.mean[1][sum]*s.mean[0][count] - s.mean[0][sum]*s.mean[1][count]) / (c * c)
			}
		}
	}
	return out
}

// Resolution bounds how much one reference row more, of the most extreme kind, would change each component's slope: the
// finest difference between the classes that a reference of this size can show. Without it a component that no
// reference row supports would seem not to move at all, and would be released for nothing.
func (m *Moments) Resolution(secret int, from, to float64) []float64 {
	s := &m.secrets[secret]
	n := float64(m.cut.Table.Rows)
	row := n * (1/s.size[1] + 1/s.size[0])
	out := make([]float64, len(m.Components))
	for i, k := range m.Components {
		sum, count := m.at(k)
		a := m.cut.Aggregates[k.Aggregate]
		switch a.Func {
		case "count":
			out[i] = row * m.largest(a.Count)
		case "sum":
			out[i] = row * m.largest(a.Sum)
		case "avg":
			// A row with sum x and count y more in class 1 moves s1 by x/N1 and c1 by y/N1, hence the slope by at most
			// (x - y s0/c0) c0/(N1 c²).
			c := math.Min(s.mix(from, count), s.mix(to, count))
			spread := [2]float64{}
			for other := range spread {
				spread[other] = m.terms[a.Sum].max - m.terms[a.Sum].min
				if !m.cut.Terms[a.Count].Single() && s.mean[other][count] > 0 {
					spread[other] = m.largest(a.Sum) + m.largest(a.Count)*math.Abs(s.mean[other][sum]/s.mean[other][count])
				}
				spread[other] = math.Max(spread[other], m.Lattice(a.Sum))
			}
			out[i] = (spread[0]*s.mean[0][count]/s.size[1] + spread[1]*s.mean[1][count]/s.size[0]) / (c * c)
		}
	}
	return out
}

// largest bounds |h| of a term over the reference's rows.
func (m *Moments) largest(term int) float64 {
	if m.cut.Terms[term].Single() {
		return 1
	}
	return math.Max(math.Abs(m.terms[term].min), math.Abs(m.terms[term].max))
}

// Lattice bounds the step of the lattice on which the sums of a term lie: the mean of |x| over the reference rows with
// x ≠ 0. If every value is a multiple of a step, no nonzero one is smaller than it, and so neither is their mean.
func (m *Moments) Lattice(term int) float64 {
	if m.cut.Terms[term].Single() {
		return 1
	}
	return m.terms[term].abs / m.terms[term].nonzero
}

// LatticeSteps returns a bound on the lattice step of each component; of an average, over the fewest rows that its cell
// is expected to hold anywhere in [from,to].
func (m *Moments) LatticeSteps(secret int, from, to float64) []float64 {
	s := &m.secrets[secret]
	out := make([]float64, len(m.Components))
	for i, k := range m.Components {
		_, count := m.at(k)
		a := m.cut.Aggregates[k.Aggregate]
		switch a.Func {
		case "count":
			out[i] = 1
		case "sum":
			out[i] = m.Lattice(a.Sum)
		case "avg":
			c := float64(m.cut.Table.Rows) * math.Min(s.mix(from, count), s.mix(to, count))
			out[i] = m.Lattice(a.Sum) / math.Max(c, 1)
		}
	}
	return out
}

// Covariance returns Cov(F_k, F_l) under the proportion p: n(p C1 + (1-p) C0) for sums, carried to averages by the delta
// method: an average S/N has the gradient (1/n c, -s/n c²) in (S, N).
func (m *Moments) Covariance(secret int, p float64, k, l int) float64 {
	gk, gl := m.gradient(secret, p, k), m.gradient(secret, p, l)
	total := 0.0
	for _, a := range gk {
		for _, b := range gl {
			total += a.weight * b.weight * m.termCovariance(secret, p, a, b)
		}
	}
	return total
}

type weighted struct {
	cell, term int
	weight     float64
}

func (m *Moments) gradient(secret int, p float64, k int) []weighted {
	c := m.Components[k]
	a := m.cut.Aggregates[c.Aggregate]
	switch a.Func {
	case "count":
		return []weighted{{c.Cell, a.Count, 1}}
	case "sum":
		return []weighted{{c.Cell, a.Sum, 1}}
	}
	s := &m.secrets[secret]
	sum, count := m.at(c)
	n := float64(m.cut.Table.Rows) * s.mix(p, count)
	if n <= 0 {
		return nil
	}
	return []weighted{{c.Cell, a.Sum, 1 / n}, {c.Cell, a.Count, -s.mix(p, sum) / s.mix(p, count) / n}}
}

func (m *Moments) termCovariance(secret int, p float64, a, b weighted) float64 {
	s := &m.secrets[secret]
	nt := len(m.terms)
	total := 0.0
	for class, share := range [2]float64{1 - p, p} {
		cov := -s.mean[class][a.cell*nt+a.term] * s.mean[class][b.cell*nt+b.term]
		if a.cell == b.cell {
			cov += s.second[class][(a.cell*nt+a.term)*nt+b.term]
		}
		total += share * cov
	}
	return float64(m.cut.Table.Rows) * total
}

// Typical returns what stands in for component k when no protected row is in its cell: 0 for counts and sums, and for an
// average the reference's, which is public.
func (m *Moments) Typical(k int) *big.Rat {
	c := m.Components[k]
	if m.function(c) != "avg" {
		return new(big.Rat)
	}
	sum, count := m.at(c)
	return new(big.Rat).SetFloat64(m.pooled[sum] / m.pooled[count])
}
