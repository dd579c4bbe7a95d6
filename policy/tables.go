package policy

import (
	"math"
	"slices"
	"time"

	"fugu/internal/strictyaml"
)

// MaxRange is the largest number of values that a range of a grouping column can have.
const MaxRange = 100_000

// maxRows keeps every number of rows exact in float64.
const maxRows = 1 << 53

const referenceHint = "name a table of public or held-out rows: the model is fitted to the reference, and analysts may see it"

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
	if drawn := f.Get("drawn"); drawn != nil {
		word, _ := drawn.Word(words["tables.*.drawn"]...)
		t.Drawn = Drawn(word)
		if t.Link != nil {
			drawn.Bad("write it at the table that this one is linked to", "%s: rows of a linked table come with those of the other", drawn.Path)
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
			r.Add(c.At, "keep one of the two", "column %s is already there in line %d", quoteIdent(column), t.GroupBy[i].At.Line)
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
		r.Add(e.At, referenceHint, "%s has no reference, and something that needs one: link, plain_rows, drawn or a domain", e.Value.Path)
	}
}

const domainHint = "write a list of values, the word reference, {from: 0, to: 9}, or {from: 2023-01-01, to: 2024-12-31, by: month}"

func domain(e strictyaml.Entry) Domain {
	d := Domain{At: e.At}
	v := e.Value
	switch v.Kind {
	case strictyaml.List:
		d.Values = domainValues(v)
	case strictyaml.Map:
		f := v.Fields(keys["tables.*.group_by.*"]...)
		if f.Get("by") != nil {
			d.Dates = dates(v, f)
			break
		}
		from, okFrom := f.Need("from", domainHint).Int(math.MinInt64, math.MaxInt64)
		to, okTo := f.Need("to", domainHint).Int(math.MinInt64, math.MaxInt64)
		switch {
		case !okFrom || !okTo:
		case from > to:
			f.Get("from").Bad("write the smaller number first", "%s: from %d is above to %d", v.Path, from, to)
		case uint64(to)-uint64(from) >= MaxRange:
			f.Get("to").Bad("group by something coarser", "%s: from %d to %d are more than %d values", v.Path, from, to, MaxRange)
		default:
			d.Range = &IntRange{From: from, To: to}
		}
	default:
		d.FromReference = v.Is("reference")
		if !d.FromReference {
			v.Bad(domainHint, "%s must be a list, a range or the word reference", v.Path)
		}
	}
	return d
}

// dates reads a range of days.
func dates(v *strictyaml.Value, f strictyaml.Fields) *DateRange {
	by, okBy := f.Get("by").Word(words["tables.*.group_by.*.by"]...)
	day := func(key string) (time.Time, bool) {
		end := f.Need(key, domainHint)
		text, ok := end.Text()
		if !ok {
			return time.Time{}, false
		}
		t, err := time.Parse(time.DateOnly, text)
		if err != nil || t.Year() < 1 {
			end.Bad("write a day as 2024-12-31", "%s: %q is no day of the years 1 to 9999", v.Path, text)
			return time.Time{}, false
		}
		return t, true
	}
	from, okFrom := day("from")
	to, okTo := day("to")
	switch {
	case !okBy || !okFrom || !okTo:
	case from.After(to):
		f.Get("from").Bad("write the earlier day first", "%s: from %s is behind to %s", v.Path, from.Format(time.DateOnly), to.Format(time.DateOnly))
	case to.Sub(from) >= MaxRange*24*time.Hour:
		f.Get("to").Bad("declare a shorter time", "%s: from %s to %s are more than %d days", v.Path, from.Format(time.DateOnly), to.Format(time.DateOnly), MaxRange)
	default:
		return &DateRange{From: from.Format(time.DateOnly), To: to.Format(time.DateOnly), By: Unit(by)}
	}
	return nil
}

func domainValues(v *strictyaml.Value) []Value {
	items, _ := v.List()
	switch {
	case len(items) == 0:
		v.Bad(domainHint, "%s is empty", v.Path)
	case len(items) > MaxRange:
		v.Bad("group by something coarser", "%s has more than %d values", v.Path, MaxRange)
	}
	var values []Value
	seen := map[Value]bool{}
	for _, item := range items {
		text, null, ok := item.Scalar()
		value := Value{Text: text, IsNull: null}
		switch {
		case !ok:
		case seen[value]:
			item.Bad("keep one of the two", "%s lists %s twice", v.Path, value)
		default:
			seen[value] = true
			values = append(values, value)
		}
	}
	return values
}

func (v Value) String() string {
	if v.IsNull {
		return "null"
	}
	return "'" + v.Text + "'"
}

// entryName and valueName read a name as SQL does. A capital letter in a name whose only quotes are YAML's would be
// folded, which whoever wrote the quotes hardly meant.
func entryName[N any](r *strictyaml.Report, e strictyaml.Entry, parse func(string) (N, error)) (N, bool) {
	return sqlName(e.Key, e.Quoted, parse, func(hint, format string, args ...any) { r.Add(e.At, hint, format, args...) })
}

func valueName[N any](v *strictyaml.Value, parse func(string) (N, error)) (N, bool) {
	text, ok := v.Text()
	if !ok {
		var none N
		return none, false
	}
	return sqlName(text, v.Quoted, parse, v.Bad)
}

func sqlName[N any](text string, quoted bool, parse func(string) (N, error), bad func(hint, format string, args ...any)) (N, bool) {
	name, err := parse(text)
	switch {
	case err != nil:
		bad("", "%q is not a name in SQL: %v", text, err)
	case quoted && foldASCII(text) != text && !hasQuote(text):
		bad(`write '"Name"' to keep the capitals, or the name in lower case`,
			"%q: the quotes are YAML's, and SQL would fold the capitals", text)
	default:
		return name, true
	}
	var none N
	return none, false
}
