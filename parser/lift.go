package parser

import (
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// lift walks an expression above the cut: it puts a column of the relation in the place of each aggregate, key and call
// of GROUPING, and allows nothing else of the sources.
func (a *analysis) lift(c *Cut, n *pg.Node) error {
	var err error
	tree.Inspect(n, func(m proto.Message) bool {
		node, ok := m.(*pg.Node)
		if !ok || err != nil {
			return err == nil
		}
		lifted := false
		lifted, err = a.liftNode(c, node, n)
		return !lifted && err == nil
	})
	return err
}

// liftNode does the work of lift for one node of the expression within. lifted: what stands below it is accounted for.
func (a *analysis) liftNode(c *Cut, node, within *pg.Node) (lifted bool, err error) {
	switch x := node.GetNode().(type) {
	case *pg.Node_FuncCall:
		if isSpread(x.FuncCall) {
			return true, a.spread(c, node, x.FuncCall)
		} else if x.FuncCall.Over == nil && aggregates(x.FuncCall) {
			return true, a.fold(c, node, x.FuncCall)
		}
	case *pg.Node_GroupingFunc:
		g, err := a.grouping(c, x.GroupingFunc)
		if err == nil {
			node.Node = tree.Qualified(c.Alias, g.Name)
		}
		return true, err
	case *pg.Node_SelectStmt:
		return true, a.liftInner(c, x.SelectStmt)
	case *pg.Node_ColumnRef:
		return true, a.liftColumn(c, node, x.ColumnRef, within)
	case *pg.Node_AConst, *pg.Node_String_, *pg.Node_List, *pg.Node_ResTarget, *pg.Node_SortBy, *pg.Node_WindowDef,
		*pg.Node_TypeName:
		return false, nil
	}
	return c.liftKey(node), nil
}

// liftKey puts a column in the place of a key that is an expression, which can stand anywhere, as it was written or in
// other words. A key that is a column is one of the references to columns.
func (c *Cut) liftKey(node *pg.Node) bool {
	if !slices.ContainsFunc(c.Keys, func(k Key) bool { _, column := k.Expr.(Column); return !column }) {
		return false
	}
	e, err := c.read.expr(node)
	if err != nil || c.keyOf(e) < 0 {
		return false
	}
	node.Node = tree.Qualified(c.Alias, c.Keys[c.keyOf(e)].Name)
	return true
}

// fold puts into the place of a call of an aggregate function what answers it.
func (a *analysis) fold(c *Cut, node *pg.Node, f *pg.FuncCall) error {
	switch name := tree.LastString(f.Funcname); {
	case name == "mode" && builtIn(f):
		return a.mode(c, node, f)
	case (name == "min" || name == "max") && builtIn(f) && c.OfTwin():
		return a.extreme(c, node, f)
	}
	agg, err := a.aggregate(c, node, f)
	if err == nil {
		node.Node = tree.Qualified(c.Alias, agg.Name)
	}
	if err == nil && agg.numeric {
		typ := &pg.TypeName{Names: []*pg.Node{pg.MakeStrNode("pg_catalog"), pg.MakeStrNode("numeric")}, Typemod: -1}
		node.Node = &pg.Node_TypeCast{TypeCast: &pg.TypeCast{Arg: &pg.Node{Node: node.Node}, TypeName: typ}}
	}
	return err
}

// spread puts a column of the cut into the place of such a call; those of twins are spelled out before. Its aggregate
// is one of the cut's, whether its value is asked for or not: it costs what the value costs, as it is about one that
// was given.
func (a *analysis) spread(c *Cut, node *pg.Node, f *pg.FuncCall) error {
	what := tree.LastString(f.Funcname)
	refuse := func(format string, args ...any) error {
		return a.refuse(f.Location, fmt.Sprintf(hintSpread, what), format, args...)
	}
	of := onlyArgument(f)
	switch {
	case of == nil || of.Over != nil || !isAggregate(tree.LastString(of.Funcname)):
		return refuse("%s takes a call of an aggregate function", what)
	case tree.LastString(of.Funcname) == "mode":
		return refuse("mode is no number, and has no %s", what)
	}

	agg, err := a.aggregate(c, f.Args[0], of)
	if err != nil {
		return err
	}

	// What is asked for twice is one column.
	s := Spread{slices.IndexFunc(c.Aggregates, func(b Aggregate) bool { return b.Name == agg.Name }), what}
	if !slices.Contains(c.Spreads, s) {
		c.Spreads = append(c.Spreads, s)
	}
	node.Node = tree.Qualified(c.Alias, s.Column())
	return nil
}

// liftColumn puts a column of the relation in the place of a key. What it stands within may explain why it is none.
func (a *analysis) liftColumn(c *Cut, node *pg.Node, ref *pg.ColumnRef, within *pg.Node) error {
	e, err := c.read.column(ref)
	if err != nil {
		return err
	}
	i := c.keyOf(e)
	if i < 0 {
		return sqlstate.New(sqlstate.GroupingError,
			"column \"%s.%s\" must appear in the GROUP BY clause or be used in count, sum or avg", c.Alias,
			tree.LastString(ref.Fields)).
			WithHint("%s", groupingHint(within, ref)).At(a.src.position(ref.Location))
	}
	node.Node = tree.Qualified(c.Alias, c.Keys[i].Name)
	return nil
}

// grouping reads a call of GROUPING: for each argument a bit, 1 where the row's grouping set is without it.
func (a *analysis) grouping(c *Cut, f *pg.GroupingFunc) (Grouping, error) {
	g := Grouping{Name: fmt.Sprintf("fugu grouping %d", len(c.Groupings)+1)}
	for _, n := range f.Args {
		e, err := c.read.expr(n)
		if err != nil {
			return g, err
		}
		i := c.keyOf(e)
		if i < 0 {
			return g, sqlstate.New(sqlstate.GroupingError,
				"arguments to GROUPING must be grouping expressions of the associated query level").
				At(a.src.position(f.Location))
		}
		g.Keys = append(g.Keys, i)
	}
	c.Groupings = append(c.Groupings, g)
	return g, nil
}
