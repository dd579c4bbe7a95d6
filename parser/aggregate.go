package parser

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
)

// aggregate reads one call of an aggregate function in c, and returns the aggregate of the cut that answers it: equal
// calls share one.
func (a *analysis) aggregate(c *Cut, n *pg.Node, f *pg.FuncCall) (Aggregate, error) {
	name := tree.LastString(f.Funcname)
	refuse := func(hint, format string, args ...any) (Aggregate, error) {
		return Aggregate{}, a.refuse(f.Location, hint, format, args...)
	}
	const own = "Use one of PostgreSQL's own: count, sum, avg, stddev, corr and the like."
	switch hint := refused[name]; {
	case hint != "":
		return refuse(hint, "the aggregate %s cannot be answered on protected data", name)
	case !builtIn(f):
		return refuse(own, "a user-defined aggregate cannot be answered on protected data")
	case !isAggregate(name): // by its form it is one: name(*), or with DISTINCT, FILTER or WITHIN GROUP
		return refuse(cmp.Or(meantHint(f), own),
			"%s is none of the aggregate functions that are answered on protected data", name)
	}

	agg := Aggregate{Func: name, Position: a.src.position(f.Location)}

	switch {
	case slices.Contains(percentiles, name):
		if err := a.percentile(c, f, &agg); err != nil {
			return agg, err
		}
		return a.filtered(c, f, agg)
	case f.AggDistinct:
		if !slices.Contains(distinct, name) {
			return refuse(hintDistinct, "%s(DISTINCT ...) cannot be answered on protected data", name)
		}
		agg.Distinct = true
	}

	// The order of rows is nothing that sums have, and what is variadic hides how many arguments there are.
	switch {
	case len(f.AggOrder) > 0:
		return refuse("Leave out ORDER BY inside the aggregate.",
			"an ordered aggregate cannot be answered on protected data")
	case f.AggWithinGroup || f.FuncVariadic:
		return refuse("Write a plain call.", "this form of %s cannot be answered on protected data", name)
	}

	var arguments []string
	var err error
	if agg.Args, arguments, err = a.arguments(c, f, name); err != nil {
		return agg, err
	}

	// By its source equal calls are known for one, and people read it.
	agg.Source = fmt.Sprintf("%s(%s)", name, strings.Join(arguments, ", "))
	if agg.Distinct {
		agg.Source = fmt.Sprintf("%s(DISTINCT %s)", name, arguments[0])
	}
	numeric := agg.counts(f.AggFilter != nil)
	found, err := a.filtered(c, f, agg)
	found.numeric = numeric
	return found, err
}

// CountGroupsHint says how the values of columns are counted in a twin whose rows are not listed.
func CountGroupsHint(columns string) string {
	return fmt.Sprintf("Count the groups: SELECT count(*) FROM (SELECT %s FROM ... GROUP BY %[1]s) g. Those of too "+
		"few rows are not among them.", columns)
}

// arguments reads the arguments of a plain call, and says how they read in SQL.
func (a *analysis) arguments(c *Cut, f *pg.FuncCall, name string) (args []Expr, texts []string, err error) {
	hint, takes := "Write "+plainCall(name)+".", "one argument"

	// Several in one DISTINCT are a row of values, whichever way it is written.
	several := len(f.Args) > 1 || len(f.Args) == 1 && f.Args[0].GetRowExpr() != nil
	switch {
	case several && name == "count" && f.AggDistinct && c.OfTwin():
		hint = CountGroupsHint("x, y")
	case several && name == "count" && f.AggDistinct:
		hint = "Make one text of them: count(DISTINCT concat_ws('|', x, y))."
	case f.AggStar && name == "count":
		return nil, []string{"*"}, nil
	case !f.AggStar && len(f.Args) == sums[name]:
		for _, n := range f.Args {
			arg, err := c.read.expr(n)
			if err != nil {
				return nil, nil, err
			}
			args, texts = append(args, arg), append(texts, SQL(arg, "", nil))
		}
		return args, texts, nil
	case sums[name] == 2:
		takes = "two arguments"
	case name == "count":
		hint = "Write count(*), or one argument."
	}
	return nil, nil, a.refuse(f.Location, hint, "%s takes %s", name, takes)
}

// filtered takes in the call's FILTER, and finds the aggregate of the cut that is the same.
func (a *analysis) filtered(c *Cut, f *pg.FuncCall, agg Aggregate) (Aggregate, error) {
	if f.AggFilter != nil {
		filter, err := c.read.expr(f.AggFilter)
		if err != nil {
			return agg, err
		}
		agg.Source += fmt.Sprintf(" FILTER (WHERE %s)", SQL(filter, "", nil))
		if agg.Args == nil {
			agg.Args = []Expr{Const{Kind: Number, Text: "1"}}
		}
		agg.Args[0] = Case{Whens: []When{{filter, agg.Args[0]}}} // rows without one of the arguments do not count
	}
	if i := slices.IndexFunc(c.Aggregates, func(b Aggregate) bool { return b.same(agg) }); i >= 0 {
		return c.Aggregates[i], nil
	}
	agg.Name = fmt.Sprintf("fugu aggregate %d", len(c.Aggregates)+1)
	c.Aggregates = append(c.Aggregates, agg)
	return agg, nil
}
