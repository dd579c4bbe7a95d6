package parser

import (
	"cmp"
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// cutSelect cuts s, whose FROM reads rows of a protected table.
func (a *analysis) cutSelect(s *pg.SelectStmt, w *with) error {
	first, table := a.protectedIn(s.FromClause, w)
	c := &Cut{Position: a.src.position(first), sel: s, Alias: fmt.Sprintf("fugu cut %d", len(a.stmt.Cuts)+1),
		read: &reader{src: a.src, common: &reading{relations: a.relations}, names: &names{merged: map[string]Expr{}},
			inner: s != a.stmt.root.Stmt.GetSelectStmt()}}
	c.Nested = c.read.inner

	switch {
	case !folds(s):
		return a.plain(s, first, table)
	case len(s.LockingClause) > 0:
		return a.refuse(first, "Leave out FOR UPDATE or FOR SHARE.", "rows of the protected table %s cannot be locked",
			table)
	}

	// Below the cut: what rows there are.
	var b block
	if err := c.read.fromWhere(&b, s, w); err != nil {
		return err
	}
	c.Sources, c.Where = b.sources, and(b.where)
	if alias := onlyAlias(s.FromClause); alias != "" {
		c.Alias = alias
	}

	// It is one of the statement's before its parts are read: those of mode come behind it.
	a.stmt.Cuts = append(a.stmt.Cuts, c)
	if err := a.cut(c); err != nil {
		return err
	}
	a.stmt.Zeros = append(a.stmt.Zeros, c.read.common.zeros...)

	// Above it: what takes the place of FROM is known when the cut has been answered.
	if len(c.Keys)+len(c.Aggregates) == 0 { // modes alone: one row
		a.stmt.Cuts = slices.DeleteFunc(a.stmt.Cuts, func(o *Cut) bool { return o == c })
		s.FromClause = nil
		return nil
	}
	c.from = &pg.Node{}
	s.FromClause = []*pg.Node{c.from}
	return nil
}

// onlyAlias is the name of the one relation in FROM, empty if there are more.
func onlyAlias(from []*pg.Node) string {
	if len(from) == 1 {
		if rv := from[0].GetRangeVar(); rv != nil && rv.Alias == nil {
			return rv.Relname
		} else if rv != nil {
			return rv.Alias.Aliasname
		}
		return from[0].GetRangeSubselect().GetAlias().GetAliasname()
	}
	return ""
}

// plain accepts a plain SELECT of rows, when it is the whole statement; the policy decides what it gets.
func (a *analysis) plain(s *pg.SelectStmt, at int32, table Table) error {
	if s != a.stmt.root.Stmt.GetSelectStmt() || a.stmt.Explain != NoExplain || a.stmt.Prepare != nil ||
		s.IntoClause != nil || len(s.LockingClause) > 0 || len(s.FromClause) != 1 ||
		s.FromClause[0].GetRangeVar() == nil || s.WithClause != nil || table.View != "" {
		hint := cmp.Or(firstMeant(s.TargetList), cutHint)
		if a.aggregating(table) {
			hint = "Write the view's own query in its place: it aggregates the rows itself."
		}
		return a.refuse(at, hint, "rows of %s cannot be read here%s", table.described(), AskAggregates)
	}
	rv := s.FromClause[0].GetRangeVar()
	a.taken[rv] = true
	a.stmt.Plain = &Plain{Table: table, Position: a.src.position(at), Instead: firstMeant(s.TargetList), rel: rv}
	return nil
}

// aggregating reports whether a relation is a view whose query shows no rows of a protected table, as it aggregates
// them.
func (a *analysis) aggregating(t Table) bool {
	if t.View == "" {
		return false
	}
	parsed, err := pg.Parse(t.View)
	return err == nil && len(parsed.Stmts) == 1 && !a.selectsRows(parsed.Stmts[0].Stmt.GetSelectStmt(), nil)
}

const windowHint = "Aggregate with GROUP BY, and write the window function over the aggregates: " +
	"rank() OVER (ORDER BY count(*)), sum(count(*)) OVER (ORDER BY age)."

// windowOverRows is a window function of s that looks at the rows of FROM, as nothing in s aggregates them; nil: there
// is none.
func windowOverRows(s *pg.SelectStmt) (window *pg.FuncCall) {
	if len(s.GroupClause) > 0 || s.HavingClause != nil {
		return nil
	}

	// One aggregate outside of the windows makes every window look at groups.
	grouped := false
	for _, n := range slices.Concat(s.TargetList, s.SortClause, s.WindowClause) {
		tree.Inspect(n, func(m proto.Message) bool {
			switch x := m.(type) {
			case *pg.SelectStmt:
				return false
			case *pg.FuncCall:
				if x.Over == nil {
					grouped = grouped || aggregates(x)
				} else if window == nil {
					window = x
				}
			}
			return true
		})
	}

	if grouped {
		return nil
	}
	return window
}

// cut reads the groups and aggregates, and leaves above them a SELECT from the relation that takes the sources' place.
func (a *analysis) cut(c *Cut) error {
	s := c.sel
	if f := windowOverRows(s); f != nil {
		return a.refuse(f.Location, windowHint,
			"a window function over rows of the protected table %s says of single rows "+
				"where they stand", c.Sources[0].Table)
	}

	// The keys come first: what is above is looked up among them.
	if err := a.groups(c); err != nil {
		return err
	}

	// Once the expressions are others, PostgreSQL would find other names for the columns.
	outputs := map[string]bool{}
	for _, t := range s.TargetList {
		rt := t.GetResTarget()
		if rt.Name == "" {
			rt.Name = tree.ColumnName(rt.Val)
		}
		outputs[rt.Name] = true
	}
	above := slices.Clone(s.TargetList)
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

	if len(c.Keys)+len(c.Aggregates)+len(c.modes) == 0 {
		return sqlstate.New(sqlstate.NotAnswerable, "the statement aggregates nothing of the protected table %s",
			c.Sources[0].Table).WithHint(cutHint).At(c.Position)
	}

	// HAVING speaks of groups, which are the rows of what takes the place of FROM.
	s.WhereClause, s.HavingClause, s.GroupClause, s.GroupDistinct = s.HavingClause, nil, nil, false
	return nil
}

func isName(n *pg.Node, outputs map[string]bool) bool {
	r := n.GetColumnRef()
	return r != nil && len(r.Fields) == 1 && outputs[r.Fields[0].GetString_().GetSval()]
}
