package policy

import (
	"slices"

	"fugu/internal/strictyaml"
)

const referenceHint = "name a table of public or held-out rows: the model is fitted to the reference, and analysts " +
	"may see it"

// tables reads the protected tables; with declared models they can be without a reference.
func tables(p *Policy, r *strictyaml.Report, v *strictyaml.Value, declared bool) {
	entries, ok := v.Entries()
	type entry struct {
		at     strictyaml.Entry
		fields strictyaml.Fields
	}
	var written []entry
	if ok && len(entries) == 0 {
		v.Bad("name at least one table to protect", "tables is empty")
	}
	for _, e := range entries {
		name, ok := entryName(r, e, ParseName)
		if ok && !protectable(name) {
			r.Add(e.At, "name a table of your own", "%s is a system table", name)
			ok = false
		}
		t, f := table(r, e)
		if other, twice := p.Table(name); ok && twice {
			r.Add(e.At, "keep one of the two", "table %s is already there in line %d", name, other.At.Line)
			ok = false
		}
		if !ok {
			t.modelled(r, e, f, declared)
			continue
		}
		t.Schema, t.Name = name.Schema, name.Name
		p.Tables, written = append(p.Tables, t), append(written, entry{e, f})
	}
	links(p, r)
	p.twins(r)

	// What a table needs depends on how it is answered, which of a linked one its root says.
	for i, e := range written {
		p.Tables[i].modelled(r, e.at, e.fields, declared)
	}
	for _, t := range p.Tables {
		if _, protected := p.Table(t.Reference); protected {
			r.Add(t.ReferenceAt, referenceHint, "reference %s is itself a protected table", t.Reference)
		}
	}
}

func protectable(q QualifiedName) bool { return !systemSchema(q.Schema) }

// table reads a table, and returns its fields for what can be read only when all tables are known.
func table(r *strictyaml.Report, e strictyaml.Entry) (Table, strictyaml.Fields) {
	t := Table{At: e.At, Drawn: Independently, PlainRows: DenyRows}
	f := e.Value.Fields(keys["tables.*"]...)

	if l := f.Get("link"); l != nil {
		t.Link = link(r, l)
	}
	if rows := f.Get("rows"); rows != nil || t.Link == nil {
		t.Rows, _ = f.Need("rows", "write the public number of rows: the model assumes it").Int(1, maxRows)
	}
	t.twin(r, f)

	reference := f.Get("reference")
	if name, ok := valueName(reference, ParseName); ok {
		t.Reference, t.ReferenceAt = name, reference.At
	}

	// Rows of a linked table come with those of the table that it is linked to.
	if drawn := f.Get("drawn"); drawn != nil {
		word, _ := drawn.Word(words["tables.*.drawn"]...)
		t.Drawn = Drawn(word)
		if t.Link != nil {
			drawn.Bad("write it at the table that this one is linked to",
				"%s: rows of a linked table come with those of the other", drawn.Path)
		}
	}
	if rows := f.Get("plain_rows"); rows != nil {
		word, _ := rows.Word(words["tables.*.plain_rows"]...)
		t.PlainRows = PlainRows(word)
	}

	columns, _ := f.Get("group_by").Entries()
	for _, c := range columns {
		d := domain(c)
		column, ok := entryName(r, c, parseColumn)
		if !ok {
			continue
		}
		if i := slices.IndexFunc(t.GroupBy, func(o Domain) bool { return o.Column == column }); i >= 0 {
			r.Add(c.At, "keep one of the two", "column %s is already there in line %d", quoteIdent(column),
				t.GroupBy[i].At.Line)
			continue
		}
		d.Column = column
		t.GroupBy = append(t.GroupBy, d)
	}
	return t, f
}

// modelled reports a table without a reference that has none to be modelled by, or has something else that needs one.
func (t Table) modelled(r *strictyaml.Report, e strictyaml.Entry, f strictyaml.Fields, declared bool) {
	if f.Get("reference") != nil {
		return
	}
	if t.Answers != FromTwin && !declared {
		f.Need("reference", referenceHint)
		return
	}
	if t.Answers != FromTwin && t.Link != nil || t.PlainRows == ReferenceRows || t.Drawn == FromReference ||
		slices.ContainsFunc(t.GroupBy, func(d Domain) bool { return d.FromReference }) {
		r.Add(e.At, referenceHint,
			"%s has no reference, and something that needs one: link, plain_rows, drawn or a domain", e.Value.Path)
	}
}
