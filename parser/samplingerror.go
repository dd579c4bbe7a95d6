package parser

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// fugu.sampling_error(count(*)), of sum(x) or of avg(x), is how far that aggregate of a twin may be off: one standard
// deviation of the two things that it is off by, which rows were drawn and how far the secret was blurred. It is no
// function but a way of writing, which is spelled out before anything else is made of the statement.
//
// A group's rows of class c have a part A_c in the aggregate, and Q_c in its square: how many they are, and again; the
// sum of x, and of x²; for an average the sum of (x - avg)/count, and of its square. The variance is
//
//	r·Q + Σ_c ((r_c - r)·Q_c - r_c·A_c²/told_c) + Σ_c (s_c·A_c/told_c)² - Σ_cells (Σ_c s_c·A_c/told_c)²/C
//
// with r_c the square of count_error, r the greatest of them, which is for rows of groups that are too small to be told
// by class, and s_c² = told_error²·C/(C-1), C being how many classes a public cell has: package twin derives it
// (DeviationOf). Where the twin's columns do not tell a row's class, the blurring is bounded instead, by the greatest
// told_error/told times the count, the sum of |x|, or the standard deviation of x.
//
// All constants are read where the statement runs, so that a twin that is made again needs no new plan.
const samplingError = "sampling_error"

const hintSampling = "Write %s(count(*)), or of count(x), sum(x) or avg(x), with or without FILTER."

// ratesOf are the classes of a table's twin with their constants. Its aliases are nobody's.
const ratesOf = `(SELECT "fugu class".class, "fugu class".told, "fugu class".classes,
	(pg_catalog.to_jsonb("fugu twin") -> 'noise' ->>
		CAST("fugu class".i - 1 AS pg_catalog.int4))::pg_catalog.float8 AS noise,
	GREATEST("fugu rate".w - 1, 0) + ("fugu rate".w - pg_catalog.floor("fugu rate".w)) *
		(1 - "fugu rate".w + pg_catalog.floor("fugu rate".w)) / GREATEST("fugu rate".w, 1) AS r
	FROM ` + TwinRegistry + ` AS "fugu twin",
		LATERAL (SELECT u.*, pg_catalog.cardinality("fugu twin".classes)::pg_catalog.float8 / %d AS classes
			FROM ROWS FROM (pg_catalog.unnest("fugu twin".classes), pg_catalog.unnest("fugu twin".told),
				pg_catalog.unnest("fugu twin".taken)) WITH ORDINALITY AS u(class, told, taken, i)) AS "fugu class",
		LATERAL (SELECT "fugu class".told::pg_catalog.float8 / "fugu class".taken AS w) AS "fugu rate"
	WHERE "fugu twin".table_schema = %s AND "fugu twin".table_name = %s AND "fugu class".taken > 0) AS "fugu rates"`

// rates are the constants of one twin, as SQL.
type rates struct{ from string }

func (t Table) rates() rates {
	return rates{fmt.Sprintf(ratesOf, max(1, t.Cells), QuoteLiteral(t.Schema), QuoteLiteral(t.Name))}
}

// most is the greatest of a value over all classes.
func (r rates) most(value string) string {
	return `(SELECT pg_catalog.max(` + value + `) FROM ` + r.from + `)`
}

// ofClass is a value of one class: 0 if the twin has no such class, as nothing is NULL in it.
func (r rates) ofClass(c Class, value string) string {
	return `(SELECT CASE WHEN pg_catalog.count(*) > 0 THEN pg_catalog.sum(` + value + `) ELSE 0 END FROM ` + r.from +
		` WHERE "fugu rates".class = ` + QuoteLiteral(c.Name) + `)`
}

// Constants of a class: r_c - r is worked out with the twin's greatest r; the factors of A_c² and of A_c.
const (
	rateOfClass   = `"fugu rates".r`
	squareOfClass = `"fugu rates".noise ^ 2 * "fugu rates".classes / ("fugu rates".classes - 1) / "fugu rates".told ^ 2
		- "fugu rates".r / "fugu rates".told`
	shareOfClass = `"fugu rates".noise / pg_catalog.sqrt("fugu rates".classes - 1) / "fugu rates".told`
	noisePerRow  = `"fugu rates".noise / "fugu rates".told`
)

// spellOut puts the formula in the place of each call of fugu.sampling_error. Most statements have none, which one look
// at them tells.
func (a *analysis) spellOut() error {
	if a.samplingError() == nil {
		return nil
	}
	return a.spellOutBelow(a.stmt.root.Stmt, nil)
}

// samplingError returns the first call of fugu.sampling_error that there is left; nil: there is none.
func (a *analysis) samplingError() (found *pg.FuncCall) {
	tree.Inspect(a.stmt.root.Stmt, func(m proto.Message) bool {
		if f, ok := m.(*pg.FuncCall); ok && found == nil && isSamplingError(f) {
			found = f
		}
		return found == nil
	})
	return found
}

// spellOutBelow goes through a part of the statement, which sees these WITH queries.
func (a *analysis) spellOutBelow(m proto.Message, w *with) (err error) {
	if x, ok := m.(withable); ok {
		w = bind(x.GetWithClause(), w)
	}
	if s, ok := m.(*pg.SelectStmt); ok {
		err = a.spellOutIn(s, w)
	}
	tree.Below(m, func(child proto.Message) {
		if err == nil {
			err = a.spellOutBelow(child, w)
		}
	})
	return err
}

func (a *analysis) spellOutIn(s *pg.SelectStmt, w *with) error {
	var err error
	for _, n := range s.TargetList {
		if rt := n.GetResTarget(); rt != nil && rt.Name == "" && isSamplingError(rt.Val.GetFuncCall()) {
			rt.Name = tree.LastString(rt.Val.GetFuncCall().Funcname)
		}
	}
	tree.Inspect(s, func(m proto.Message) bool {
		if inner, ok := m.(*pg.SelectStmt); ok && inner != s || err != nil {
			return false // it is visited by itself
		}
		n, ok := m.(*pg.Node)
		if f := n.GetFuncCall(); ok && isSamplingError(f) {
			err = a.spellOutCall(s, w, n, f)
			return false
		}
		return true
	})
	return err
}

// refuseOwing refuses a call that no cut has taken: PostgreSQL would say that it knows no such function.
func (a *analysis) refuseOwing() error {
	f := a.samplingError()
	if f == nil {
		return nil
	}
	return a.refuse(f.Location, hintBeside, "how far it may be off is not known here: the SELECT that it stands in "+
		"aggregates no rows of a protected table")
}

func isSamplingError(f *pg.FuncCall) bool {
	return isSpread(f) || len(f.GetFuncname()) == 2 && f.Funcname[0].GetString_().GetSval() == "fugu" &&
		tree.LastString(f.Funcname) == samplingError
}

func (a *analysis) spellOutCall(s *pg.SelectStmt, w *with, n *pg.Node, f *pg.FuncCall) error {
	if isSpread(f) && a.ofNoise(s.FromClause, w) {
		a.owing = true // the cut knows it
		return nil
	}
	from, err := a.sampledFrom(s, w, f)
	if err != nil {
		return err
	}
	if from.noisy {
		a.owing = true
		return nil
	}

	// What the error is of has to be one plain call: a FILTER of its own may stand in it.
	of := onlyArgument(f)
	plain := of != nil && builtIn(of) && of.Over == nil && !of.AggDistinct && len(of.AggOrder) == 0 &&
		!of.AggWithinGroup
	called := tree.LastString(f.Funcname)
	hint := fmt.Sprintf(hintSampling, called)
	if !isSpread(f) {
		hint = fmt.Sprintf(hintSampling, "fugu."+called)
	}
	if !plain {
		return a.refuse(f.Location, hint, "%s takes a call of count, sum or avg", called)
	}
	name := tree.LastString(of.Funcname)
	if read, known := statistics[name]; !known || name != "count" && len(of.Args) != 1 {
		return a.refuse(f.Location, hint, "the sampling error of %s is not known", name)
	} else if from.alone {
		s := read(of)
		formula := s.spread(called, s.deviation(from.table))
		if s.err == nil {
			s.err = a.spell(n, formula, s.calls)
		}
		return s.err
	}
	return a.spellClusters(from, n, called, name, of)
}

// statistic is an aggregate as its deviation needs it, with aggregates as SQL in the place of $n.
type statistic struct {
	err     error
	calls   []*pg.FuncCall // $1, $2, ...
	told    string         // the aggregate itself
	shown   string         // is NULL where nothing shows how far that is off: of no rows
	squares string         // Q
	reach   string         // what bounds Σ|A_c|
	part    func(of func(*pg.FuncCall) string) (sum, squares string)
}

// call adds a call, and returns what stands for it.
func (s *statistic) call(f *pg.FuncCall) string {
	s.calls = append(s.calls, f)
	return fmt.Sprintf("CAST($%d AS pg_catalog.float8)", len(s.calls))
}

// ofSome is a count, or NULL of none: rows that were not drawn are not seen, and a count of none says nothing.
func ofSome(count string) string { return "NULLIF(" + count + ", 0)" }

var statistics = map[string]func(of *pg.FuncCall) *statistic{
	"count": func(of *pg.FuncCall) *statistic {
		s := &statistic{}
		s.told = s.call(of)
		s.shown = ofSome(s.told)
		s.squares, s.reach = s.told, s.told
		s.part = func(in func(*pg.FuncCall) string) (string, string) {
			rows := in(of)
			return rows, rows
		}
		return s
	},
	"sum": func(of *pg.FuncCall) *statistic {
		s := &statistic{}
		s.told, s.squares = s.call(of), s.call(computed(of, "sum", "$1 * $1"))
		s.shown = s.told
		s.reach = s.call(computed(of, "sum", "pg_catalog.abs($1)"))
		s.part = func(in func(*pg.FuncCall) string) (string, string) {
			return in(computed(of, "sum", "$1")), in(computed(of, "sum", "$1 * $1"))
		}
		return s
	},
	"avg": func(of *pg.FuncCall) *statistic {
		s := &statistic{}
		mean, rows := s.call(computed(of, "avg", "$1")), s.call(renamed(of, "count"))
		spread := s.call(computed(of, "var_pop", "$1"))
		// One row shows nothing of how far rows are apart, so that its error is NULL.
		s.shown = mean
		s.told, s.squares = mean, fmt.Sprintf("%s / NULLIF(%s - 1, 0)", spread, rows)
		s.reach = "pg_catalog.sqrt(" + spread + ")"
		s.part = func(in func(*pg.FuncCall) string) (string, string) {
			n, m, v := in(renamed(of, "count")), in(computed(of, "avg", "$1")), in(computed(of, "var_pop", "$1"))
			off := fmt.Sprintf("(%s - %s)", m, mean)
			return fmt.Sprintf("%s * %s / %s", n, off, rows),
				fmt.Sprintf("%s * (%s + %s ^ 2) / %s / NULLIF(%[4]s - 1, 0)", n, v, off, rows)
		}
		return s
	},
}

// deviation is the formula of a statistic's deviation for a table's twin.
func (s *statistic) deviation(t Table) string {
	r := t.rates()
	most := r.most(rateOfClass)
	variance := most + " * " + s.squares
	if t.Classes == nil {
		variance += " + (" + r.most(noisePerRow) + " * " + s.reach + ") ^ 2"
	}
	together := ""
	for i, c := range t.Classes {
		sum, squares := s.part(func(f *pg.FuncCall) string { return s.within(f, c.Where) })

		// What too few rows of a class have is NULL, and counts as of the class with the greatest rate.
		sum, squares = "COALESCE("+sum+", 0)", "COALESCE("+squares+", 0)"
		variance += fmt.Sprintf(" + (%s) * %s + (%s) * (%s) ^ 2", r.ofClass(c, rateOfClass+" - "+most), squares,
			r.ofClass(c, squareOfClass), sum)
		together += fmt.Sprintf(" + (%s) * (%s)", r.ofClass(c, shareOfClass), sum)
		if (i+1)%(len(t.Classes)/max(1, t.Cells)) == 0 {
			variance += " - (0" + together + ") ^ 2"
			together = ""
		}
	}

	// It is below 0 by rounding alone.
	return "CASE WHEN " + s.shown + " IS NULL THEN NULL ELSE pg_catalog.sqrt(pg_catalog.abs(" + variance + ")) END"
}

// spread is what is asked of a statistic whose deviation that is, as ledger.Cell's Shown rounds it: the deviation in
// four digits, and ends of intervals outwards, to a hundredth of it or less. What is no number, or has no end, has NULL
// for its deviation, which PostgreSQL could not write so.
func (s *statistic) spread(what, deviation string) string {
	if what == samplingError {
		return deviation // to be computed with
	}
	deviation = "NULLIF(NULLIF(" + deviation + ", 'NaN'), 'Infinity')"

	// The exponent of a rounded deviation is that of the next power of ten at times, which is still less than needed.
	decimals := "2 - CAST(pg_catalog.split_part(pg_catalog.to_char(GREATEST(" + deviation +
		", 1e-300), '9EEEE'), 'e', 2) AS pg_catalog.int4)"

	switch what {
	case SpreadLower:
		return fmt.Sprintf("CAST(pg_catalog.trunc(%s + CAST(%s - %v * %s AS pg_catalog.numeric), %s) - %[1]s "+
			"AS pg_catalog.float8)", farOut, s.told, twinSpread, deviation, decimals)
	case SpreadUpper:
		return fmt.Sprintf("CAST(%s - pg_catalog.trunc(%[1]s - CAST(%s + %v * %s AS pg_catalog.numeric), %s) "+
			"AS pg_catalog.float8)", farOut, s.told, twinSpread, deviation, decimals)
	}
	return "CAST(pg_catalog.to_char(" + deviation + ", '9.999EEEE') AS pg_catalog.float8)"
}

// farOut is beyond all numbers in double precision, and a multiple of each power of ten: what is added to it is cut off
// towards minus infinity, whatever its sign.
const farOut = "CAST('1e310' AS pg_catalog.numeric)"

// twinSpread is how many standard deviations the ends of an interval of 95 % are from a value whose error is normal.
const twinSpread = 1.959963984540054

// spell writes a formula in the place of a node, with calls in the places of its parameters.
func (a *analysis) spell(n *pg.Node, formula string, calls []*pg.FuncCall) error {
	out, err := expression(formula, func(number int32) *pg.Node {
		return &pg.Node{Node: &pg.Node_FuncCall{FuncCall: tree.Clone(calls[number-1])}}
	})
	if err != nil {
		return fmt.Errorf("spelling out a sampling error: %w", err)
	}
	n.Node = out.Node
	a.spelled = true
	return nil
}

// expression reads an expression that stands nowhere in the client's text, with nodes in the places of its parameters.
func expression(sql string, parameter func(number int32) *pg.Node) (*pg.Node, error) {
	parsed, err := pg.Parse("SELECT (" + sql + ")")
	if err != nil {
		return nil, err
	}
	out := parsed.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val
	tree.Inspect(out, func(m proto.Message) bool {
		x, ok := m.(*pg.Node)
		if p := x.GetParamRef(); ok && p != nil && parameter != nil {
			x.Node = parameter(p.Number).Node
			return false
		}
		tree.Unplace(m)
		return true
	})
	return out, nil
}

// renamed is a call of another aggregate with the same argument and FILTER.
func renamed(f *pg.FuncCall, name string) *pg.FuncCall {
	out := tree.Clone(f)
	out.Funcname = []*pg.Node{pg.MakeStrNode("pg_catalog"), pg.MakeStrNode(name)}
	return out
}

// computed is a call of an aggregate with the same FILTER, whose argument is computed from f's in double precision:
// from $1.
func computed(f *pg.FuncCall, name, from string) *pg.FuncCall {
	out := renamed(f, name)
	argument, err := expression(from, func(int32) *pg.Node {
		typ := &pg.TypeName{Names: []*pg.Node{pg.MakeStrNode("pg_catalog"), pg.MakeStrNode("float8")}, Typemod: -1}
		return &pg.Node{Node: &pg.Node_TypeCast{TypeCast: &pg.TypeCast{Arg: tree.Clone(f.Args[0]), TypeName: typ}}}
	})
	if err != nil {
		panic(err) // it is one of a few texts of this file
	}
	out.Args = []*pg.Node{argument}
	return out
}

// within adds a call of the same aggregate over those of its rows that fulfil a condition.
func (s *statistic) within(f *pg.FuncCall, condition string) string {
	out := tree.Clone(f)
	where, err := expression(condition, nil)
	if err != nil {
		s.err = fmt.Errorf("reading the condition of a class: %w", err)
		return ""
	}
	if out.AggFilter != nil {
		where = pg.MakeBoolExprNode(pg.BoolExprType_AND_EXPR, []*pg.Node{out.AggFilter, where}, -1)
	}
	out.AggFilter = where
	return s.call(out)
}
