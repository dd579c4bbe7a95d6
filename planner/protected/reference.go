package protected

import (
	"strconv"

	"fugu/parser"
)

// ClassTotals composes the statement that counts the reference's rows by the secrets' classes: a row holds the label of
// each secret that has classes, and the number of rows.
func (t *Table) ClassTotals() string {
	var cols, group []string
	for _, s := range t.Secrets {
		if s.Number == nil {
			cols = append(cols, s.Label("t"))
			group = append(group, strconv.Itoa(len(cols)))
		}
	}
	return parser.SelectSQL(append(cols, "pg_catalog.count(*)"), t.Reference+" AS t", "", group)
}

// NumberTotals composes the statement that describes the number g whose mean is secret over the reference: the rows,
// those where g is not NULL, its mean, its variance (divided by the rows), its least and its greatest value.
func (t *Table) NumberTotals(s Secret) string {
	g := s.Mean("t")
	columns := []string{"pg_catalog.count(*)"}
	for _, f := range []string{"count", "avg", "var_pop", "min", "max"} {
		columns = append(columns, "pg_catalog."+f+"("+g+")")
	}
	return parser.SelectSQL(columns, t.Reference+" AS t", "", nil)
}

// NumberByClass composes the statement that tells how a number whose mean is secret goes with another secret's classes:
// a row for each label holds the rows where the number is not NULL, its mean, and its variance among them.
func (t *Table) NumberByClass(number, classes Secret) string {
	g := number.Mean("t")
	columns := []string{
		"pg_catalog.count(" + g + ")",
		"coalesce(pg_catalog.avg(" + g + "), 0)",
		"coalesce(pg_catalog.var_pop(" + g + "), 0)",
	}
	return parser.SelectSQL(columns, t.Reference+" AS t", "", []string{classes.Label("t")})
}

// Correlation composes the statement for the correlation of two numbers whose means are secret; 0 where one does not
// vary.
func (t *Table) Correlation(a, b Secret) string {
	corr := "coalesce(pg_catalog.corr(" + a.Mean("t") + ", " + b.Mean("t") + "), 0)"
	return parser.SelectSQL([]string{corr}, t.Reference+" AS t", "", nil)
}

// Places composes the statement that lists the rows of the table's reference. A row holds: its place, two texts; a
// digest of what it holds; and of each secret its label, or its number, which may be NULL.
func (t *Table) Places() string {
	columns := []string{"t.tableoid::pg_catalog.text", "t.ctid::pg_catalog.text", "pg_catalog.md5(t::pg_catalog.text)"}
	for _, s := range t.Secrets {
		if s.Number == nil {
			columns = append(columns, s.Label("t"))
		} else {
			columns = append(columns, s.Mean("t"))
		}
	}
	return parser.SelectSQL(columns, t.Reference+" AS t", "", nil)
}
