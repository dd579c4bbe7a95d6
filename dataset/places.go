package dataset

import (
	"context"
	"math"

	"fugu/model"
	"fugu/planner"
	"fugu/policy"
)

// ReferenceRows is how many rows the reference has.
func (t *Protected) ReferenceRows() float64 {
	n := 0.0
	for _, x := range t.Totals {
		rows := x.Outside
		for _, v := range x.Size {
			rows += v
		}
		n = math.Max(n, rows)
	}
	return n
}

// Numbered numbers the rows of the reference, once; nil: there are too many, or none, or they cannot be read.
func (t *Protected) Numbered(ctx context.Context, db planner.Querier) (*model.Places, error) {
	if t.Table.Reference == "" || t.ReferenceRows() > model.MaxPlaces {
		return nil, nil
	}
	t.numberMu.Lock()
	defer t.numberMu.Unlock()
	if t.number != nil {
		return t.number, nil
	}
	p, err := model.ReadPlaces(ctx, db, t.Table)
	if err != nil {
		return nil, ctx.Err()
	}
	t.number = p
	return p, nil
}

// loadPlaces numbers the rows of the references of a policy that has a joint account.
func (s *Snapshot) loadPlaces(ctx context.Context, p *policy.Policy, reader planner.Querier) (err error) {
	if p.Privacy.Composition != policy.Jointly {
		return nil
	}
	for _, t := range s.Tables {
		if t.Policy != p || len(t.Table.Secrets) == 0 {
			continue
		}
		if t.Places, err = model.ReadPlaces(ctx, reader, t.Table); err != nil {
			return err
		}
	}
	return nil
}
