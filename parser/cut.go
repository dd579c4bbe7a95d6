package parser

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"fugu/sqlstate"
)

const cutHint = "Protected data can be aggregated: SELECT with count, sum or avg FROM the protected table alone, with WHERE and GROUP BY."

// Cut is a SELECT that aggregates the rows of one protected table. Below it are Where, Keys and Aggregates, which only
// the reader sees; the rest of the SELECT stands above it and runs on a relation with the columns named here.
type Cut struct {
	Table      Table
	Alias      string // of the relation, above the cut
	Where      Expr   // nil: all rows
	Keys       []Column
	Aggregates []Aggregate
	Position   int

	sel  *pg.SelectStmt
	from *pg.Node
	read *reader
}

// Aggregate is one aggregate function of a cut.
type Aggregate struct {
	Func     string // count, sum, avg
	Arg      Expr   // nil: count(*)
	Name     string // its column, above the cut
	Source   string // as it reads in SQL, for people
	Position int
}

// cutSelect cuts s if it reads a protected table directly. top: s is the whole statement.
func (a *analysis) cutSelect(s *pg.SelectStmt, top bool) error {
	rv, table := a.protectedIn(s.FromClause)
	if rv == nil {
		return nil
	}
	if len(s.FromClause) != 1 || s.FromClause[0].GetRangeVar() != rv {
		return a.refuse(rv.Location, "Aggregate the protected table in a subquery of its own, and join the result.",
			"the protected table %s cannot be joined or sampled", table)
	}
	if rv.Alias != nil && len(rv.Alias.Colnames) > 0 {
		return a.refuse(rv.Location, "Use the table's own column names.", "the columns of the protected table %s cannot be renamed in FROM", table)
	}
	if len(s.LockingClause) > 0 {
		return a.refuse(rv.Location, "Leave out FOR UPDATE or FOR SHARE.", "rows of the protected table %s cannot be locked", table)
	}
	if s.IntoClause != nil {
		return a.refuse(rv.Location, "Use INSERT INTO ... SELECT.", "SELECT INTO cannot read the protected table %s", table)
	}
	alias := rv.Relname
	if rv.Alias != nil {
		alias = rv.Alias.Aliasname
	}
	c := &Cut{Table: table, Alias: alias, Position: a.src.position(rv.Location), sel: s, from: s.FromClause[0],
		read: &reader{a.src, table, alias}}
	if len(s.GroupClause) == 0 && s.HavingClause == nil && !hasAggregate(s) {
		return a.plain(c, rv, top)
	}
	a.taken[rv] = true
	a.stmt.Cuts = append(a.stmt.Cuts, c)
	return a.cut(c)
}

// protectedIn finds the first protected table that FROM names outside of subqueries.
func (a *analysis) protectedIn(from []*pg.Node) (*pg.RangeVar, Table) {
	for _, n := range from {
		switch x := n.GetNode().(type) {
		case *pg.Node_RangeVar:
			if t, ok := a.lookup(x.RangeVar); ok && !t.Virtual {
				return x.RangeVar, t
			}
		case *pg.Node_JoinExpr:
			if rv, t := a.protectedIn([]*pg.Node{x.JoinExpr.Larg, x.JoinExpr.Rarg}); rv != nil {
				return rv, t
			}
		case *pg.Node_RangeTableSample:
			if rv, t := a.protectedIn([]*pg.Node{x.RangeTableSample.Relation}); rv != nil {
				return rv, t
			}
		}
	}
	return nil, Table{}
}

// hasAggregate reports whether s itself, not a subquery of it, calls an aggregate or a window function.
func hasAggregate(s *pg.SelectStmt) bool {
	found := false
	for _, part := range [][]*pg.Node{s.TargetList, s.SortClause, s.DistinctClause} {
		for _, n := range part {
			inspect(n.ProtoReflect(), func(m protoreflect.Message) bool {
				switch x := m.Interface().(type) {
				case *pg.SelectStmt:
					return false
				case *pg.FuncCall:
					found = found || isAggregate(lastString(x.Funcname)) || x.Over != nil || x.AggStar || x.AggDistinct || x.AggFilter != nil || x.AggWithinGroup
				}
				return true
			})
		}
	}
	return found
}

// plain accepts a plain SELECT of rows, when it is the whole statement; the policy decides what it gets.
func (a *analysis) plain(c *Cut, rv *pg.RangeVar, top bool) error {
	if !top || a.stmt.Explain != NoExplain {
		return a.refuse(rv.Location, cutHint, "rows of the protected table %s cannot be read here", c.Table)
	}
	a.taken[rv] = true
	a.stmt.Plain = &Plain{Table: c.Table, Position: c.Position, rel: rv}
	return nil
}

// cut reads what stands below, and leaves above it a SELECT from the relation that takes the table's place.
func (a *analysis) cut(c *Cut) (err error) {
	s := c.sel
	if s.WhereClause != nil {
		if c.Where, err = c.read.expr(s.WhereClause); err != nil {
			return err
		}
	}
	for _, g := range s.GroupClause {
		if err := a.key(c, g); err != nil {
			return err
		}
	}
	outputs := map[string]bool{}
	for _, t := range s.TargetList {
		rt := t.GetResTarget()
		if rt.Name == "" {
			rt.Name = columnName(rt.Val)
		}
		outputs[rt.Name] = true
	}
	var above []*pg.Node
	above = append(above, s.TargetList...)
	// ORDER BY and DISTINCT ON look at the names of the output before those of the input.
	for _, n := range s.SortClause {
		if !isName(n.GetSortBy().GetNode(), outputs) {
			above = append(above, n)
		}
	}
	for _, n := range s.DistinctClause {
		if n.GetNode() != nil && !isName(n, outputs) {
			above = append(above, n)
		}
	}
	above = append(above, s.WindowClause...)
	for _, n := range append(above, s.HavingClause, s.LimitCount, s.LimitOffset) {
		if n == nil {
			continue
		}
		if err := a.lift(c, n); err != nil {
			return err
		}
	}
	if len(c.Keys)+len(c.Aggregates) == 0 {
		return a.refuse(c.from.GetRangeVar().Location, cutHint, "the statement aggregates nothing of the protected table %s", c.Table)
	}
	s.WhereClause, s.HavingClause, s.GroupClause, s.GroupDistinct = s.HavingClause, nil, nil, false
	return nil
}

func isName(n *pg.Node, outputs map[string]bool) bool {
	r := n.GetColumnRef()
	return r != nil && len(r.Fields) == 1 && outputs[r.Fields[0].GetString_().GetSval()]
}

// key reads one item of GROUP BY: a column, the number of an output column, or an output column's name.
func (a *analysis) key(c *Cut, g *pg.Node) error {
	target := g
	if i := g.GetAConst().GetIval(); i != nil {
		if i.Ival < 1 || int(i.Ival) > len(c.sel.TargetList) {
			return sqlstate.New("42P10", "GROUP BY position %d is not in select list", i.Ival).At(a.src.position(location(g)))
		}
		target = c.sel.TargetList[i.Ival-1].GetResTarget().Val
	} else if r := g.GetColumnRef(); r != nil && len(r.Fields) == 1 && !slices.Contains(c.Table.Columns, r.Fields[0].GetString_().GetSval()) {
		for _, t := range c.sel.TargetList {
			if rt := t.GetResTarget(); rt.Name != "" && rt.Name == r.Fields[0].GetString_().GetSval() {
				target = rt.Val
			}
		}
	}
	ref := target.GetColumnRef()
	if ref == nil {
		return a.refuse(location(g), "GROUP BY takes columns whose values the policy declares public.", "protected rows cannot be grouped by an expression")
	}
	e, err := c.read.column(ref)
	if err != nil {
		return err
	}
	col := e.(Column)
	if !slices.ContainsFunc(c.Keys, func(k Column) bool { return k.Name == col.Name }) {
		c.Keys = append(c.Keys, col)
	}
	return nil
}

// lift walks an expression above the cut: it puts a column of the relation in the place of each aggregate, and allows
// no other column of the table than the keys.
func (a *analysis) lift(c *Cut, n *pg.Node) error {
	var err error
	inspect(n.ProtoReflect(), func(m protoreflect.Message) bool {
		if err != nil {
			return false
		}
		node, ok := m.Interface().(*pg.Node)
		if !ok {
			_, sub := m.Interface().(*pg.SelectStmt)
			return !sub
		}
		switch x := node.GetNode().(type) {
		case *pg.Node_FuncCall:
			if x.FuncCall.Over != nil || !isAggregate(lastString(x.FuncCall.Funcname)) {
				break
			}
			var agg Aggregate
			if agg, err = a.aggregate(c, node, x.FuncCall); err == nil {
				node.Node = &pg.Node_ColumnRef{ColumnRef: qualified(c.Alias, agg.Name)}
			}
			return false
		case *pg.Node_GroupingFunc:
			err = a.refuse(x.GroupingFunc.Location, "Use GROUP BY with plain columns.", "GROUPING cannot be used on protected data")
		case *pg.Node_SelectStmt:
			return false
		case *pg.Node_ColumnRef:
			var e Expr
			if e, err = c.read.column(x.ColumnRef); err != nil {
				return false
			}
			name := e.(Column).Name
			if !slices.ContainsFunc(c.Keys, func(k Column) bool { return k.Name == name }) {
				err = sqlstate.New(sqlstate.GroupingError, "column \"%s.%s\" must appear in the GROUP BY clause or be used in count, sum or avg", c.Alias, name).
					At(a.src.position(x.ColumnRef.Location))
				return false
			}
			node.Node = &pg.Node_ColumnRef{ColumnRef: qualified(c.Alias, name)}
			return false
		}
		return err == nil
	})
	return err
}

func qualified(alias, column string) *pg.ColumnRef {
	return &pg.ColumnRef{Fields: []*pg.Node{pg.MakeStrNode(alias), pg.MakeStrNode(column)}}
}
