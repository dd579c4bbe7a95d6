package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"fugu/ledger"
	"fugu/planner"
	"fugu/privacy"
	"fugu/quote"
)

// lastRelease is what fugu.last_release shows.
type lastRelease struct {
	answer ledger.Answer
	cells  []shownCell // at the confidence that was set, in the order of the answer
	budget privacy.Budget
}

// shownCell is a value of an answer.
type shownCell struct {
	ledger.Cell
	public bool // everybody knows the value: it has no noise
}

// record keeps what the session was told last.
func (q *question) record(ctx context.Context, a ledger.Answer) error {
	var s quote.Stored
	if err := json.Unmarshal(a.Bytes, &s); err != nil {
		return fmt.Errorf("reading the stored answer %d: %w", a.ID, err)
	}
	cells := a.Cells
	if q.settings.confidence != defaultConfidence && len(cells) > 0 {
		m, err := q.measure(ctx)
		if err != nil {
			return err
		}
		values := make([]string, len(cells))
		for i, c := range cells {
			values[i] = c.Value
		}
		if len(values) != m.Width || s.Past != nil && len(s.Past.Errors) != m.Width {
			return fmt.Errorf("the stored answer %d does not fit the statement", a.ID)
		}
		cells = q.cells(m, s.Past, values, q.settings.confidence)
	}
	shown, err := q.inOrder(s, cells)
	if err != nil {
		return fmt.Errorf("reading the stored answer %d: %w", a.ID, err)
	}
	q.statement.session.last = lastRelease{a, shown, q.request.Budget}
	return nil
}

// inOrder brings the values of an answer into the order in which they reach the client: cut by cut and row by row, with
// the aggregates of a row as the statement names them, each once. What stands above the cuts may leave rows out, or
// sort them anew.
func (q *question) inOrder(s quote.Stored, cells []ledger.Cell) ([]shownCell, error) {
	var out []shownCell
	index := s.Index
	for _, c := range q.request.Cuts {
		for _, cell := range c.Cells {
			if len(index) < len(c.Aggregates) {
				return nil, errors.New("it does not fit the statement")
			}
			row := index[:len(c.Aggregates)]
			index = index[len(c.Aggregates):]
			seen := make([]bool, len(row))
			for _, agg := range c.Columns {
				if seen[agg] {
					continue
				}
				seen[agg] = true
				if !row[agg].Within(len(cells), len(s.Public)) {
					return nil, errors.New("it does not fit the statement")
				}
				if k, ok := row[agg].Component(); ok {
					out = append(out, shownCell{Cell: cells[k]})
				} else if i, ok := row[agg].Public(); ok {
					known, err := strconv.ParseFloat(s.Public[i], 64)
					if err != nil {
						return nil, err
					}
					out = append(out, shownCell{ledger.Cell{Column: c.Aggregates[agg].Label, GroupKey: c.GroupKey(cell),
						Value: s.Public[i], Lower: known, Upper: known}, true})
				}
			}
		}
	}
	return out, nil
}

// rows are the rows of fugu.last_release. What a loss comes to takes longer to compute than everything else about an
// answer, and few ask.
func (l lastRelease) rows() [][]planner.Value {
	epsilon := map[string]float64{}
	for secret, loss := range l.answer.Losses {
		epsilon[secret] = loss.EpsilonAt(float64(l.budget.Delta))
	}
	id := integer(l.answer.ID)
	if l.answer.ID == 0 { // all of it is public, and nothing was charged
		id = planner.Value{Null: true}
	}
	var rows [][]planner.Value
	for _, c := range l.cells {
		mechanism, assumption := l.answer.Mechanism, l.answer.Assumption
		if c.public {
			mechanism, assumption = "public", ""
		}
		row := []planner.Value{id, text(c.Column), text(c.GroupKey), text(mechanism), text(assumption),
			float(c.SD), float(c.Lower), float(c.Upper), float(epsilon[c.Secret]),
			float(stated(l.answer.Losses[c.Secret], l.budget)), text(c.Secret)}
		rows = append(rows, append(row, certified(l.answer.Certificates, c.Secret)...))
	}
	return rows
}
