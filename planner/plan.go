package planner

import (
	"context"
	"fmt"
	"strings"

	"fugu/parser"
	"fugu/sqlstate"
)

// Describer says what PostgreSQL resolves a statement to, without running it.
type Describer interface {
	Describe(ctx context.Context, sql string, paramTypes []uint32) (Description, error)
}

// Description holds the type OIDs of a statement's parameters and result columns.
type Description struct {
	ParamTypes  []uint32
	ResultTypes []uint32
}

// Plan is how a statement is answered. What depends on the parameters' values is not in it.
type Plan struct {
	Explain parser.Explain
	Cuts    []*Cut
	Virtual []VirtualTable

	// SQL is what the guest prepares; its parameters are the client's, then one array for each key and aggregate of
	// each cut, then one for each column of each virtual table, in order. Under EXPLAIN there is one array: the lines.
	SQL          string
	Above        string // the rewritten statement itself, also under EXPLAIN
	ClientParams int
	ParamTypes   []uint32 // of every parameter; 0 where the guest shall infer, or the text says it
}

// VirtualTable is a table of Fugu's own: its name in the schema fugu, and its columns.
type VirtualTable struct {
	Name    string
	Columns []Column
}

// Tables finds what a cut or a virtual reference speaks of.
type Tables interface {
	Protected(schema, name string) (*Table, bool)
	VirtualTable(name string) (VirtualTable, bool)
}

// New plans a statement that reads protected or virtual tables. paramTypes are the OIDs that the client gave.
func New(ctx context.Context, s *parser.Statement, tables Tables, d Describer, paramTypes []uint32) (*Plan, error) {
	p := &Plan{Explain: s.Explain, ClientParams: max(s.Params, len(paramTypes))}
	p.ParamTypes = make([]uint32, p.ClientParams)
	copy(p.ParamTypes, paramTypes)
	for _, c := range s.Cuts {
		cut, err := p.plan(ctx, c, tables, d)
		if err != nil {
			return nil, err
		}
		p.Cuts = append(p.Cuts, cut)
	}
	var cuts, virtual []parser.Relation
	next := p.ClientParams + 1
	for _, c := range p.Cuts {
		r := c.relation(next)
		next += len(r.Columns)
		cuts = append(cuts, r)
	}
	for _, v := range s.Virtual {
		t, ok := tables.VirtualTable(v.Table.Name)
		if !ok {
			return nil, fmt.Errorf("planning: no virtual table %s", v.Table)
		}
		p.Virtual = append(p.Virtual, t)
		r := parser.Relation{First: next}
		for _, c := range t.Columns {
			r.Columns = append(r.Columns, parser.RelationColumn(c))
		}
		next += len(r.Columns)
		virtual = append(virtual, r)
	}
	var err error
	if p.Above, err = s.Rewrite(cuts, virtual); err != nil {
		return nil, err
	}
	p.SQL = p.Above
	if p.Explain != parser.NoExplain {
		p.SQL = p.explainSQL()
		next = p.ClientParams + 2
	}
	p.ParamTypes = append(p.ParamTypes, make([]uint32, next-1-p.ClientParams)...)
	return p, nil
}

func (p *Plan) plan(ctx context.Context, c *parser.Cut, tables Tables, d Describer) (*Cut, error) {
	t, ok := tables.Protected(c.Table.Schema, c.Table.Name)
	if !ok {
		return nil, fmt.Errorf("planning: no protected table %s", c.Table)
	}
	cut, err := newCut(t, c)
	if err != nil {
		return nil, err
	}
	types := make([]uint32, len(cut.Params))
	for i, n := range cut.Params {
		types[i] = p.ParamTypes[n-1]
	}
	desc, err := d.Describe(ctx, cut.Statistics, types)
	if err != nil {
		if e := sqlstate.As(err); e.Code != sqlstate.InternalError && e.Position == 0 {
			return nil, e.At(c.Position)
		}
		return nil, err
	}
	if err := cut.typed(desc); err != nil {
		return nil, err
	}
	for i, n := range cut.Params {
		p.ParamTypes[n-1] = cut.ParamTypes[i]
	}
	return cut, nil
}

// relation is the cut's place above: its keys, then its aggregates.
func (c *Cut) relation(first int) parser.Relation {
	r := parser.Relation{First: first}
	for _, k := range c.Keys {
		r.Columns = append(r.Columns, parser.RelationColumn(k))
	}
	for _, a := range c.Aggregates {
		r.Columns = append(r.Columns, parser.RelationColumn{Name: a.Name, Type: "pg_catalog." + a.Type})
	}
	return r
}

// explainSQL selects the lines of the explanation, under the column name that PostgreSQL gives them.
func (p *Plan) explainSQL() string {
	typ := "text"
	if p.Explain == parser.ExplainJSON {
		typ = "json"
	}
	return fmt.Sprintf(`SELECT l AS "QUERY PLAN" FROM pg_catalog.unnest($%d::pg_catalog.%s[]) AS l`, p.ClientParams+1, typ)
}

// Array writes values as a PostgreSQL array literal (manual, section 8.15.6).
func Array(values []Value) []byte {
	var b strings.Builder
	b.WriteByte('{')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		if v.Null {
			b.WriteString("NULL")
			continue
		}
		b.WriteByte('"')
		for _, r := range []byte(v.Text) {
			if r == '"' || r == '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(r)
		}
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return []byte(b.String())
}
