package unlisted

import (
	"fmt"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/planner/protected"
)

// Omission is what an answer lacks, in words, and what may be asked instead.
type Omission struct{ What, Hint string }

// Omitted says that an answer lacks what too few rows of the sample have, where an analyst might take what is there for
// all there is; nothing of that kind has no words.
//
// That values are NULL, or that there is no group at all, shows in the answer itself, and that groups are aggregated
// further stands in the text. How many groups were left out, or whether any was, would tell of single rows.
func (c *Cut) Omitted(rows int, null func(row, column int) bool) Omission {
	// Where values themselves are keys, what is left out is values.
	t := c.first()
	more := "Group by what more rows have in common. Nothing says which groups were left out, or how many."
	keys := c.cut.Keys
	if i := slices.IndexFunc(keys, func(k parser.Key) bool { return k.Mode }); i >= 0 {
		return c.ofValues(keys[i], rows == 0)
	}

	switch {
	case len(keys) > 0 && rows == 0:
		return Omission{fmt.Sprintf("no group of %s is shown: groups of fewer than %d rows of the sample are left out",
			t, t.AtLeast), more}
	case c.nested && len(keys) > 0:
		return Omission{fmt.Sprintf("what is computed here from groups of %s is computed without those of fewer than "+
			"%d rows of the sample", t, t.AtLeast), more}
	case c.outer() && c.lacksValues(rows, null):
		more = "Behind LEFT JOIN there have to be enough rows of either table. How many have no partner is what " +
			"those who have one leave: (SELECT count(*) FROM p) - (SELECT count(DISTINCT p_id) FROM v)."
		fallthrough
	case c.lacksValues(rows, null):
		return Omission{fmt.Sprintf("values of %s that fewer than %d rows of the sample have are NULL", t, t.AtLeast),
			more}
	}
	return Omission{}
}

// ofValues says of min, max and mode that they are of values that enough rows have. So much stands in the text, and
// that there is no such value shows in the answer.
func (c *Cut) ofValues(key parser.Key, none bool) Omission {
	t := c.first()
	out := Omission{
		What: fmt.Sprintf("%s of %s is of the values that at least %d rows of the sample have",
			strings.ReplaceAll(key.Call, "pg_catalog.", ""), t, t.AtLeast),
		Hint: "Rarer values are left out. How far most rows go says percentile_cont(0.99) WITHIN GROUP (ORDER BY x).",
	}
	switch {
	case none:
		out.What += ", and there are none: it is NULL"
		out.Hint = "Round it, as in max(round(x, -1)) or max(date_trunc('month', x)), or ask how far most rows go: " +
			"percentile_cont(0.99) WITHIN GROUP (ORDER BY x)."
	case strings.HasPrefix(key.Call, "mode"): // a value that is rarer is not the most frequent one
		return Omission{}
	}
	return out
}

// outer reports whether a LEFT JOIN stands below the cut.
func (c *Cut) outer() bool {
	return slices.ContainsFunc(c.cut.Sources, func(s parser.Source) bool { return s.Left })
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
