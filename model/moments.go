package model

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"fugu/planner"
	"fugu/sqlstate"
)

// MinClass is the number of reference rows that each side of a secret's predicate must have.
const MinClass = 30

// Totals is the number of reference rows inside and outside a secret's predicate.
type Totals struct{ In, Out float64 }

// Moments are the class moments of one cut's F under one binding of its parameters.
type Moments struct {
	Components []Component // the entries of F: what the reference cannot support is left out
	cut        *planner.Bound
	secrets    []classes
	terms      []termStats
	pooled     []float64 // cell × term: sums over the whole reference
}

// Component is one entry of F.
type Component struct{ Cell, Aggregate int }

// classes are the moments of the terms h inside (1) and outside (0) a secret's predicate, per reference row of the class.
type classes struct {
	size   [2]float64
	mean   [2][]float64 // cell × term: E h
	second [2][]float64 // cell × term × term: E h hᵀ within the cell; across cells h hᵀ is 0
}

// termStats are sums over the selected reference rows of every cell.
type termStats struct{ abs, nonzero, min, max float64 }

// CountClasses counts the reference's rows by class, for every secret of a table. A class with fewer than MinClass rows
// makes the model unfit (PV004).
func CountClasses(ctx context.Context, ref planner.Querier, t *planner.Table) ([]Totals, error) {
	rows, err := ref.Query(ctx, t.ClassTotals(), nil, nil)
	if err != nil {
		return nil, fmt.Errorf("counting the reference's classes of %s: %w", t, err)
	}
	out := make([]Totals, len(t.Secrets))
	for _, row := range rows {
		n, err := number(row[len(t.Secrets)])
		if err != nil {
			return nil, err
		}
		for i := range t.Secrets {
			if row[i].Text == "t" {
				out[i].In += n
			} else {
				out[i].Out += n
			}
		}
	}
	for i, c := range out {
		if c.In < MinClass || c.Out < MinClass {
			return nil, sqlstate.New(sqlstate.ModelUnfit, "the reference of %s has %.0f rows inside and %.0f outside the predicate of secret %s; each side needs at least %d",
				t, c.In, c.Out, t.Secrets[i].Name, MinClass).WithHint("The owner of the policy can give a larger reference.")
		}
	}
	return out, nil
}

// Measure scans the reference once and returns the class moments of the cut's F.
func Measure(ctx context.Context, ref planner.Querier, c *planner.Bound, totals []Totals) (*Moments, error) {
	rows, err := ref.Query(ctx, c.Moments(), nil, nil)
	if err != nil {
		return nil, err
	}
	nt, nc := len(c.Terms), len(c.Cells)
	m := &Moments{cut: c, terms: make([]termStats, nt), pooled: make([]float64, nc*nt)}
	for i := range m.terms {
		m.terms[i] = termStats{min: math.Inf(1), max: math.Inf(-1)}
	}
	for _, t := range totals {
		k := classes{size: [2]float64{t.Out, t.In}}
		for j := range 2 {
			k.mean[j], k.second[j] = make([]float64, nc*nt), make([]float64, nc*nt*nt)
		}
		m.secrets = append(m.secrets, k)
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
		for j := range 2 {
			scale(s.mean[j], 1/s.size[j])
			scale(s.second[j], 1/s.size[j])
		}
	}
	return m, m.support()
}

// add takes in one row of the moments statement, without its keys.
func (m *Moments) add(cell int, row []planner.Value) error {
	ns, nt := len(m.secrets), len(m.terms)
	v := make([]float64, len(row)-ns)
	for i := range v {
		var err error
		if v[i], err = number(row[ns+i]); err != nil {
			return err
		}
	}
	n, v := v[0], v[1:]
	sum := append([]float64{n}, v[:nt-1]...)
	v = v[nt-1:]
	prod := make([]float64, nt*nt)
	for i := range nt {
		prod[i], prod[i*nt] = sum[i], sum[i]
	}
	for i := 1; i < nt; i++ {
		for j := i; j < nt; j++ {
			prod[i*nt+j], prod[j*nt+i] = v[0], v[0]
			v = v[1:]
		}
	}
	for i, t := range m.cut.Terms {
		if t.Sum {
			s := &m.terms[i]
			s.abs, s.nonzero, s.min, s.max = s.abs+v[0], s.nonzero+v[1], math.Min(s.min, v[2]), math.Max(s.max, v[3])
			v = v[4:]
		}
	}
	plus(m.pooled[cell*nt:], sum)
	for i := range m.secrets {
		class := 0
		if row[i].Text == "t" {
			class = 1
		}
		plus(m.secrets[i].mean[class][cell*nt:], sum)
		plus(m.secrets[i].second[class][cell*nt*nt:], prod)
	}
	return nil
}

// support lists the components that the reference can speak of. An average over a cell in which no reference row stands
// has no model, and is left out: it is NULL whatever the protected rows are.
func (m *Moments) support() error {
	nt := len(m.terms)
	for i, t := range m.cut.Terms {
		if t.Low == "" {
			continue
		}
		for j, text := range []string{t.Low, t.High} {
			bound, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return fmt.Errorf("the bounds of %s: %w", t.Label, err)
			}
			if s := &m.terms[i]; j == 0 {
				s.min = math.Min(bound, 0)
			} else {
				s.max = math.Max(bound, 0)
			}
		}
	}
	for cell := range m.cut.Cells {
		for a, agg := range m.cut.Aggregates {
			if t := m.terms[agg.Count]; m.cut.Terms[agg.Count].Sum && t.nonzero == 0 {
				return sqlstate.New(sqlstate.ModelUnfit, "the reference of %s has no row from which the noise of %s could be calibrated", m.cut.Table, agg.Label).
					WithHint("Select more rows in WHERE.")
			}
			if agg.Sum >= 0 {
				if s := m.terms[agg.Sum]; s.nonzero == 0 || math.IsInf(s.abs, 0) || math.IsNaN(s.abs) {
					return sqlstate.New(sqlstate.ModelUnfit, "the reference of %s has no row from which the noise of %s could be calibrated", m.cut.Table, agg.Label).
						WithHint("Select more rows in WHERE.")
				}
			}
			if agg.Func == "avg" && m.pooled[cell*nt+agg.Count] == 0 {
				continue
			}
			m.Components = append(m.Components, Component{cell, a})
		}
	}
	return nil
}

// Limits bounds what one row may contribute to each term: by what the policy says, or by what the reference shows.
func (m *Moments) Limits() []planner.Limit {
	out := make([]planner.Limit, len(m.terms))
	for i, t := range m.cut.Terms {
		low, high := new(big.Rat), new(big.Rat)
		if t.Low != "" {
			low.SetString(t.Low)
			high.SetString(t.High)
		} else if s := m.terms[i]; t.Sum && s.min <= s.max {
			// A row to which nothing belongs contributes 0.
			low.SetFloat64(math.Min(s.min, 0))
			high.SetFloat64(math.Max(s.max, 0))
			if !m.cut.Joined() {
				low.SetFloat64(s.min)
				high.SetFloat64(s.max)
			}
		}
		out[i] = planner.Limit{Low: low, High: high}
	}
	return out
}

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
