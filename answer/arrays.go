package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"fugu/ledger"
	"fugu/mechanism"
	"fugu/planner"
	"fugu/quote"
)

// Arrays returns the parameters that take the place of the cuts: for each cut an array for each key, for each
// aggregate, and for each figure that the statement asks for of how far an aggregate is off.
func (q *Question) Arrays(ctx context.Context, a ledger.Answer) ([][]byte, error) {
	s, err := stored(a)
	if err != nil {
		return nil, err
	}
	var release mechanism.Release
	if len(s.Release) > 0 {
		if err := release.UnmarshalBinary(s.Release); err != nil {
			return nil, fmt.Errorf("reading the stored answer %d: %w", a.ID, err)
		}
	}
	var cells []ledger.Cell
	if q.spreads() {
		if cells, err = q.intervals(ctx, a, s); err != nil {
			return nil, err
		}
	}
	return q.arrays(a, s, release.Values(), cells)
}

// spreads reports whether the statement asks how far its values are off.
func (q *Question) spreads() bool {
	return slices.ContainsFunc(q.Request.Cuts, func(c *planner.Bound) bool { return len(c.Spreads) > 0 })
}

// arrays does the work of Arrays, with these values of the release's components. cells say how far each of them is off,
// if the statement asks for that.
func (q *Question) arrays(a ledger.Answer, s quote.Stored, values []string, cells []ledger.Cell) ([][]byte, error) {
	shown, err := shownOf(s, values)
	if err != nil {
		return nil, fmt.Errorf("the stored answer %d %w", a.ID, err)
	}

	// The stored answer has the cuts one after the other: each takes its part off the front.
	var out [][]byte
	index := s.Index
	for _, c := range q.Request.Cuts {
		n := len(c.Cells) * len(c.Aggregates)
		if len(shown) < n {
			return nil, fmt.Errorf("the stored answer %d %w", a.ID, errMisfit)
		}
		out = append(out, arraysOf(c, shown[:n])...)
		for i := range c.Spreads {
			off, err := spreadOf(c, i, index[:n], shown[:n], cells)
			if err != nil {
				return nil, fmt.Errorf("the stored answer %d %w", a.ID, err)
			}
			out = append(out, planner.Array(off))
		}
		shown, index = shown[n:], index[n:]
	}
	if len(shown) > 0 {
		return nil, fmt.Errorf("the stored answer %d %w", a.ID, errMisfit)
	}
	return out, nil
}

// errMisfit says that a stored answer is another statement's.
var errMisfit = errors.New("does not fit the statement")

// stored reads what the ledger keeps of an answer.
func stored(a ledger.Answer) (s quote.Stored, err error) {
	if err := json.Unmarshal(a.Bytes, &s); err != nil {
		return s, fmt.Errorf("reading the stored answer %d: %w", a.ID, err)
	}
	return s, nil
}

// shownOf returns the values of an answer, cut by cut and row by row. A value is of the release, public, or none.
func shownOf(s quote.Stored, values []string) ([]planner.Value, error) {
	out := make([]planner.Value, len(s.Index))
	for i, place := range s.Index {
		if !place.Within(len(values), len(s.Public)) {
			return nil, errMisfit
		}
		out[i] = planner.Value{Null: true}
		if k, ok := place.Component(); ok {
			out[i] = planner.Value{Text: values[k]}
		} else if k, ok := place.Public(); ok {
			out[i] = planner.Value{Text: s.Public[k]}
		}
	}
	return out, nil
}

// arraysOf returns the arrays of a cut, whose aggregates have the values shown, row by row.
func arraysOf(c *planner.Bound, shown []planner.Value) (out [][]byte) {
	before := len(c.Keys) + len(c.Groupings)
	columns := make([][]planner.Value, before+len(c.Aggregates))
	for row, cell := range c.Cells {
		for k, v := range cell.Keys {
			columns[k] = append(columns[k], v)
		}
		for i, g := range c.Groupings {
			columns[len(c.Keys)+i] = append(columns[len(c.Keys)+i], c.Grouping(g, cell))
		}
		for agg := range c.Aggregates {
			columns[before+agg] = append(columns[before+agg], shown[row*len(c.Aggregates)+agg])
		}
	}

	// The statement above may name an aggregate twice, or none.
	for _, column := range columns[:before] {
		out = append(out, planner.Array(column))
	}
	for _, agg := range c.Columns {
		out = append(out, planner.Array(columns[before+agg]))
	}
	return out
}

// spreadOf returns how far an aggregate's value may be off in each cell of a cut. For a component that is what its cell
// says; a public value is not off; and of a value that is not there nothing is known.
func spreadOf(c *planner.Bound, spread int, index []quote.Place, shown []planner.Value,
	cells []ledger.Cell) ([]planner.Value, error) {
	s := c.Spreads[spread]
	out := make([]planner.Value, len(c.Cells))

	// Only what stands in for a component has an error; what follows from public values is exact.
	for row := range c.Cells {
		at := row*len(c.Aggregates) + c.Columns[s.Of]
		k, noisy := index[at].Component()
		switch {
		case noisy && k >= len(cells):
			return nil, errMisfit
		case noisy:
			sd, lower, upper := cells[k].Shown()
			out[row] = planner.Value{Text: [...]string{sd, lower, upper}[s.Part()]}
		case shown[at].Null:
			out[row] = planner.Value{Null: true}
		default:
			out[row] = planner.Value{Text: [...]string{"0", shown[at].Text, shown[at].Text}[s.Part()]}
		}
	}

	return out, nil
}
