package parser

import "testing"

// Tables become WITH queries, of the columns that are read, wherever they are read, and nowhere else: what stands in a
// string, and what has the same name in another schema, stays.
func TestReadWhole(t *testing.T) {
	country := Table{Schema: "public", Name: "country", Columns: []string{"name", "Size"}, Long: []string{"Size"}}
	step := Table{Schema: "Own", Name: "step", Columns: []string{"n"}}
	const begin = `WITH "fugu whole 1" AS MATERIALIZED (SELECT t."name" FROM "public"."country" AS t) `
	const end = ` OFFSET ((SELECT pg_catalog.count(*) FROM "fugu whole 1")) * 0`
	for _, c := range []struct {
		sql    string
		tables []Table
		want   string
	}{
		{"SELECT pg_catalog.count(*) FROM public.adult AS t", nil, "SELECT pg_catalog.count(*) FROM public.adult AS t"},
		{"SELECT t1.name FROM public.adult AS t CROSS JOIN public.country AS t1 WHERE t.c = t1.name GROUP BY t1.name",
			[]Table{country}, begin + `SELECT t1.name FROM public.adult t CROSS JOIN "fugu whole 1" t1 ` +
				`WHERE t.c = t1.name GROUP BY t1.name` + end},
		{"SELECT 1 FROM public.adult AS t WHERE EXISTS (SELECT FROM public.country AS t1 WHERE t1.name = " +
			"'public.country AS t1') AND t.c IN (SELECT t2.name FROM other.country AS t2)", []Table{country},
			begin + `SELECT 1 FROM public.adult t WHERE EXISTS (SELECT FROM "fugu whole 1" t1 WHERE t1.name = ` +
				`'public.country AS t1') AND t.c IN (SELECT t2.name FROM other.country t2)` + end},
		{`SELECT 1 FROM "Own".step AS t1 CROSS JOIN public.country AS t2 CROSS JOIN public.country AS t3 ` +
			`WHERE t1.n = 2`, []Table{country, step},
			`WITH "fugu whole 1" AS MATERIALIZED (SELECT  FROM "public"."country" AS t), "fugu whole 2" AS ` +
				`MATERIALIZED (SELECT t."n" FROM "Own"."step" AS t) SELECT 1 FROM "fugu whole 2" t1 CROSS JOIN ` +
				`"fugu whole 1" t2 CROSS JOIN "fugu whole 1" t3 WHERE t1.n = 2 OFFSET ((SELECT pg_catalog.count(*) ` +
				`FROM "fugu whole 1") + (SELECT pg_catalog.count(*) FROM "fugu whole 2")) * 0`},
	} {
		if got, err := ReadWhole(c.sql, c.tables, nil); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.sql, err, got, c.want)
		}
	}
	for _, sql := range []string{"SELECT 1 OFFSET 1", "WITH x AS (SELECT 1) SELECT FROM x", "TABLE", "DELETE FROM x"} {
		if got, err := ReadWhole(sql, []Table{country}, nil); err == nil {
			t.Errorf("%s: %s", sql, got)
		}
	}
}

// Of a table with long columns all that a statement reads of it is read in a subselect, where it reads one of these;
// what stands elsewhere under such names is not touched.
func TestReadLongValues(t *testing.T) {
	note := Table{Schema: "public", Name: "adult", Long: []string{"note", "q"}}
	text := Table{Schema: "public", Name: "text", Columns: []string{"n", "q"}, Long: []string{"q"}}
	const rows = `(SELECT (w.r).c, (w.r).note FROM (SELECT q AS r FROM (SELECT t.c, t.note FROM public.adult t ` +
		`OFFSET 0) q OFFSET 0) w)`
	for _, c := range []struct {
		sql      string
		ordinary []Table
		want     string
	}{
		{"SELECT t.c FROM public.adult AS t WHERE 'note' = t.c", nil,
			"SELECT t.c FROM public.adult t WHERE 'note' = t.c"},
		{"SELECT t1.note FROM public.adult AS t CROSS JOIN other.adult AS t1", nil,
			"SELECT t1.note FROM public.adult t CROSS JOIN other.adult t1"},
		{"SELECT count(t.note) FROM public.adult AS t WHERE t.note = t.c GROUP BY t.c", nil,
			"SELECT count(t.note) FROM " + rows + " t WHERE t.note = t.c GROUP BY t.c"},
		{"SELECT t1.ctid, t2.x FROM public.adult AS t1 LEFT JOIN other.child AS t2 ON t2.y = t1.q", nil,
			`SELECT t1.ctid, t2.x FROM (SELECT (w.r).ctid, (w.r).q FROM (SELECT qq AS r FROM (SELECT t.ctid, t.q ` +
				`FROM public.adult t OFFSET 0) qq OFFSET 0) w) t1 LEFT JOIN other.child t2 ON t2.y = t1.q`},
		{"SELECT 1 FROM public.adult AS t CROSS JOIN public.text AS t1 WHERE t1.q = t.c", []Table{text},
			`WITH "fugu whole 1" AS MATERIALIZED (SELECT (w.r)."q" FROM (SELECT qq AS r FROM (SELECT t."q" FROM ` +
				`"public"."text" AS t OFFSET 0) AS qq OFFSET 0) AS w) SELECT 1 FROM public.adult t CROSS JOIN ` +
				`"fugu whole 1" t1 WHERE t1.q = t.c OFFSET ((SELECT pg_catalog.count(*) FROM "fugu whole 1")) * 0`},
	} {
		if got, err := ReadWhole(c.sql, c.ordinary, []Table{note}); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.sql, err, got, c.want)
		}
	}

	// Of two protected tables each is read whole, behind the ordinary ones.
	got, err := ReadWhole("SELECT t.ctid, t2.x FROM public.adult AS t LEFT JOIN public.child AS t2 ON t2.y = t.q",
		nil, []Table{note, {Schema: "public", Name: "child"}})
	if want := `WITH "fugu whole 1" AS MATERIALIZED (SELECT (w.r)."ctid", (w.r)."q" FROM (SELECT qq AS r FROM ` +
		`(SELECT t."ctid", t."q" FROM "public"."adult" AS t OFFSET 0) AS qq OFFSET 0) AS w), "fugu whole 2" AS ` +
		`MATERIALIZED (SELECT t."x", t."y" FROM "public"."child" AS t) SELECT t.ctid, t2.x FROM "fugu whole 1" t ` +
		`LEFT JOIN ` +
		`"fugu whole 2" t2 ON t2.y = t.q OFFSET ((SELECT pg_catalog.count(*) FROM "fugu whole 1") + ` +
		`(SELECT pg_catalog.count(*) FROM "fugu whole 2")) * 0`; err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}
