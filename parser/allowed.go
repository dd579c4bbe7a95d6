package parser

import (
	"maps"
	"slices"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// infix are the operators that a row expression may use. Every one is pg_catalog's: the reader's search_path holds
// nothing else.
var infix = []string{"=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "^", "||"}

// castTypes are the types that a row expression may cast to, by PostgreSQL's internal names.
var castTypes = []string{"bool", "int2", "int4", "int8", "numeric", "float4", "float8", "text", "varchar", "bpchar",
	"date", "time", "timestamp", "timestamptz", "interval", "uuid"}

// arity is how many arguments a function takes.
type arity struct{ min, max int }

func (a arity) String() string {
	switch {
	case a.min == a.max && a.min == 1:
		return "one argument"
	case a.min == a.max:
		return strconv.Itoa(a.min) + " arguments"
	}
	return strconv.Itoa(a.min) + " to " + strconv.Itoa(a.max) + " arguments"
}

// functions are the functions of pg_catalog's that a row expression may call, under the names that the grammar gives
// them. Which arguments they take, and how they are kept from failing on a row, says the planner.
var functions = map[string]arity{
	// text
	"lower": {1, 1}, "upper": {1, 1}, "initcap": {1, 1}, "length": {1, 1}, "char_length": {1, 1},
	"character_length": {1, 1}, "octet_length": {1, 1}, "btrim": {1, 2}, "ltrim": {1, 2}, "rtrim": {1, 2},
	"substring": {2, 3}, "substr": {2, 3}, "left": {2, 2}, "right": {2, 2}, "strpos": {2, 2}, "position": {2, 2},
	"starts_with": {2, 2}, "replace": {3, 3}, "concat": {1, 100}, "concat_ws": {2, 100}, "split_part": {3, 3},
	"lpad": {2, 3}, "rpad": {2, 3}, "ascii": {1, 1}, "like_escape": {2, 2},
	// numbers
	"abs": {1, 1}, "sign": {1, 1}, "round": {1, 2}, "trunc": {1, 2}, "ceil": {1, 1}, "ceiling": {1, 1}, "floor": {1, 1},
	"mod": {2, 2}, "div": {2, 2}, "sqrt": {1, 1}, "cbrt": {1, 1}, "exp": {1, 1}, "ln": {1, 1}, "log": {1, 2},
	"log10": {1, 1}, "power": {2, 2}, "pow": {2, 2}, "width_bucket": {4, 4},
	// dates and times
	"date_trunc": {2, 3}, "date_part": {2, 2}, "extract": {2, 2}, "date_bin": {3, 3}, "to_char": {2, 2},
	"timezone": {2, 2}, "to_timestamp": {1, 2}, "to_date": {2, 2}, "make_date": {3, 3}, "make_timestamp": {6, 6},
}

// refusedFunctions says what to write instead of functions that people often try.
var refusedFunctions = map[string]string{
	"now": hintSession, "statement_timestamp": hintSession, "transaction_timestamp": hintSession,
	"clock_timestamp": hintSession, "timeofday": hintSession, "current_setting": hintSession,
	"current_database": hintSession, "current_schema": hintSession, "version": hintSession,
	"pg_backend_pid": hintSession, "txid_current": hintSession,

	"md5": hintScatter, "reverse": hintScatter, "sha224": hintScatter, "sha256": hintScatter, "sha384": hintScatter,
	"sha512": hintScatter, "hashtext": hintScatter, "hashtextextended": hintScatter, "hashint4": hintScatter,
	"hashint8": hintScatter, "digest": hintScatter, "hmac": hintScatter, "encode": hintScatter, "decode": hintScatter,

	"random": hintRandom, "gen_random_uuid": hintRandom, "setseed": hintRandom,

	"regexp_match": hintRegexp, "regexp_matches": hintRegexp, "regexp_replace": hintRegexp, "regexp_like": hintRegexp,
	"regexp_count": hintRegexp, "regexp_substr": hintRegexp, "regexp_instr": hintRegexp,
	"regexp_split_to_array": hintRegexp, "similar_to_escape": hintRegexp,

	"age": hintInterval, "justify_days": hintInterval, "justify_hours": hintInterval, "justify_interval": hintInterval,

	"jsonb_extract_path_text": hintJSON, "json_extract_path_text": hintJSON, "array_length": hintJSON,
	"cardinality": hintJSON, "unnest": hintJSON,

	"ifnull": "Write coalesce(x, 0).", "nvl": "Write coalesce(x, 0).", "if": hintIf, "iif": hintIf,
	"year": hintExtract, "quarter": hintExtract, "month": hintExtract, "week": hintExtract, "day": hintExtract,
	"hour": hintExtract, "datepart": hintExtract, "date_format": hintToChar, "strftime": hintToChar,
	"format_date": hintToChar, "datetrunc": "Write date_trunc('month', x).", "datediff": hintInterval,
	"date_diff": hintInterval, "dateadd": "Write x + interval '1 month'.", "date_add": "Write x + interval '1 month'.",
	"isnull": "Write x IS NULL, or coalesce(x, 0).",
	"len":    "Write length(x).", "instr": "Write strpos(x, 'part').", "charindex": "Write strpos(x, 'part').",

	"make_interval": "Write a constant: interval '1 month'.",
	"overlaps":      "Compare the bounds: a < d AND c < b.",
	"to_number":     "Cast: x::numeric.",
	"repeat":        "Use lpad or rpad with a constant length.",
	"translate":     "Use replace.",
	"overlay":       "Use left, right and ||.",
}

const exprHint = "Below an aggregate, use comparisons, AND/OR/NOT, IN, BETWEEN, LIKE, IS NULL, arithmetic, CASE, " +
	"casts, COALESCE and functions such as lower, round and date_trunc over columns, constants and parameters."

const (
	hintRegexp  = "Use LIKE or ILIKE with a constant pattern, starts_with, or strpos(x, 'part') > 0."
	hintSession = "Write a constant, such as '2024-01-31', or pass a parameter: a bound that moves asks something " +
		"else each time."
	hintRandom   = "Leave it out: protected rows cannot be sampled."
	hintInterval = "Subtract dates, which gives days, or compare with a constant: x >= date '2024-01-31'."
	hintJSON     = "Make the field a column of the protected table; JSON, arrays and ranges cannot be taken apart here."
	hintScatter  = "Leave it out: a hash or a text written backwards only scatters rows. Compare, group and count " +
		"the values themselves."
	hintIf      = "Write CASE WHEN x > 30 THEN 1 ELSE 0 END."
	hintExtract = "Write extract(year FROM x), extract(month FROM x) and the like."
	hintToChar  = "Write to_char(x, 'YYYY-MM')."
	hintBits    = "Use arithmetic: x / 8 % 2 = 1 tests a bit."
)

func operatorHint(op string) string {
	switch {
	case slices.Contains([]string{"~", "~*", "!~", "!~*", "^@"}, op):
		return hintRegexp
	case slices.Contains([]string{"->", "->>", "#>", "#>>", "@>", "<@", "&&", "?", "?|", "?&", "@?", "@@"}, op):
		return hintJSON
	case slices.Contains([]string{"&", "|", "#", "~", "<<", ">>"}, op):
		return hintBits
	case op == "@":
		return "Write abs(x)."
	case op == "|/":
		return "Write sqrt(x)."
	case op == "||/":
		return "Write cbrt(x)."
	}
	return exprHint
}

// refused are those of PostgreSQL's aggregate functions (manual, section 9.21) that are not answered, with what to
// write instead.
var refused = map[string]string{
	"min": hintExtreme, "max": hintExtreme, "any_value": hintAnyValue,

	"array_agg": hintList, "string_agg": hintList, "json_agg": hintList, "jsonb_agg": hintList,
	"json_object_agg": hintList, "jsonb_object_agg": hintList, "xmlagg": hintList, "json_agg_strict": hintList,
	"jsonb_agg_strict": hintList, "json_arrayagg": hintList, "json_objectagg": hintList, "range_agg": hintList,
	"range_intersect_agg": hintList, "json_object_agg_strict": hintList, "json_object_agg_unique": hintList,
	"json_object_agg_unique_strict": hintList, "jsonb_object_agg_strict": hintList, "jsonb_object_agg_unique": hintList,
	"jsonb_object_agg_unique_strict": hintList,

	"bool_and": hintBool, "bool_or": hintBool, "every": hintBool,

	"bit_and": hintBitwise, "bit_or": hintBitwise, "bit_xor": hintBitwise,

	"rank": hintQuantile, "dense_rank": hintQuantile, "percent_rank": hintQuantile, "cume_dist": hintQuantile,
}

// sums are the aggregates that are answered as functions of sums over the rows, each with the number of its arguments
// (PostgreSQL manual, section 9.21.1 and 2). count takes a star, too. A test of the planner's holds that all of them
// can be computed, and that none is missing.
var sums = map[string]int{
	"avg": 1, "count": 1, "stddev": 1, "stddev_pop": 1, "stddev_samp": 1, "sum": 1, "var_pop": 1, "var_samp": 1,
	"variance": 1,

	"corr": 2, "covar_pop": 2, "covar_samp": 2, "regr_avgx": 2, "regr_avgy": 2, "regr_count": 2, "regr_intercept": 2,
	"regr_r2": 2, "regr_slope": 2, "regr_sxx": 2, "regr_sxy": 2, "regr_syy": 2,
}

// percentiles are the ordered-set aggregates that are answered (PostgreSQL manual, section 9.21.3).
var percentiles = []string{"percentile_cont", "percentile_disc"}

// distinct are the aggregates that are answered over the distinct values of their argument.
var distinct = []string{"avg", "count", "sum"}

const (
	hintExtreme = "A minimum or maximum shows a single row. Count the rows beyond a threshold instead: count(*) " +
		"FILTER (WHERE x > 30)."
	hintAnyValue = "It would show a single row. GROUP BY the value, or take the most frequent one: mode() WITHIN " +
		"GROUP (ORDER BY x)."
	hintList     = "A list shows single rows. Use count, sum or avg, with GROUP BY."
	hintBool     = "Count the rows for which the condition holds: count(*) FILTER (WHERE x > 30)."
	hintBitwise  = "Count the rows that have a bit: count(*) FILTER (WHERE x / 8 % 2 = 1)."
	hintQuantile = "Count the rows below some thresholds in one statement instead, and interpolate: count(*) FILTER " +
		"(WHERE x < 30)."
	hintDistinct = "DISTINCT can stand in count(DISTINCT x), sum and avg; leave it out, or write one of these."
)

func isAggregate(name string) bool {
	return sums[name] > 0 || slices.Contains(percentiles, name) || name == "mode" || refused[name] != ""
}

// builtIn reports whether a function's name is no other schema's than PostgreSQL's own.
func builtIn(f *pg.FuncCall) bool {
	return len(f.Funcname) < 2 || len(f.Funcname) == 2 && f.Funcname[0].GetString_().GetSval() == "pg_catalog"
}

// Refused names something that people try below a cut, and what serves instead.
type Refused struct{ Name, Instead string }

// Operators lists the infix operators of row expressions.
func Operators() []string { return slices.Clone(infix) }

// CastTypes lists the types that row expressions can cast to.
func CastTypes() []string { return slices.Clone(castTypes) }

// FunctionNames lists the functions that a row expression may call, in order.
func FunctionNames() []string { return slices.Sorted(maps.Keys(functions)) }

// RefusedFunctions lists functions that row expressions cannot call, and people often try.
func RefusedFunctions() []Refused {
	var out []Refused
	for _, name := range slices.Sorted(maps.Keys(refusedFunctions)) {
		out = append(out, Refused{name, refusedFunctions[name]})
	}
	return out
}

// Aggregates lists the aggregate functions that are answered, in order.
func Aggregates() []string {
	return slices.Sorted(slices.Values(append(slices.AppendSeq(slices.Clone(percentiles), maps.Keys(sums)), "mode")))
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
