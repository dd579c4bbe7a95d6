package parser

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/internal/nearest"
	"fugu/parser/tree"
	"fugu/sqlstate"
)

// function reads a call of a listed function; a call of date is a cast.
func (r *reader) function(n *pg.Node, f *pg.FuncCall) (Expr, error) {
	name, pos := tree.LastString(f.Funcname), r.src.position(location(n))
	foreign := len(f.Funcname) > 1 && (len(f.Funcname) > 2 || f.Funcname[0].GetString_().GetSval() != "pg_catalog")

	// A name of somebody else's is another function; what is not listed is refused, with what to write instead.
	switch arity, ok := functions[name]; {
	case !foreign && isAggregate(name):
		return nil, sqlstate.New(sqlstate.GroupingError, "aggregate functions are not allowed here").
			WithHint("Write a condition on groups behind HAVING, and an aggregate of aggregates above a subquery in " +
				"FROM: SELECT avg(n) FROM (SELECT x, count(*) AS n FROM ... GROUP BY x) g.").At(pos)
	case foreign:
		return nil, r.refuse(n, exprHint, "the user-defined function %s cannot be evaluated on protected rows", name)
	case f.Over != nil || f.AggStar || f.AggDistinct || f.AggFilter != nil || f.AggWithinGroup || len(f.AggOrder) > 0 ||
		f.FuncVariadic:
		return nil, r.refuse(n, "Write a plain call.", "this form of %s cannot be evaluated on protected rows", name)
	case name == "date" && len(f.Args) == 1:
		x, err := r.expr(f.Args[0])
		return Cast{X: x, Type: `pg_catalog."date"`, Position: pos}, err
	case !ok:
		hint := refusedFunctions[name]
		if meant := nearest.Of(name, FunctionNames()); hint == "" && meant != "" {
			hint = "Perhaps you meant " + meant + "."
		}
		return nil, r.refuse(n, cmp.Or(hint, exprHint), "function %s cannot be evaluated on protected rows", name)
	case len(f.Args) < arity.min || len(f.Args) > arity.max:
		return nil, sqlstate.New(sqlstate.UndefinedFunction,
			"function %s cannot be called with %d arguments on protected rows", name, len(f.Args)).
			WithHint("It takes %s.", arity).At(pos)
	}

	for _, a := range f.Args {
		if a.GetNamedArgExpr() != nil {
			return nil, r.refuse(a, "Write the arguments in order, without names.",
				"named arguments cannot be used on protected rows")
		}
	}
	args, err := r.exprs(f.Args)
	return Func{name, args, pos}, err
}

// cast reads a cast to a listed type. Length and precision are constants.
func (r *reader) cast(n *pg.Node, c *pg.TypeCast) (Expr, error) {
	if len(c.TypeName.ArrayBounds) > 0 {
		return nil, r.refuse(n, "Arrays can stand in x = ANY(...) and x <> ALL(...).",
			"an array cannot be used here on protected rows")
	}
	typ, err := r.typeName(n, c.TypeName)
	if err != nil {
		// ORMs cast the constants of enumerations, which need no cast.
		var e *sqlstate.Error
		given := c.Arg.GetAConst() != nil || c.Arg.GetParamRef() != nil || c.Arg.GetTypeCast() != nil
		if given && errors.As(err, &e) {
			err = e.WithHint("A constant takes the type of what it is compared with: write x = 'a', without the cast. "+
				"%s", e.Hint)
		}
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
		return "", r.refuse(n, "Cast to "+strings.Join(castTypes, ", ")+".",
			"a cast to %s cannot be evaluated on protected rows", name)
	}

	// The listed types have whole numbers for modifiers; an interval's are bits, which say what it leaves out.
	if len(t.Typmods) == 0 {
		return "pg_catalog." + QuoteIdent(name), nil
	}
	mods := make([]string, len(t.Typmods))
	for i, m := range t.Typmods {
		v := m.GetAConst().GetIval()
		if v == nil || name == "interval" {
			return "", r.refuse(n, "Write the unit inside the quotes: interval '1 month'.",
				"this cast cannot be evaluated on protected rows")
		}
		mods[i] = strconv.Itoa(int(v.Ival))
	}
	return "pg_catalog." + QuoteIdent(name) + "(" + strings.Join(mods, ",") + ")", nil
}
