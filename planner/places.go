package planner

import "strconv"

// Places composes the statement that lists the rows of the table's reference. A row holds: its place, two texts; a digest
// of what it holds; and of each secret its label, or its number, which may be NULL.
func (t *Table) Places() string {
	columns := []string{"t.tableoid::pg_catalog.text", "t.ctid::pg_catalog.text", "pg_catalog.md5(t::pg_catalog.text)"}
	for _, s := range t.Secrets {
		if s.Number == nil {
			columns = append(columns, s.label("t"))
		} else {
			columns = append(columns, s.number("t"))
		}
	}
	return selectSQL(columns, t.Reference+" AS t", "", nil)
}

// Placed composes the statement over the references that has a row for each row of the root and each of its cells: the
// Head; the row's place, as Places has it; and each Base, which with joins is the sum over all that belongs to the row.
func (b *Bound) Placed() string {
	var columns []string
	for i := range b.Keys {
		columns = append(columns, "k"+strconv.Itoa(i)+"::pg_catalog.text")
	}
	if b.Sets != nil {
		columns = append(columns, "g")
	}
	columns = append(columns, "r0::pg_catalog.text", "r1::pg_catalog.text")
	for i := range b.Bases {
		columns = append(columns, column(i))
	}
	return selectSQL(columns, "("+b.placed(nil)+") AS p", "", nil)
}
