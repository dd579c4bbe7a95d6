package model

import "math"

// Fewest bounds from below how many rows an average is over in a table of the model's, whatever the values of the
// secrets are, but for a probability of e^-unlikely; 0 where nothing does.
//
// The number is a sum of independent 0 and 1 with mean μ, or of draws without replacement, which vary less [Hoeffding
// 1963, Theorem 4]: it is below μ - (2μu)^½ with a probability of at most e^-u [Chernoff]. μ is taken as small as any
// secret makes it, and without the reference rows that a chosen statement may have misjudged.
func (m *Moments) Fewest(k Component, psi []Psi, unlikely float64) float64 {
	_, count, ok := m.quotient(k)
	if !ok || m.cut.Joined() || !m.cut.Single(count%m.terms) {
		return 0
	}

	// The least share of rows that a cell may have under any value of any secret.
	share := 1.0
	for i, p := range psi {
		c := &m.secrets[i]
		if c.cross != nil { // jointly normal rows have no numbers
			return 0
		}
		means := c.column(count)
		for j := range means {
			means[j] = math.Max(0, means[j]-c.more[m.text(k)][j]/c.Size[j])
		}
		if p.Simplex != nil {
			least, _ := p.Simplex.bounds(means)
			share = math.Min(share, least)
		}

		for _, path := range m.Paths(i, p) {
			for _, x := range []float64{path.span.From, path.span.To} { // a straight line is least at an end
				at := 0.0
				for j, s := range path.shares(x) {
					at += s * means[j]
				}
				share = math.Min(share, at)
			}
		}
	}

	// [Chernoff's lower tail of a sum of independent indicators.]
	mu := m.rows() * share
	return math.Max(0, mu-math.Sqrt(2*mu*unlikely))
}
