package parser

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/sqlstate"
)

// names says what the column references at one place below a cut mean.
type names struct {
	items  []item
	merged map[string]Expr // columns joined by USING, which stand unqualified for both sides
	outer  *names          // of the query around a subquery
}

// item is one relation that FROM names.
type item struct {
	alias  string
	schema string // with alias, what a reference by schema and table says; empty: none
	output []output
}

// output is a column of a relation, by what it stands for.
type output struct {
	name string
	expr Expr
}

func (it item) find(name string) Expr {
	for _, o := range it.output {
		if o.name == name {
			return o.expr
		}
	}
	return nil
}

// has reports whether an unqualified name is a column's.
func (ns *names) has(name string) bool {
	e, _ := ns.unqualified(name)
	return e != nil
}

func (ns *names) unqualified(name string) (e Expr, twice bool) {
	if e := ns.merged[name]; e != nil {
		return e, false
	}
	for _, it := range ns.items {
		if x := it.find(name); x != nil {
			if e != nil {
				return nil, true
			}
			e = x
		}
	}
	return e, false
}

// systemColumns are those that every table has (PostgreSQL manual, section 5.5).
var systemColumns = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}

// column resolves a reference as PostgreSQL does: the innermost query that knows the name decides.
func (r *reader) column(c *pg.ColumnRef) (Expr, error) {
	pos := r.src.position(c.Location)
	parts := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		if f.GetAStar() != nil {
			return nil, sqlstate.New(sqlstate.NotAnswerable, "* stands for whole rows of a protected table").
				WithHint("Name the columns to aggregate: count, sum or avg of an expression.").At(pos)
		}
		parts[i] = f.GetString_().GetSval()
	}
	name, qualifier := parts[len(parts)-1], parts[:len(parts)-1]
	qualified := false
	for ns := r.names; ns != nil; ns = ns.outer {
		if len(qualifier) == 0 {
			e, twice := ns.unqualified(name)
			if twice {
				return nil, sqlstate.New(sqlstate.AmbiguousColumn, "column reference %s is ambiguous", QuoteIdent(name)).At(pos)
			} else if e != nil {
				return located(e, pos)
			}
			if slices.ContainsFunc(ns.items, func(it item) bool { return it.alias == name }) {
				return nil, sqlstate.New(sqlstate.NotAnswerable, "%s stands for whole rows of a protected table", name).
					WithHint("Name the columns to aggregate: count, sum or avg of an expression.").At(pos)
			}
			continue
		}
		for _, it := range ns.items {
			if !it.means(qualifier) {
				continue
			}
			qualified = true
			if e := it.find(name); e != nil {
				return located(e, pos)
			}
		}
	}
	switch {
	case len(qualifier) > 0 && !qualified && r.inner:
		return nil, sqlstate.New(sqlstate.NotAnswerable, "%s is not of the protected table, but perhaps of a query around this one", strings.Join(parts, ".")).
			WithHint("Group the protected table by the column in a subquery in FROM, and join the result.").At(pos)
	case len(qualifier) > 0 && !qualified:
		return nil, sqlstate.New(sqlstate.UndefinedTable, "missing FROM-clause entry for table %s", QuoteIdent(qualifier[len(qualifier)-1])).At(pos)
	case slices.Contains(systemColumns, name):
		return nil, sqlstate.New(sqlstate.NotAnswerable, "the system column %s of a protected table cannot be used", name).
			WithHint("Use the table's own columns.").At(pos)
	}
	return nil, sqlstate.New(sqlstate.UndefinedColumn, "column %s does not exist", QuoteIdent(strings.Join(parts, "."))).At(pos)
}

// means reports whether the qualifier of a column reference names the relation.
func (it item) means(q []string) bool {
	switch len(q) {
	case 1:
		return q[0] == it.alias
	case 2:
		return it.schema != "" && q[0] == it.schema && q[1] == it.alias
	}
	return false
}

// located gives a column the position of the reference to it.
func located(e Expr, position int) (Expr, error) {
	switch e := e.(type) {
	case Column:
		e.Position = position
		return e, nil
	case unreadable:
		return nil, e.err
	}
	return e, nil
}

// unreadable is a column of a derived table that no expression of ours can say. It stands for its error, until it is named.
type unreadable struct{ err error }

func (unreadable) sql(*strings.Builder, printer) {}
