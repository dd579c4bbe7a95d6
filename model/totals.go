package model

import (
	"context"
	"fmt"
	"math"

	"fugu/planner"
	"fugu/sqlstate"
)

// MinClass is the number of reference rows that each class of a secret must have.
const MinClass = 30

// leastVariation is the least share of its own square by which a number whose mean is secret must vary: products with
// it are summed in double precision.
const leastVariation = 1e-9

// Totals are what the whole reference shows of a secret.
type Totals struct {
	Size    []float64 // rows of each class
	Outside float64   // rows of none

	// Of a number whose mean is secret: its mean, its variance, its least and greatest value.
	Mean, Variance, Min, Max float64
}

// CountClasses counts the reference's rows by class, for every secret of a table, and describes the numbers whose means
// are secret. A class with fewer than MinClass rows, and a number that is NULL in a row or does not vary, make the
// model unfit (PV004).
func CountClasses(ctx context.Context, ref planner.Querier, t *planner.Table) ([]Totals, error) {
	rows, err := ref.Query(ctx, t.ClassTotals(), nil, nil)
	if err != nil {
		return nil, fmt.Errorf("counting the reference's classes of %s: %w", t, err)
	}

	out := make([]Totals, len(t.Secrets))

	for i, s := range t.Secrets {
		out[i].Size = make([]float64, s.Size())
	}

	// A row may be in a class of one secret and, by NULL, outside of those of another.
	for _, row := range rows {
		n, err := number(row[len(row)-1])
		if err != nil {
			return nil, err
		}
		for i, s := range t.Secrets {
			class := 0
			if s.Number == nil {
				class, row = s.Class(row[0]), row[1:]
			}
			if class >= 0 {
				out[i].Size[class] += n
			} else {
				out[i].Outside += n
			}
		}
	}

	for i, s := range t.Secrets {
		if s.Number != nil {
			if err := out[i].describe(ctx, ref, t, s); err != nil {
				return nil, err
			}
		}
		for class, size := range out[i].Size {
			if size < MinClass {
				return nil, sqlstate.New(sqlstate.ModelUnfit, "the reference of %s has %.0f rows %s; each class of "+
					"secret %s needs at least %d", t, size, s.Where(class), s.Name, MinClass).
					WithHint("The owner of the policy can give a larger reference.")
			}
		}
	}
	return out, nil
}

// describe takes in what the reference shows of a number whose mean is secret.
func (t *Totals) describe(ctx context.Context, ref planner.Querier, table *planner.Table, s planner.Secret) error {
	rows, err := ref.Query(ctx, table.NumberTotals(s), nil, nil)
	if err != nil {
		return fmt.Errorf("reading %s of the reference of %s, whose mean is secret: %w", s.Text, table, err)
	}
	if len(rows) != 1 || len(rows[0]) != 6 {
		return fmt.Errorf("describing secret %s: not one row", s.Name)
	}

	// A row without a number would have no part in the mean.
	if rows[0][1] != rows[0][0] {
		return sqlstate.New(sqlstate.ModelUnfit, "the mean of %s is secret %s, but it is NULL in rows of the "+
			"reference of %s", s.Text, s.Name, table).
			WithHint("The owner of the policy can write coalesce(%s, 0).", s.Text)
	}

	for i, v := range []*float64{&t.Mean, &t.Variance, &t.Min, &t.Max} {
		if *v, err = number(rows[0][i+2]); err != nil {
			return err
		}
	}
	if !(t.Variance > leastVariation*math.Max(t.Mean*t.Mean, math.SmallestNonzeroFloat64)) {
		return sqlstate.New(sqlstate.ModelUnfit, "%s, whose mean is secret %s, hardly varies in the reference of %s",
			s.Text, s.Name, table).
			WithHint("The owner of the policy can subtract a constant from it.")
	}
	return nil
}
