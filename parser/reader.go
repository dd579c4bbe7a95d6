package parser

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/sqlstate"
)

// reader reads what stands below a cut, at one place of it.
type reader struct {
	src    *source
	names  *names
	with   *with
	common *reading // nil: no subqueries
	inner  bool     // the cut is not the whole statement: an unknown name may be that of a query around it
}

// reading is what the readers of one cut have in common.
type reading struct {
	*relations
	sources int    // how many the cut has so far
	zeros   []Zero // parameters that have to be 0
}

// Zero is a parameter that stands as OFFSET of a subquery below a cut, where no row may be skipped.
type Zero struct{ Number, Position int }

func (r *reader) refuse(n *pg.Node, hint, format string, args ...any) error {
	return r.src.refuse(location(n), hint, format, args...)
}

// column resolves a reference as PostgreSQL does: the innermost query that knows the name decides.
func (r *reader) column(c *pg.ColumnRef) (Expr, error) {
	pos := r.src.position(c.Location)
	parts := make([]string, len(c.Fields))
	for i, f := range c.Fields {
		if f.GetAStar() != nil {
			return nil, sqlstate.New(sqlstate.NotAnswerable, "* stands for whole rows of a protected table").
				WithHint(wholeRowHint).At(pos)
		}
		parts[i] = f.GetString_().GetSval()
	}

	// The database before a schema is this one: another is refused before anything is read.
	if len(parts) == 4 {
		parts = parts[1:]
	}
	name, qualifier := parts[len(parts)-1], parts[:len(parts)-1]
	qualified := false
	for ns := r.names; ns != nil; ns = ns.outer {
		if len(qualifier) == 0 {
			e, twice := ns.unqualified(name)
			if twice {
				return nil, sqlstate.New(sqlstate.AmbiguousColumn, "column reference %s is ambiguous",
					QuoteIdent(name)).At(pos)
			} else if e != nil {
				return located(e, pos)
			}
			if slices.ContainsFunc(ns.items, func(it item) bool { return it.alias == name }) {
				return nil, sqlstate.New(sqlstate.NotAnswerable, "%s stands for whole rows of a protected table", name).
					WithHint(wholeRowHint).At(pos)
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
	return nil, r.unknown(parts, qualified, pos)
}

// unknown says of a column that no query around knows, by its parts, what that most likely means; qualified: of a table
// that is known.
func (r *reader) unknown(parts []string, qualified bool, pos int) error {
	name, qualifier := parts[len(parts)-1], parts[:len(parts)-1]
	switch {
	case len(qualifier) > 0 && !qualified && r.inner:
		return sqlstate.New(sqlstate.NotAnswerable,
			"%s is not of the protected table, but perhaps of a query around this one", strings.Join(parts, ".")).
			WithHint("Group the protected table by the column in a subquery in FROM, and join the result.").At(pos)
	case len(qualifier) > 0 && !qualified:
		return sqlstate.New(sqlstate.UndefinedTable, "missing FROM-clause entry for table %s",
			QuoteIdent(qualifier[len(qualifier)-1])).At(pos)
	case slices.Contains(systemColumns, name):
		return sqlstate.New(sqlstate.NotAnswerable, "the system column %s of a protected table cannot be used", name).
			WithHint("Use the table's own columns.").At(pos)
	}

	// PostgreSQL quotes a name by itself, and none behind that of a table.
	written := strings.Join(parts, ".")
	if len(qualifier) == 0 {
		written = QuoteIdent(name)
	}
	unknown := sqlstate.New(sqlstate.UndefinedColumn, "column %s does not exist", written).At(pos)
	if meant := r.names.nearest(name, qualifier); meant != "" {
		unknown = unknown.WithHint("Perhaps you meant to reference the column %s.", meant)
	}
	return unknown
}

const wholeRowHint = "Write count(*) for the number of rows, or name a column: count(x), sum(x), avg(x)."

// systemColumns are those that every table has (PostgreSQL manual, section 5.5).
var systemColumns = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}

// located gives a column the position of the reference to it.
func located(e Expr, position int) (Expr, error) {
	switch e := e.(type) {
	case Column:
		e.Position = position
		return e, nil
	case unreadable:
		return nil, sqlstate.Place(e.err, position)
	}
	return e, nil
}
