package model

import (
	"math"
	"math/big"

	"fugu/planner"
)

// Moments are the class moments of one cut's F under one binding of its parameters.
type Moments struct {
	Components []Component // the entries of F: what the reference cannot support is left out
	cut        *planner.Bound
	secrets    []classes
	terms      int         // of the cut
	bases      []baseStats // of the cut
	// limit set × base: what a row of the root adds to one group; nil where there is one such set
	inSet  [][]extent
	pooled []float64 // cell × term: sums over the whole reference
	size   float64   // rows of the whole reference
	texts  planner.Chosen
	cover  float64 // see Cover; 0: nothing is covered
}

// Component is one entry of F.
type Component struct{ Cell, Aggregate int }

// classes are the moments of the terms h in the classes of a secret, per reference row of the class.
type classes struct {
	Totals
	mean   [][]float64 // cell × term: E h
	second [][]float64 // cell × term × term: E h hᵀ within the cell
	cross  []float64   // cell × term: E h g, where the mean of g is secret
	more   [][]float64 // text × class: rows that it may not show because of what was chosen, at least 1
	fitted []float64   // of each text: standard errors that a statement may have been chosen to be off by
}

// weighted is one summand of a linear functional of the sums of terms, or of one row's terms.
type weighted struct {
	term   int // in the cell × term layout
	weight float64
}

// baseStats are what the selected reference rows of every cell show of a base x: Σ|x|, how many of them have x ≠ 0, and
// what lies between the least and the greatest x.
type baseStats struct {
	abs, nonzero float64
	extent
}

// extent is the least and the greatest value of a base; the least above the greatest: there is none.
type extent struct{ min, max float64 }

// nothing is the extent of no value.
func nothing() extent { return extent{math.Inf(1), math.Inf(-1)} }

// empty reports whether there is no value.
func (e extent) empty() bool { return !(e.min <= e.max) }

// widen takes in what lies in another extent.
func (e *extent) widen(by extent) { e.min, e.max = math.Min(e.min, by.min), math.Max(e.max, by.max) }

// Limits bounds what one row may contribute to each base: by what the policy says, or by what the reference shows.
func (m *Moments) Limits() []planner.Limit {
	out := make([]planner.Limit, len(m.bases))
	for i, x := range m.cut.Bases {
		low, high := new(big.Rat), new(big.Rat)
		if x.Low != "" {
			low.SetString(x.Low)
			high.SetString(x.High)
		} else if e := m.bases[i].extent; !x.Indicator && !e.empty() {
			// A row to which nothing belongs contributes 0.
			if m.cut.Joined() {
				e.widen(extent{})
			}
			low.SetFloat64(e.min)
			high.SetFloat64(e.max)
		}

		out[i] = planner.Limit{Low: low, High: high}
		for set := range m.inSet {
			e, limit := m.within(i, set), planner.Limit{Low: new(big.Rat), High: new(big.Rat)}
			if x.Low != "" || e.empty() {
				limit = planner.Limit{Low: low, High: high}
			} else {
				e.widen(extent{})
				limit.Low.SetFloat64(e.min)
				limit.High.SetFloat64(e.max)
			}

			out[i].Sets = append(out[i].Sets, limit)
		}
	}
	return out
}

// within is what a row of the root adds to a base in one group of a limit set: what the reference shows of the set, or
// of all where it shows nothing or the policy says.
func (m *Moments) within(base, set int) extent {
	if m.inSet == nil || m.cut.Bases[base].Low != "" || m.inSet[set][base].empty() {
		return m.bases[base].extent
	}
	return m.inSet[set][base]
}

// limitSet is the limit set of a component.
func (m *Moments) limitSet(k Component) int { return m.cut.LimitSet(m.cut.Cells[k.Cell].Set) }

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

// all are the sums that a component is a function of over the whole reference, scaled to the rows of the protected
// table.
func (m *Moments) all(k Component) []float64 {
	out := make([]float64, 0, len(m.at(k)))
	for _, i := range m.at(k) {
		out = append(out, m.pooled[i]*float64(m.cut.Table.Rows)/m.size)
	}
	return out
}

// text is the index of the text that a component depends on.
func (m *Moments) text(k Component) int { return m.texts.Of(k.Cell, k.Aggregate) }

// Overlapping reports whether one row of the root can stand in several cells.
func (m *Moments) Overlapping() bool {
	return len(m.cut.Cells) > 1 && (!m.cut.Disjoint() || len(m.cut.Sets) > 1)
}

// column returns the class means of one term.
func (c *classes) column(term int) []float64 {
	out := make([]float64, len(c.mean))
	for i, mean := range c.mean {
		out[i] = mean[term]
	}
	return out
}

// mix returns Σ w_c m_c.
func (c *classes) mix(weights []float64) []float64 {
	out := make([]float64, len(c.mean[0]))
	for j, w := range weights {
		for i, v := range c.mean[j] {
			out[i] += w * v
		}
	}
	return out
}

// product returns the class's E (g·h)(g'·h) for two gradients within one cell.
func (c *classes) product(class, terms int, g, h []weighted) float64 {
	total := 0.0
	for _, a := range g {
		for _, b := range h {
			total += a.weight * b.weight * c.second[class][a.term*terms+b.term%terms]
		}
	}
	return total
}

// means returns the class means of a functional of one row.
func (c *classes) means(f []weighted) []float64 {
	out := make([]float64, len(c.mean))
	for i, mean := range c.mean {
		for _, w := range f {
			out[i] += w.weight * mean[w.term]
		}
	}
	return out
}

// variance returns the variance within a class of a functional of one row's terms.
func (c *classes) variance(class, terms int, f []weighted) float64 {
	mean := 0.0
	for _, w := range f {
		mean += w.weight * c.mean[class][w.term]
	}
	return c.product(class, terms, f, f) - mean*mean
}
