package twin

import (
	"fmt"
	"math"
	"strings"

	"fugu/policy"
)

// Public is a full cross-table of the protected table that everybody knows exactly: how many rows have each combination
// of values of some columns. Its cells refine the classes: a class is a cell with an outcome of each secret, K blurs
// the outcomes within each cell and keeps its total, and who knows the totals is told no more than the certificate
// says.
type Public struct {
	Columns []string
	Cells   []Cell
}

// Cell is a combination of values that has so many rows.
type Cell struct {
	Values []policy.Value // by column
	Rows   int64          // above 0
}

// cells are those of the public statistic, or the table as the only one.
func (s Spec) cells() []Cell {
	if s.Public == nil {
		return []Cell{{Rows: s.Rows}}
	}
	return s.Public.Cells
}

// valid checks what the law relies on, for a table with so many rows and these secrets.
func (p *Public) valid(rows int64, secrets []Secret) error {
	if p == nil {
		return nil
	}
	for _, c := range p.Cells {
		if c.Rows < 1 || c.Rows > rows || len(c.Values) != len(p.Columns) {
			return fmt.Errorf("public cell %s: %d of %d rows", p.name(c), c.Rows, rows)
		}
	}

	// Cells that are left out would be a class of rows that the law does not know.
	if total := p.Rows(); total != rows {
		return fmt.Errorf("the public cells have %d rows together, and the table %d: "+
			"write the count of every combination that has rows", total, rows)
	}

	for _, s := range secrets {
		switch {
		case s.Categories != "":
			return fmt.Errorf("secret %s: beside public statistics a twin hides proportions, and no categories: "+
				"how many rows two vectors of categories move within public cells has no known bound", s.Name)
		case s.About != policy.AboutDataset:
			return fmt.Errorf("secret %s: beside public statistics a twin hides what is about: dataset; what is "+
				"known of the table itself can tell more of its distribution than the values are apart", s.Name)
		}
	}
	return nil
}

// name is a cell for people: sex=Female; empty of the only one.
func (p *Public) name(c Cell) string {
	if p == nil {
		return ""
	}
	parts := make([]string, len(c.Values))
	for i, v := range c.Values {
		text := v.Text
		if v.IsNull {
			text = "null"
		}
		parts[i] = p.Columns[i] + "=" + text
	}
	return strings.Join(parts, ", ")
}

// celled bounds the classes of each cell by what everybody knows: smallest is a share of the cell's rows; and of the
// rows that the one secret's range leaves an outcome, all but those of the cell may be in other cells. Of several
// secrets the ranges of the others say nothing, as it is given the value of one of them that rows are independent.
func (s Spec) celled(classes []Class, totals []total) []Class {
	cells := s.cells()
	for i := range classes {
		c := &classes[i]
		rows := cells[c.Cell].Rows
		c.Least = int64(math.Ceil(float64(rows)*s.Smallest - float64(s.Rows)*rounding))
		c.Most = rows
		if t := totals[c.Outcomes[0]]; len(s.Secrets) == 1 {
			c.Least = max(c.Least, t.least-(s.Rows-rows))
			c.Most = min(c.Most, t.most)
		}
	}

	// Within a cell, the bounds of each class say what those of all others leave.
	var out []Class
	for len(classes) > 0 {
		n := 1
		for n < len(classes) && classes[n].Cell == classes[0].Cell {
			n++
		}
		out = append(out, tight(classes[:n], cells[classes[0].Cell].Rows)...)
		classes = classes[n:]
	}
	return out
}

// total is what a secret's values say of how many rows of the table have one of its outcomes.
type total struct {
	secret, outcome int
	least, most     int64
}

// covers reports whether counts of the classes are within the total.
func (t total) covers(classes []Class, counts []int64) bool {
	rows := int64(0)
	for i, c := range classes {
		if c.Outcomes[t.secret] == t.outcome {
			rows += counts[i]
		}
	}
	return t.least <= rows && rows <= t.most
}

// Rows is how many rows the cells have together.
func (p *Public) Rows() (rows int64) {
	for _, c := range p.Cells {
		rows += c.Rows
	}
	return rows
}
