package planner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fugu/parser"
	"fugu/sqlstate"
)

// maxCells bounds the key combinations of one cut.
const maxCells = 20_000

// PostgreSQL's type OIDs for the results of count, sum and avg (pg_type.dat).
const (
	oidInt8    = 20
	oidFloat4  = 700
	oidFloat8  = 701
	oidNumeric = 1700
)

// Cut is a planned cut: F restricted to one SELECT over one protected table.
type Cut struct {
	Table      *Table
	Keys       []Column // grouped by, with their types
	Cells      []Cell   // every public key combination, in domain order; one without keys
	Aggregates []Aggregate
	Terms      []Term // the row functions that the aggregates are made of

	// Statistics is the statement that the reader runs on the protected table. Its rows hold the keys, then the
	// aggregates, in text. Params are the client's parameter numbers that it takes as $1, $2, ...
	Statistics string
	Params     []int
	ParamTypes []uint32

	where string // the filter, printed; empty: none
	cut   *parser.Cut
}

// Cell is one key combination.
type Cell []Value

// Aggregate is one column of F.
type Aggregate struct {
	Func    string // count, sum, avg
	Name    string // its column above the cut
	Label   string // as people read it: avg(age)
	Type    string // of its result: int8, numeric, float4, float8
	Count   int    // the Term that counts the rows it is over
	Sum     int    // the Term that it sums; -1 for counts
	Integer bool
}

// Term is a row function h: 1, 1[x is not null], or x with NULL as 0. F is made of its sums.
type Term struct {
	Arg       string // printed; empty for the constant 1
	Indicator bool   // 1[Arg is not null] rather than Arg itself
}

// newCut lays out F and composes the statistics statement as PostgreSQL would resolve it; types come with typed.
func newCut(t *Table, c *parser.Cut) (*Cut, error) {
	out := &Cut{Table: t, cut: c}
	number := out.number(c)
	for _, k := range c.Keys {
		typ, err := t.columnType(k.Name)
		if err != nil {
			return nil, err
		}
		if _, ok := t.Domains[k.Name]; !ok {
			return nil, sqlstate.New(sqlstate.NotAllowed, "the policy declares no public values for column %s of %s", k.Name, t).
				WithHint("%s", t.groupable()).At(k.Position)
		}
		out.Keys = append(out.Keys, Column{k.Name, typ})
	}
	if err := out.cells(c.Position); err != nil {
		return nil, err
	}
	if c.Where != nil {
		out.where = parser.SQL(c.Where, "t", number)
	}
	out.Terms = []Term{{}}
	for _, a := range c.Aggregates {
		agg := Aggregate{Func: a.Func, Name: a.Name, Label: a.Source, Sum: -1}
		if a.Arg != nil {
			arg := parser.SQL(a.Arg, "t", number)
			agg.Count = out.term(Term{arg, true})
			if a.Func != "count" {
				agg.Sum = out.term(Term{arg, false})
			}
		}
		out.Aggregates = append(out.Aggregates, agg)
	}
	out.Statistics = out.statistics(nil)
	return out, nil
}

// number gives the parameters below the cut numbers of their own, in order of appearance.
func (c *Cut) number(p *parser.Cut) map[int]int {
	number := map[int]int{}
	add := func(n int) {
		if _, ok := number[n]; !ok {
			c.Params = append(c.Params, n)
			number[n] = len(c.Params)
		}
	}
	for _, a := range p.Aggregates {
		if a.Arg != nil {
			parser.Params(a.Arg, add)
		}
	}
	if p.Where != nil {
		parser.Params(p.Where, add)
	}
	return number
}

func (c *Cut) term(t Term) int {
	if i := slices.Index(c.Terms, t); i >= 0 {
		return i
	}
	c.Terms = append(c.Terms, t)
	return len(c.Terms) - 1
}

// cells lists the product of the key domains, the last key fastest. Plans with the same keys share one list.
func (c *Cut) cells(position int) error {
	n, name := 1, ""
	for _, k := range c.Keys {
		name += parser.QuoteIdent(k.Name)
		if n *= len(c.Table.Domains[k.Name]); n > maxCells {
			return sqlstate.New(sqlstate.ProgramLimitExceeded, "the group keys have more than %d public combinations", maxCells).
				WithHint("Group by fewer columns.").At(position)
		}
	}
	if shared, ok := c.Table.cells.Load(name); ok {
		c.Cells = shared.([]Cell)
		return nil
	}
	c.Cells = make([]Cell, n)
	for i := range c.Cells {
		cell := make(Cell, len(c.Keys))
		rest := i
		for k := len(c.Keys) - 1; k >= 0; k-- {
			d := c.Table.Domains[c.Keys[k].Name]
			cell[k] = d[rest%len(d)]
			rest /= len(d)
		}
		c.Cells[i] = cell
	}
	c.Table.cells.Store(name, c.Cells)
	return nil
}

// statistics composes the statement over the protected table. exact marks the aggregates over floating-point values:
// their terms are summed as numeric, so that neither overflow nor the order of rows can show in the result.
func (c *Cut) statistics(exact map[int]bool) string {
	var cols, keys []string
	for _, k := range c.Keys {
		cols = append(cols, "t."+parser.QuoteIdent(k.Name)+"::pg_catalog.text")
		keys = append(keys, "t."+parser.QuoteIdent(k.Name))
	}
	for i, a := range c.Aggregates {
		arg := c.Terms[a.Count].Arg
		switch {
		case arg == "":
			arg = "*"
		case exact[i]:
			arg = "CAST(" + arg + " AS pg_catalog.numeric)"
		}
		cols = append(cols, "pg_catalog."+a.Func+"("+arg+")")
	}
	return selectSQL(cols, c.Table.quoted()+" AS t", c.where, keys)
}

// typed takes over what PostgreSQL resolved the statistics statement to.
func (c *Cut) typed(d Description) error {
	if len(d.ResultTypes) != len(c.Keys)+len(c.Aggregates) || len(d.ParamTypes) != len(c.Params) {
		return fmt.Errorf("describing a statistics statement: %d columns and %d parameters", len(d.ResultTypes), len(d.ParamTypes))
	}
	c.ParamTypes = d.ParamTypes
	exact := map[int]bool{}
	for i := range c.Aggregates {
		a := &c.Aggregates[i]
		switch d.ResultTypes[len(c.Keys)+i] {
		case oidInt8:
			a.Type, a.Integer = "int8", true
		case oidNumeric:
			a.Type = "numeric"
		case oidFloat4:
			a.Type, exact[i] = "float4", true
		case oidFloat8:
			a.Type, exact[i] = "float8", true
		default:
			return sqlstate.New(sqlstate.NotAnswerable, "%s is not a number", a.Label).
				WithHint("sum and avg take integers, numeric, real and double precision.").At(c.cut.Aggregates[i].Position)
		}
	}
	c.Statistics = c.statistics(exact)
	return nil
}

// Moments composes the statement over the reference whose rows give the class moments of the terms, split by the
// secrets' predicates. A row holds: the keys; one boolean for each secret; the number of rows; for each Term but the
// first its sum; for each pair i ≤ j of those the sum of the product; and for each Term that is not an indicator the
// sum of |x|, the number of x ≠ 0, and the least and greatest x.
func (c *Cut) Moments() string {
	var inner, outer, group []string
	for i, k := range c.Keys {
		name := "k" + strconv.Itoa(i)
		inner = append(inner, "t."+parser.QuoteIdent(k.Name)+" AS "+name)
		outer = append(outer, name+"::pg_catalog.text")
		group = append(group, name)
	}
	for i, s := range c.Table.Secrets {
		name := "s" + strconv.Itoa(i)
		inner = append(inner, "("+parser.SQL(s.Predicate, "t", nil)+") IS TRUE AS "+name)
		outer = append(outer, name)
		group = append(group, name)
	}
	outer = append(outer, "pg_catalog.count(*)")
	h := func(i int) string { return "h" + strconv.Itoa(i) }
	for i, t := range c.Terms {
		if i == 0 {
			continue
		}
		x := "COALESCE(CAST(" + t.Arg + " AS pg_catalog.float8), 0::pg_catalog.float8)"
		if t.Indicator {
			x = "CASE WHEN (" + t.Arg + ") IS NULL THEN 0::pg_catalog.float8 ELSE 1::pg_catalog.float8 END"
		}
		inner = append(inner, x+" AS "+h(i))
		outer = append(outer, "pg_catalog.sum("+h(i)+")")
	}
	for i := 1; i < len(c.Terms); i++ {
		for j := i; j < len(c.Terms); j++ {
			outer = append(outer, "pg_catalog.sum("+h(i)+" * "+h(j)+")")
		}
	}
	for i, t := range c.Terms {
		if i > 0 && !t.Indicator {
			outer = append(outer, "pg_catalog.sum(pg_catalog.abs("+h(i)+"))", "pg_catalog.count(NULLIF("+h(i)+", 0))", "pg_catalog.min("+h(i)+")", "pg_catalog.max("+h(i)+")")
		}
	}
	from := "(" + selectSQL(inner, c.Table.Reference+" AS t", c.where, nil) + ") AS q"
	return selectSQL(outer, from, "", group)
}

func selectSQL(columns []string, from, where string, group []string) string {
	sql := "SELECT " + strings.Join(columns, ", ") + " FROM " + from
	if where != "" {
		sql += " WHERE " + where
	}
	if len(group) > 0 {
		sql += " GROUP BY " + strings.Join(group, ", ")
	}
	return sql
}

// ClassTotals composes the statement that counts the reference's rows by the secrets' predicates: a row holds one
// boolean for each secret and the number of rows.
func (t *Table) ClassTotals() string {
	var cols, group []string
	for i, s := range t.Secrets {
		cols = append(cols, "("+parser.SQL(s.Predicate, "t", nil)+") IS TRUE")
		group = append(group, strconv.Itoa(i+1))
	}
	return selectSQL(append(cols, "pg_catalog.count(*)"), t.Reference+" AS t", "", group)
}

// GroupKey writes a cell for people: education=Bachelors, sex=Male.
func (c *Cut) GroupKey(cell Cell) string {
	parts := make([]string, len(cell))
	for i, v := range cell {
		text := v.Text
		if v.Null {
			text = "NULL"
		}
		parts[i] = c.Keys[i].Name + "=" + text
	}
	return strings.Join(parts, ", ")
}

// Index finds cells by their keys.
type Index map[string]int

// Index returns the cut's cells by key.
func (c *Cut) Index() Index {
	ix := make(Index, len(c.Cells))
	for i, cell := range c.Cells {
		ix[indexKey(cell)] = i
	}
	return ix
}

// Find returns the cell with these keys.
func (ix Index) Find(keys []Value) (int, bool) {
	i, ok := ix[indexKey(keys)]
	return i, ok
}

func indexKey(keys []Value) string {
	var b strings.Builder
	for _, k := range keys {
		if k.Null {
			b.WriteString("n")
			continue
		}
		fmt.Fprintf(&b, "%d:%s", len(k.Text), k.Text)
	}
	return b.String()
}
