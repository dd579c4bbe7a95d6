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

// Part is 0 for the standard deviation, 1 for the lower end of the interval, 2 for the upper one.
func (s Spread) Part() int { return slices.Index(spreads, s.What) }

var spreads = []string{SpreadSD, SpreadLower, SpreadUpper}

// Column is the name of its column, above the cut: cuts that have the same aggregates have the same names.
func (s Spread) Column() string { return fmt.Sprintf("%s %d", s.What, s.Of+1) }

// hintBeside is of a call above the SELECT that aggregates.
const hintBeside = "Write it beside the aggregate, in the SELECT whose FROM names the protected table, and choose it " +
	"above."

// hintSpread ends with what takes the place of %s.
const hintSpread = "Write %s(count(*)), or of another aggregate of rows, with or without FILTER."

// Spreads are the names of all that can be asked so.
func Spreads() []string { return slices.Clone(spreads) }

// isSpread reports whether a call asks how far an aggregate may be off.
func isSpread(f *pg.FuncCall) bool {
	return len(f.GetFuncname()) == 1 &&
		slices.Contains(spreads, tree.LastString(f.Funcname))
}

// onlyArgument is the call that is the one argument of a plain call; nil: it has another form.
func onlyArgument(f *pg.FuncCall) *pg.FuncCall {
	if len(f.Args) != 1 || f.AggStar || f.AggDistinct || f.Over != nil || f.AggFilter != nil || len(f.AggOrder) > 0 {
		return nil
	}
	return f.Args[0].GetFuncCall()
}
