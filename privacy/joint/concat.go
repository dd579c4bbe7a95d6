package joint

import (
	"errors"
	"fmt"
)

// Concat returns terms whose components are those of the first, then those of the second and so on.
func Concat(terms ...*Terms) (*Terms, error) {
	if len(terms) == 0 {
		return nil, errors.New("terms: none")
	}
	out := &Terms{rows: terms[0].rows}
	for _, t := range terms {
		if t.rows != out.rows {
			return nil, fmt.Errorf("terms over %d and over %d rows of a reference", out.rows, t.rows)
		}

		// The components of each one stand behind those of all before it.
		for _, g := range t.groups {
			moved := Group{Cells: g.Cells}
			for _, c := range g.Columns {
				at := make([]int, len(c.At))
				for i, k := range c.At {
					at[i] = out.width + k
				}
				moved.Columns = append(moved.Columns, Column{At: at, Values: c.Values})
			}
			out.groups = append(out.groups, moved)
		}
		out.width += t.width
	}
	if out.width > MaxComponents {
		return nil, fmt.Errorf("terms of %d components: 1 to %d can be", out.width, MaxComponents)
	}
	return out, nil
}
