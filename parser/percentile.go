package parser

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

const (
	hintWithinGroup = "Write percentile_cont(0.5) WITHIN GROUP (ORDER BY x)."
	hintFraction    = "Write the fraction as a number, such as 0.5, and one call for each."
)

// percentile reads what is in the parentheses of percentile_cont and percentile_disc.
func (a *analysis) percentile(c *Cut, f *pg.FuncCall, agg *Aggregate) error {
	if !f.AggWithinGroup || f.FuncVariadic || f.AggDistinct || len(f.Args) != 1 || len(f.AggOrder) != 1 {
		return a.refuse(f.Location, hintWithinGroup, "this form of %s cannot be answered on protected data", agg.Func)
	}
	by := f.AggOrder[0].GetSortBy()
	if by.SortbyDir == pg.SortByDir_SORTBY_DESC || by.SortbyDir == pg.SortByDir_SORTBY_USING {
		return a.refuse(f.Location, "Order upwards, and take the fraction from the other end: 0.1 for 0.9.",
			"a percentile in descending order cannot be answered on protected data")
	}

	// Equal fractions are written alike, however the client wrote them.
	fraction, err := a.fraction(f.Args[0])
	if err != nil {
		return err
	}
	agg.Fraction = strconv.FormatFloat(fraction, 'g', -1, 64)
	x, err := c.read.expr(by.Node)
	if err != nil {
		return err
	}
	agg.Args = []Expr{x}
	agg.Source = agg.Func + "(" + agg.Fraction + ") WITHIN GROUP (ORDER BY " + SQL(x, "", nil) + ")"
	return nil
}

// fraction reads a constant, with or without a cast to a type of numbers.
func (a *analysis) fraction(n *pg.Node) (float64, error) {
	c := n.GetAConst()
	if cast := n.GetTypeCast(); cast != nil && len(cast.TypeName.GetArrayBounds()) == 0 {
		switch tree.LastString(cast.TypeName.Names) {
		case "float8", "numeric":
			c = cast.Arg.GetAConst()
		}
	}

	// A number in quotes is one as well: PostgreSQL takes it for the type that it is wanted as.
	text := ""
	switch v := c.GetVal().(type) {
	case *pg.A_Const_Ival:
		text = strconv.Itoa(int(v.Ival.Ival))
	case *pg.A_Const_Fval:
		text = v.Fval.Fval
	case *pg.A_Const_Sval:
		text = v.Sval.Sval
	}

	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x != x {
		return 0, a.refuse(location(n), hintFraction,
			"the fraction of a percentile of protected data has to be a constant")
	}
	if !(x >= 0 && x <= 1) {
		return 0, sqlstate.New(sqlstate.NumericValueOutOfRange, "percentile value %g is not between 0 and 1", x).
			At(a.src.position(location(n)))
	}
	return x, nil
}
