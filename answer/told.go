package answer

import (
	"context"
	"fmt"
	"strconv"

	"fugu/explain"
	"fugu/ledger"
	"fugu/privacy"
	"fugu/quote"
)

// Told is what a client was told by an answer: what fugu.last_release shows. Its zero value is that it was told
// nothing.
type Told struct {
	Answer ledger.Answer
	Cells  []ToldCell     // at the confidence that was set, in the order of the answer
	Budget privacy.Budget // that was asked for
}

// ToldCell is a value of an answer.
type ToldCell struct {
	ledger.Cell
	Public bool // everybody knows the value: it has no noise
}

// Told returns what an answer to the question tells. An error is that the answer does not fit it.
func (q *Question) Told(ctx context.Context, a ledger.Answer) (Told, error) {
	s, err := stored(a)
	if err != nil {
		return Told{}, err
	}

	cells, err := q.intervals(ctx, a, s)
	if err != nil {
		return Told{}, err
	}
	shown, err := q.inOrder(s, cells)
	if err != nil {
		return Told{}, fmt.Errorf("reading the stored answer %d: %w", a.ID, err)
	}
	return Told{a, shown, q.Request.Budget}, nil
}

// intervals are the values of an answer by component, with intervals at the confidence that was set. The ledger keeps
// those at one confidence; of another they are made anew.
func (q *Question) intervals(ctx context.Context, a ledger.Answer, s quote.Stored) ([]ledger.Cell, error) {
	if q.asked.Confidence == explain.Confidence || len(a.Cells) == 0 {
		return a.Cells, nil
	}
	m, err := q.Measure(ctx)
	if err != nil {
		return nil, err
	}
	values := make([]string, len(a.Cells))
	for i, c := range a.Cells {
		values[i] = c.Value
	}
	if len(values) != m.Width || s.Past != nil && len(s.Past.Errors) != m.Width {
		return nil, fmt.Errorf("the stored answer %d %w", a.ID, errMisfit)
	}
	return q.cells(m, s.Past, values, q.asked.Confidence), nil
}

// inOrder brings the values of an answer into the order in which they reach the client: cut by cut and row by row, with
// the aggregates of a row as the statement names them, each once. What stands above the cuts may leave rows out, or
// sort them anew.
func (q *Question) inOrder(s quote.Stored, cells []ledger.Cell) ([]ToldCell, error) {
	var out []ToldCell
	index := s.Index
	for _, c := range q.Request.Cuts {
		for _, cell := range c.Cells {
			if len(index) < len(c.Aggregates) {
				return nil, fmt.Errorf("it %w", errMisfit)
			}
			row := index[:len(c.Aggregates)]
			index = index[len(c.Aggregates):]

			// An aggregate that the statement names twice is one value, and told once.
			seen := make([]bool, len(row))
			for _, agg := range c.Columns {
				if seen[agg] {
					continue
				}
				seen[agg] = true
				if !row[agg].Within(len(cells), len(s.Public)) {
					return nil, fmt.Errorf("it %w", errMisfit)
				}
				if k, ok := row[agg].Component(); ok {
					out = append(out, ToldCell{Cell: cells[k]})
				} else if i, ok := row[agg].Public(); ok {
					known, err := strconv.ParseFloat(s.Public[i], 64)
					if err != nil {
						return nil, err
					}
					out = append(out, ToldCell{ledger.Cell{Column: c.Aggregates[agg].Label, GroupKey: c.GroupKey(cell),
						Value: s.Public[i], Lower: known, Upper: known}, true})
				}
			}
		}
	}
	return out, nil
}

// Size is how many bytes it keeps alive, about.
func (t Told) Size() int {
	n := 512 + len(t.Answer.Bytes) + 128*(len(t.Answer.Losses)+len(t.Answer.Certificates))
	n += 96 * len(t.Answer.Cells) // whose texts are those of Cells
	for _, c := range t.Cells {
		n += 128 + len(c.Column) + len(c.GroupKey) + len(c.Value) + len(c.Secret)
	}
	return n
}
