package model

import (
	"context"
	"math"

	"fugu/internal/hook"
	"fugu/planner"
	"fugu/sqlstate"
)

// chosen finds how many rows of each class the reference may not show because the statement was chosen so: by someone who knows the reference, or asks for
// noise until there is little. One row in N, as unseen has it, is what a reference cannot show of a condition that was written without looking at it.
//
// A statement's constants leave out so many rows, and no more than are alone with what they are told apart by: what two rows share, all rows that have it share. How
// much of the class has values of which the reference has none is, on average, the share of those alone [Good 1953].
func (m *Moments) chosen(ctx context.Context, ref planner.Querier) error {
	most, columns, every := m.cut.Chosen(m.size)
	for i := range m.secrets {
		c := &m.secrets[i]
		c.more = make([]float64, len(c.Size))
		for j, size := range c.Size {
			if c.more[j] = 1; every {
				c.more[j] = math.Max(1, math.Min(most, size))
			}
		}
		if every || hook.Unlooked || most <= 1 || len(columns) == 0 {
			continue
		}
		alone, err := m.cut.Alone(ctx, ref, i, columns)
		if err != nil {
			return err
		}
		for j, n := range alone {
			c.more[j] = math.Max(1, math.Min(most, n))
		}
	}
	return nil
}

// Trusted refuses what is bounded by the distribution of the reference's rows where many of them may have been chosen.
func (m *Moments) Trusted(secret int) error {
	c := &m.secrets[secret]
	for j, size := range c.Size {
		if c.more[j] > 8+size/50 {
			return sqlstate.New(sqlstate.ModelUnfit, "the statement tells too many single rows of the reference apart, so that these say nothing of percentiles and distinct values").
				WithHint("Use fewer constants, or columns whose values are shared by many rows.")
		}
	}
	return nil
}
