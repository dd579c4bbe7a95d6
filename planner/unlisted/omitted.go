package unlisted

import (
	"fmt"

	"fugu/planner/protected"
)

// Omitted says in words that an answer lacks what too few rows of the sample have, where an analyst might take what is
// there for all there is; empty: nothing of that kind. null tells whether a value of the answer's rows is NULL.
//
// That values are NULL, or that there is no group at all, shows in the answer itself, and that groups are aggregated
// further stands in the text. How many groups were left out, or whether any was, would tell of single rows.
func (c *Cut) Omitted(rows int, null func(row, column int) bool) string {
	t, few := c.first(), ""
	switch {
	case len(c.cut.Keys) > 0 && rows == 0:
		few = "no group of %s is shown: groups of fewer than %d rows of the sample are left out"
	case c.nested && len(c.cut.Keys) > 0:
		few = "what is computed here from groups of %s is computed without those of fewer than %d rows of the sample"
	case c.lacksValues(rows, null):
		few = "values of %s that fewer than %d rows of the sample have are NULL"
	default:
		return ""
	}
	return fmt.Sprintf(few, t, t.AtLeast)
}

// first is the table that the statement names first.
func (c *Cut) first() *protected.Table { return c.tables[c.cut.Sources[0].Rel] }

// lacksValues reports whether an aggregate is NULL. Keys may be NULL for their own reasons.
func (c *Cut) lacksValues(rows int, null func(row, column int) bool) bool {
	for row := range rows {
		for column := len(c.cut.Keys) + len(c.cut.Groupings); column < c.Width(); column++ {
			if null(row, column) {
				return true
			}
		}
	}
	return false
}
