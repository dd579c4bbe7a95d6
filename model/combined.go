package model

import (
	"context"
	"fmt"
	"slices"

	"fugu/planner"
)

// Combine measures what rows are like that have the same classes of all secrets. Of one secret that is known already;
// of several it takes another scan of the reference. Combinations that no reference row has are left out, and so are
// rows that are in no class of a secret.
func (m *Moments) Combine(ctx context.Context, ref planner.Querier) (*Combined, error) {
	if len(m.secrets) == 1 {
		out := &Combined{moments: m, classes: m.secrets[0]}
		for class := range m.secrets[0].Size {
			out.Combinations = append(out.Combinations, []int{class})
		}
		return out, nil
	}

	// One statement says which combinations there are, and another what their rows add up to.
	out := &Combined{moments: m}
	if err := out.count(ctx, ref); err != nil {
		return nil, err
	}
	rows, err := ref.Query(ctx, m.cut.Moments(), nil, nil)
	if err != nil {
		return nil, err
	}
	cells := m.cut.Index()
	for _, row := range rows {
		cell, ok := cells.Find(row[:m.cut.Head()])
		if !ok {
			continue // a key that is not public, as in Measure
		}
		r, err := m.read(row[m.cut.Head():])
		if err != nil {
			return nil, fmt.Errorf("reading the moments of the reference: %w", err)
		}
		if c := out.find(r.class); c >= 0 {
			plus(out.classes.mean[c][cell*m.terms:], r.sum)
			plus(out.classes.second[c][cell*m.terms*m.terms:], r.prod)
		}
	}

	for c, size := range out.classes.Size {
		scale(out.classes.mean[c], 1/size)
		scale(out.classes.second[c], 1/size)
	}
	return out, nil
}

// count makes a class for each combination that the reference has rows of, with their number.
func (c *Combined) count(ctx context.Context, ref planner.Querier) error {
	table := c.moments.cut.Table
	rows, err := ref.Query(ctx, table.ClassTotals(), nil, nil)
	if err != nil {
		return fmt.Errorf("counting combinations of the reference's classes of %s: %w", table, err)
	}

	nc, nt := len(c.moments.cut.Cells), c.moments.terms
	for _, row := range rows {
		// Classes of shares stand first, one after the other; a secret that is a number has none.
		n, err := number(row[len(row)-1])
		if err != nil {
			return err
		}
		combination := make([]int, len(table.Secrets))
		for i, s := range table.Secrets {
			if s.Number == nil {
				combination[i], row = s.Class(row[0]), row[1:]
			}
		}
		if slices.Contains(combination, -1) {
			continue
		}

		c.Combinations = append(c.Combinations, combination)
		c.classes.Size = append(c.classes.Size, n)
		c.classes.mean = append(c.classes.mean, make([]float64, nc*nt))
		c.classes.second = append(c.classes.second, make([]float64, nc*nt*nt))
	}
	return nil
}

// find is the number of a combination; -1: no reference row has it.
func (c *Combined) find(combination []int) int {
	return slices.IndexFunc(c.Combinations, func(other []int) bool { return slices.Equal(other, combination) })
}
