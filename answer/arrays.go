package answer

import (
	"encoding/json"
	"fmt"

	"fugu/ledger"
	"fugu/mechanism"
	"fugu/planner"
	"fugu/quote"
)

// Arrays are the parameters that take the place of the cuts: for each cut an array for each key, then for each
// aggregate.
func (q *Question) Arrays(a ledger.Answer) ([][]byte, error) {
	var s quote.Stored
	if err := json.Unmarshal(a.Bytes, &s); err != nil {
		return nil, fmt.Errorf("reading the stored answer %d: %w", a.ID, err)
	}
	var release mechanism.Release
	if len(s.Release) > 0 {
		if err := release.UnmarshalBinary(s.Release); err != nil {
			return nil, fmt.Errorf("reading the stored answer %d: %w", a.ID, err)
		}
	}
	values := release.Values()
	var out [][]byte
	for _, c := range q.Request.Cuts {
		before := len(c.Keys) + len(c.Groupings)
		columns := make([][]planner.Value, before+len(c.Aggregates))
		for _, cell := range c.Cells {
			for k, v := range cell.Keys {
				columns[k] = append(columns[k], v)
			}
			for i, g := range c.Groupings {
				columns[len(c.Keys)+i] = append(columns[len(c.Keys)+i], c.Grouping(g, cell))
			}
			for agg := range c.Aggregates {
				if len(s.Index) == 0 || !s.Index[0].Within(len(values), len(s.Public)) {
					return nil, fmt.Errorf("the stored answer %d does not fit the statement", a.ID)
				}
				v := planner.Value{Null: true}
				if k, ok := s.Index[0].Component(); ok {
					v = planner.Value{Text: values[k]}
				} else if i, ok := s.Index[0].Public(); ok {
					v = planner.Value{Text: s.Public[i]}
				}
				s.Index = s.Index[1:]
				columns[before+agg] = append(columns[before+agg], v)
			}
		}
		for _, column := range columns[:before] {
			out = append(out, planner.Array(column))
		}
		for _, agg := range c.Columns {
			out = append(out, planner.Array(columns[before+agg]))
		}
	}
	if len(s.Index) > 0 {
		return nil, fmt.Errorf("the stored answer %d does not fit the statement", a.ID)
	}
	return out, nil
}
