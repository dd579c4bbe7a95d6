package model

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"

	"fugu/planner"
	"fugu/privacy/joint"
	"fugu/sqlstate"
)

// MaxPlaces is how many rows a reference may have whose rows are told apart: each answer is kept with what each of them
// adds to it.
const MaxPlaces = 200_000

// Places are the rows of a table's reference, numbered in the order of what they hold: rows that hold the same are the
// same to every statement, so the numbers outlive a copy of the table.
type Places struct {
	Sample joint.Sample // by the numbers
	Digest string       // of what all rows hold
	number map[spot]int
}

type spot struct{ table, row string }

// ReadPlaces lists the rows of the table's reference.
func ReadPlaces(ctx context.Context, ref planner.Querier, t *planner.Table) (*Places, error) {
	rows, err := ref.Query(ctx, t.Places(), nil, nil)
	if err != nil {
		return nil, fmt.Errorf("listing the rows of the reference of %s: %w", t, err)
	}
	if len(rows) > MaxPlaces {
		return nil, sqlstate.New(sqlstate.ModelUnfit, "the reference of %s has %d rows, and joint accounts take %d "+
			"at most", t, len(rows), MaxPlaces).
			WithHint("The owner of the policy can give a sample of it as the reference, or privacy.composition: noise.")
	}

	// The order is that of the rows' values, so that it does not depend on where they lie.
	slices.SortFunc(rows, func(a, b []planner.Value) int { return compare(a[2:], b[2:]) })
	p := &Places{number: make(map[spot]int, len(rows)),
		Sample: joint.Sample{Rows: len(rows), Classes: map[string][]int16{}, Numbers: map[string][]float64{}}}
	digest := sha256.New()
	for i, row := range rows {
		p.number[spot{row[0].Text, row[1].Text}] = i
		digest.Write([]byte(row[2].Text))
		for j, s := range t.Secrets {
			v := row[3+j]
			if s.Number == nil {
				p.Sample.Classes[s.Name] = append(p.Sample.Classes[s.Name], int16(s.Class(v)))
				continue
			}
			x, err := number(v)
			if err != nil {
				return nil, err
			}
			p.Sample.Numbers[s.Name] = append(p.Sample.Numbers[s.Name], x)
		}
	}

	if len(p.number) != len(rows) {
		return nil, fmt.Errorf("listing the rows of the reference of %s: two in one place", t)
	}
	p.Digest = hex.EncodeToString(digest.Sum(nil))
	return p, nil
}

func compare(a, b []planner.Value) int {
	return slices.CompareFunc(a, b, func(x, y planner.Value) int {
		switch {
		case x == y:
			return 0
		case x.Text < y.Text || x.Text == y.Text && x.Null:
			return -1
		}
		return 1
	})
}

// Total is a sum over the rows of one cell.
type Total struct{ Cell, Term int }

// Totals returns the sums that component k is a function of: itself, or of an average the number and the sum.
func (m *Moments) Totals(k int) []Total {
	var out []Total
	for _, t := range m.aggregate(m.Components[k]).Terms {
		out = append(out, Total{m.Components[k].Cell, t})
	}
	return out
}

// Steepest bounds |∂|, the derivative of an average, component k, by the i-th of its Totals, over all values of all
// secrets of the table. With S the sum and N the number of its rows that is 1/N, and |S/N|/N: N and S are straight
// lines in a secret's value, S/N is monotone, so each factor is greatest at an end.
func (m *Moments) Steepest(k, i int, psi []Psi) (float64, error) {
	flat, level := 0.0, 0.0 // 1/N, |S/N|
	for j, p := range psi {
		for _, path := range m.Paths(j, p) {
			for _, x := range []float64{path.span.From, path.span.To} {
				s := m.sums(m.Components[k], path.expected(x))
				if !(s[0] > leastRows) {
					return 0, sqlstate.New(sqlstate.ModelUnfit, "an average over hardly any row of the reference of "+
						"%s has no place in a joint account", m.cut.Table).
						WithHint("Ask for larger groups.")
				}
				flat, level = math.Max(flat, 1/s[0]), math.Max(level, math.Abs(s[1]/s[0]))
			}
		}
	}
	if i == 0 { // of the number; where averages are 0, a part of the other, so that there is a derivative to divide by
		return flat * math.Max(level, 1e-6), nil
	}
	return flat, nil
}

// leastRows is the least number of rows that an average can be expected over.
const leastRows = 1e-3

var errMoved = errors.New("a row of the reference is not where it was")

// Terms returns what each row of the reference adds to totals of the cut.
func (m *Moments) Terms(ctx context.Context, ref planner.Querier, p *Places, totals []Total) (*joint.Terms, error) {
	rows, err := ref.Query(ctx, m.cut.Placed(), nil, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the rows of the reference: %w", err)
	}
	layout := newLayout(m.cut, totals)
	cells, head := m.cut.Index(), m.cut.Head()

	for _, row := range rows {
		cell, ok := cells.Find(row[:head])
		if !ok {
			continue // a key that is not public
		}

		// Rows are known by their places, since a reference need not have a key.
		r, ok := p.number[spot{row[head].Text, row[head+1].Text}]
		if !ok {
			return nil, sqlstate.New(sqlstate.ModelUnfit, "the reference of %s has changed since the policy was loaded",
				m.cut.Table).
				WithHint("Ask again after the policy has been reloaded.").Because(errMoved)
		}

		bases := make([]float64, len(m.cut.Bases))
		for i := range bases {
			if bases[i], err = number(row[head+2+i]); err != nil {
				return nil, err
			}
		}

		layout.add(r, cell, bases, p.Sample.Rows)
	}
	return joint.NewTerms(p.Sample.Rows, len(totals), layout.groups())
}

// layout sorts totals into groups of joint.Terms: those of the same cells together, as often as one row is in several
// of these cells.
type layout struct {
	cut  *planner.Bound
	sets []*cellSet
}

// cellSet is cells with the same terms.
type cellSet struct {
	terms  []int
	index  map[int]int // of a cell among the set's
	at     [][]int     // by term, by index: the total
	groups []joint.Group
}

func newLayout(cut *planner.Bound, totals []Total) *layout {
	// The totals of a cell, in order: a term that comes twice is two columns.
	byCell := map[int][]int{}
	var order []int
	for i, t := range totals {
		if byCell[t.Cell] == nil {
			order = append(order, t.Cell)
		}
		byCell[t.Cell] = append(byCell[t.Cell], i)
	}

	l := &layout{cut: cut}
	for _, cell := range order {
		var terms []int
		for _, i := range byCell[cell] {
			terms = append(terms, totals[i].Term)
		}
		i := slices.IndexFunc(l.sets, func(s *cellSet) bool { return slices.Equal(s.terms, terms) })
		if i < 0 {
			i = len(l.sets)
			l.sets = append(l.sets, &cellSet{terms: terms, index: map[int]int{}, at: make([][]int, len(terms))})
		}

		s := l.sets[i]
		s.index[cell] = len(s.index)
		for j, total := range byCell[cell] {
			s.at[j] = append(s.at[j], total)
		}
	}
	return l
}

// add takes in one row of the reference in one of its cells.
func (l *layout) add(row, cell int, bases []float64, rows int) {
	for _, s := range l.sets {
		c, ok := s.index[cell]
		if !ok {
			continue
		}

		// A row that is in several cells of a set is in several groups, one for each.
		i := slices.IndexFunc(s.groups, func(g joint.Group) bool { return g.Cells[row] < 0 })
		if i < 0 {
			i = len(s.groups)
			g := joint.Group{Cells: slices.Repeat([]int16{-1}, rows)}
			for j, t := range s.terms {
				col := joint.Column{At: s.at[j]}
				if len(l.cut.Terms[t].Factors) > 0 { // otherwise it is the number of rows
					col.Values = make([]float64, rows)
				}
				g.Columns = append(g.Columns, col)
			}

			s.groups = append(s.groups, g)
		}

		s.groups[i].Cells[row] = int16(c)
		for j, t := range s.terms {
			v := s.groups[i].Columns[j].Values
			if v == nil {
				continue
			}
			v[row] = 1
			for _, f := range l.cut.Terms[t].Factors {
				v[row] *= bases[f]
			}
		}
	}
}

func (l *layout) groups() []joint.Group {
	var out []joint.Group
	for _, s := range l.sets {
		out = append(out, s.groups...)
	}
	return out
}
