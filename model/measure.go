package model

import (
	"context"
	"fmt"
	"slices"

	"fugu/planner"
)

// Measure scans the reference once and returns the class moments of the cut's F.
func Measure(ctx context.Context, ref planner.Querier, c *planner.Bound, totals []Totals) (*Moments, error) {
	rows, err := ref.Query(ctx, c.Moments(), nil, nil)
	if err != nil {
		return nil, err
	}

	m := zero(c, totals)
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

	// So far these are sums over the classes' rows.
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

// zero is what no row of the reference adds up to.
func zero(c *planner.Bound, totals []Totals) *Moments {
	nt, nc := len(c.Terms), len(c.Cells)
	m := &Moments{cut: c, terms: nt, bases: make([]baseStats, len(c.Bases)), pooled: make([]float64, nc*nt)}
	for i := range m.bases {
		m.bases[i].extent = nothing()
	}
	if n := c.LimitSets(); n > 1 {
		m.inSet = make([][]extent, n)
		for set := range m.inSet {
			m.inSet[set] = slices.Repeat([]extent{nothing()}, len(c.Bases))
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

	// Every secret counts all rows: the first one's are those of the reference.
	if len(totals) > 0 {
		m.size = totals[0].Outside + sumOf(totals[0].Size)
	}
	return m
}

// add takes in one row of the moments statement, without its keys.
func (m *Moments) add(cell int, row []planner.Value) error {
	r, err := m.read(row)
	if err != nil {
		return err
	}
	nt, class, sum, prod := m.terms, r.class, r.sum, r.prod

	plus(m.pooled[cell*nt:], sum)
	for i, c := range class {
		if c >= 0 {
			plus(m.secrets[i].mean[c][cell*nt:], sum)
			plus(m.secrets[i].second[c][cell*nt*nt:], prod)
		}
	}

	// Products with the secrets that are numbers stand one behind the other.
	rest := r.rest
	for i := range m.secrets {
		if c := m.secrets[i].cross; c != nil {
			plus(c[cell*nt:], rest[:nt])
			rest = rest[nt:]
		}
	}

	m.describe(cell, r.products, rest)
	return nil
}

// momentsRow is what a row of the moments statement says of rows of the same cell and classes, behind its keys.
type momentsRow struct {
	class     []int     // of each secret
	sum, prod []float64 // of the terms, and of the products of any two of them
	products  []float64 // each product once, the terms before all others
	rest      []float64 // for each secret mean the products with its number, and then what describes the bases
}

// read reads one row of the moments statement without its keys.
func (m *Moments) read(row []planner.Value) (r momentsRow, err error) {
	if r.class, row, err = m.cut.Classes(row); err != nil {
		return r, err
	}
	v := make([]float64, len(row))
	for i := range v {
		if v[i], err = number(row[i]); err != nil {
			return r, err
		}
	}

	// Products that are equal stand there once; the first of them are the terms themselves.
	nt := m.terms
	r.sum, r.prod = v[:nt], make([]float64, nt*nt)
	for i := range nt {
		for j := range nt {
			r.prod[i*nt+j] = v[m.cut.Product(i, j)]
		}
	}
	r.products, r.rest = v[:m.cut.Products()], v[m.cut.Products():]
	return r, nil
}

// describe takes in what a row of the moments statement says of the bases: how many values are not 0, their absolute
// sum, and where the policy does not bound them, the least and the greatest. A product that says so already is not
// repeated.
func (m *Moments) describe(cell int, products, rest []float64) {
	next := func(known int) (x float64) {
		if known >= 0 {
			return products[known]
		}
		x, rest = rest[0], rest[1:]
		return x
	}

	for i, base := range m.cut.Bases {
		if base.Indicator {
			continue
		}

		// What the moments say already is taken from there, and the rest is read in order.
		number, sum := m.cut.Known(i)
		m.bases[i].nonzero += next(number)
		m.bases[i].abs += next(sum)
		if base.Low != "" {
			continue
		}

		seen := extent{rest[0], rest[1]}
		rest = rest[2:]
		m.bases[i].widen(seen)
		if m.inSet != nil {
			m.inSet[m.cut.LimitSet(m.cut.Cells[cell].Set)][i].widen(seen)
		}
	}
}
