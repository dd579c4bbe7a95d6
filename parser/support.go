package parser

import (
	"maps"
	"slices"

	"fugu/planner/aggregate"
)

// Refused names something that people try below a cut, and what serves instead.
type Refused struct{ Name, Instead string }

// Aggregates lists the aggregate functions that are answered, in order.
func Aggregates() []string {
	return slices.Sorted(slices.Values(append(append(aggregate.Names(), percentiles...), "mode")))
}

// DistinctAggregates lists those that take DISTINCT.
func DistinctAggregates() []string { return slices.Clone(distinct) }

// RefusedAggregates lists the aggregate functions that are not answered.
func RefusedAggregates() []Refused {
	var out []Refused
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		out = append(out, Refused{name, refused[name]})
	}
	return out
}

// RefusedFunctions lists functions that row expressions cannot call, and people often try.
func RefusedFunctions() []Refused {
	var out []Refused
	for _, name := range slices.Sorted(maps.Keys(refusedFunctions)) {
		out = append(out, Refused{name, refusedFunctions[name]})
	}
	return out
}

// Operators lists the infix operators of row expressions.
func Operators() []string { return slices.Clone(infix) }

// CastTypes lists the types that row expressions can cast to.
func CastTypes() []string { return slices.Clone(castTypes) }
