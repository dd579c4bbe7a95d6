package planner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fugu/parser"
	"fugu/planner/aggregate"
	"fugu/planner/protected"
	"fugu/planner/row"
	"fugu/sqlstate"
)

// Cut is a planned cut: F restricted to one SELECT. What depends on the values of parameters is in Bound.
type Cut struct {
	Table      *Table // the root: its rows are what F sums over
	Keys       []Key
	Sets       [][]int // of grouping sets: the Keys of each; nil: one set of all
	Groupings  []parser.Grouping
	Spreads    []parser.Spread
	Aggregates []Aggregate
	Ordinary   []parser.Table // ordinary tables that are read beside the protected ones

	// Params are the client's parameter numbers that stand below the cut, and ParamTypes their types.
	Params     []int
	ParamTypes []uint32

	cut     *parser.Cut
	share   int // about how many of the statement's bytes are this cut's
	typing  *row.Typing
	sources *sources
	number  map[int]int // the client's parameter numbers to the cut's own
	static  *Bound      // what every Bind returns; nil: the cut has to be bound each time
}

// Key is an expression that a cut groups by.
type Key struct {
	Name  string // its column above the cut
	Label string // as people read it
	Type  string // SQL text that names its type

	position int
	mode     bool // the statement asks for its most frequent value, mode(), and does not group by it
}

// Aggregate is one column of F.
type Aggregate struct {
	aggregate.Function
	Column  string // its name above the cut
	Label   string // as people read it: avg(age)
	Type    string // of its result: int8, numeric, float4, float8
	Integer bool
	Terms   []int    // whose sums it is a function of, in the order of Sums
	Sampled *Sampled // nil: a function of sums; otherwise it is none, and Sums bound its argument

	whole []bool // which arguments are of type int2 or int4
}

// newCut lays out F, but for what PostgreSQL has to resolve.
func newCut(c *parser.Cut, tables protected.Tables) (*Cut, error) {
	c = parser.Ordered(c)
	src, err := newSources(c, tables)
	if err != nil {
		return nil, err
	}
	out := &Cut{Table: src.tables[src.root], Sets: c.Sets, Groupings: c.Groupings, Spreads: c.Spreads,
		cut: c, sources: src}
	out.parameters()
	out.ordinary()

	// A key that is a column has that column's type. What others have, PostgreSQL is asked later.
	for _, k := range c.Keys {
		typ, err := src.columnType(k.Expr)
		if err != nil {
			return nil, err
		}
		out.Keys = append(out.Keys, Key{Name: k.Name, Label: k.Source, Type: typ, position: k.Position, mode: k.Mode})
	}

	for _, a := range c.Aggregates {
		f, sampled, ok := function(a)
		if !ok {
			return nil, fmt.Errorf("planning: no aggregate %s", a.Func)
		}
		out.Aggregates = append(out.Aggregates,
			Aggregate{Function: f, Column: a.Name, Label: a.Source, Sampled: sampled})
	}
	return out, out.unsampled()
}

// unsampled refuses a sampled aggregate over joined rows: which values a row of the root brings along is no value of
// its own.
func (c *Cut) unsampled() error {
	for i, a := range c.Aggregates {
		if a.Sampled == nil || c.sources.single() {
			continue
		}

		// Who names one table has joined nothing: it is the link that brings in the other.
		err := sqlstate.New(sqlstate.NotAnswerable,
			"%s over joined tables cannot be answered on protected data", a.Label).
			WithHint("Ask it of one table, without joins; or use count(*), sum and avg.")
		if len(c.cut.Sources) == 1 {
			err = sqlstate.New(sqlstate.NotAnswerable, "%s of %s cannot be answered: several of its rows may belong "+
				"to one row of %s, whose secret is protected", a.Label, c.cut.Sources[0].Table, c.Table).
				WithHint("Use count(*), sum and avg.")
		}
		return err.At(c.cut.Aggregates[i].Position)
	}
	return nil
}

// all calls f for every expression below the cut: those of keys and aggregates first, since PostgreSQL, too, takes the
// type of a parameter from the place where it comes first.
func (c *Cut) all(f func(parser.Expr)) {
	for _, k := range c.cut.Keys {
		f(k.Expr)
	}
	for _, a := range c.cut.Aggregates {
		for _, arg := range a.Args {
			f(arg)
		}
	}
	for _, s := range c.sources.list {
		if s.On != nil {
			f(s.On)
		}
	}
	for _, e := range c.sources.where {
		f(e)
	}
}

// parameters gives the parameters below the cut numbers of their own, in order of appearance.
func (c *Cut) parameters() {
	c.number = map[int]int{}
	c.all(func(e parser.Expr) {
		parser.Params(e, func(n int) {
			if _, ok := c.number[n]; !ok {
				c.Params = append(c.Params, n)
				c.number[n] = len(c.Params)
			}
		})
	})
}

// ordinary lists the ordinary tables that the cut reads.
func (c *Cut) ordinary() {
	add := func(list []parser.Source) {
		for _, s := range list {
			known := slices.ContainsFunc(c.Ordinary, func(t parser.Table) bool { return sameTable(t, s.Table) })
			if s.Table.Ordinary && !known {
				c.Ordinary = append(c.Ordinary, s.Table)
			}
		}
	}
	add(c.sources.list)
	c.all(func(e parser.Expr) {
		parser.Walk(e, func(e parser.Expr) {
			if s, ok := e.(parser.Semi); ok {
				add(s.Sources)
			}
		})
	})
}

// sameTable reports whether two tables are one, and were written in the same way: what a name without its schema means
// depends on the session.
func sameTable(a, b parser.Table) bool { return a.String() == b.String() && a.Written == b.Written }

// same reports whether two cuts of a statement ask for the same: then one answer serves both, so that a statement which
// names it twice sees it once. A parameter has one type in all of a statement.
func (c *Cut) same(d *Cut) bool {
	ofKeys := func(g, h parser.Grouping) bool { return slices.Equal(g.Keys, h.Keys) }
	return c.text() == d.text() && slices.Equal(c.Params, d.Params) &&
		slices.EqualFunc(c.Groupings, d.Groupings, ofKeys)
}

// text is all that stands below, printed.
func (c *Cut) text() string {
	var b strings.Builder
	c.all(func(e parser.Expr) { b.WriteString(parser.SQL(e, "t", c.number) + ";") })
	for _, a := range c.Aggregates {
		b.WriteString(a.Name + ";")
	}
	for _, s := range c.Sets {
		for _, k := range s {
			b.WriteString(strconv.Itoa(k) + ",")
		}
		b.WriteByte(';')
	}
	return b.String() + c.sources.from(nil, c.number, false)
}

// relation is the cut's place above: its keys, the results of GROUPING, its aggregates, and how far these are off. A
// type is empty where PostgreSQL has yet to say it.
func (c *Cut) relation(first int) parser.Relation {
	r := parser.Relation{First: first}
	for _, k := range c.Keys {
		r.Columns = append(r.Columns, parser.RelationColumn{Name: k.Name, Type: k.Type})
	}
	for _, g := range c.Groupings {
		r.Columns = append(r.Columns, parser.RelationColumn{Name: g.Name, Type: "pg_catalog.int4"})
	}
	for _, a := range c.Aggregates {
		typ := a.Type
		if typ != "" {
			typ = "pg_catalog." + typ
		}
		r.Columns = append(r.Columns, parser.RelationColumn{Name: a.Column, Type: typ})
	}
	for _, s := range c.Spreads {
		r.Columns = append(r.Columns, parser.RelationColumn{Name: s.Column(), Type: "pg_catalog.float8"})
	}
	return r
}

// Head is the number of columns that name the cell of a row of the statements: the keys and, with grouping sets, which
// of them the row is grouped by.
func (c *Cut) Head() int {
	if c.Sets == nil {
		return len(c.Keys)
	}
	return len(c.Keys) + 1
}

// GroupKey writes a cell for people: education=Bachelors, sex=Male.
func (c *Cut) GroupKey(cell Cell) string {
	var parts []string
	for i, v := range cell.Keys {
		if c.Sets != nil && !slices.Contains(c.Sets[cell.Set], i) {
			continue
		}
		text := v.Text
		if v.Null {
			text = "NULL"
		}
		parts = append(parts, c.Keys[i].Label+"="+text)
	}
	return strings.Join(parts, ", ")
}

// Grouping is the value of a call of GROUPING in a cell: a bit for each argument, the last the lowest, 1 where the
// cell's set is without it (PostgreSQL manual, section 9.21).
func (c *Cut) Grouping(g parser.Grouping, cell Cell) Value {
	mask := 0
	for _, k := range g.Keys {
		mask <<= 1
		if c.Sets != nil && !slices.Contains(c.Sets[cell.Set], k) {
			mask |= 1
		}
	}
	return Value{Text: strconv.Itoa(mask)}
}

// Position is where the cut stands in the client's text.
func (c *Cut) Position() int { return c.cut.Position }
