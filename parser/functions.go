package parser

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// arity is how many arguments a function takes.
type arity struct{ min, max int }

// functions are the functions of pg_catalog's that a row expression may call, under the names that the grammar gives
// them. Which arguments they take, and how they are kept from failing on a row, says the planner.
var functions = map[string]arity{
	// text
	"lower": {1, 1}, "upper": {1, 1}, "initcap": {1, 1}, "length": {1, 1}, "char_length": {1, 1}, "character_length": {1, 1}, "octet_length": {1, 1},
	"btrim": {1, 2}, "ltrim": {1, 2}, "rtrim": {1, 2}, "substring": {2, 3}, "substr": {2, 3}, "left": {2, 2}, "right": {2, 2},
	"strpos": {2, 2}, "position": {2, 2}, "starts_with": {2, 2}, "replace": {3, 3}, "concat": {1, 100}, "concat_ws": {2, 100},
	"split_part": {3, 3}, "lpad": {2, 3}, "rpad": {2, 3}, "ascii": {1, 1}, "like_escape": {2, 2},
	// numbers
	"abs": {1, 1}, "sign": {1, 1}, "round": {1, 2}, "trunc": {1, 2}, "ceil": {1, 1}, "ceiling": {1, 1}, "floor": {1, 1}, "mod": {2, 2}, "div": {2, 2},
	"sqrt": {1, 1}, "cbrt": {1, 1}, "exp": {1, 1}, "ln": {1, 1}, "log": {1, 2}, "log10": {1, 1}, "power": {2, 2}, "pow": {2, 2}, "width_bucket": {4, 4},
	// dates and times
	"date_trunc": {2, 3}, "date_part": {2, 2}, "extract": {2, 2}, "date_bin": {3, 3}, "to_char": {2, 2}, "timezone": {2, 2},
	"to_timestamp": {1, 2}, "to_date": {2, 2}, "make_date": {3, 3}, "make_timestamp": {6, 6},
}

// FunctionNames lists the functions that a row expression may call, in order.
func FunctionNames() []string { return slices.Sorted(maps.Keys(functions)) }

const (
	hintRegexp   = "Use LIKE or ILIKE with a constant pattern, starts_with, or strpos(x, 'part') > 0."
	hintSession  = "Write a constant, such as '2024-01-31', or pass a parameter. A bound that moves is a new question each time, and is paid each time."
	hintRandom   = "Leave it out: protected rows cannot be sampled."
	hintInterval = "Subtract dates, which gives days, or compare with a constant: x >= date '2024-01-31'."
	hintJSON     = "Make the field a column of the protected table; JSON, arrays and ranges cannot be taken apart here."
	hintScatter  = "Leave it out: a hash or a text written backwards only scatters rows. Compare, group and count the values themselves."
	hintBits     = "Use arithmetic: x / 8 % 2 = 1 tests a bit."
)

// refusedFunctions says what to write instead of functions that people often try.
var refusedFunctions = map[string]string{
	"now": hintSession, "statement_timestamp": hintSession, "transaction_timestamp": hintSession, "clock_timestamp": hintSession, "timeofday": hintSession,
	"current_setting": hintSession, "current_database": hintSession, "current_schema": hintSession, "version": hintSession, "pg_backend_pid": hintSession, "txid_current": hintSession,
	"md5": hintScatter, "reverse": hintScatter, "sha224": hintScatter, "sha256": hintScatter, "sha384": hintScatter, "sha512": hintScatter, "hashtext": hintScatter,
	"hashtextextended": hintScatter, "hashint4": hintScatter, "hashint8": hintScatter, "digest": hintScatter, "hmac": hintScatter, "encode": hintScatter, "decode": hintScatter,
	"random": hintRandom, "gen_random_uuid": hintRandom, "setseed": hintRandom,
	"regexp_match": hintRegexp, "regexp_matches": hintRegexp, "regexp_replace": hintRegexp, "regexp_like": hintRegexp, "regexp_count": hintRegexp, "regexp_substr": hintRegexp,
	"regexp_instr": hintRegexp, "regexp_split_to_array": hintRegexp, "similar_to_escape": hintRegexp,
	"age": hintInterval, "justify_days": hintInterval, "justify_hours": hintInterval, "justify_interval": hintInterval, "make_interval": "Write a constant: interval '1 month'.",
	"overlaps": "Compare the bounds: a < d AND c < b.", "to_number": "Cast: x::numeric.", "repeat": "Use lpad or rpad with a constant length.", "translate": "Use replace.", "overlay": "Use left, right and ||.",
	"jsonb_extract_path_text": hintJSON, "json_extract_path_text": hintJSON, "array_length": hintJSON, "cardinality": hintJSON, "unnest": hintJSON,
}

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

// function reads a call of a listed function; a call of date is a cast.
func (r *reader) function(n *pg.Node, f *pg.FuncCall) (Expr, error) {
	name, pos := tree.LastString(f.Funcname), r.src.position(location(n))
	foreign := len(f.Funcname) > 1 && (len(f.Funcname) > 2 || f.Funcname[0].GetString_().GetSval() != "pg_catalog")
	switch arity, ok := functions[name]; {
	case !foreign && isAggregate(name):
		return nil, sqlstate.New(sqlstate.GroupingError, "aggregate functions are not allowed here").At(pos)
	case foreign:
		return nil, r.refuse(n, exprHint, "the user-defined function %s cannot be evaluated on protected rows", name)
	case f.Over != nil || f.AggStar || f.AggDistinct || f.AggFilter != nil || f.AggWithinGroup || len(f.AggOrder) > 0 || f.FuncVariadic:
		return nil, r.refuse(n, "Write a plain call.", "this form of %s cannot be evaluated on protected rows", name)
	case name == "date" && len(f.Args) == 1:
		x, err := r.expr(f.Args[0])
		return Cast{X: x, Type: `pg_catalog."date"`, Position: pos}, err
	case !ok:
		hint, known := refusedFunctions[name]
		if !known {
			hint = exprHint
		}
		return nil, r.refuse(n, hint, "function %s cannot be evaluated on protected rows", name)
	case len(f.Args) < arity.min || len(f.Args) > arity.max:
		return nil, sqlstate.New(sqlstate.UndefinedFunction, "function %s cannot be called with %d arguments on protected rows", name, len(f.Args)).
			WithHint("It takes %s.", arity).At(pos)
	}
	for _, a := range f.Args {
		if a.GetNamedArgExpr() != nil {
			return nil, r.refuse(a, "Write the arguments in order, without names.", "named arguments cannot be used on protected rows")
		}
	}
	args, err := r.exprs(f.Args)
	return Func{name, args, pos}, err
}

func (a arity) String() string {
	switch {
	case a.min == a.max && a.min == 1:
		return "one argument"
	case a.min == a.max:
		return strconv.Itoa(a.min) + " arguments"
	}
	return strconv.Itoa(a.min) + " to " + strconv.Itoa(a.max) + " arguments"
}

// any reads x = ANY(array) and x <> ALL(array); an array that is written out is an IN list.
func (r *reader) any(n *pg.Node, op string, a *pg.A_Expr) (Expr, error) {
	not := op == "<>" && a.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL
	if !not && (op != "=" || a.Kind != pg.A_Expr_Kind_AEXPR_OP_ANY) {
		return nil, r.refuse(n, "Write x = ANY(array) or x <> ALL(array), or comparisons with AND and OR.", "this use of ANY or ALL cannot be evaluated on protected rows")
	}
	x, err := r.expr(a.Lexpr)
	if err != nil {
		return nil, err
	}
	array, typ := a.Rexpr, ""
	if c := array.GetTypeCast(); c != nil && len(c.TypeName.GetArrayBounds()) == 1 {
		if typ, err = r.typeName(array, c.TypeName); err != nil {
			return nil, err
		}
		array = c.Arg
	}
	switch v := array.GetNode().(type) {
	case *pg.Node_AArrayExpr:
		if len(v.AArrayExpr.Elements) == 0 {
			return nil, r.refuse(n, "Leave the condition out, or write false.", "an empty array cannot be used on protected rows")
		}
		list, err := r.exprs(v.AArrayExpr.Elements)
		for i := range list {
			if typ != "" {
				list[i] = Cast{list[i], typ, r.src.position(location(n))}
			}
		}
		return In{X: x, Not: not, List: list}, err
	case *pg.Node_ParamRef, *pg.Node_AConst:
		e, err := r.expr(array)
		if err == nil && typ != "" {
			e = Cast{e, typ + "[]", r.src.position(location(n))}
		}
		return Any{x, not, e, r.src.position(location(n))}, err
	}
	return nil, r.refuse(n, "Write ARRAY[...], a constant or a parameter inside ANY and ALL.", "this array cannot be used on protected rows")
}

// cast reads a cast to a listed type. Length and precision are constants.
func (r *reader) cast(n *pg.Node, c *pg.TypeCast) (Expr, error) {
	if len(c.TypeName.ArrayBounds) > 0 {
		return nil, r.refuse(n, "Arrays can stand in x = ANY(...) and x <> ALL(...).", "an array cannot be used here on protected rows")
	}
	typ, err := r.typeName(n, c.TypeName)
	if err != nil {
		return nil, err
	}
	x, err := r.expr(c.Arg)
	return Cast{x, typ, r.src.position(location(n))}, err
}

// typeName writes a listed type, without array bounds.
func (r *reader) typeName(n *pg.Node, t *pg.TypeName) (string, error) {
	name := tree.LastString(t.Names)
	builtin := len(t.Names) == 1 || len(t.Names) == 2 && t.Names[0].GetString_().GetSval() == "pg_catalog"
	if !builtin || !slices.Contains(castTypes, name) || t.Setof || t.PctType {
		return "", r.refuse(n, "Cast to "+strings.Join(castTypes, ", ")+".", "a cast to %s cannot be evaluated on protected rows", name)
	}
	if len(t.Typmods) == 0 {
		return "pg_catalog." + QuoteIdent(name), nil
	}
	mods := make([]string, len(t.Typmods))
	for i, m := range t.Typmods {
		v := m.GetAConst().GetIval()
		if v == nil || name == "interval" {
			return "", r.refuse(n, "Write the unit inside the quotes: interval '1 month'.", "this cast cannot be evaluated on protected rows")
		}
		mods[i] = strconv.Itoa(int(v.Ival))
	}
	return "pg_catalog." + QuoteIdent(name) + "(" + strings.Join(mods, ",") + ")", nil
}
