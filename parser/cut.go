package parser

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// AskAggregates is behind a message that rows are not shown. It says what a hint says better: ODBC shows no hint, and
// most ORMs leave it in a field.
const AskAggregates = ": ask for aggregates of them, such as count(*)"

const cutHint = "Protected data can be aggregated: SELECT with count, sum or avg FROM the protected table, with " +
	"WHERE and GROUP BY."

// Cut is a SELECT that aggregates rows of a protected table. Below it are Sources, Where, Keys and Aggregates, which
// only the reader sees; the rest of the SELECT stands above it and runs on a relation with the columns named here.
type Cut struct {
	Sources    []Source
	Where      Expr // nil: all rows
	Keys       []Key
	Sets       [][]int // of GROUPING SETS and their kin: the Keys of each; nil: one set of all Keys
	Groupings  []Grouping
	Aggregates []Aggregate
	Spreads    []Spread // in any order, each once
	Alias      string   // of the relation, above the cut
	Position   int
	Nested     bool // it is not the statement's own SELECT: what is above it may aggregate its groups

	sel   *pg.SelectStmt
	from  *pg.Node
	read  *reader
	modes []string // the expressions whose most frequent value is asked for
}

// keyOf finds the key that e is, -1 for none.
func (c *Cut) keyOf(e Expr) int {
	text := SQL(e, "t", nil)
	return slices.IndexFunc(c.Keys, func(k Key) bool { return SQL(k.Expr, "t", nil) == text })
}

// OfTwin reports whether the cut reads a twin whose rows are not listed.
func (c *Cut) OfTwin() bool {
	return slices.ContainsFunc(c.Sources, func(s Source) bool { return s.Table.Aggregates })
}

// Key is an expression that a cut groups by.
type Key struct {
	Expr     Expr
	Name     string // its column, above the cut
	Source   string // as it reads in SQL, for people
	Position int
	Mode     bool   // the client asks for one of its values, as mode() does, and does not group by it
	Call     string // which it asks for, as people read it: max(age)
}

// Grouping is a call of GROUPING: its column above the cut, and the keys it asks about.
type Grouping struct {
	Name string
	Keys []int
}

// Aggregate is one aggregate function of a cut.
type Aggregate struct {
	Func     string // one of package planner/aggregate's, or a percentile
	Distinct bool   // over the distinct values of its argument
	Fraction string // of a percentile: a number from 0 to 1, as it is written shortest
	Args     []Expr // none: count(*)
	Name     string // its column, above the cut
	Source   string // as it reads in SQL, for people
	Position int

	numeric bool // the call that it answers is of type numeric, and it is not
}

// same reports whether two aggregates have the same value.
func (g Aggregate) same(b Aggregate) bool {
	return g.Func == b.Func && g.Distinct == b.Distinct && g.Fraction == b.Fraction && slices.EqualFunc(g.Args, b.Args,
		func(x, y Expr) bool { return SQL(x, "t", nil) == SQL(y, "t", nil) })
}
