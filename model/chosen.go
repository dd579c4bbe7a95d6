package model

import (
	"context"
	"math"

	"fugu/internal/hook"
	"fugu/planner"
	"fugu/sqlstate"
)

// plain is the nats that a statement may take without being suspected of having been chosen for its errors: a comparison or two, or an operation on two columns.
const plain = 14

// chosen finds how many rows of each class the reference may not show because the statement was chosen so: by someone who knows the reference, or asks for
// noise until there is little. One row in N, as unseen has it, is what a reference cannot show of a condition that was written without looking at it.
//
// A statement of L nats leaves out so many rows, and no more than are alone with what they are told apart by: what two rows share, all rows that have it share. How
// much of the class has values of which the reference has none is, on average, the share of those alone [Good 1953]. What the reference does show is off by at most √(2L) standard errors, one for each
// that is alone [Bernstein's inequality and a sum over all statements]: c.fitted of them, beyond those of a plain statement.
func (m *Moments) chosen(ctx context.Context, ref planner.Querier) error {
	every := make([]int, len(m.cut.Aggregates))
	for a := range every {
		every[a] = a
	}
	choice := m.cut.Chosen(m.size, every...)
	for i := range m.secrets {
		c := &m.secrets[i]
		c.more = make([]float64, len(c.Size))
		for j := range c.more {
			c.more[j] = 1
		}
		if hook.Unlooked || choice.Nats <= 1 || len(choice.Apart) == 0 && !choice.Every {
			continue
		}
		alone := c.Size
		if !choice.Every {
			var err error
			if alone, err = m.cut.Alone(ctx, ref, i, choice.Apart); err != nil {
				return err
			}
		}
		for j, n := range alone {
			c.more[j] = math.Max(1, math.Min(choice.Nats, n))
			c.fitted = math.Max(c.fitted, math.Sqrt(2*math.Max(0, math.Min(choice.Scattered, n)-plain)))
		}
	}
	return nil
}

// Trusted refuses an aggregate that is bounded by the distribution of the reference's rows where many of them may have been
// chosen: by its own expressions, the keys and the conditions. What stands beside it says nothing of which rows it is of.
func (m *Moments) Trusted(ctx context.Context, ref planner.Querier, secret, aggregate int) error {
	choice := m.cut.Chosen(m.size, aggregate)
	if hook.Unlooked || choice.Nats <= 1 || len(choice.Apart) == 0 && !choice.Every {
		return nil
	}
	alone := m.secrets[secret].Size
	if !choice.Every {
		var err error
		if alone, err = m.cut.Alone(ctx, ref, secret, choice.Apart); err != nil {
			return err
		}
	}
	for j, size := range m.secrets[secret].Size {
		if math.Min(choice.Nats, alone[j]) > 8+size/50 {
			return sqlstate.New(sqlstate.ModelUnfit,
				"the statement tells too many single rows of the reference apart, so that these say nothing of percentiles and distinct values").
				WithHint("Use fewer constants and operations, or columns whose values are shared by many rows.")
		}
	}
	return nil
}
