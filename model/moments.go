package model

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"fugu/planner"
	"fugu/sqlstate"
)

// Moments are the class moments of one cut's F under one binding of its parameters.
type Moments struct {
	Components []Component // the entries of F: what the reference cannot support is left out
	cut        *planner.Bound
	secrets    []classes
	terms      int         // of the cut
	bases      []baseStats // of the cut
	inSet      [][]extent  // limit set × base: what a row of the root adds to one group; nil where there is one such set
	pooled     []float64   // cell × term: sums over the whole reference
	size       float64     // rows of the whole reference
	texts      planner.Chosen
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

// baseStats are sums over the selected reference rows of every cell.
type baseStats struct{ abs, nonzero, min, max float64 }

// extent is the least and the greatest value of a base; the least above the greatest: there is none.
type extent struct{ min, max float64 }

// Measure scans the reference once and returns the class moments of the cut's F.
func Measure(ctx context.Context, ref planner.Querier, c *planner.Bound, totals []Totals) (*Moments, error) {
	rows, err := ref.Query(ctx, c.Moments(), nil, nil)
	if err != nil {
		return nil, err
	}
	nt, nc := len(c.Terms), len(c.Cells)
	m := &Moments{cut: c, terms: nt, bases: make([]baseStats, len(c.Bases)), pooled: make([]float64, nc*nt)}
	for i := range m.bases {
		m.bases[i] = baseStats{min: math.Inf(1), max: math.Inf(-1)}
	}
	if n := c.LimitSets(); n > 1 {
		m.inSet = make([][]extent, n)
		for set := range m.inSet {
			m.inSet[set] = slices.Repeat([]extent{{math.Inf(1), math.Inf(-1)}}, len(c.Bases))
		}
	}
	for i, t := range totals {
		k := classes{Totals: t}
		for range t.Size {
			k.mean, k.second = append(k.mean, make([]float64, nc*nt)), append(k.second, make([]float64, nc*nt*nt))
		}
		if c.Table.Secrets[i].Number != nil {
			k.cross = make([]float64, nc*nt)
		}
		m.secrets = append(m.secrets, k)
	}
	if len(totals) > 0 {
		m.size = totals[0].Outside + sumOf(totals[0].Size)
	}
	cells := c.Index()
	for _, row := range rows {
		cell, ok := cells.Find(row[:c.Head()])
		if !ok {
			continue // a key that is not public: its rows are in no cell, here as in F
		}
		if err := m.add(cell, row[c.Head():]); err != nil {
			return nil, fmt.Errorf("reading the moments of the reference: %w", err)
		}
	}
	for i := range m.secrets {
		s := &m.secrets[i]
		for j, size := range s.Size {
			scale(s.mean[j], 1/size)
			scale(s.second[j], 1/size)
			scale(s.cross, 1/size)
		}
	}
	if err := m.support(); err != nil {
		return nil, err
	}
	return m, m.chosen(ctx, ref)
}

// add takes in one row of the moments statement, without its keys.
func (m *Moments) add(cell int, row []planner.Value) error {
	nt := m.terms
	class, row, err := m.cut.Classes(row)
	if err != nil {
		return err
	}
	v := make([]float64, len(row))
	for i := range v {
		if v[i], err = number(row[i]); err != nil {
			return err
		}
	}
	sum, prod := v[:nt], make([]float64, nt*nt)
	for i := range nt {
		for j := range nt {
			prod[i*nt+j] = v[m.cut.Product(i, j)]
		}
	}
	products := v[:m.cut.Products()]
	v = v[m.cut.Products():]
	for i := range m.secrets {
		if c := m.secrets[i].cross; c != nil {
			plus(c[cell*nt:], v[:nt])
			v = v[nt:]
		}
	}
	for i, x := range m.cut.Bases {
		if !x.Indicator {
			s := &m.bases[i]
			next := func(known int) (x float64) {
				if known >= 0 {
					return products[known]
				}
				x, v = v[0], v[1:]
				return x
			}
			number, sum := m.cut.Known(i)
			s.nonzero += next(number)
			s.abs += next(sum)
			if x.Low == "" {
				s.min, s.max = math.Min(s.min, v[0]), math.Max(s.max, v[1])
				if m.inSet != nil {
					e := &m.inSet[m.cut.LimitSet(m.cut.Cells[cell].Set)][i]
					e.min, e.max = math.Min(e.min, v[0]), math.Max(e.max, v[1])
				}
				v = v[2:]
			}
		}
	}
	plus(m.pooled[cell*nt:], sum)
	for i, c := range class {
		if c >= 0 {
			plus(m.secrets[i].mean[c][cell*nt:], sum)
			plus(m.secrets[i].second[c][cell*nt*nt:], prod)
		}
	}
	return nil
}

// Limits bounds what one row may contribute to each base: by what the policy says, or by what the reference shows.
func (m *Moments) Limits() []planner.Limit {
	out := make([]planner.Limit, len(m.bases))
	for i, x := range m.cut.Bases {
		low, high := new(big.Rat), new(big.Rat)
		if x.Low != "" {
			low.SetString(x.Low)
			high.SetString(x.High)
		} else if s := m.bases[i]; !x.Indicator && s.min <= s.max {
			// A row to which nothing belongs contributes 0.
			low.SetFloat64(math.Min(s.min, 0))
			high.SetFloat64(math.Max(s.max, 0))
			if !m.cut.Joined() {
				low.SetFloat64(s.min)
				high.SetFloat64(s.max)
			}
		}
		out[i] = planner.Limit{Low: low, High: high}
		for set := range m.inSet {
			e, limit := m.within(i, set), planner.Limit{Low: new(big.Rat), High: new(big.Rat)}
			if x.Low != "" || !(e.min <= e.max) {
				limit = planner.Limit{Low: low, High: high}
			} else {
				limit.Low.SetFloat64(math.Min(e.min, 0))
				limit.High.SetFloat64(math.Max(e.max, 0))
			}
			out[i].Sets = append(out[i].Sets, limit)
		}
	}
	return out
}

// within is what a row of the root adds to a base in one group of a limit set: what the reference shows of the set, or of
// all where it shows nothing or the policy says.
func (m *Moments) within(base, set int) extent {
	all := extent{m.bases[base].min, m.bases[base].max}
	if m.inSet == nil || m.cut.Bases[base].Low != "" || m.inSet[set][base].min > m.inSet[set][base].max {
		return all
	}
	return m.inSet[set][base]
}

// limitSet is the limit set of a component.
func (m *Moments) limitSet(k Component) int { return m.cut.LimitSet(m.cut.Cells[k.Cell].Set) }

func number(v planner.Value) (float64, error) {
	if v.Null {
		return 0, fmt.Errorf("a moment is NULL")
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, sqlstate.New(sqlstate.ModelUnfit, "the reference has values that are not finite numbers")
	}
	return f, nil
}

func plus(dst, src []float64) {
	for i, v := range src {
		dst[i] += v
	}
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}
