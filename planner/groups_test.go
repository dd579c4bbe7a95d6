package planner_test

import (
	"maps"
	"math/big"
	"slices"
	"testing"

	"fugu/planner"
	"fugu/test/pgcluster"
)

// Values that are equal can have unequal texts: 1.0 and 1.00, 0 and -0, texts in a collation that tells no capitals
// apart. What a group is called would then be what its first row has, and so would be told exactly, whatever the noise
// is; F is a sum over rows, in whatever order they stand, and every row of a public value is in its group.
func TestGroupsAreTheSameInAnyOrder(t *testing.T) {
	w := newWorld(t)
	blur(t, w)

	for _, c := range []struct {
		sql  string
		rows []float64 // in each cell, in order
	}{
		{`SELECT CASE WHEN sex = 'Male' THEN round(age::numeric, 1) ELSE round(age::numeric, 2) END, count(*)
			FROM adult WHERE age < 19 GROUP BY 1`, []float64{4, 4}},
		{`SELECT CASE WHEN sex = 'Male' THEN age * 0::float8 ELSE -age * 0::float8 END, count(*)
			FROM adult WHERE age < 19 GROUP BY 1`, []float64{8}},
		{"SELECT score, count(*) FROM adult GROUP BY score", []float64{8, 0}},
		{"SELECT c.continent, count(*) FROM adult a JOIN country c ON c.name = a.sex GROUP BY 1", []float64{4, 4}},
		{"SELECT c.name, c.continent, count(*) FROM adult a JOIN country c ON c.name = a.sex GROUP BY 1, 2",
			[]float64{4, 4}},
		{"SELECT c.continent, count(*) FROM adult a LEFT JOIN country c ON c.name = a.sex GROUP BY 1",
			[]float64{4, 4, 0}},
		{"SELECT c.continent, count(*) FROM adult a JOIN country c ON c.name = a.sex WHERE a.sex = 'Male' GROUP BY 1",
			[]float64{4}},
		{"SELECT education, count(*) FROM adult GROUP BY education", []float64{2, 2, 2, 2}},
		{"SELECT upper(education), count(*) FROM adult GROUP BY 1", []float64{4, 4}},
		{"SELECT education, count(*) FROM adult WHERE education = 'a' GROUP BY education", []float64{2, 2}},
		{"SELECT education, count(*) FROM adult WHERE education < 'b' GROUP BY education", []float64{2, 2}},
		{"SELECT education, sex, count(*) FROM adult GROUP BY GROUPING SETS ((education), (sex))",
			[]float64{2, 2, 2, 2, 4, 4}},
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
		for _, order := range []string{"n", "-n"} {
			sorted := `TRUNCATE adult; INSERT INTO adult (id, age, sex, education, score)
				SELECT n, 17 + n / 2 % 2, (ARRAY['Male', 'Female'])[1 + n % 2],
				  (ARRAY['a', 'A', 'b', 'B'])[1 + n % 4], (ARRAY['0', '-0'])[1 + n % 2]::float8
				FROM generate_series(0, 7) AS g(n) ORDER BY ` + order
			if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", sorted); err != nil {
				t.Fatal(err)
			}
			if got := counted(t, w, b); !slices.Equal(got, c.rows) {
				t.Errorf("%s, rows in the order of %s: the groups %+v have %v rows, want %v",
					c.sql, order, b.Cells, got, c.rows)
			}
		}
	}
}

// blur has equal values with unequal texts in the columns education and score of adult, and in continent of country.
func blur(t *testing.T, w world) {
	t.Helper()
	const blurred = `
		DROP COLLATION IF EXISTS public.letters;
		CREATE COLLATION public.letters (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
		ALTER TABLE adult ALTER education TYPE text COLLATE public.letters;
		ALTER TABLE adult_reference ALTER education TYPE text COLLATE public.letters;
		ALTER TABLE country ALTER continent TYPE text COLLATE public.letters;
		TRUNCATE country; INSERT INTO country VALUES ('Female', 'x'), ('Male', 'X');`
	if err := pgcluster.Shared(t).Exec(t.Context(), "postgres", blurred); err != nil {
		t.Fatal(err)
	}
	adult := w.tables["adult"]
	for i, c := range adult.Columns {
		if c.Name == "education" {
			adult.Columns[i].Collation = "public.letters"
		}
	}
	adult.Domains["education"] = []planner.Value{{Text: "a"}, {Text: "A"}, {Text: "b"}, {Text: "B"}}
	adult.Domains["score"] = []planner.Value{{Text: "0"}, {Text: "1"}}
}

// counted runs the statistics statement of a cut that only counts, and returns the count of each cell.
func counted(t *testing.T, w world, b *planner.Bound) []float64 {
	t.Helper()
	limits := make([]planner.Limit, len(b.Bases))
	for i := range limits {
		limits[i] = planner.Limit{Low: new(big.Rat), High: big.NewRat(1, 1)}
	}
	params, types := b.Arguments(limits)
	rows, err := w.reader.Query(t.Context(), b.Statistics(), params, types)
	if err != nil {
		t.Fatalf("%s: %v", b.Statistics(), err)
	}
	index, found := b.Index(), map[int]float64{}
	for _, row := range rows {
		if cell, ok := index.Find(row[:b.Head()]); ok {
			n, _ := new(big.Rat).SetString(row[b.Head()].Text)
			f, _ := n.Float64()
			found[cell] += f
		}
	}
	out := make([]float64, len(b.Cells))
	for _, cell := range slices.Collect(maps.Keys(found)) {
		out[cell] = found[cell]
	}
	return out
}
