package parser

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// fugu.sampling_error(count(*)), of sum(x) or of avg(x), is how far that aggregate of a twin may be off by which rows
// were drawn: one standard deviation. It is no function but a way of writing, which is spelled out before anything
// else is made of the statement: docs/twin.md derives the formulas.
//
//	count(*)   c·sqrt(count(*))
//	sum(x)     c·sqrt(sum(x²))
//	avg(x)     c·stddev_samp(x)/sqrt(count(x))
//
// c is the greatest count_error of the classes of the table's twin; it is read where the statement runs, so that a twin
// that is made again needs no new plan.
const samplingError = "sampling_error"

const (
	hintSampling     = "Write fugu.sampling_error(count(*)), or of count(x), sum(x) or avg(x), with or without FILTER."
	hintSamplingFrom = "Write it in a SELECT whose FROM is a table with a twin, and nothing else; join above."
)

// errorOfCount is c. Its aliases are nobody's.
const errorOfCount = `(SELECT pg_catalog.max(pg_catalog.sqrt(GREATEST("fugu rate".w - 1, 0) +
		("fugu rate".w - pg_catalog.floor("fugu rate".w)) *
		(1 - "fugu rate".w + pg_catalog.floor("fugu rate".w)) / GREATEST("fugu rate".w, 1)))
	FROM (SELECT CAST("fugu class".told AS pg_catalog.float8) / "fugu class".taken AS w
		FROM ` + TwinRegistry + ` AS "fugu twin", LATERAL ROWS FROM (pg_catalog.unnest("fugu twin".told),
			pg_catalog.unnest("fugu twin".taken)) AS "fugu class"(told, taken)
		WHERE "fugu twin".table_schema = %s AND "fugu twin".table_name = %s AND "fugu class".taken > 0) AS "fugu rate")`

// spellOut puts the formula in the place of each call of fugu.sampling_error.
func (a *analysis) spellOut() error {
	var err error
	tree.Inspect(a.stmt.root.Stmt, func(m proto.Message) bool {
		if s, ok := m.(*pg.SelectStmt); ok && err == nil {
			err = a.spellOutIn(s)
		}
		return err == nil
	})
	return err
}

func (a *analysis) spellOutIn(s *pg.SelectStmt) error {
	var err error
	for _, n := range s.TargetList {
		if rt := n.GetResTarget(); rt != nil && rt.Name == "" && isSamplingError(rt.Val.GetFuncCall()) {
			rt.Name = samplingError
		}
	}
	tree.Inspect(s, func(m proto.Message) bool {
		if inner, ok := m.(*pg.SelectStmt); ok && inner != s || err != nil {
			return false // it is visited by itself
		}
		n, ok := m.(*pg.Node)
		if f := n.GetFuncCall(); ok && isSamplingError(f) {
			err = a.spellOutCall(s, n, f)
			return false
		}
		return true
	})
	return err
}

func isSamplingError(f *pg.FuncCall) bool {
	return len(f.GetFuncname()) == 2 && f.Funcname[0].GetString_().GetSval() == "fugu" &&
		tree.LastString(f.Funcname) == samplingError
}

func (a *analysis) spellOutCall(s *pg.SelectStmt, n *pg.Node, f *pg.FuncCall) error {
	table, ok := a.sampledFrom(s)
	if !ok {
		return a.refuse(f.Location, hintSamplingFrom,
			"the sampling error is known of rows of one table that has a twin with rows of its own")
	}

	of := (*pg.FuncCall)(nil)
	if len(f.Args) == 1 {
		of = f.Args[0].GetFuncCall()
	}
	plain := of != nil && builtIn(of) && of.Over == nil && !of.AggDistinct && len(of.AggOrder) == 0 &&
		!of.AggWithinGroup
	if !plain || f.AggStar || f.Over != nil || f.AggFilter != nil {
		return a.refuse(f.Location, hintSampling, "fugu.sampling_error takes a call of count, sum or avg")
	}

	c := fmt.Sprintf(errorOfCount, QuoteLiteral(table.Schema), QuoteLiteral(table.Name))
	switch name := tree.LastString(of.Funcname); {
	case name == "count":
		return a.spell(n, "pg_catalog.sqrt(CAST($1 AS pg_catalog.float8)) * "+c, map[int32]*pg.FuncCall{1: of})
	case name == "sum" && len(of.Args) == 1:
		return a.spell(n, "pg_catalog.sqrt($1) * "+c, map[int32]*pg.FuncCall{1: ofSquares(of)})
	case name == "avg" && len(of.Args) == 1:
		const formula = "CAST($1 AS pg_catalog.float8) / NULLIF(pg_catalog.sqrt(CAST($2 AS pg_catalog.float8)), 0) * "
		return a.spell(n, formula+c,
			map[int32]*pg.FuncCall{1: renamed(of, "stddev_samp"), 2: renamed(of, "count")})
	}
	return a.refuse(f.Location, hintSampling, "the sampling error of %s is not known", tree.LastString(of.Funcname))
}

// sampledFrom is the table of whose twin's rows a SELECT is, where there is nothing beside it.
func (a *analysis) sampledFrom(s *pg.SelectStmt) (Table, bool) {
	if len(s.FromClause) != 1 || s.FromClause[0].GetRangeVar() == nil {
		return Table{}, false
	}
	rv := s.FromClause[0].GetRangeVar()
	if rv.Schemaname == "" && a.made[rv.Relname] {
		return Table{}, false
	}
	t, ok := a.lookup(rv)
	if twins, is := a.catalog.(Twinner); is && !ok {
		t, ok = twins.Twin(rv.Schemaname, rv.Relname)
	}
	return t, ok && t.Twin && !t.Linked
}

// spell writes a formula in the place of a node, with calls in the places of its parameters.
func (a *analysis) spell(n *pg.Node, formula string, calls map[int32]*pg.FuncCall) error {
	parsed, err := pg.Parse("SELECT (" + formula + ")")
	if err != nil {
		return fmt.Errorf("spelling out a sampling error: %w", err)
	}
	out := parsed.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val
	tree.Inspect(out, func(m proto.Message) bool {
		x, ok := m.(*pg.Node)
		if p := x.GetParamRef(); ok && p != nil {
			x.Node = &pg.Node_FuncCall{FuncCall: calls[p.Number]}
			return false
		}
		tree.Unplace(m)
		return true
	})
	n.Node = out.Node
	a.spelled = true
	return nil
}

// renamed is a call of another aggregate with the same argument and FILTER.
func renamed(f *pg.FuncCall, name string) *pg.FuncCall {
	out := proto.Clone(f).(*pg.FuncCall)
	out.Funcname = []*pg.Node{pg.MakeStrNode("pg_catalog"), pg.MakeStrNode(name)}
	return out
}

// ofSquares is a sum of the squares of a sum's argument, in double precision.
func ofSquares(f *pg.FuncCall) *pg.FuncCall {
	out := renamed(f, "sum")
	float := func() *pg.Node {
		typ := &pg.TypeName{Names: []*pg.Node{pg.MakeStrNode("pg_catalog"), pg.MakeStrNode("float8")}, Typemod: -1}
		x := proto.Clone(f.Args[0]).(*pg.Node)
		return &pg.Node{Node: &pg.Node_TypeCast{TypeCast: &pg.TypeCast{Arg: x, TypeName: typ}}}
	}
	times := []*pg.Node{pg.MakeStrNode("*")}
	square := &pg.A_Expr{Kind: pg.A_Expr_Kind_AEXPR_OP, Name: times, Lexpr: float(), Rexpr: float()}
	out.Args = []*pg.Node{{Node: &pg.Node_AExpr{AExpr: square}}}
	return out
}
