package answer

import (
	"encoding/json"
	"errors"
	"fmt"

	"fugu/ledger"
	"fugu/mechanism"
	"fugu/planner"
	"fugu/quote"
)

// Arrays are the parameters that take the place of the cuts: for each cut an array for each key, then for each
// aggregate.
func (q *Question) Arrays(a ledger.Answer) ([][]byte, error) {
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
	return q.arrays(a, s, release.Values())
}

// arrays are Arrays with these values of the release's components.
func (q *Question) arrays(a ledger.Answer, s quote.Stored, values []string) ([][]byte, error) {
	shown, err := shownOf(s, values)
	if err != nil {
		return nil, fmt.Errorf("the stored answer %d %w", a.ID, err)
	}

	var out [][]byte
	for _, c := range q.Request.Cuts {
		n := len(c.Cells) * len(c.Aggregates)
		if len(shown) < n {
			return nil, fmt.Errorf("the stored answer %d %w", a.ID, errMisfit)
		}
		out = append(out, arraysOf(c, shown[:n])...)
		shown = shown[n:]
	}
	if len(shown) > 0 {
		return nil, fmt.Errorf("the stored answer %d %w", a.ID, errMisfit)
	}
	return out, nil
}

// errMisfit is of an answer that is another statement's.
var errMisfit = errors.New("does not fit the statement")

// stored reads what the ledger keeps of an answer.
func stored(a ledger.Answer) (s quote.Stored, err error) {
	if err := json.Unmarshal(a.Bytes, &s); err != nil {
		return s, fmt.Errorf("reading the stored answer %d: %w", a.ID, err)
	}
	return s, nil
}

// shownOf are the values of an answer, cut by cut and row by row: of the release, public ones, or none.
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

// arraysOf are the arrays of a cut, whose aggregates have those values, row by row.
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
