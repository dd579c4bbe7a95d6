package parser

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// withable is a statement that may begin with WITH: SELECT, INSERT, UPDATE, DELETE, MERGE.
type withable interface {
	proto.Message
	GetWithClause() *pg.WithClause
}

// with holds the WITH queries that one place in a statement can see (PostgreSQL manual, section 7.8).
type with struct {
	outer *with
	names map[string]*query
}

// query is one WITH query. If it yields rows of a protected table it is read, like a view, where a cut names it.
type query struct {
	sel   *pg.SelectStmt // nil for a query that changes data
	alias []*pg.Node     // names given to its columns
	sees  *with
	known bool
	rows  bool
	busy  bool // being read
}

func (w *with) find(rv *pg.RangeVar) *query {
	if rv.Schemaname != "" || rv.Catalogname != "" {
		return nil
	}
	for ; w != nil; w = w.outer {
		if q := w.names[rv.Relname]; q != nil {
			return q
		}
	}
	return nil
}

// bind returns what stands inside a statement that has the clause c can see.
func bind(c *pg.WithClause, outer *with) *with {
	if c == nil {
		return outer
	}
	all := &with{outer: outer, names: map[string]*query{}}
	seen := outer // by a query that is not recursive: those before it
	for _, n := range c.Ctes {
		cte := n.GetCommonTableExpr()
		q := &query{sel: cte.Ctequery.GetSelectStmt(), alias: cte.Aliascolnames, sees: seen}
		if c.Recursive {
			q.sees = all
		}
		all.names[cte.Ctename] = q
		seen = &with{outer: seen, names: map[string]*query{cte.Ctename: q}}
	}
	return all
}
