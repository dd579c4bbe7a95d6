package parser

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/internal/nearest"
	"fugu/parser/tree"
)

// elsewhere are aggregate functions of other databases that PostgreSQL does not have, with what to write instead of
// them. Somebody may have made a function of that name, which nothing here forbids above a cut: it is looked at where
// the statement is refused anyway, so that the hint is of use.
var elsewhere = map[string]string{
	"median": hintWithinGroup, "quantile": hintWithinGroup, "quantile_cont": hintWithinGroup,
	"percentile": hintWithinGroup, "percentile_approx": hintWithinGroup, "approx_percentile": hintWithinGroup,
	"approx_quantile": hintWithinGroup, "approx_quantiles": hintWithinGroup, "approx_median": hintWithinGroup,
	"quantile_disc": "Write percentile_disc(0.5) WITHIN GROUP (ORDER BY x).",

	"mean": "Write avg(x).", "average": "Write avg(x).", "avgif": "Write avg(x) FILTER (WHERE y > 30).",
	"avg_if": "Write avg(x) FILTER (WHERE y > 30).", "sumif": "Write sum(x) FILTER (WHERE y > 30).",
	"sum_if": "Write sum(x) FILTER (WHERE y > 30).", "countif": "Write count(*) FILTER (WHERE y > 30).",
	"count_if": "Write count(*) FILTER (WHERE y > 30).", "countd": hintCountDistinct,
	"count_distinct": hintCountDistinct, "approx_count_distinct": hintCountDistinct,
	"approx_distinct": hintCountDistinct, "uniq": hintCountDistinct,

	"stdev": "Write stddev_samp(x).", "stddev_sample": "Write stddev_samp(x).", "stdevp": "Write stddev_pop(x).",
	"stddevp": "Write stddev_pop(x).", "std": "Write stddev_pop(x).", "var": "Write var_samp(x).",
	"var_sample": "Write var_samp(x).", "varp": "Write var_pop(x).",

	"group_concat": hintList, "listagg": hintList, "collect_list": hintList, "collect_set": hintList,
	"first": hintAnyValue, "last": hintAnyValue, "arbitrary": hintAnyValue, "logical_and": hintBool,
	"logical_or": hintBool,
}

const hintCountDistinct = "Write count(DISTINCT x)."

// firstMeant is the hint for the first function in a list of expressions that stands for an aggregate which PostgreSQL
// calls otherwise; empty: there is none.
func firstMeant(list []*pg.Node) (hint string) {
	for _, n := range list {
		tree.Inspect(n, func(m proto.Message) bool {
			if f, ok := m.(*pg.FuncCall); ok && hint == "" {
				hint = meantHint(f)
			}
			return hint == ""
		})
	}
	return hint
}

// meantHint says which aggregate a call stands for that PostgreSQL calls otherwise: another database's, or one whose
// name is misspelt. It is empty for a name that PostgreSQL has, and for one that is near to no aggregate's.
func meantHint(f *pg.FuncCall) string {
	name := strings.ToLower(tree.LastString(f.Funcname))
	_, listed := functions[name]
	_, known := refusedFunctions[name]
	if len(f.Funcname) > 1 || listed || known || isAggregate(name) {
		return ""
	}
	if hint := elsewhere[name]; hint != "" {
		return hint
	}
	names := slices.Concat(Aggregates(), slices.Sorted(maps.Keys(refused)), slices.Sorted(maps.Keys(elsewhere)))
	switch meant := nearest.Of(name, names); {
	case meant == "":
		return ""
	case elsewhere[meant] != "":
		return elsewhere[meant]
	default:
		return "Perhaps you meant " + plainCall(meant) + "."
	}
}

// plainCall is how an aggregate that is answered is called.
func plainCall(name string) string {
	switch {
	case name == "count":
		return "count(*)"
	case name == "mode":
		return "mode() WITHIN GROUP (ORDER BY x)"
	case slices.Contains(percentiles, name):
		return name + "(0.5) WITHIN GROUP (ORDER BY x)"
	case sums[name] == 2:
		return name + "(y, x)"
	}
	return name + "(x)"
}

// groupingHint says what to do about a column of an expression that is no key: to write the aggregate that a call
// around it stands for.
func groupingHint(within *pg.Node, ref *pg.ColumnRef) (hint string) {
	tree.Inspect(within, func(m proto.Message) bool {
		if f, ok := m.(*pg.FuncCall); ok && hint == "" && holds(f, ref) {
			hint = meantHint(f)
		}
		return hint == ""
	})
	return cmp.Or(hint, "Add it to GROUP BY, or aggregate it: avg(x), count(x).")
}

// holds reports whether a column stands in a call.
func holds(f *pg.FuncCall, ref *pg.ColumnRef) (found bool) {
	tree.Inspect(f, func(m proto.Message) bool {
		found = found || m == proto.Message(ref)
		return !found
	})
	return found
}
