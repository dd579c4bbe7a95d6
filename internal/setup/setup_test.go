package setup

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/policy"
	"fugu/test/golden"
	"fugu/test/pgcluster"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// fleet has values in its schema in all ways that PostgreSQL prints, and tables that belong together over two keys.
const fleet = `
CREATE TYPE kind AS ENUM ('sail', 'it''s steam');
CREATE SCHEMA dock;
CREATE TABLE dock.port (id int PRIMARY KEY, country text);
CREATE TABLE ship (a int, b int, kind kind NOT NULL, flag bool, state text CHECK (state IN ('in', 'o''ut')),
  short varchar(9) CHECK (short IN ('x', 'y')), class smallint CHECK (class BETWEEN 1 AND 5),
  wide bigint CHECK (wide >= -3 AND wide <= 7), one int CHECK (one IN (1, 2)),
  price numeric CHECK (price >= 0 AND price <= 9), free text CHECK (length(free) > 2), "Odd ""name" text,
  port int REFERENCES dock.port, PRIMARY KEY (a, b));
CREATE TABLE cargo (id int PRIMARY KEY, ship_b int NOT NULL, ship_a int NOT NULL,
  FOREIGN KEY (ship_a, ship_b) REFERENCES ship (a, b));
CREATE TABLE box (cargo int NOT NULL REFERENCES cargo, n int, PRIMARY KEY (cargo, n));
CREATE TABLE note (ship_a int, ship_b int, FOREIGN KEY (ship_a, ship_b) REFERENCES ship);
CREATE TABLE beside (id int);
INSERT INTO ship (a, b, kind, state) VALUES (1, 1, 'sail', 'in')`

func read(t *testing.T) *Catalog {
	t.Helper()
	c := pgcluster.Shared(t)
	for _, step := range [][2]string{{"postgres", "DROP DATABASE IF EXISTS fleet"},
		{"postgres", "CREATE DATABASE fleet"},
		{"fleet", fleet}} {
		if err := c.Exec(t.Context(), step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	db, err := pgx.Connect(t.Context(), c.DSN("postgres", "fleet"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(t.Context()) }()
	catalog, err := Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// Rows without a value are in no group of a range: where there may be some, the domain has a place for them, or is left
// to the owner.
func TestDomainsOfColumnsThatMayBeNull(t *testing.T) {
	for _, x := range []struct {
		column Column
		want   string
	}{
		{Column{Type: "smallint", From: "1", To: "3", NotNull: true}, "{from: 1, to: 3}"},
		{Column{Type: "smallint", From: "-1", To: "1"}, "[-1, 0, 1, null]"},
		{Column{Type: "integer", From: "1", To: "101"}, ""},
		{Column{Type: "integer", From: "1", To: "101", NotNull: true}, "{from: 1, to: 101}"},
		{Column{Type: "bigint", From: "-9223372036854775808", To: "9223372036854775807"}, ""},
		{Column{Type: "text", Values: []string{"a", "b"}}, "[a, b, null]"},
		{Column{Type: "text"}, ""},
	} {
		if got := x.column.domain(); got != x.want {
			t.Errorf("%+v: %q, want %q", x.column, got, x.want)
		}
	}
}

func name(s string) policy.QualifiedName {
	q, err := policy.ParseName(s)
	if err != nil {
		panic(err)
	}
	return q
}

// Domains are those of the schema, and no others: not what the rows have.
func TestDomainsOfTheSchema(t *testing.T) {
	ship := read(t).Table(name("ship"))
	want := map[string][]string{"kind": {"sail", "it's steam"}, "flag": {"false", "true"}, "state": {"in", "o'ut"},
		"short": {"x", "y"}, "one": {"1", "2"}}
	ranges := map[string][2]string{"class": {"1", "5"}, "wide": {"-3", "7"}}
	for _, c := range ship.Columns {
		if !reflect.DeepEqual(c.Values, want[c.Name]) || ranges[c.Name] != [2]string{c.From, c.To} {
			t.Errorf("%s: %q, from %s to %s", c.Name, c.Values, c.From, c.To)
		}
	}
	if !slices.Equal(ship.Key, []string{"a", "b"}) || len(ship.Columns) != 13 {
		t.Errorf("%+v", ship)
	}
}

// What refers to protected rows is linked along its keys, table by table, or closed; what they refer to is ordinary;
// and what has nothing to do with them is not in it.
func TestPlan(t *testing.T) {
	c := read(t)
	choices := Choices{Dataset: "fleet", Table: name("ship"), Secret: "steam", Predicate: "kind <> 'sail'", From: "0.1",
		To: "0.5", Within: "0.05", Rows: 10, Answers: policy.FromTwin, Epsilon: "1", Delta: "0.001",
		Analysts: []string{"alice", "no"}}
	p, err := NewPlan(c, choices)
	if err != nil {
		t.Fatal(err)
	}
	var linked, ordinary []string
	for _, l := range p.Linked {
		linked = append(linked, l.String())
	}
	for _, o := range p.Ordinary {
		ordinary = append(ordinary, o.String())
	}
	if strings.Join(linked, " ") != "public.cargo public.box" || strings.Join(ordinary, " ") != "dock.port" ||
		len(p.Closed) != 1 || p.Closed[0] != name("note") {
		t.Errorf("linked %q, ordinary %q, closed %v", linked, ordinary, p.Closed)
	}
	p.Leave(name("ship"), `Odd "name`, "odd")
	p.Leave(name("ship"), "kind", "the secret needs it")
	p.Leave(name("ship"), "a", "a link needs it")
	read, err := policy.Parse("p", []byte(p.Policy()))
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Policy())
	}
	ship, _ := read.Table(name("ship"))
	cargo, _ := read.Table(name("cargo"))
	if !slices.Equal(ship.Twin.Drop, []string{`Odd "name`}) || read.Secrets[0].Proportion != choices.Predicate ||
		!reflect.DeepEqual(cargo.Link.On, []policy.LinkKey{{Own: "ship_a", To: "a"}, {Own: "ship_b", To: "b"}}) ||
		!slices.Equal(read.Analysts, choices.Analysts) {
		t.Errorf("%+v\n%s", read, p.Policy())
	}

	// A condition that can be NULL is made one that cannot, so that there is no third class of rows.
	choices.Predicate = "state = 'in'"
	if p, err = NewPlan(c, choices); err != nil || p.Predicate != "(state = 'in') IS TRUE" {
		t.Errorf("%v: %q", err, p.Predicate)
	}

	// With noise only tables that have a reference are linked.
	choices.Answers = policy.ByAnswerNoise
	choices.References = map[policy.QualifiedName]policy.QualifiedName{name("ship"): name("beside")}
	if p, err = NewPlan(c, choices); err != nil || len(p.Linked) != 0 || len(p.Closed) != 3 {
		t.Errorf("%v: %+v", err, p)
	}
	choices.Open = []policy.QualifiedName{name("ship")}
	if _, err := NewPlan(c, choices); err == nil {
		t.Error("the table with the secret is open")
	}
}

// The package's unit is the one that init writes, for the package's places.
func TestPackagedUnit(t *testing.T) {
	golden.Check(t, "../../packaging/fugu.service", unit(Place{Directory: "/var/lib/fugu", Binary: "/usr/bin/fugu"}))
}

// Whatever stands in a text, YAML reads it back.
func TestYAML(t *testing.T) {
	for _, s := range []string{"a", "a b", "no", "it's", "x: y", "x # y", "- a", "[a]", "a,b", "'q'", `"q"`, "1", "01",
		"{x}", "a:", " a", "true", "~", "null", "é", "(a) IS TRUE", "&a", "*b", "!c", "%d", "@e", "`f`"} {
		text := "version: 1\ndataset: d\ntables: {t: {rows: 1, answers: twin}}\nsecrets:\n  s:\n    table: t\n" +
			"    proportion: " + yaml(s) + "\n    pairs: [[0.1, 0.2]]\nassume: [exchangeable]\n" +
			"privacy: {epsilon: 1, delta: 0.1, budget: {epsilon: 1, delta: 0.1}}\nanalysts: [" + yaml(s) + "]\n"
		p, err := policy.Parse("p", []byte(text))
		if err != nil || p.Secrets[0].Proportion != s || p.Analysts[0] != s {
			t.Errorf("%q is written as %s: %v", s, yaml(s), err)
		}
	}
	for in, want := range map[string]string{"1": "20", "0.001": "0.02", "0.5": "10", "1e-3": "0.02"} {
		if got := times(in, 20); got != want {
			t.Errorf("20 times %s is %s, not %s", in, got, want)
		}
	}
}
