package protected_test

import (
	"slices"
	"testing"

	"fugu/parser"
	"fugu/planner/protected"
)

var rich = parser.Binary{Op: "=", L: parser.Column{Name: "income"}, R: word(">50K")}

// Each kind of secret has its classes, and what tells them reads back as their numbers.
func TestSecrets(t *testing.T) {
	text := func(s string) protected.Value { return protected.Value{Text: s} }
	for _, c := range []struct {
		name   string
		secret protected.Secret
		label  string
		labels map[protected.Value]int
		where  []string
	}{
		{"a proportion", protected.Secret{Predicate: rich}, `((t."income" = '>50K')) IS TRUE`,
			map[protected.Value]int{text("t"): 1, text("f"): 0},
			[]string{"outside the predicate", "inside the predicate"}},
		{"shares of values",
			protected.Secret{Column: "race", Classes: []protected.Value{text("a"), text("b"), {Null: true}}},
			`(t."race")::pg_catalog.text`,
			map[protected.Value]int{text("a"): 0, text("b"): 1, {Null: true}: 2, text("c"): -1, text(""): -1},
			[]string{"where race is a", "where race is b", "where race is NULL"}},
		{"a parameter", protected.Secret{Parameter: true}, "true",
			map[protected.Value]int{text("true"): 0}, []string{"in all"}},
	} {
		if got := c.secret.Label("t"); got != c.label {
			t.Errorf("%s: told by %s, want %s", c.name, got, c.label)
		}
		for label, want := range c.labels {
			if got := c.secret.Class(label); got != want {
				t.Errorf("%s: %v is class %d, want %d", c.name, label, got, want)
			}
		}
		var where []string
		for i := range c.secret.Size() {
			where = append(where, c.secret.Where(i))
		}
		if !slices.Equal(where, c.where) {
			t.Errorf("%s: classes %q, want %q", c.name, where, c.where)
		}
	}
}

// The statements over a reference read it alone, and have a column for each secret.
func TestStatementsOverTheReference(t *testing.T) {
	age := protected.Secret{Number: parser.Column{Name: "age"}}
	share := protected.Secret{Predicate: rich}
	table := &protected.Table{Reference: `"r"."adult"`, Secrets: []protected.Secret{share, age}}
	const (
		mean   = `CAST(t."age" AS pg_catalog.float8)`
		label  = `((t."income" = '>50K')) IS TRUE`
		from   = ` FROM "r"."adult" AS t`
		counts = `SELECT pg_catalog.count(` + mean + `), `
	)
	for _, c := range []struct{ got, want string }{
		{table.ClassTotals(), `SELECT ` + label + `, pg_catalog.count(*)` + from + ` GROUP BY 1`},
		{table.NumberTotals(age), `SELECT pg_catalog.count(*), pg_catalog.count(` + mean + `), pg_catalog.avg(` + mean +
			`), pg_catalog.var_pop(` + mean + `), pg_catalog.min(` + mean + `), pg_catalog.max(` + mean + `)` + from},
		{table.NumberByClass(age, share), counts + `coalesce(pg_catalog.avg(` + mean + `), 0), ` +
			`coalesce(pg_catalog.var_pop(` + mean + `), 0)` + from + ` GROUP BY ` + label},
		{table.Correlation(age, age), `SELECT coalesce(pg_catalog.corr(` + mean + `, ` + mean + `), 0)` + from},
		{table.Places(), `SELECT t.tableoid::pg_catalog.text, t.ctid::pg_catalog.text, ` +
			`pg_catalog.md5(t::pg_catalog.text), ` + label + `, ` + mean + from},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

// Hints name what can be grouped by in the order of the columns; links lead to the root.
func TestTables(t *testing.T) {
	root := &protected.Table{Schema: "public", Name: `a"b`}
	between := &protected.Table{Link: &protected.Link{To: root}}
	table := &protected.Table{Schema: "s", Name: "t", Link: &protected.Link{To: between},
		Columns: []protected.Column{
			{Name: "z", Type: "text"}, {Name: "day", Type: "date"}, {Name: "a", Type: "integer"},
		},
		Domains:   map[string][]protected.Value{"a": nil, "z": nil},
		Calendars: map[string]protected.Calendar{"day": {By: "month"}}}
	if got := table.Groupable(); got != "The policy declares public values for: z, day (by month), a." {
		t.Error(got)
	}
	if got := root.Groupable(); got != "The policy declares no public group keys for this table." {
		t.Error(got)
	}
	if table.Root() != root || root.Root() != root {
		t.Error("the root is another table")
	}
	if got := root.Quoted(); got != `"public"."a""b"` {
		t.Error(got)
	}
	if typ, err := table.ColumnType("day"); typ != "date" || err != nil {
		t.Errorf("%s, %v", typ, err)
	}
	if _, err := table.ColumnType("other"); err == nil {
		t.Error("a column that is not there has a type")
	}
}

// What is kept is bounded by the sizes together, and the first value of a name stays.
func TestShared(t *testing.T) {
	var s protected.Shared[string]
	s.Store("a", "one", 2, 5)
	s.Store("a", "two", 2, 5)
	s.Store("b", "three", 4, 5)
	s.Store("c", "four", 3, 5)
	for name, want := range map[string]string{"a": "one", "b": "", "c": "four"} {
		if got, ok := s.Load(name); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t", name, got, ok)
		}
	}
}
