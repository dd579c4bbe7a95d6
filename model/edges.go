package model

import (
	"errors"
	"math"

	"fugu/sensitivity"
	"fugu/sqlstate"
)

// edges returns a movement for each pair of classes: rows that move from the one to the other, Within of all. Between
// two vectors p and q a share w ≤ Within moves, λ_cd w of it from class c to class d, Σ λ_cd = 1. So by the mean value
// theorem along the line from p to q, with ∇_c the derivative of E F by the share of class c,
//
//	E F(q) - E F(p) = Σ λ_cd w ∫ (∇_d - ∇_c),
//
// a convex combination of what single edges do, and each integral lies between bounds of ∇_d - ∇_c over all vectors: a
// constant n(m_d - m_c) for counts and sums, and for an average φ = S/C the bounds of (s_d - s_c - φ(c_d - c_c))/C by
// those of φ and C.
func (m *Moments) edges(secret int, psi Psi, standardErrors float64) ([]movement, error) {
	c, s := &m.secrets[secret], psi.Simplex
	k := len(c.Size)
	if 1-s.From*float64(k) <= 0 || s.To*float64(k) <= 1 {
		return nil, errors.New("no two vectors of shares in the range add up to 1")
	}

	// Only sums and their quotients have bounds over all vectors.
	for _, comp := range m.Components {
		if _, _, ok := m.quotient(comp); m.total(comp) < 0 && !ok {
			return nil, sqlstate.New(sqlstate.ModelUnfit, "%s cannot be answered: how far it moves with the "+
				"proportions of all categories of secret %s is not known", m.aggregate(comp).Label, psi.Name).
				WithHint("Ask for counts, sums and averages.")
		}
	}

	center := scaled(c.Size, 1/(sumOf(c.Size)+c.Outside)) // the reference's own shares, for standard errors

	var out []movement
	for i := range k {
		for j := i + 1; j < k; j++ {
			along := make([]float64, k)
			along[i], along[j] = -1, 1
			at := c.mixture(center, along)
			low, high := make([]float64, len(m.Components)), make([]float64, len(m.Components))
			rows, deviation := make([][]unseen, k), make([]float64, len(m.Components))
			for l, comp := range m.Components {
				low[l], high[l] = c.edge(m, comp, s, at.d)
				for class, u := range c.anywhere(m, comp, s, at) {
					rows[class] = append(rows[class], u)
				}
				deviation[l] = c.deviation(m, comp, at)
			}

			// The slope lies between the bounds, and its errors are counted on top.
			span := sensitivity.Span{Within: s.Within}
			var shift movement
			var err error
			if m.cover > 0 {
				shift, err = m.covering(c, psi.Name, span, low, high, deviation, direction{along, []mix{s.bounds}})
			} else {
				shift, err = m.between(c, psi.Name, span, low, high, rows, nil, deviation, standardErrors)
			}
			if err != nil {
				return nil, err
			}
			out = append(out, shift)
		}
	}
	return out, nil
}

// edge bounds a component's derivative along a direction, in which a row's terms move by d, over all vectors of the
// simplex.
func (c *classes) edge(m *Moments, k Component, s *Simplex, d []float64) (low, high float64) {
	if t := m.total(k); t >= 0 {
		return m.rows() * d[t], m.rows() * d[t]
	}
	sum, count, _ := m.quotient(k)
	least, most := s.bounds(c.column(count))
	if least <= 0 {
		return math.Inf(-1), math.Inf(1)
	}
	phiLow, phiHigh := s.quotients(c.column(sum), c.column(count))
	a, b := d[sum]-phiLow*d[count], d[sum]-phiHigh*d[count]
	low, high = math.Min(a, b), math.Max(a, b)
	return math.Min(low/least, low/most), math.Max(high/least, high/most)
}

// anywhere is unseen for all vectors of the simplex.
func (c *classes) anywhere(m *Moments, k Component, s *Simplex, at mixture) []unseen {
	if m.total(k) >= 0 {
		return c.unseen(m, k, at) // of totals it does not depend on the shares
	}
	out := make([]unseen, len(c.Size))
	sum, count, _ := m.quotient(k)
	least, _ := s.bounds(c.column(count))
	if least <= 0 {
		for j := range out {
			out[j].rest = math.Inf(1)
		}
		return out
	}

	// The quotient and its denominator lie within these bounds for all vectors.
	low, high := s.quotients(c.column(sum), c.column(count))
	spread, turn := m.spread(k, math.Max(math.Abs(low), math.Abs(high))), math.Abs(at.d[count])/least
	for j, size := range c.Size {
		n := (math.Abs(at.along[j]) + s.To*turn) / least / size
		mean := math.Max(math.Abs(c.mean[j][sum]-low*c.mean[j][count]), math.Abs(c.mean[j][sum]-high*c.mean[j][count]))
		out[j] = unseen{own: n * spread, rest: n * mean}
	}
	return out
}
