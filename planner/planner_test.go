package planner_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"fugu/parser"
	"fugu/planner"
	"fugu/sqlstate"
	"fugu/test/pgcluster"
	"fugu/upstream"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// world is the catalog of the golden files: the protected table adult with a secret, visit linked to it, the ordinary
// table country, and the view women.
type world struct {
	tables map[string]*planner.Table
	reader *upstream.Reader
}

const schema = `
  DROP TABLE IF EXISTS adult, adult_reference, visit, visit_reference, note, note_reference, other, other_reference,
    country CASCADE;
  DROP SCHEMA IF EXISTS fugu_twin CASCADE;
  CREATE TABLE adult (id int, age integer, fnlwgt bigint, education text, sex text, income text, workclass text,
    score double precision, native_country text);
  CREATE TABLE adult_reference (LIKE adult);
  CREATE TABLE visit (id int, adult_id int, kind text, cost numeric); CREATE TABLE visit_reference (LIKE visit);
  CREATE TABLE note (visit_id int, stars int); CREATE TABLE note_reference (LIKE note);
  CREATE TABLE other (x int, day date); CREATE TABLE other_reference (LIKE other);
  CREATE TABLE country (name text, continent text); INSERT INTO country VALUES ('France', 'Europe'), ('Japan', 'Asia');
  INSERT INTO adult_reference (workclass) VALUES (NULL);
  CREATE SCHEMA fugu_twin;
  CREATE TABLE fugu_twin.person (id int, age int, height double precision, city text, born date);
  CREATE TABLE fugu_twin.trip (person_id int, miles numeric, at timestamptz);
  CREATE TABLE fugu_twin."fugu twins" (table_schema text, table_name text, told int8[], taken int8[]);`

func newWorld(t *testing.T) world {
	t.Helper()
	c := pgcluster.Shared(t)
	if err := c.Exec(t.Context(), "postgres", schema); err != nil {
		t.Fatal(err)
	}
	reader, err := upstream.OpenReader(c.DSN("postgres", "postgres"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	w := world{map[string]*planner.Table{}, reader}
	add := func(name, columns string, domains map[string][]planner.Value) *planner.Table {
		reference := `"public"."` + name + `_reference"`
		table := &planner.Table{Schema: "public", Name: name, Reference: reference, Domains: domains}
		for _, c := range strings.Split(columns, ",") {
			name, typ, _ := strings.Cut(c, " ")
			table.Columns = append(table.Columns, planner.Column{Name: name, Type: typ})
		}
		w.tables[name] = table
		return table
	}
	adult := add("adult", "id integer,age integer,fnlwgt bigint,education text,sex text,income text,workclass text,"+
		"score double precision,native_country text", map[string][]planner.Value{
		"sex":       {{Text: "Female"}, {Text: "Male"}},
		"education": {{Text: "Bachelors"}, {Text: "Masters"}, {Null: true}},
		"age":       ages(),
	})
	adult.Rows, adult.Bounds = 35222, map[string][2]string{"age": {"17", "90"}}
	syntax, _ := w.Table("public", "adult")
	e, err := parser.ParsePredicate("income = '>50K'", syntax)
	if err != nil {
		t.Fatal(err)
	}
	adult.Secrets = append(adult.Secrets, planner.Secret{Name: "high_income", Predicate: e})
	visit := add("visit", "id integer,adult_id integer,kind text,cost numeric",
		map[string][]planner.Value{"kind": {{Text: "in"}, {Text: "out"}}})
	visit.Link = &planner.Link{To: adult, Keys: []planner.LinkKey{{Own: "adult_id", To: "id"}}}
	note := add("note", "visit_id integer,stars integer", nil)
	note.Link = &planner.Link{To: visit, Keys: []planner.LinkKey{{Own: "visit_id", To: "id"}}}
	other := add("other", "x integer,day date", map[string][]planner.Value{"x": {{Text: "1"}, {Text: "2"}}})
	other.Calendars = map[string]planner.Calendar{"day": {By: "month",
		Starts: []planner.Value{{Text: "2024-01-01"}, {Text: "2024-02-01"}},
		Lasts:  []planner.Value{{Text: "2024-01-31"}, {Text: "2024-02-29"}}}}

	// Of these two the policy lists no rows of the twins.
	person := add("person", "id integer,age integer,height double precision,city text,born date", nil)
	trip := add("trip", "person_id integer,miles numeric,at timestamp with time zone", nil)
	trip.Link = &planner.Link{To: person, Keys: []planner.LinkKey{{Own: "person_id", To: "id"}}}
	person.AtLeast, trip.AtLeast = 3, 3
	return w
}

func ages() []planner.Value {
	var out []planner.Value
	for i := 17; i <= 90; i++ {
		out = append(out, planner.Value{Text: fmt.Sprint(i)})
	}
	return out
}

func (w world) Table(schema, name string) (parser.Table, bool) {
	if schema == "fugu" {
		budget := parser.Table{Schema: "fugu", Name: name, Columns: []string{"secret", "epsilon_left"}, Virtual: true}
		return budget, name == "budget"
	}
	if name == "women" {
		return parser.Table{Schema: "public", Name: name, Columns: []string{"years", "level"},
			View: "SELECT age, education FROM public.adult WHERE sex = 'Female'"}, true
	}
	p, ok := w.tables[name]
	if !ok {
		return parser.Table{}, false
	}
	t := parser.Table{Schema: "public", Name: name, Aggregates: p.AtLeast > 0}
	for _, c := range p.Columns {
		t.Columns = append(t.Columns, c.Name)
	}
	return t, schema == "" || schema == "public"
}

func (w world) Ordinary(_, name string) (parser.Table, error) {
	if name != "country" {
		return parser.Table{}, sqlstate.New(sqlstate.UndefinedTable, "relation %q does not exist", name)
	}
	return parser.Table{Schema: "public", Name: name, Columns: []string{"name", "continent"}, Ordinary: true}, nil
}

func (w world) Protected(_, name string) (*planner.Table, bool) {
	t, ok := w.tables[name]
	return t, ok
}

func (w world) VirtualTable(name string) (planner.VirtualTable, bool) {
	columns := []planner.Column{{Name: "secret", Type: "text"}, {Name: "epsilon_left", Type: "float8"}}
	return planner.VirtualTable{Name: name, Columns: columns}, name == "budget"
}

func (w world) plan(ctx context.Context, sql string) (*planner.Plan, error) {
	statements, err := parser.Parse(sql, w)
	if err != nil {
		return nil, err
	}
	return planner.New(ctx, statements[0], w, w.reader, nil)
}

// bind plans a statement without parameters, and binds its first cut.
func (w world) bind(t *testing.T, sql string) *planner.Bound {
	t.Helper()
	p, err := w.plan(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Cuts[0].Bind(t.Context(), w.reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRules(t *testing.T) {
	w := newWorld(t)
	datadriven.Walk(t, "testdata/rules", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := w.plan(t.Context(), d.Input)
			var e *sqlstate.Error
			if errors.As(err, &e) {
				return fmt.Sprintf("%s at %d: %s\nhint: %s\n", e.Code, e.Position, e.Message, e.Hint)
			} else if err != nil {
				return fmt.Sprintln("internal:", err)
			}
			var b strings.Builder
			for _, c := range p.Cuts {
				values := make([][]byte, len(c.Params))
				for i := range values {
					values[i] = []byte("30")
				}
				bound, err := c.Bind(t.Context(), w.reader, values)
				if err != nil {
					return fmt.Sprintln("binding:", err)
				}
				fmt.Fprintf(&b, "cells %d params %v\n", len(bound.Cells), c.Params)
				for i, cell := range bound.Cells {
					if len(bound.Cells) < 20 || i < 3 {
						fmt.Fprintf(&b, "  %s\n", c.GroupKey(cell))
					}
				}
				fmt.Fprintf(&b, "statistics: %s\nmoments: %s\n", bound.Statistics(), bound.Moments())
				if _, err := w.reader.Query(t.Context(), bound.Moments(), values, c.ParamTypes); err != nil {
					fmt.Fprintln(&b, "moments fail:", err)
				}
				limits := make([]planner.Limit, len(bound.Terms))
				for i := range limits {
					limits[i] = planner.Limit{Low: big.NewRat(-7, 2), High: big.NewRat(15, 4)}
				}
				arguments, types := bound.Arguments(limits)
				if _, err := w.reader.Query(t.Context(), bound.Statistics(), arguments, types); err != nil {
					fmt.Fprintln(&b, "statistics fail:", err)
				}
			}
			fmt.Fprintf(&b, "guest: %s\ntypes %v, %d of the client's\n", p.SQL, p.ParamTypes, p.ClientParams)
			return b.String()
		})
	})
}

// watched counts the questions that planning asks.
type watched struct {
	planner.Describer
	described, evaluated int
}

func (w *watched) DescribeMeanwhile(
	ctx context.Context, sql string, types []uint32, work func(),
) (planner.Description, error) {
	w.described++
	return w.Describer.DescribeMeanwhile(ctx, sql, types, work)
}

func (w *watched) Describe(ctx context.Context, sql string, types []uint32) (planner.Description, error) {
	return planner.Description{}, errors.New("nothing is done meanwhile")
}

func (w *watched) Evaluate(
	ctx context.Context, sql string, params [][]byte, types []uint32,
) ([][]planner.Value, error) {
	w.evaluated++
	return w.Describer.Evaluate(ctx, sql, params, types)
}

// Planning asks PostgreSQL once for each different cut, and for the values of constants that are not read here.
func TestQuestions(t *testing.T) {
	w := newWorld(t)
	for sql, want := range map[string][2]int{
		"SELECT count(*) FROM adult WHERE age > 30":                                                        {1, 0},
		"SELECT education, avg(age) FROM adult WHERE sex = 'Male' GROUP BY education HAVING count(*) > 10": {1, 0},
		"SELECT (SELECT avg(age) FROM adult), (SELECT avg(age) FROM adult), (SELECT count(*) FROM adult)":  {2, 0},
		"SELECT count(*) FROM adult WHERE age > 20 + 10 AND score > 1e3":                                   {1, 1},
		"SELECT * FROM fugu.budget": {0, 0},
	} {
		statements, err := parser.Parse(sql, w)
		if err != nil {
			t.Fatal(err)
		}
		d := &watched{Describer: w.reader}
		_, err = planner.New(t.Context(), statements[0], w, d, nil)
		if err != nil || d.described != want[0] || d.evaluated != want[1] {
			t.Errorf("%s: asked for %d types and %d values, want %v: %v", sql, d.described, d.evaluated, want, err)
		}
	}
}

func TestCellsAndIndex(t *testing.T) {
	w := newWorld(t)
	for _, sql := range []string{
		"SELECT sex, education, count(*) FROM adult GROUP BY sex, education",
		"SELECT sex, education, count(*) FROM adult GROUP BY CUBE (sex, education)",
	} {
		b := w.bind(t, sql)
		index := b.Index()
		if len(index) != len(b.Cells) {
			t.Errorf("%d cells have %d keys", len(b.Cells), len(index))
		}
		for _, keys := range [][]planner.Value{
			{{Text: "Other"}, {Text: "Masters"}}, {{Null: true}, {Null: true}}, {{Text: "Female3:Mas"}, {Text: "ters"}},
		} {
			if _, ok := index.Find(keys); ok {
				t.Errorf("%v is found", keys)
			}
		}
	}
}

// Keys that read the same column, or the same ordinary table, have the combinations that its values or rows give, and
// no others.
func TestDependentKeys(t *testing.T) {
	w := newWorld(t)
	cells := func(sql string) []planner.Cell {
		t.Helper()
		return w.bind(t, sql).Cells
	}
	one := len(cells("SELECT education, count(*) FROM adult GROUP BY education"))
	sexes := len(cells("SELECT sex, count(*) FROM adult GROUP BY sex"))
	odd := "length(education) % 2"
	for rest, want := range map[string]int{
		"GROUP BY education, upper(education)":                                             one,
		"GROUP BY upper(education), sex, education":                                        one * sexes,
		"GROUP BY education || sex, lower(education), sex":                                 one * sexes,
		"GROUP BY GROUPING SETS ((education, upper(education)), (upper(education)))":       2 * one,
		"GROUP BY GROUPING SETS ((education, " + odd + "), (" + odd + "), ())":             one + 2 + 1,
		"WHERE education IN ('Masters', 'Bachelors') GROUP BY education, upper(education)": 2,
	} {
		if got := cells("SELECT count(*) FROM adult " + rest); len(got) != want {
			t.Errorf("%s has %d cells, want %d: %v", rest, len(got), want, got)
		}
	}
	for _, c := range cells("SELECT count(*) FROM adult GROUP BY upper(education), sex, education") {
		if c.Keys[0].Text != strings.ToUpper(c.Keys[1].Text) { // the planner's own order
			t.Errorf("a cell of %v", c.Keys)
		}
	}
}

func TestArray(t *testing.T) {
	values := []planner.Value{{Text: `a"b\c`}, {Null: true}, {Text: "NULL"}, {Text: ""}, {Text: "{x,y}"}}
	got := string(planner.Array(values))
	if want := `{"a\"b\\c",NULL,"NULL","","{x,y}"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
