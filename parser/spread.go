package parser

import (
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
)

// Spread is a column beside an aggregate: how far its value may be off.
type Spread struct {
	Of   int    // its index among the cut's Aggregates
	What string // one of SpreadSD, SpreadLower and SpreadUpper
}

// What can be asked of an aggregate's noise: its standard deviation, and the ends of an interval around the value.
const (
	SpreadSD    = "fugu_noise_sd"
	SpreadLower = "fugu_lower"
	SpreadUpper = "fugu_upper"
)

// Column is the name of its column, above the cut: cuts that have the same aggregates have the same names.
func (s Spread) Column() string { return fmt.Sprintf("%s %d", s.What, s.Of+1) }

// hintSpread ends with what takes the place of %s.
const hintSpread = "Write %s(count(*)), or of another aggregate of rows, with or without FILTER."

// isSpread reports whether a call asks how far an aggregate may be off.
func isSpread(f *pg.FuncCall) bool {
	return len(f.GetFuncname()) == 1 &&
		slices.Contains([]string{SpreadSD, SpreadLower, SpreadUpper}, tree.LastString(f.Funcname))
}

// spread puts a column of the cut into the place of such a call. Its aggregate is one of the cut's, whether its value
// is asked for or not: it costs what the value costs, as it is about one that was given.
func (a *analysis) spread(c *Cut, node *pg.Node, f *pg.FuncCall) error {
	what := tree.LastString(f.Funcname)
	refuse := func(format string, args ...any) error {
		return a.refuse(f.Location, fmt.Sprintf(hintSpread, what), format, args...)
	}
	of := onlyArgument(f)
	switch {
	case of == nil || of.Over != nil || !isAggregate(tree.LastString(of.Funcname)):
		return refuse("%s takes a call of an aggregate function", what)
	case c.ofTwin():
		return a.refuse(f.Location, hintSamplingFrom, "how far %s is off is known of rows of one table that has a "+
			"twin with rows of its own", tree.LastString(of.Funcname))
	case tree.LastString(of.Funcname) == "mode":
		return refuse("mode is no number, and has no %s", what)
	}

	agg, err := a.aggregate(c, f.Args[0], of)
	if err != nil {
		return err
	}
	s := Spread{slices.IndexFunc(c.Aggregates, func(b Aggregate) bool { return b.Name == agg.Name }), what}
	if !slices.Contains(c.Spreads, s) {
		c.Spreads = append(c.Spreads, s)
	}
	node.Node = tree.Qualified(c.Alias, s.Column())
	return nil
}

// onlyArgument is the call that is the one argument of a plain call; nil: it has another form.
func onlyArgument(f *pg.FuncCall) *pg.FuncCall {
	if len(f.Args) != 1 || f.AggStar || f.AggDistinct || f.Over != nil || f.AggFilter != nil || len(f.AggOrder) > 0 {
		return nil
	}
	return f.Args[0].GetFuncCall()
}
