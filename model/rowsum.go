package model

import (
	"math"

	"fugu/privacy/rowsum"
)

// Rows is the law of component k, where that is a sum over the rows of a table of which the secret is how many are of a
// class: each row is an independent draw from the rows of its class in the reference. nil: the component is of another
// kind, an average over some of the rows say, or the secret is.
func (p shapedPath) Rows(k int) *rowsum.Sum {
	class := p.rows.sample.Classes[p.psi.Name]
	if class == nil || !p.rows.sums(p.m, k, class) || p.beta != nil || p.psi.Distribution ||
		p.psi.FromReference || len(p.base) != 2 {
		return nil
	}
	growing := 0
	if p.along[1] > p.along[0] {
		growing = 1
	}
	if p.along[growing] != -p.along[1-growing] {
		return nil
	}

	// What each row of the reference adds, by class: that which grows with x comes second.
	weights := make([]float64, len(p.m.Components))
	weights[k] = 1
	added, known := p.rows.combined(p.Path, p.span.From, weights)
	if !known {
		return nil
	}
	var values [2][]float64
	for r, v := range added {
		switch c := int(class[r]); {
		case c == growing:
			values[1] = append(values[1], v)
		case c >= 0:
			values[0] = append(values[0], v)
		}
	}

	// Numbers of rows are whole, and a value of the span may be one but for rounding.
	const rounding = 1e-6
	n := p.m.rows()
	sum, err := rowsum.New(values, int(n), rowsum.Pairs{
		Low:   int(math.Ceil(n*p.shares(p.span.From)[growing] - rounding)),
		High:  int(math.Floor(n*p.shares(p.span.To)[growing] + rounding)),
		Apart: int(math.Floor(n*p.span.Within*p.along[growing] + rounding)),
	})
	if err != nil { // too few rows for a pair, or too many for this
		return nil
	}
	return sum
}

// sums reports whether a component of a cut is a sum over rows: an average is where every row counts, as their number
// is what it is then.
func (r *RowSums) sums(m *Moments, k int, class []int16) bool {
	if m.total(m.Components[k]) >= 0 {
		return true
	}
	part, known := r.parts[m]
	if _, _, ok := m.quotient(m.Components[k]); !ok || !known {
		return false
	}
	weights := make([]float64, part.terms.Width())
	weights[part.at[k][0]] = 1 // the number comes first
	for row, count := range part.terms.Combined(weights) {
		if class[row] >= 0 && count != 1 {
			return false
		}
	}
	return true
}
