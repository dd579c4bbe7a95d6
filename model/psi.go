package model

import (
	"math"

	"fugu/sensitivity"
	"fugu/sqlstate"
)

// Psi is the pairs of values of one secret that must not be told apart, and what they are values of: Spans of a mean
// and of the share of one of two classes, otherwise Vectors or Simplex.
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

// Check refuses pairs that the reference cannot speak of (PV004): rows of no category, rows drawn from it of which it
// has too few.
func (psi Psi) Check(t Totals, rows int64) error {
	if psi.Simplex != nil && t.Outside > 0 {
		return sqlstate.New(sqlstate.ModelUnfit, "secret %s: %.0f rows of the reference have none of the column's "+
			"declared values", psi.Name, t.Outside).
			WithHint("The owner of the policy can declare all values under group_by.")
	}
	if !psi.FromReference {
		return nil
	}

	// Rows that are drawn without replacement cannot be more than there are.
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
			return sqlstate.New(sqlstate.ModelUnfit, "secret %s: up to %.0f rows of a class are drawn from the "+
				"reference, which has %.0f", psi.Name, drawn, size).
				WithHint("The owner of the policy can give a larger reference, a narrower range of values, or leave " +
					"drawn: from-reference out.")
		}
	}
	return nil
}
