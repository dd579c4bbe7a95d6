package planner_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fugu/planner"
	"fugu/test/pgcluster"
)

// fill gives adult and visit new rows at random, of which some have values that nobody declared.
func fill(t *testing.T, r *rand.Rand) {
	t.Helper()
	of := func(values ...string) string { return values[r.IntN(len(values))] }
	sql := "TRUNCATE adult, visit;"
	for i := range 150 {
		sql += "INSERT INTO adult (id, age, education, sex, fnlwgt, workclass)"
		sql += fmt.Sprintf(" VALUES (%d, %s, %s, %s, %s, %s);", i, of("17", "20", "39", "40", "41", "90", "12", "NULL"),
			of("'Bachelors'", "'Masters'", "'School'", "NULL"), of("'Male'", "'Female'", "'male'", "NULL"),
			of("0", "1", "700", "NULL"), of("'Private'", "'State'", "NULL"))
		for range r.IntN(3) {
			kind, cost := of("'in'", "'out'", "'other'", "NULL"), of("0", "2.5", "NULL")
			sql += fmt.Sprintf("INSERT INTO visit VALUES (0, %d, %s, %s);", i, kind, cost)
		}
	}
	if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", sql); err != nil {
		t.Fatal(err)
	}
}

// What a cell's keys decide is what PostgreSQL says there, whatever rows the tables have; and it is decided where a
// condition leaves the cell out, and nowhere else.
func TestConstants(t *testing.T) {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(13, 6))
	for _, c := range []struct {
		sql      string
		constant int // of its values
	}{
		{"SELECT age, count(CASE WHEN age BETWEEN 30 AND 50 THEN 1 END) FROM adult GROUP BY age", 74 - 21},
		{"SELECT age, count(*) FILTER (WHERE age BETWEEN 30 AND 50), count(*) FROM adult GROUP BY age", 74 - 21},
		{"SELECT age, count(*) FILTER (WHERE age > 30) FROM adult WHERE age < 40 GROUP BY age", 14},
		{`SELECT sex, sum(CASE WHEN sex = 'Male' THEN fnlwgt END), avg(fnlwgt) FILTER (WHERE sex = 'Male')
			FROM adult GROUP BY sex`, 2},
		{`SELECT sex, sum(CASE WHEN sex = 'Male' THEN 1 ELSE 0 END), avg(CASE WHEN sex = 'Male' THEN 1 ELSE 0 END)
			FROM adult GROUP BY sex`, 2},
		{"SELECT sex, sum(CASE WHEN sex = 'Male' THEN fnlwgt ELSE 0 END) FROM adult GROUP BY sex", 1},
		{"SELECT sex, count(CASE WHEN sex = 'Male' THEN 1 ELSE 0 END) FROM adult GROUP BY sex", 0},
		{`SELECT sex, education, sum(fnlwgt) FILTER (WHERE sex = 'Male' AND age > 30 AND education = 'Masters')
			FROM adult GROUP BY sex, education`, 5},
		{`SELECT sex, count(CASE WHEN workclass = 'Private' THEN NULL WHEN sex = 'Male' THEN fnlwgt END)
			FROM adult GROUP BY sex`, 1},
		{`SELECT sex, count(CASE WHEN sex = 'Male' THEN NULL WHEN workclass = 'Private' THEN 1 ELSE 2 END)
			FROM adult GROUP BY sex`, 1},
		{`SELECT sex, sum(CASE WHEN sex = 'Male' THEN CASE WHEN age > 30 THEN 1 ELSE 0 END END)
			FROM adult GROUP BY sex`, 1},
		{`SELECT sex, stddev(fnlwgt) FILTER (WHERE sex = 'Male'), corr(fnlwgt, CASE WHEN sex <> 'Male' THEN age END)
			FROM adult GROUP BY sex`, 2},
		{"SELECT education, count(*) FILTER (WHERE education IS NULL) FROM adult GROUP BY education", 2},
		{"SELECT education, count(*) FILTER (WHERE education <> 'Masters') FROM adult GROUP BY education", 2},
		{"SELECT sex, education, count(*) FILTER (WHERE sex = 'Male') FROM adult GROUP BY CUBE (sex, education)", 4},
		{"SELECT age, sum(CASE WHEN age < 20 THEN age END) FROM adult GROUP BY age", 71},
		// The key is not the column: the cell may have rows with values that nobody declared.
		{"SELECT upper(sex), count(*) FILTER (WHERE sex = 'Male') FROM adult GROUP BY upper(sex)", 0},
		{"SELECT age < 40, count(*) FILTER (WHERE age < 15) FROM adult GROUP BY age < 40", 0},
		{"SELECT sex, count(*) FILTER (WHERE education = 'Masters') FROM adult GROUP BY sex", 0},
		{"SELECT sex, count(*) FILTER (WHERE sex = 'Male' OR age > 30) FROM adult GROUP BY sex", 0},
		{"SELECT sex, sum(CASE WHEN sex = 'Male' THEN fnlwgt ELSE 1 END) FROM adult GROUP BY sex", 0},
		// Where rows are joined, also those that nothing belongs to.
		{`SELECT v.kind, sum(CASE WHEN v.kind = 'in' THEN v.adult_id END)
			FROM visit v JOIN adult a ON a.id = v.adult_id GROUP BY v.kind`, 1},
		{`SELECT v.kind, count(CASE WHEN v.kind = 'in' THEN a.age END)
			FROM adult a LEFT JOIN visit v ON a.id = v.adult_id GROUP BY v.kind`, 2},
	} {
		p, err := w.plan(t.Context(), c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		b, err := p.Cuts[0].Bind(t.Context(), w.reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		if found := constants(b); found != c.constant {
			t.Errorf("%s: %d values are constant, want %d", c.sql, found, c.constant)
		}
		for range 3 {
			fill(t, r)
			agree(t, w, p.Cuts[0], b, c.sql)
		}
	}
}

// constants counts the values that are known before a row is read.
func constants(b *planner.Bound) int {
	found := 0
	for cell := range b.Cells {
		for a := range b.Aggregates {
			if _, ok := b.Constant(cell, a); ok {
				found++
			}
		}
	}
	return found
}

// agree compares constants with what PostgreSQL answers, in the groups that there are.
func agree(t *testing.T, w world, cut *planner.Cut, b *planner.Bound, sql string) {
	t.Helper()
	_, from, _ := strings.Cut(sql, "FROM ")
	var columns, keys []string
	for _, k := range cut.Keys {
		keys, columns = append(keys, k.Label), append(columns, "("+k.Label+")::text")
	}
	if b.Sets != nil {
		columns = append(columns, "GROUPING("+strings.Join(keys, ", ")+")")
	}
	for _, a := range b.Aggregates {
		columns = append(columns, "("+a.Label+")::float8::text")
	}
	from = strings.NewReplacer(" adult", " public.adult", " visit", " public.visit").Replace(" " + from)
	plain := "SELECT " + strings.Join(columns, ", ") + " FROM" + from
	rows, err := w.reader.Query(t.Context(), plain, nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", plain, err)
	}
	index := b.Index()
	for _, row := range rows {
		cell, ok := index.Find(row[:b.Head()])
		if !ok {
			continue
		}
		for a, got := range row[b.Head():] {
			if v, ok := b.Constant(cell, a); ok && v != got {
				t.Errorf("%s: %s is %+v in %v, and constant %+v", sql, b.Aggregates[a].Label, got, row[:b.Head()], v)
			}
		}
	}
}

// Of a column in a collation of its own, in which 'a' may equal 'A', no text of a key says what its rows have.
func TestNoConstantsOfOtherCollations(t *testing.T) {
	w := newWorld(t)
	adult := w.tables["adult"]
	for i, c := range adult.Columns {
		if c.Name == "sex" {
			adult.Columns[i].Collation = `pg_catalog."C"`
		}
	}
	p, err := w.plan(t.Context(), "SELECT sex, count(*) FILTER (WHERE sex = 'Male') FROM adult GROUP BY sex")
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Cuts[0].Bind(t.Context(), w.reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	for cell := range b.Cells {
		if v, ok := b.Constant(cell, 0); ok {
			t.Errorf("%v: %+v", b.Cells[cell], v)
		}
	}
}
