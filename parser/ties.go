package parser

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
)

// ties are columns of FROM's names that are equal in each of its rows, as far as conditions say so outright.
type ties struct{ pairs [][2]tiedColumn }

// tiedColumn is a column of one of FROM's names.
type tiedColumn struct{ alias, column string }

// where takes in the equations of a condition that holds for each row.
func (t *ties) where(condition *pg.Node, members []member) {
	t.equations(condition, members, func(tiedColumn, tiedColumn) bool { return true })
}

// equations takes in those of a condition's equations that hold.
func (t *ties) equations(condition *pg.Node, members []member, hold func(a, b tiedColumn) bool) {
	if all := condition.GetBoolExpr(); all != nil && all.Boolop == pg.BoolExprType_AND_EXPR {
		for _, n := range all.Args {
			t.equations(n, members, hold)
		}
	}
	e := condition.GetAExpr()
	if e == nil || e.Kind != pg.A_Expr_Kind_AEXPR_OP || len(e.Name) != 1 || tree.LastString(e.Name) != "=" {
		return
	}
	a, known := columnOf(e.Lexpr.GetColumnRef(), members)
	b, both := columnOf(e.Rexpr.GetColumnRef(), members)
	if known && both && hold(a, b) {
		t.pairs = append(t.pairs, [2]tiedColumn{a, b})
	}
}

// columnOf finds whose column a reference is. One without a name is of the only twin that has such a column: if another
// table had it, too, PostgreSQL would refuse the statement.
func columnOf(ref *pg.ColumnRef, members []member) (tiedColumn, bool) {
	if ref == nil || len(ref.Fields) == 0 || len(ref.Fields) > 3 || ref.Fields[len(ref.Fields)-1].GetAStar() != nil {
		return tiedColumn{}, false
	}
	column := tree.LastString(ref.Fields)
	if len(ref.Fields) > 1 {
		alias := ref.Fields[len(ref.Fields)-2].GetString_().GetSval()
		known := func(m member) bool { return m.alias == alias && !m.renamed }
		return tiedColumn{alias, column}, slices.ContainsFunc(members, known)
	}
	for _, m := range members {
		if m.twin() && m.inner == nil && !m.renamed && slices.Contains(m.table.Columns, column) {
			return tiedColumn{m.alias, column}, true
		}
	}
	return tiedColumn{}, false
}

// using takes in what USING says of two sides of a join.
func (t *ties) using(names []*pg.Node, left, right []member) {
	for _, n := range names {
		ref := &pg.ColumnRef{Fields: []*pg.Node{n}}
		a, known := columnOf(ref, left)
		b, both := columnOf(ref, right)
		if known && both {
			t.pairs = append(t.pairs, [2]tiedColumn{a, b})
		}
	}
}

// equal reports whether two columns are, by any chain of equations.
func (t *ties) equal(a, b tiedColumn) bool {
	reached := []tiedColumn{a}
	for i := 0; i < len(reached); i++ {
		if reached[i] == b {
			return true
		}
		for _, p := range t.pairs {
			for side, from := range p {
				if to := p[1-side]; from == reached[i] && !slices.Contains(reached, to) {
					reached = append(reached, to)
				}
			}
		}
	}
	return false
}

// handle is by which columns of a member a row of a table is told from its other rows.
type handle struct {
	table string
	onto  []string // columns of the table
	own   []string // of the member, which are the same
}

// handles are those of a member's own table and of the one that it is linked to, by the links onto these.
func (m member) handles(onto []string) (out []handle) {
	if l := m.table.Link; l != nil {
		out = append(out, handle{l.To.String(), l.Onto, l.Own})
	}
	return append(out, handle{m.table.String(), onto, onto})
}

// together reports whether two members have rows that go with the same row of the root.
func (t *ties) together(a, b member) bool {
	if a.inner != nil || b.inner != nil {
		return false
	}
	for _, x := range a.handles(b.table.onto()) {
		for _, y := range b.handles(a.table.onto()) {
			if x.table == y.table && t.same(a.alias, b.alias, x, y) {
				return true
			}
		}
	}
	return false
}

// onto are the columns that a table's link leads to; none: it has no link.
func (t Table) onto() []string {
	if t.Link == nil {
		return nil
	}
	return t.Link.Onto
}

// same reports whether two handles are of one row: column by column, in whatever order.
func (t *ties) same(a, b string, x, y handle) bool {
	if len(x.onto) == 0 || len(x.onto) != len(y.onto) {
		return false
	}
	for i, column := range x.onto {
		j := slices.Index(y.onto, column)
		if j < 0 || !t.equal(tiedColumn{a, x.own[i]}, tiedColumn{b, y.own[j]}) {
			return false
		}
	}
	return true
}
