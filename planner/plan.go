package planner

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"fugu/parser"
	"fugu/planner/protected"
	"fugu/planner/row"
	"fugu/planner/unlisted"
)

// Describer says what PostgreSQL resolves a statement to, without running it, and reads what is public.
type Describer interface {
	protected.Database
	// DescribeMeanwhile is Describe, and does work while it waits for the answer.
	DescribeMeanwhile(ctx context.Context, sql string, paramTypes []uint32, work func()) (Description, error)
}

// Plan is how a statement is answered. What depends on the parameters' values is not in it.
type Plan struct {
	Explain parser.Explain
	Cuts    []*Cut
	Twins   []*unlisted.Cut // of twins whose rows are not listed
	Virtual []VirtualTable

	// SQL is what the guest prepares; its parameters are the client's, then one array for each key and aggregate of
	// each cut, one for each column of each cut of a twin, and one for each of a virtual table, in order. Under EXPLAIN
	// there is one array: the lines.
	SQL          string
	Above        string // the rewritten statement itself, also under EXPLAIN
	ClientParams int
	Zeros        []parser.Zero
	ParamTypes   []uint32 // of every parameter; 0 where the guest shall infer, or the text says it

	length int // how many bytes the statement has
}

// VirtualTable is a table of Fugu's own: its name in the schema fugu, and its columns.
type VirtualTable struct {
	Name    string
	Columns []Column
}

// Tables finds what a cut or a virtual reference speaks of.
type Tables interface {
	protected.Tables
	VirtualTable(name string) (VirtualTable, bool)
}

// New plans a statement that reads protected or virtual tables. paramTypes are the OIDs that the client gave.
func New(ctx context.Context, s *parser.Statement, tables Tables, d Describer, paramTypes []uint32) (*Plan, error) {
	p := &Plan{length: len(s.Text), Explain: s.Explain, Zeros: s.Zeros, ClientParams: max(s.Params, len(paramTypes))}
	p.ParamTypes = make([]uint32, p.ClientParams)
	copy(p.ParamTypes, paramTypes)

	cuts, err := p.layOut(ctx, s, tables, d)
	if err != nil {
		return nil, err
	}
	for _, v := range s.Virtual {
		t, ok := tables.VirtualTable(v.Table.Name)
		if !ok {
			return nil, fmt.Errorf("planning: no virtual table %s", v.Table)
		}
		p.Virtual = append(p.Virtual, t)
	}

	// What stands above is written while PostgreSQL is asked what stands below. Where nothing has to be asked, it is
	// written afterwards.
	a := newAbove(cuts, p.Twins, p.Virtual, p.ClientParams+1)
	p.Cuts = a.cuts
	places := a.inOrder(s.Cuts)
	var text string
	var failed error
	rewrite := sync.OnceFunc(func() { text, failed = s.Rewrite(places, a.tables) })
	if err := p.resolve(ctx, meanwhile{d, rewrite}); err != nil {
		return nil, err
	}
	if rewrite(); failed != nil {
		return nil, failed
	}
	if p.Above, err = a.sql(text); err != nil {
		return nil, err
	}

	next := a.next
	p.SQL = p.Above
	if p.Explain != parser.NoExplain {
		p.SQL = ExplainSQL(p.Explain, p.ClientParams+1)
		next = p.ClientParams + 2
	}
	p.ParamTypes = append(p.ParamTypes, make([]uint32, next-1-p.ClientParams)...)
	return p, nil
}

// layOut lays out the cuts. Those of twins are resolved at once, since what stands above them needs their types.
func (p *Plan) layOut(ctx context.Context, s *parser.Statement, tables Tables, d Describer) ([]*Cut, error) {
	var cuts []*Cut
	for _, c := range s.Cuts {
		if !c.OfTwin() {
			cut, err := newCut(c, tables)
			if err != nil {
				return nil, err
			}
			cut.share = len(s.Text)/len(s.Cuts) + 1
			cuts = append(cuts, cut)
			continue
		}

		// A cut of a twin whose rows are not listed reads the twin, and takes no noise.
		twin, err := unlisted.New(ctx, c, tables, d, p.ParamTypes)
		if err != nil {
			return nil, err
		}
		for i, n := range twin.Params {
			p.ParamTypes[n-1] = twin.ParamTypes[i]
		}
		p.Twins = append(p.Twins, twin)
	}
	return cuts, nil
}

// Ordinary lists the ordinary tables that are read beside protected ones.
func (p *Plan) Ordinary() []parser.Table {
	var out []parser.Table
	for _, c := range p.Cuts {
		for _, t := range c.Ordinary {
			if !slices.ContainsFunc(out, func(o parser.Table) bool { return sameTable(o, t) }) {
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
	for _, c := range p.Twins {
		out = append(out, c.Uses()...)
	}
	return out
}

// Position is where the first cut stands in the client's text.
func (p *Plan) Position() int {
	if len(p.Cuts) > 0 {
		return p.Cuts[0].Position()
	} else if len(p.Twins) > 0 {
		return p.Twins[0].Position()
	}
	return 0
}

// resolve asks PostgreSQL what stands below the cuts.
func (p *Plan) resolve(ctx context.Context, d Describer) error {
	for _, c := range p.Cuts {
		types := make([]uint32, len(c.Params))
		for i, n := range c.Params {
			types[i] = p.ParamTypes[n-1]
		}
		if err := c.resolve(ctx, d, types); err != nil {
			return err
		}

		// A parameter has the type that the first cut gives it in all others, too.
		for i, n := range c.Params {
			p.ParamTypes[n-1] = c.ParamTypes[i]
		}
		if err := c.settle(ctx, d); err != nil {
			return err
		}
	}
	return nil
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
