package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/planner/row"
)

// Describer says what PostgreSQL resolves a statement to, without running it, and reads what is public.
type Describer interface {
	row.Database
	Querier
}

// Description holds what PostgreSQL resolves a statement to.
type Description = row.Description

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
	var cuts, virtual []parser.Relation
	var first []int // of each of p.Cuts
	next := p.ClientParams + 1
	for _, c := range s.Cuts {
		cut, err := p.plan(ctx, c, tables, d)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(p.Cuts, cut.same)
		if i < 0 {
			i = len(p.Cuts)
			p.Cuts, first = append(p.Cuts, cut), append(first, next)
			next += len(cut.relation(next).Columns)
		}
		cuts = append(cuts, cut.relation(first[i]))
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
		p.SQL = ExplainSQL(p.Explain, p.ClientParams+1)
		next = p.ClientParams + 2
	}
	p.ParamTypes = append(p.ParamTypes, make([]uint32, next-1-p.ClientParams)...)
	return p, nil
}

// Ordinary lists the ordinary tables that are read beside protected ones.
func (p *Plan) Ordinary() []parser.Table {
	var out []parser.Table
	for _, c := range p.Cuts {
		for _, t := range c.Ordinary {
			if !slices.ContainsFunc(out, func(o parser.Table) bool { return o.String() == t.String() && o.Written == t.Written }) {
				out = append(out, t)
			}
		}
	}
	return out
}

// Uses lists the functions, operators and types that stand below the cuts.
func (p *Plan) Uses() []row.Use {
	var out []row.Use
	for _, c := range p.Cuts {
		out = append(out, c.typing.Uses()...)
	}
	return out
}

func (p *Plan) plan(ctx context.Context, c *parser.Cut, tables Tables, d Describer) (*Cut, error) {
	var types []uint32
	cut, err := newCut(ctx, c, tables, d, func(params []int) []uint32 {
		types = make([]uint32, len(params))
		for i, n := range params {
			types[i] = p.ParamTypes[n-1]
		}
		return types
	})
	if err != nil {
		return nil, err
	}
	for i, n := range cut.Params {
		p.ParamTypes[n-1] = cut.ParamTypes[i]
	}
	return cut, nil
}

// ExplainSQL selects the lines of an explanation from the parameter that holds them, under the column name that
// PostgreSQL gives them.
func ExplainSQL(format parser.Explain, param int) string {
	typ := "text"
	if format == parser.ExplainJSON {
		typ = "json"
	}
	return fmt.Sprintf(`SELECT l AS "QUERY PLAN" FROM pg_catalog.unnest($%d::pg_catalog.%s[]) AS l`, param, typ)
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
