package parser

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
)

const (
	hintMode     = "Write mode() WITHIN GROUP (ORDER BY x)."
	modeGrouping = "fugu mode sets"
)

// mode puts in the place of mode() WITHIN GROUP (ORDER BY x) the value with the greatest of the noisy counts of each
// value: a cut of its own, that has x for a further key, and above it
//
//	(SELECT x FROM cut WHERE x IS NOT NULL AND its other keys are those of the row ORDER BY count DESC, x LIMIT 1)
//
// NULL is no mode. The values of x are public, so that there is one whatever the protected rows are.
func (a *analysis) mode(c *Cut, node *pg.Node, f *pg.FuncCall) error {
	if !f.AggWithinGroup || f.FuncVariadic || f.AggDistinct || len(f.Args) != 0 || len(f.AggOrder) != 1 ||
		f.AggOrder[0].GetSortBy().SortbyDir == pg.SortByDir_SORTBY_USING {
		return a.refuse(f.Location, hintMode, "this form of mode cannot be answered on protected data")
	}
	by := f.AggOrder[0].GetSortBy()
	x, err := c.read.expr(by.Node)
	if err != nil {
		return err
	}
	source := "mode() WITHIN GROUP (ORDER BY " + SQL(x, "", nil) + ")"
	return a.oneOfValues(c, node, f, x, source, func(value, count string) string {
		if by.SortbyDir == pg.SortByDir_SORTBY_DESC {
			value += " DESC"
		}
		return count + " DESC, " + value
	})
}

// extreme puts in the place of min(x) or max(x) of a twin whose rows are not listed the least or greatest of the values
// that the cut by x shows: those that enough rows have. The least of all values would be a single row's.
func (a *analysis) extreme(c *Cut, node *pg.Node, f *pg.FuncCall) error {
	name := tree.LastString(f.Funcname)
	if f.AggWithinGroup || f.FuncVariadic || f.AggStar || len(f.AggOrder) > 0 || len(f.Args) != 1 {
		return a.refuse(f.Location, "Write "+name+"(x).", "this form of %s cannot be answered on protected data", name)
	}
	x, err := c.read.expr(f.Args[0])
	if err != nil {
		return err
	}
	return a.oneOfValues(c, node, f, x, name+"("+SQL(x, "", nil)+")", func(value, _ string) string {
		if name == "max" {
			value += " DESC"
		}
		return value
	})
}

// oneOfValues puts in the place of a call the first of the values of x by an order that is written from a value and how
// many rows have it.
func (a *analysis) oneOfValues(c *Cut, node *pg.Node, f *pg.FuncCall, x Expr, source string,
	order func(value, count string) string) error {
	if i := c.keyOf(x); i >= 0 { // a group has one value of its keys
		if c.Sets != nil {
			name := tree.LastString(f.Funcname)
			return a.refuse(f.Location, "Take "+name+" of other columns, or write GROUP BY with a single list.",
				"%s of a key of grouping sets cannot be answered on protected data", name)
		}
		node.Node = tree.Qualified(c.Alias, c.Keys[i].Name)
		return nil
	}
	var where []Expr
	if c.Where != nil {
		where = append(where, c.Where)
	}
	if f.AggFilter != nil {
		filter, err := c.read.expr(f.AggFilter)
		if err != nil {
			return err
		}
		where = append(where, filter)
		source += fmt.Sprintf(" FILTER (WHERE %s)", SQL(filter, "", nil))
	}

	// The counts are a cut of their own, above which a subquery takes the value.
	m := c.counting(x, and(where), source, a.src.position(f.Location))
	a.stmt.Cuts = append(a.stmt.Cuts, m)
	found, err := c.firstValue(m, order)
	if err != nil {
		return fmt.Errorf("writing what takes the place of %s: %w", source, err)
	}
	node.Node = found.Node
	return nil
}

// counting is the cut that counts the rows of each value of x, its last key, in the groups of c. Calls that are the
// same read the same, so that DISTINCT and ORDER BY know them for one.
func (c *Cut) counting(x, where Expr, source string, position int) *Cut {
	number := slices.Index(c.modes, source) + 1
	if number == 0 {
		c.modes = append(c.modes, source)
		number = len(c.modes)
	}

	m := &Cut{Sources: c.Sources, Where: where, Keys: slices.Clone(c.Keys), Position: c.Position,
		Alias: fmt.Sprintf("fugu mode %d", number), from: &pg.Node{}}
	if m.Alias == c.Alias {
		m.Alias += " of it"
	}

	// A key that the statement calls so keeps its name.
	value := "fugu value"
	for slices.ContainsFunc(c.Keys, func(k Key) bool { return k.Name == value }) {
		value += " "
	}

	m.Keys = append(m.Keys, Key{Expr: x, Name: value, Source: SQL(x, "", nil), Position: position, Mode: true,
		Call: source})
	m.Aggregates = []Aggregate{
		{Func: "count", Name: "fugu aggregate 1", Source: "count(*) of " + source, Position: position},
	}
	return m
}

// firstValue is the subquery that takes the first value that m has for a group of c.
func (c *Cut) firstValue(m *Cut, order func(value, count string) string) (*pg.Node, error) {
	of := func(c *Cut, name string) string { return QuoteIdent(c.Alias) + "." + QuoteIdent(name) }
	value := of(m, m.Keys[len(m.Keys)-1].Name)
	match := []string{value + " IS NOT NULL"}
	if c.modeSets(m) {
		match = append(match, of(m, modeGrouping)+" = "+of(c, modeGrouping))
	}
	for _, k := range c.Keys {
		match = append(match, of(m, k.Name)+" IS NOT DISTINCT FROM "+of(c, k.Name))
	}
	parsed, err := pg.Parse("SELECT (SELECT " + value + " FROM x WHERE " + strings.Join(match, " AND ") +
		" ORDER BY " + order(value, of(m, m.Aggregates[0].Name)) + " LIMIT 1)")
	if err != nil {
		return nil, err
	}
	found := parsed.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val
	found.GetSubLink().Subselect.GetSelectStmt().FromClause = []*pg.Node{m.from}
	return found, nil
}

// modeSets gives the cut of a mode the grouping sets of c, each with the value for a further key, and both a column
// that tells the sets apart, as the keys of a row need not; not ok where there is but one set.
func (c *Cut) modeSets(m *Cut) bool {
	value := len(c.Keys)
	if c.Sets == nil || value == 0 {
		return false
	}
	g := Grouping{Name: modeGrouping}
	for k := range c.Keys {
		g.Keys = append(g.Keys, k)
	}
	for _, s := range c.Sets {
		m.Sets = append(m.Sets, append(slices.Clone(s), value))
	}
	m.Groupings = []Grouping{g}
	if !slices.ContainsFunc(c.Groupings, func(o Grouping) bool { return o.Name == g.Name }) {
		c.Groupings = append(c.Groupings, g)
	}
	return true
}
