package model

import (
	"fmt"
	"math"

	"fugu/sensitivity"
)

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
func (m *Moments) between(c *classes, name string, span sensitivity.Span, from, to []float64, rows [][]unseen,
	signs []int, deviation []float64, errors float64) (movement, error) {
	if m.cover > 0 {
		return movement{}, notCovered("the movement with secret " + name)
	}

	// Disjoint cells share the rows that are not seen; standard errors are added to each.
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

	// So far it is the slope: a pair is at most Within apart.
	v.Error, v.Unseen = deviation, unseen
	scale(v.Error, span.Within)
	scale(v.widened, span.Within)
	return v, nil
}

func (p *Path) movement(errors float64) (movement, error) {
	// The most over both ends and the middle.
	rows, deviation := p.unseen(p.span.From), p.Deviation(p.span.From)
	for _, x := range []float64{(p.span.From + p.span.To) / 2, p.span.To} {
		widen(rows, p.unseen(x))
		for k, v := range p.Deviation(x) {
			deviation[k] = math.Max(deviation[k], v)
		}
	}
	lo, hi := p.Slopes()
	if p.m.cover > 0 {
		if p.beta != nil {
			return movement{}, notCovered("a movement with secret " + p.psi.Name + ", which is a mean,")
		}
		return p.m.covering(p.c, p.psi.Name, p.span, lo, hi, deviation, direction{p.along, p.pieces()})
	}
	return p.m.between(p.c, p.psi.Name, p.span, lo, hi, rows, p.signs(), deviation, errors)
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
