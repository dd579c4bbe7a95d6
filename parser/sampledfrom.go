package parser

import (
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
)

// Viewer is a Catalog that knows which names are views'. What does not implement it knows none.
type Viewer interface {
	View(schema, name string) (bool, error)
}

// hintInPlace is of what FROM names and what may read a twin in a way that nobody can see by the name.
const hintInPlace = "Write its SELECT in FROM in the place of its name, in brackets and with an alias."

// alwaysThere is what stands in FROM by itself: no outer join leaves it out.
const alwaysThere = false

// read takes in a part of FROM. missing says that an outer join may leave it out.
func (r *fromReader) read(n *pg.Node, missing bool) error {
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		return r.name(x.RangeVar, missing)
	case *pg.Node_JoinExpr:
		return r.join(x.JoinExpr, missing)
	case *pg.Node_RangeSubselect:
		return r.subquery(x.RangeSubselect, missing)
	}
	return r.refusal("Ask for it in a subquery without that, and join above.",
		"its FROM has what is no table and no subquery")
}

// name takes in a relation by its name.
func (r *fromReader) name(rv *pg.RangeVar, missing bool) error {
	// A WITH query hides the table of the same name, and may be read in several places, each with rows of its own.
	if q := r.with.find(rv); q != nil {
		hint := hintInPlace
		if q.sel == nil || folds(q.sel) {
			hint = hintBeside
		}
		return r.refusal(hint, "its FROM reads the WITH query %s", rv.Relname)
	}

	m := member{alias: rv.GetAlias().GetAliasname(), missing: missing, renamed: len(rv.GetAlias().GetColnames()) > 0}
	if m.alias == "" {
		m.alias = rv.Relname
	}

	t, ok := r.lookup(rv)
	if twins, is := r.catalog.(Twinner); is && !ok {
		t, ok = twins.Twin(rv.Schemaname, rv.Relname)
	}
	switch {
	case ok && t.Virtual:
		return r.refusal("Read it in a subquery of its own.", "its FROM reads %s", t)
	case ok && !t.Twin:
		r.noisy = true
	case ok:
		m.table = t
	default:
		if views, is := r.catalog.(Viewer); is {
			if view, err := views.View(rv.Schemaname, rv.Relname); err != nil {
				return err
			} else if view {
				return r.refusal(hintInPlace, "its FROM reads the view %s", rv.Relname)
			}
		}
	}
	r.members = append(r.members, m)
	return nil
}

// join takes in both sides of a join, and what its condition says of them. Of an outer join the condition says nothing
// of rows that stand alone: two names of the side that is kept may differ in these.
func (r *fromReader) join(j *pg.JoinExpr, missing bool) error {
	if j.Alias != nil {
		return r.refusal("Leave the alias of the join out.", "its FROM hides its tables behind the alias of a join")
	}

	// The side that an outer join does not keep has rows that are missing.
	left, right := missing, missing
	switch j.Jointype {
	case pg.JoinType_JOIN_LEFT:
		right = true
	case pg.JoinType_JOIN_RIGHT:
		left = true
	case pg.JoinType_JOIN_FULL:
		left, right = true, true
	}

	begin := len(r.members)
	if err := r.read(j.Larg, left); err != nil {
		return err
	}
	middle := len(r.members)
	if err := r.read(j.Rarg, right); err != nil {
		return err
	}

	onLeft, onRight := r.members[begin:middle], r.members[middle:]
	in := func(side []member, c tiedColumn) bool {
		return slices.ContainsFunc(side, func(m member) bool { return m.alias == c.alias })
	}
	both := func(side []member, a, b tiedColumn) bool { return in(side, a) && in(side, b) }
	r.ties.using(j.UsingClause, onLeft, onRight)
	r.ties.equations(j.Quals, r.members[begin:], func(a, b tiedColumn) bool {
		switch j.Jointype {
		case pg.JoinType_JOIN_LEFT:
			return !both(onLeft, a, b)
		case pg.JoinType_JOIN_RIGHT:
			return !both(onRight, a, b)
		case pg.JoinType_JOIN_FULL:
			return !both(onLeft, a, b) && !both(onRight, a, b)
		}
		return true
	})
	return nil
}

// subquery takes in one that chooses rows and columns, and does nothing else: of each of its rows it is known to which
// of the root's it belongs. It shows that in columns that are added to it.
func (r *fromReader) subquery(x *pg.RangeSubselect, missing bool) error {
	s := x.Subquery.GetSelectStmt()
	if s == nil || s.Op != pg.SetOperation_SETOP_NONE || s.WithClause != nil || folds(s) || len(s.WindowClause) > 0 ||
		s.LimitCount != nil || s.LimitOffset != nil || len(s.ValuesLists) > 0 {
		return r.refusal(hintBeside, "its FROM has a subquery that does more than choose rows and "+
			"columns")
	}

	inner := &fromReader{analysis: r.analysis, with: r.with, call: r.call}
	for _, n := range s.FromClause {
		if err := inner.read(n, alwaysThere); err != nil {
			return err
		}
	}
	if r.noisy = r.noisy || inner.noisy; r.noisy {
		return nil
	}

	// What is added to its columns is named by its alias, so that it must have one.
	if x.Alias == nil {
		x.Alias = &pg.Alias{Aliasname: fmt.Sprintf("fugu rows %d", len(r.members)+1)}
	}
	m := member{alias: x.Alias.Aliasname, missing: missing}
	if slices.ContainsFunc(inner.members, member.twin) {
		from, err := inner.sampledIn(s)
		if err != nil {
			return err
		}
		m.table, m.missing = from.table, missing || from.missing
		for i, key := range from.keys {
			m.inner = append(m.inner, columnRef(m.alias, chosen(s, key, fmt.Sprintf("fugu key %d", i+1))))
		}
	}
	r.members = append(r.members, m)
	return nil
}

// chosen adds a column to what a SELECT chooses, unless it is there, and returns its name.
func chosen(s *pg.SelectStmt, value *pg.Node, name string) string {
	there := func(n *pg.Node) bool { return n.GetResTarget().GetName() == name }
	if !slices.ContainsFunc(s.TargetList, there) {
		s.TargetList = append(s.TargetList, pg.MakeResTargetNodeWithNameAndVal(name, tree.Clone(value), -1))
	}
	return name
}
