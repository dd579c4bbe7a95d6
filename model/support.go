package model

import (
	"fmt"
	"math"
	"strconv"

	"fugu/planner"
	"fugu/planner/aggregate"
	"fugu/sqlstate"
)

const (
	// minRows is how many rows a cell is expected to have at least, for the delta method to speak of its second
	// moments.
	minRows = 5
	// constant is the share of a square mean that a variance must be to be one, and not rounding.
	constant = 1e-12
	// cancels is the share below which fourth moments cancel to nothing in double precision.
	cancels = 1e-6
)

// support lists the components that the reference can speak of. An average over a cell in which no reference row stands
// has no model, and neither has a correlation where nothing varies; they are left out: NULL whatever the protected rows
// are.
func (m *Moments) support() error {
	for i, x := range m.cut.Bases {
		if x.Low == "" {
			continue
		}
		for j, text := range []string{x.Low, x.High} {
			bound, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return fmt.Errorf("the bounds of %s: %w", x.Label, err)
			}
			if s := &m.bases[i]; j == 0 {
				s.min = math.Min(bound, 0)
			} else {
				s.max = math.Max(bound, 0)
			}
		}
	}

	// A component that cannot vary has no noise to calibrate, and its value says nothing.
	second := make([]int, len(m.cut.Aggregates)) // cells in which an aggregate of second moments is supported
	for cell := range m.cut.Cells {
		for a, agg := range m.cut.Aggregates {
			if agg.Sampled != nil {
				continue
			}
			if !m.seen(agg) {
				return sqlstate.New(sqlstate.ModelUnfit, "the reference of %s has no row from which the noise of %s "+
					"could be calibrated", m.cut.Table, agg.Label).
					WithHint("Select more rows in WHERE.")
			}

			k := Component{cell, a}
			if ok, err := m.varies(k); err != nil {
				return err
			} else if !ok {
				continue
			}

			second[a]++
			m.Components = append(m.Components, k)
		}
	}
	for a, agg := range m.cut.Aggregates {
		if agg.Second() && second[a] == 0 && len(m.cut.Cells) > 0 {
			return sqlstate.New(sqlstate.ModelUnfit, "the reference of %s has too few rows that differ for the noise "+
				"of %s to be calibrated", m.cut.Table, agg.Label).
				WithHint("Select more rows in WHERE, or group by fewer columns. From values that lie close together, " +
					"subtract a constant.")
		}
	}
	return nil
}

// seen reports whether there is a reference row in which each of the aggregate's bases is there and not 0.
func (m *Moments) seen(a planner.Aggregate) bool {
	for _, t := range a.Terms {
		for _, i := range m.cut.Terms[t].Factors {
			if s := m.bases[i]; !m.cut.Bases[i].Indicator && (s.nonzero == 0 || math.IsInf(s.abs, 0) ||
				math.IsNaN(s.abs)) {
				return false
			}
		}
	}
	return true
}

// varies reports whether the reference has rows in the cell of k and, where k is made of second moments, enough of them
// that differ.
func (m *Moments) varies(k Component) (bool, error) {
	agg := m.cut.Aggregates[k.Aggregate]
	if agg.Linear() {
		return true, nil
	}
	s := m.all(k)
	if s[0] == 0 { // N comes first
		return false, nil
	}
	if !agg.Second() {
		return true, nil
	}
	if s[0] < minRows {
		return false, nil
	}

	// What varies by hardly more than its size is lost to rounding; what does not vary at all has no such moments.
	for j, sum := range agg.Sums {
		if sum != aggregate.X && sum != aggregate.Y {
			continue
		}
		// Of x in the rows that count, the mean square: from the class moments if it is no sum of the aggregate's own.
		nt := m.terms
		t := agg.Terms[j]
		if m.cut.Joined() {
			continue // bounded sums over many rows: what the sums of squares of single rows are is not known
		}
		square := m.squares(k.Cell*nt+t) * s[0] / m.pooled[k.Cell*nt+agg.Terms[0]]
		switch share := 1 - s[j]*s[j]/s[0]/square; {
		case !(share > constant):
			return false, nil
		case share < cancels:
			return false, sqlstate.New(sqlstate.ModelUnfit, "the values of %s lie too close together, for their "+
				"size, to calibrate the noise of %s", m.cut.Terms[t].Label, agg.Label).
				WithHint("Subtract a constant near their mean.")
		}
	}
	return !math.IsNaN(agg.Value(s)), nil
}

// squares is the sum of h² of a term, in the cell × term layout, over the classes of the secret that has the most rows
// in classes.
func (m *Moments) squares(term int) float64 {
	var most *classes
	for i := range m.secrets {
		if c := &m.secrets[i]; most == nil || sumOf(c.Size) > sumOf(most.Size) {
			most = c
		}
	}
	total := 0.0
	for class, size := range most.Size {
		total += size * most.second[class][term*m.terms+term%m.terms]
	}
	return total
}
