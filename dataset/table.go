package dataset

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"fugu/internal/hook"
	"fugu/model"
	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	"fugu/upstream"
)

func loadTable(ctx context.Context, p *policy.Policy, t policy.Table, reader *upstream.Reader) (*Protected, error) {
	pt := &Protected{Policy: p, Config: t, Reference: t.Reference, Table: &planner.Table{
		Schema: t.Schema, Name: t.Name, Rows: t.Rows,
		Domains: map[string][]planner.Value{}, Calendars: map[string]planner.Calendar{}, Bounds: map[string][2]string{}}}
	if pt.Table.Twin = t.Answers == policy.FromTwin; pt.Table.Twin {
		return pt, pt.loadTwin(ctx, reader)
	}
	if t.Reference.Name != "" {
		pt.Table.Reference = Quoted(t.Reference)
	}
	if hook.ModelFromData {
		pt.Table.Reference = Quoted(t.Qualified())
	}
	columns, err := loadColumns(ctx, reader, Quoted(t.Qualified()))
	if err != nil {
		return nil, err
	}
	if err := sameColumns(ctx, reader, t); err != nil {
		return nil, err
	}
	pt.Table.Columns = columns
	pt.Syntax = parser.Table{Schema: t.Schema, Name: t.Name}
	for _, c := range columns {
		pt.Syntax.Columns = append(pt.Syntax.Columns, c.Name)
	}
	for _, d := range t.GroupBy {
		if d.Dates != nil {
			if err := loadDates(ctx, reader, pt.Table, d); err != nil {
				return nil, fmt.Errorf("group_by %s: %w", d.Column, err)
			}
			continue
		}
		values, err := loadDomain(ctx, reader, pt.Table, d)
		if err != nil {
			return nil, fmt.Errorf("group_by %s: %w", d.Column, err)
		}
		pt.Table.Domains[d.Column] = values
		if d.Range != nil {
			pt.Table.Bounds[d.Column] = [2]string{strconv.FormatInt(d.Range.From, 10), strconv.FormatInt(d.Range.To, 10)}
		}
	}
	for _, sec := range p.Secrets {
		if sec.Table != t.Qualified() {
			continue
		}
		secret, psi, err := pt.secret(ctx, reader, sec)
		if err != nil {
			return nil, fmt.Errorf("secret %s (line %d): %w", sec.Name, sec.PropertyAt.Line, err)
		}
		pt.Table.Secrets, pt.Psi = append(pt.Table.Secrets, secret), append(pt.Psi, psi)
	}
	if err := pt.loadNetwork(); err != nil {
		return nil, err
	}
	if len(pt.Table.Secrets) == 0 || pt.Table.Reference == "" {
		return pt, nil
	}
	if pt.Totals, err = model.CountClasses(ctx, reader, pt.Table); err != nil {
		return nil, err
	}
	if pt.ties, err = pt.compare(ctx, reader); err != nil {
		return nil, err
	}
	for i, psi := range pt.Psi {
		if err := psi.Check(pt.Totals[i], t.Rows); err != nil {
			return nil, err
		}
	}
	return pt, nil
}

// loadTwin reads the columns of a table that is answered from its twin: statements are parsed with them. Nothing else of it
// is read, as no statistic of it is asked.
func (t *Protected) loadTwin(ctx context.Context, reader *upstream.Reader) (err error) {
	t.Table.Columns, err = loadColumns(ctx, reader, Quoted(t.Config.Qualified()))
	t.Syntax = parser.Table{Schema: t.Config.Schema, Name: t.Config.Name, Twin: true, Linked: t.Config.Link != nil}
	if w := t.Config.Twin; w.Rows == policy.Aggregate {
		t.Table.AtLeast, t.Syntax.Aggregates = w.AtLeast, true
		t.Table.Columns = slices.DeleteFunc(t.Table.Columns, func(c planner.Column) bool { return slices.Contains(w.Drop, c.Name) })
	}
	for _, c := range t.Table.Columns {
		t.Syntax.Columns = append(t.Syntax.Columns, c.Name)
	}
	t.Reference = policy.QualifiedName{}
	return err
}

// loadDomain lists the public values of a column, in the text form that PostgreSQL gives them.
func loadDomain(ctx context.Context, reader *upstream.Reader, t *planner.Table, d policy.Domain) ([]planner.Value, error) {
	typ, err := typeOf(t, d.Column)
	if err != nil {
		return nil, err
	}
	var sql string
	var params [][]byte
	if d.FromReference {
		col := "t." + parser.QuoteIdent(d.Column)
		sql = "SELECT " + col + "::text FROM " + t.Reference + " AS t GROUP BY " + col + " ORDER BY " + col
	} else {
		var values []planner.Value
		for _, v := range d.Values {
			values = append(values, planner.Value{Text: v.Text, Null: v.IsNull})
		}
		if d.Range != nil {
			for i := d.Range.From; i <= d.Range.To; i++ {
				values = append(values, planner.Value{Text: strconv.FormatInt(i, 10)})
			}
		}
		sql = "SELECT v::" + typ + "::text FROM unnest($1::text[]) WITH ORDINALITY AS u(v, i) ORDER BY i"
		params = [][]byte{planner.Array(values)}
	}
	rows, err := reader.Query(ctx, sql, params, nil)
	if err != nil {
		return nil, fmt.Errorf("listing its values as %s: %w", typ, err)
	}
	seen := map[planner.Value]bool{}
	var out []planner.Value
	for _, r := range rows {
		if seen[r[0]] {
			return nil, fmt.Errorf("the value %q comes twice", r[0].Text)
		}
		seen[r[0]] = true
		out = append(out, r[0])
	}
	return out, nil
}
