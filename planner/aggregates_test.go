package planner_test

import (
	"slices"
	"strings"
	"testing"

	"fugu/parser"
	"fugu/planner"
	"fugu/planner/aggregate"
)

// What the parser reads as aggregates are those that can be computed: all of them, with as many arguments.
func TestAggregatesCanBeComputed(t *testing.T) {
	columns := []planner.Column{{Name: "x", Type: "integer"}, {Name: "y", Type: "integer"}}
	w := world{tables: map[string]*planner.Table{"t": {Schema: "public", Name: "t", Columns: columns}}}
	for _, name := range aggregate.Names() {
		f, _ := aggregate.Lookup(name)
		arguments := []string{"y", "x"}[:f.Arguments]
		statements, err := parser.Parse("SELECT "+name+"("+strings.Join(arguments, ", ")+") FROM t", w)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if read := statements[0].Cuts[0].Aggregates[0]; read.Func != name || len(read.Args) != f.Arguments {
			t.Errorf("%s of %d arguments is read as %s of %d", name, f.Arguments, read.Func, len(read.Args))
		}
	}

	// Those over the sorted rows have a planner of their own.
	answered := slices.DeleteFunc(parser.Aggregates(), func(name string) bool {
		return slices.Contains([]string{"mode", "percentile_cont", "percentile_disc"}, name)
	})
	if !slices.Equal(answered, aggregate.Names()) {
		t.Errorf("the parser reads %s, and %s can be computed", answered, aggregate.Names())
	}
}
