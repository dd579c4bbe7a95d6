package joint

import (
	"errors"
	"fmt"
	"math"
)

// MaxComponents is how many components the releases of one account may have together: the factors of their covariances
// grow with its square.
const MaxComponents = 6000

const (
	maxRows    = 1 << 24 // of a reference
	maxEntries = 1 << 26 // rows times groups and columns, of one release
)

// ErrLarge says that terms have too many groups and columns for the rows that there are.
var ErrLarge = errors.New("terms: too many groups and columns")

// Group is a part of a release's terms in which each row of the reference is in one cell at most: a grouping set, or a
// statement without GROUP BY as one cell. A row that is in several cells, by a join, takes several groups.
type Group struct {
	Cells   []int16 // the cell of each row of the reference, -1 for none
	Columns []Column
}

// Column is an aggregate over the cells of a group.
type Column struct {
	At     []int     // the component that each cell adds to
	Values []float64 // what each row of the reference adds to its cell's; nil: 1, a count
}

// Terms are the linear functionals of a release: for each row of the reference, what it adds to which component. A
// component that several groups or cells add to is their sum.
type Terms struct {
	rows, width int
	groups      []Group // checked, and not the caller's
}

// NewTerms checks the terms of a release of width components over a reference of so many rows, and copies them. A value
// of a row that is in no cell does not matter.
func NewTerms(rows, width int, groups []Group) (*Terms, error) {
	switch {
	case rows < 1 || rows > maxRows:
		return nil, fmt.Errorf("terms over %d rows of a reference: 1 to %d can be", rows, maxRows)
	case width < 1 || width > MaxComponents:
		return nil, fmt.Errorf("terms of %d components: 1 to %d can be", width, MaxComponents)
	}

	// How large they are is known before anything is copied.
	t := &Terms{rows: rows, width: width}
	entries := 0
	for _, g := range groups {
		if entries += rows * (1 + len(g.Columns)); entries > maxEntries {
			return nil, ErrLarge
		}
		c, err := checked(rows, width, g)
		if err != nil {
			return nil, fmt.Errorf("terms: %w", err)
		}
		t.groups = append(t.groups, c)
	}
	return t, nil
}

// checked copies a group.
func checked(rows, width int, g Group) (Group, error) {
	if len(g.Cells) != rows {
		return g, fmt.Errorf("cells of %d rows, not of %d", len(g.Cells), rows)
	}
	if len(g.Columns) == 0 {
		return g, errors.New("a group without columns")
	}
	cells := len(g.Columns[0].At)
	for _, c := range g.Cells {
		if c < -1 || int(c) >= cells {
			return g, fmt.Errorf("cell %d of %d", c, cells)
		}
	}

	// What the caller does with the group afterwards changes nothing here.
	out := Group{Cells: append([]int16(nil), g.Cells...)}
	for _, col := range g.Columns {
		switch {
		case len(col.At) != cells:
			return g, fmt.Errorf("columns of %d and of %d cells", len(col.At), cells)
		case col.Values != nil && len(col.Values) != rows:
			return g, fmt.Errorf("values of %d rows, not of %d", len(col.Values), rows)
		}

		for _, k := range col.At {
			if k < 0 || k >= width {
				return g, fmt.Errorf("component %d of %d", k, width)
			}
		}
		c := Column{At: append([]int(nil), col.At...)}
		if col.Values != nil {
			c.Values = make([]float64, rows)
			for r, v := range col.Values {
				if g.Cells[r] < 0 {
					continue
				}
				if math.IsNaN(v) || math.Abs(v) > largest {
					return g, fmt.Errorf("a value of %g", v)
				}
				c.Values[r] = v
			}
		}

		out.Columns = append(out.Columns, c)
	}
	return out, nil
}

// largest is the greatest value of a term whose products can be summed without overflow.
const largest = 1e100

// Width is the number of components.
func (t *Terms) Width() int { return t.width }

// Rows is the number of rows of the reference.
func (t *Terms) Rows() int { return t.rows }

// Combined returns what each row of the reference adds to the sum of the components with these weights.
func (t *Terms) Combined(weights []float64) []float64 {
	out := make([]float64, t.rows)
	t.combine(weights, out)
	return out
}

// combine adds it to a number for each row.
func (t *Terms) combine(weights, out []float64) {
	t.each(func(row, component int, value float64) { out[row] += weights[component] * value })
}

// each calls f for every row's part of every component: what is not 0, and once for each group that adds to it.
func (t *Terms) each(f func(row, component int, value float64)) {
	for _, g := range t.groups {
		for _, col := range g.Columns {
			for r, c := range g.Cells {
				switch {
				case c < 0:
				case col.Values == nil:
					f(r, col.At[c], 1)
				default:
					f(r, col.At[c], col.Values[r])
				}
			}
		}
	}
}
