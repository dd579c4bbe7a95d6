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
	"fugu/twin/class"
	"fugu/twin/margin"
	"fugu/upstream"
)

// loadTable reads all that belongs to one table of a policy, but for its link.
func loadTable(ctx context.Context, p *policy.Policy, t policy.Table, reader *upstream.Reader) (*Protected, error) {
	out := &Protected{Policy: p, Config: t, Reference: t.Reference, Table: &planner.Table{
		Schema: t.Schema, Name: t.Name, Rows: t.Rows, Domains: map[string][]planner.Value{},
		Observed: map[string]bool{}, Calendars: map[string]planner.Calendar{}, Bounds: map[string][2]string{}}}
	if out.Table.Twin = t.Answers == policy.FromTwin; out.Table.Twin {
		return out, out.loadTwin(ctx, reader)
	}
	if t.Reference.Name != "" {
		out.Table.Reference = Quoted(t.Reference)
	}
	if hook.ModelFromData {
		out.Table.Reference = Quoted(t.Qualified())
	}

	// Domains and secrets speak of columns, and a network of secrets.
	var err error
	if out.Table.Columns, err = loadColumns(ctx, reader, Quoted(t.Qualified())); err != nil {
		return nil, err
	}
	if err := sameColumns(ctx, reader, t); err != nil {
		return nil, err
	}
	out.Syntax = parser.Table{Schema: t.Schema, Name: t.Name}
	for _, c := range out.Table.Columns {
		out.Syntax.Columns = append(out.Syntax.Columns, c.Name)
	}
	if err := out.loadDomains(ctx, reader); err != nil {
		return nil, err
	}
	if err := out.loadLong(ctx, reader); err != nil {
		return nil, err
	}

	// A secret of categories takes those of a domain.
	for _, sec := range p.Secrets {
		if sec.Table != t.Qualified() {
			continue
		}
		secret, psi, err := out.secret(ctx, reader, sec)
		if err != nil {
			return nil, fmt.Errorf("secret %s (line %d): %w", sec.Name, sec.PropertyAt.Line, err)
		}
		out.Table.Secrets, out.Psi = append(out.Table.Secrets, secret), append(out.Psi, psi)
	}
	if err := out.loadNetwork(); err != nil {
		return nil, err
	}
	return out, out.loadClasses(ctx, reader)
}

// loadDomains lists the public values of the columns by which statements may group.
func (t *Protected) loadDomains(ctx context.Context, reader *upstream.Reader) (err error) {
	for _, d := range t.Config.GroupBy {
		if d.Dates != nil {
			err = loadDates(ctx, reader, t.Table, d)
		} else {
			t.Table.Domains[d.Column], err = loadDomain(ctx, reader, t.Table, d)
		}
		if err != nil {
			return fmt.Errorf("group_by %s: %w", d.Column, err)
		}
		if d.FromReference {
			t.Table.Observed[d.Column] = true
		}
		if d.Range != nil {
			from, to := strconv.FormatInt(d.Range.From, 10), strconv.FormatInt(d.Range.To, 10)
			t.Table.Bounds[d.Column] = [2]string{from, to}
		}
	}
	return nil
}

// loadClasses counts the reference's rows by the classes of the secrets, and refuses secrets of which it cannot speak.
func (t *Protected) loadClasses(ctx context.Context, reader *upstream.Reader) (err error) {
	if len(t.Table.Secrets) == 0 || t.Table.Reference == "" {
		return nil
	}
	if t.Totals, err = model.CountClasses(ctx, reader, t.Table); err != nil {
		return t.lacking(ctx, reader, err)
	}
	if t.ties, err = t.compare(ctx, reader); err != nil {
		return err
	}
	for i, psi := range t.Psi {
		if err := psi.Check(t.Totals[i], t.Table.Rows); err != nil {
			return err
		}
	}
	return nil
}

// loadTwin reads the columns of a table that is answered from its twin: statements are parsed with them. Nothing else
// of it is read, as no statistic of it is asked.
func (t *Protected) loadTwin(ctx context.Context, reader *upstream.Reader) (err error) {
	if t.Table.Columns, err = loadColumns(ctx, reader, Quoted(t.Config.Qualified())); err != nil {
		return err
	}
	if err := t.loadLacking(ctx, reader); err != nil {
		return err
	}

	// Of a twin whose rows are not listed nothing can be asked about columns that it drops.
	t.Syntax = parser.Table{Schema: t.Config.Schema, Name: t.Config.Name, Twin: true, Linked: t.Config.Link != nil}
	if w := t.Config.Twin; w.Rows == policy.Aggregate {
		t.Table.AtLeast, t.Syntax.Aggregates = w.AtLeast, true
		dropped := func(c planner.Column) bool { return slices.Contains(w.Drop, c.Name) }
		t.Table.Columns = slices.DeleteFunc(t.Table.Columns, dropped)
	}
	for _, c := range t.Table.Columns {
		t.Syntax.Columns = append(t.Syntax.Columns, c.Name)
	}

	// Rows of a linked twin are of the classes of those that they go with.
	t.Reference = policy.QualifiedName{}
	if t.Syntax.Linked {
		return nil
	}
	return t.tellClasses()
}

// tellClasses has statements on a table's twin know of which class its rows are, as far as its columns tell. What can
// be NULL is not looked up in the protected table: a class that the twin does not have has no rows.
func (t *Protected) tellClasses() error {
	spec, err := margin.Spec(t.Policy, t.Config.Qualified(), func(string) bool { return true })
	if err != nil {
		return err
	}
	if spec.Public != nil {
		t.Syntax.Cells = len(spec.Public.Cells)
	}
	kept := slices.DeleteFunc(slices.Clone(t.Syntax.Columns), func(name string) bool {
		return slices.Contains(t.Config.Twin.Drop, name)
	})
	t.Syntax.Classes, err = class.Conditions(spec, kept)
	return err
}

// loadDomain lists the public values of a column, in the text form that PostgreSQL gives them.
func loadDomain(ctx context.Context, reader *upstream.Reader, t *planner.Table, d policy.Domain) ([]planner.Value,
	error) {
	typ, err := typeOf(t, d.Column)
	if err != nil {
		return nil, err
	}

	// Values are written as PostgreSQL writes those of the column: by these texts they are compared.
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
