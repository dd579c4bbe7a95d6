package parser

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// catalog is what the tests' statements speak of.
type catalog []Table

func (c catalog) Table(schema, name string) (Table, bool) {
	for _, t := range c {
		if t.Name == name && (t.Schema == schema || schema == "" && !t.Virtual) {
			return t, true
		}
	}
	return Table{}, false
}

func (c catalog) Ordinary(_, name string) (Table, error) {
	switch name {
	case "country":
		return Table{Schema: "public", Name: name, Columns: []string{"name", "continent"}, Ordinary: true}, nil
	case "education_level":
		return Table{Schema: "public", Name: name, Columns: []string{"education", "education_num", "degree"},
			Ordinary: true}, nil
	}
	return Table{}, sqlstate.New(sqlstate.UndefinedTable, "relation %q does not exist", name)
}

var adult = catalog{
	{Schema: "public", Name: "adult", Columns: strings.Split("age workclass fnlwgt education education_num "+
		"marital_status occupation relationship race sex capital_gain capital_loss hours_per_week native_country "+
		"income", " ")},
	{Schema: "public", Name: "visit", Columns: []string{"adult_id", "cost"}},
	{Schema: "public", Name: "women", Columns: []string{"years", "education"},
		View: "SELECT age, education FROM adult a WHERE a.sex = 'Female'"},
	{Schema: "fugu", Name: "budget", Columns: []string{"dataset", "epsilon_left"}, Virtual: true},
}

// describe writes what the parser made of a statement, and its rewritten text with stand-in types.
func describe(s *Statement) string {
	var b strings.Builder
	if s.Setting != nil {
		fmt.Fprintf(&b, "setting %s = %q default=%v\n", s.Setting.Name, s.Setting.Value, s.Setting.Default)
	}
	if s.Show != "" {
		fmt.Fprintf(&b, "shows %s\n", s.Show)
		return b.String()
	}
	if s.Ordinary() {
		return b.String() + "ordinary\n"
	}
	if s.Execute != nil {
		return describeExecute(s)
	}
	if s.Plain != nil {
		sql, err := s.RewritePlain("public", "adult_reference")
		if err != nil {
			return err.Error() + "\n"
		}
		return "plain: " + sql + "\n"
	}
	cuts, virtual := describeCuts(&b, s)
	sql, err := s.Rewrite(cuts, virtual)
	if err != nil {
		return b.String() + err.Error() + "\n"
	}
	if s.Explain != NoExplain {
		fmt.Fprintf(&b, "explain %d\n", s.Explain)
	}
	b.WriteString("above: " + sql + "\n")
	if s.Prepare != nil {
		fmt.Fprintf(&b, "prepare: %s\n", strings.ReplaceAll(s.Prepare.SQL(s.Prepare.Types, sql, s.Text), "\n", `\n`))
	}
	for _, z := range s.Zeros {
		fmt.Fprintf(&b, "$%d at %d is 0\n", z.Number, z.Position)
	}
	if s.Copy || s.NoData {
		fmt.Fprintf(&b, "copy %v, no data %v\n", s.Copy, s.NoData)
	}
	return b.String()
}

// describeCuts writes the cuts, and gives the relations that take their places and those of virtual tables.
func describeCuts(b *strings.Builder, s *Statement) (cuts, virtual []Relation) {
	next := s.Params + 1
	for _, c := range s.Cuts {
		fmt.Fprintf(b, "cut %s as %s at %d\n", FromSQL(c.Sources, "t", nil,
			func(s Source) string { return s.Table.String() }), c.Alias, c.Position)
		if c.Where != nil {
			fmt.Fprintf(b, "  where %s\n", SQL(c.Where, "t", nil))
		}
		r := Relation{First: next}
		for _, k := range c.Keys {
			fmt.Fprintf(b, "  key %s: %s\n", k.Name, SQL(k.Expr, "t", nil))
			r.Columns = append(r.Columns, RelationColumn{k.Name, "text"})
		}
		if c.Sets != nil {
			fmt.Fprintf(b, "  sets %v\n", c.Sets)
		}
		for _, g := range c.Groupings {
			fmt.Fprintf(b, "  grouping %v\n", g.Keys)
			r.Columns = append(r.Columns, RelationColumn{g.Name, "int4"})
		}
		for _, a := range c.Aggregates {
			fmt.Fprintf(b, "  %s\n", a.Source)
			for _, arg := range a.Args {
				fmt.Fprintf(b, "    of %s\n", SQL(arg, "t", nil))
			}
			r.Columns = append(r.Columns, RelationColumn{a.Name, "numeric"})
		}
		next += len(r.Columns)
		cuts = append(cuts, r)
	}
	for _, v := range s.Virtual {
		r := Relation{First: next}
		for _, c := range v.Table.Columns {
			r.Columns = append(r.Columns, RelationColumn{c, "text"})
		}
		next += len(r.Columns)
		virtual = append(virtual, r)
	}
	return cuts, virtual
}

func describeExecute(s *Statement) string {
	types := slices.Repeat([]string{"text"}, s.Execute.Args())
	values, err := s.Execute.Values(types)
	if err != nil {
		return show(err)
	}
	around, err := s.Execute.Around("SELECT $1 AS x")
	if err != nil {
		return show(err)
	}
	return fmt.Sprintf("execute %s at %d, explained %v %d, no data %v\n  %s\n  %s\n", s.Execute.Name,
		s.Execute.Position, s.Execute.Explained, s.Explain, s.NoData, values, around)
}

func TestCorpus(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "shadow") {
			return // of TestShadows
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "predicate" {
				e, err := ParsePredicate(d.Input, adult[0])
				if err != nil {
					return show(err)
				}
				return SQL(e, "t", nil) + "\n"
			}
			statements, err := Parse(d.Input, adult)
			if err != nil {
				return show(err)
			}
			var out strings.Builder
			for _, s := range statements {
				out.WriteString(describe(s))
			}
			return out.String()
		})
	})
}

func show(err error) string {
	var e *sqlstate.Error
	if !errors.As(err, &e) {
		return "not a client's error: " + err.Error() + "\n"
	}
	out := fmt.Sprintf("%s at %d: %s\n", e.Code, e.Position, e.Message)
	if e.Hint != "" {
		out += "hint: " + e.Hint + "\n"
	}
	return out
}

// Depths at which libpg_query overflows the C stack, several times over: the guard must stop each before the parser.
func TestGuardSurvivesDepth(t *testing.T) {
	if testing.Short() {
		t.Skip("takes longer than a save")
	}
	const n = 50_000
	shapes := map[string]string{
		"sum":    "SELECT count(*) FROM adult WHERE age = 1" + strings.Repeat("+1", n),
		"cast":   "SELECT count(*) FROM adult WHERE age = 1" + strings.Repeat("::int", n),
		"union":  "SELECT count(*) FROM adult" + strings.Repeat(" UNION SELECT 1,2", n),
		"parens": "SELECT count(*) FROM adult WHERE age = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n),
		"not":    "SELECT count(*) FROM adult WHERE " + strings.Repeat("NOT ", n) + "true",
		"minus":  "SELECT count(*) FROM adult WHERE age = " + strings.Repeat("- ", n) + "1",
		"case": "SELECT count(*) FROM adult WHERE " + strings.Repeat("CASE WHEN a AND b THEN ", n/2) + "1" +
			strings.Repeat(" END", n/2),
		"join":      "SELECT count(*) FROM adult" + strings.Repeat(" JOIN t ON a AND b", n),
		"subscript": "SELECT count(*) FROM adult WHERE a" + strings.Repeat("[1]", n) + " = 1",
		"subquery":  strings.Repeat("SELECT * FROM (", n) + "SELECT count(*) FROM adult" + strings.Repeat(") x", n),
	}
	for name, sql := range shapes {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(sql, adult)
			if !sqlstate.Is(err, sqlstate.StatementTooComplex) {
				t.Fatalf("got %v, want %s", err, sqlstate.StatementTooComplex)
			}
		})
	}
	long := "SELECT count(*) FROM adult WHERE age IN (1" + strings.Repeat(",1", 200_000) + ")"
	if _, err := Parse(long, adult); err != nil {
		t.Errorf("a long list of constants: %v", err)
	}
	if _, err := Parse("SELECT 'x"+strings.Repeat("y", maxBytes), adult); !sqlstate.Is(err,
		sqlstate.ProgramLimitExceeded) {
		t.Errorf("an overlong text: %v", err)
	}
}

// At the guard's limit every shape must come through parsing, rewriting and reading back, or be refused; not crash.
func TestGuardLimitIsSafe(t *testing.T) {
	n := maxTokens - 20
	for name, sql := range map[string]string{
		"sum":    "SELECT count(*) + 1" + strings.Repeat("+1", n) + " FROM adult",
		"cast":   "SELECT count(*)" + strings.Repeat("::int", n/2) + " FROM adult",
		"union":  "SELECT count(*) FROM adult" + strings.Repeat(" UNION SELECT 1", n/2),
		"below":  "SELECT sum(1" + strings.Repeat("+1", n) + ") FROM adult",
		"parens": "SELECT count(*) FROM adult WHERE age = " + strings.Repeat("(", n/2) + "1" + strings.Repeat(")", n/2),
		"not":    "SELECT count(*) FROM adult WHERE " + strings.Repeat("NOT ", n) + "true",
	} {
		t.Run(name, func(t *testing.T) {
			statements, err := Parse(sql, adult)
			if err != nil {
				t.Logf("refused: %.100s", err.Error())
				return
			}
			_ = describe(statements[0])
		})
	}
}

// The deparser is not trusted: a text that reads back as another tree is refused.
func TestDeparseIsChecked(t *testing.T) {
	parsed, err := pg.Parse("SELECT (count(*) + 1) * 2 FROM adult")
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]bool{"SELECT  (count ( * )+1)*2 FROM adult;": true,
		"SELECT count(*) + 1 * 2 FROM adult": false, "SELECT (count(*) + 1) * 2 FROM adult; SELECT 1": false} {
		if same, err := tree.Reads(sql, parsed); err != nil || same != want {
			t.Errorf("%s: %v, %v", sql, same, err)
		}
	}
	// The deparser leaves out ASENSITIVE.
	parsed, err = pg.Parse("DECLARE c ASENSITIVE CURSOR FOR SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	if sql, err := (&Statement{root: parsed.Stmts[0], version: parsed.Version}).deparse(); !sqlstate.Is(err,
		sqlstate.NotAnswerable) {
		t.Errorf("it is written %s, %v", sql, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"SELECT education, avg(age) FROM adult WHERE sex = $1 GROUP BY education HAVING count(*) > $2 ORDER BY 2",
		"EXPLAIN (PRIVACY, FORMAT JSON) SELECT sum(age*2) FROM public.adult AS a",
		"SET fugu.epsilon = 0.5; SELECT * FROM fugu.budget b JOIN country USING (name)",
		"INSERT INTO t SELECT count(*) FROM adult; DROP TABLE adult",
		"WITH x AS (SELECT sex, count(*) n FROM adult GROUP BY 1) SELECT n/sum(n) OVER () FROM x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		statements, err := Parse(sql, adult)
		if err != nil {
			var e *sqlstate.Error
			if !errors.As(err, &e) || e.Code == sqlstate.InternalError {
				t.Fatalf("%q: %v", sql, err)
			}
			return
		}
		for _, s := range statements {
			if strings.Contains(describe(s), "public.adult ") && len(s.Cuts) == 0 {
				t.Fatalf("%q: protected without a cut", sql)
			}
		}
	})
}
