package model

import (
	"fmt"
	"math"

	"fugu/sensitivity"
	"fugu/sqlstate"
)

// Psi is the pairs of values of one secret that must not be told apart, and what they are values of: Spans of a mean and
// of the share of one of two classes, otherwise Vectors or Simplex.
type Psi struct {
	Name string

	// Distribution: a value is the parameter of the distribution that the rows are drawn from. Otherwise it is what the
	// rows of the table have.
	Distribution bool
	// FromReference: the rows are drawn from the reference's without replacement.
	FromReference bool

	Spans   []sensitivity.Span
	Vectors [][2][]float64 // pairs of shares, by class
	Simplex *Simplex
}

// Paths are the lines of values that the secret's pairs lie on: one for each of Spans, one for each pair of Vectors, none for a
// Simplex.
func (m *Moments) Paths(secret int, psi Psi) []*Path {
	c := &m.secrets[secret]
	p := Path{m: m, c: c, psi: psi}
	switch {
	case psi.Simplex != nil:
		return nil
	case psi.Vectors != nil:
		var out []*Path
		for _, v := range psi.Vectors {
			q := p
			q.span, q.base, q.along = sensitivity.Span{From: 0, To: 1, Within: 1}, v[0], make([]float64, len(v[0]))
			for i := range q.along {
				q.along[i] = v[1][i] - v[0][i]
			}
			out = append(out, &q)
		}
		return out
	case c.cross != nil:
		p.base, p.along = []float64{1}, []float64{0}
		p.beta = make([]float64, len(c.cross))
		for i := range p.beta {
			p.beta[i] = (c.cross[i] - c.mean[0][i]*c.Mean) / c.Variance
		}
	default:
		p.base, p.along = []float64{1, 0}, []float64{-1, 1}
	}
	var out []*Path
	for _, span := range psi.Spans {
		q := p
		q.span = span
		out = append(out, &q)
	}
	return out
}

// Families is f_θ along each of the secret's Paths; none where one family does not hold every pair, and where a row may
// count in several cells (see Join).
func (m *Moments) Families(secret int, psi Psi) []sensitivity.Family {
	if m.Overlapping() {
		return nil
	}
	var out []sensitivity.Family
	for _, p := range m.Paths(secret, psi) {
		out = append(out, p)
	}
	return out
}

// Check refuses pairs that the reference cannot speak of (PV004): rows of no category, rows drawn from it of which it has
// too few.
func (psi Psi) Check(t Totals, rows int64) error {
	if psi.Simplex != nil && t.Outside > 0 {
		return sqlstate.New(sqlstate.ModelUnfit, "secret %s: %.0f rows of the reference have none of the column's declared values", psi.Name, t.Outside).
			WithHint("The owner of the policy can declare all values under group_by.")
	}
	if !psi.FromReference {
		return nil
	}
	for class, size := range t.Size {
		most := 1.0
		switch {
		case psi.Simplex != nil:
			most = psi.Simplex.To
		case psi.Vectors != nil:
			most = 0
			for _, v := range psi.Vectors {
				most = math.Max(most, math.Max(v[0][class], v[1][class]))
			}
		case len(t.Size) == 2:
			most = 0
			for _, s := range psi.Spans {
				most = math.Max(most, [2]float64{1 - s.From, s.To}[class])
			}
		}
		if drawn := most * float64(rows); drawn > size*(1+1e-9) {
			return sqlstate.New(sqlstate.ModelUnfit, "secret %s: up to %.0f rows of a class are drawn from the reference, which has %.0f", psi.Name, drawn, size).
				WithHint("The owner of the policy can give a larger reference, a narrower range of values, or leave drawn: from-reference out.")
		}
	}
	return nil
}

// Shifts says how far the secret's pairs move F: the extreme movements of which every pair's is a convex combination.
// The noise shall cover so many standard errors of the movement's estimate as well. A cell that the reference cannot
// support at every value is an error.
func (m *Moments) Shifts(secret int, psi Psi, errors float64) ([]sensitivity.Shift, error) {
	moved, err := m.movements(secret, psi, errors)
	var out []sensitivity.Shift
	for _, v := range moved {
		out = append(out, v.Shift)
	}
	return out, err
}

// movement is a Shift, and what of its Beside is there because the reference is an estimate.
type movement struct {
	sensitivity.Shift
	widened []float64
}

func (m *Moments) movements(secret int, psi Psi, errors float64) ([]movement, error) {
	if psi.Simplex != nil {
		return m.edges(secret, psi, errors)
	}
	var out []movement
	for _, p := range m.Paths(secret, psi) {
		v, err := p.movement(errors)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// between makes a movement of slopes at both ends of what they lie between, and of their errors: what rows that the
// reference does not show would change, and standard errors.
func (m *Moments) between(c *classes, name string, span sensitivity.Span, from, to []float64, rows [][]unseen, signs []int, deviation []float64, errors float64) (movement, error) {
	beside, unseen := m.disjoint(c, rows, signs)
	v := movement{widened: beside}
	for k := range v.widened {
		v.widened[k] += (errors + c.fitted[m.text(m.Components[k])]) * deviation[k]
	}
	var err error
	if v.Shift, err = sensitivity.Between(name, span, from, to, v.widened); err != nil {
		return v, err
	}
	for _, u := range unseen {
		scale(u.Size, span.Within)
		if err := u.Check(len(from)); err != nil {
			return v, fmt.Errorf("sensitivity to %s: %w", name, err)
		}
	}
	v.Error, v.Unseen = deviation, unseen
	scale(v.Error, span.Within)
	scale(v.widened, span.Within)
	return v, nil
}
