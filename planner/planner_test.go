package planner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fugu/parser"
	"fugu/sqlstate"
)

// world is the catalog of the golden files: the protected table adult with two secrets.
type world struct{ adult *Table }

func newWorld(t *testing.T) world {
	t.Helper()
	table := &Table{Schema: "public", Name: "adult", Reference: `"public"."adult_reference"`, Rows: 35222,
		Domains: map[string][]Value{"sex": {{Text: "Female"}, {Text: "Male"}}, "education": {{Text: "Bachelors"}, {Text: "Masters"}, {Null: true}}}}
	for _, c := range strings.Split("age integer,fnlwgt bigint,education text,sex text,income text,workclass text,score double precision", ",") {
		name, typ, _ := strings.Cut(c, " ")
		table.Columns = append(table.Columns, Column{name, typ})
	}
	w := world{table}
	syntax, _ := w.Table("public", "adult")
	for name, condition := range map[string]string{"high_income": "income = '>50K'"} {
		e, err := parser.ParsePredicate(condition, syntax)
		if err != nil {
			t.Fatal(err)
		}
		table.Secrets = append(table.Secrets, Secret{name, e})
	}
	return w
}

func (w world) Table(schema, name string) (parser.Table, bool) {
	t := parser.Table{Schema: "public", Name: "adult"}
	for _, c := range w.adult.Columns {
		t.Columns = append(t.Columns, c.Name)
	}
	if schema == "fugu" {
		return parser.Table{Schema: "fugu", Name: name, Columns: []string{"secret", "epsilon_left"}, Virtual: true}, name == "budget"
	}
	return t, name == "adult" && (schema == "" || schema == "public")
}

func (w world) Protected(_, name string) (*Table, bool) { return w.adult, name == "adult" }

func (w world) VirtualTable(name string) (VirtualTable, bool) {
	return VirtualTable{Name: name, Columns: []Column{{"secret", "text"}, {"epsilon_left", "float8"}}}, name == "budget"
}

// Describe resolves as PostgreSQL would for the columns above; every parameter is text.
func (w world) Describe(_ context.Context, sql string, types []uint32) (Description, error) {
	var d Description
	list, _, _ := strings.Cut(strings.TrimPrefix(sql, "SELECT "), " FROM ")
	for _, col := range strings.Split(list, ", ") {
		oid := uint32(1700)
		switch {
		case strings.HasSuffix(col, "::pg_catalog.text"):
			oid = 25
		case strings.Contains(col, `"score"`) && !strings.Contains(col, "count"):
			oid = oidFloat8
		case strings.Contains(col, `"income"`) && !strings.Contains(col, "count"):
			oid = 790 // stands for a type that is no number
		case strings.Contains(col, ".count(") || strings.Contains(col, ".sum("):
			oid = oidInt8
		}
		d.ResultTypes = append(d.ResultTypes, oid)
	}
	for _, t := range types {
		if t == 0 {
			t = 25
		}
		d.ParamTypes = append(d.ParamTypes, t)
	}
	return d, nil
}

func TestRules(t *testing.T) {
	w := newWorld(t)
	datadriven.Walk(t, "testdata/rules", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			statements, err := parser.Parse(d.Input, w)
			if err != nil {
				return fmt.Sprintln("parser:", err)
			}
			p, err := New(t.Context(), statements[0], w, w, nil)
			var e *sqlstate.Error
			if errors.As(err, &e) {
				return fmt.Sprintf("%s at %d: %s\nhint: %s\n", e.Code, e.Position, e.Message, e.Hint)
			} else if err != nil {
				return fmt.Sprintln("internal:", err)
			}
			var b strings.Builder
			for _, c := range p.Cuts {
				fmt.Fprintf(&b, "cells %d params %v\n", len(c.Cells), c.Params)
				fmt.Fprintf(&b, "statistics: %s\nmoments: %s\n", c.Statistics, c.Moments())
			}
			fmt.Fprintf(&b, "guest: %s\ntypes %v, %d of the client's\n", p.SQL, p.ParamTypes, p.ClientParams)
			return b.String()
		})
	})
}

func TestCellsAndIndex(t *testing.T) {
	w := newWorld(t)
	statements, err := parser.Parse("SELECT sex, education, count(*) FROM adult GROUP BY sex, education", w)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(t.Context(), statements[0], w, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := p.Cuts[0]
	index := c.Index()
	for i, cell := range c.Cells {
		if j, ok := index.Find(cell); !ok || i != j {
			t.Errorf("cell %d (%s) is found at %d, %v", i, c.GroupKey(cell), j, ok)
		}
	}
	for _, keys := range [][]Value{{{Text: "Other"}, {Text: "Masters"}}, {{Null: true}, {Null: true}}, {{Text: "Female3:Mas"}, {Text: "ters"}}} {
		if _, ok := index.Find(keys); ok {
			t.Errorf("%v is found", keys)
		}
	}
}

func TestArray(t *testing.T) {
	got := string(Array([]Value{{Text: `a"b\c`}, {Null: true}, {Text: "NULL"}, {Text: ""}, {Text: "{x,y}"}}))
	if want := `{"a\"b\\c",NULL,"NULL","","{x,y}"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
