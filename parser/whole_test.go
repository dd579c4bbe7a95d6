package parser

import (
	"strings"
	"testing"
)

// Tables become WITH queries wherever they are read, and nowhere else: what stands in a string, and what has the same
// name in another schema, stays.
func TestReadWhole(t *testing.T) {
	country := Table{Schema: "public", Name: "country", Columns: []string{"name", "Size"}}
	step := Table{Schema: "Own", Name: "step", Columns: []string{"n"}}
	const begin = `WITH "fugu whole 1" AS MATERIALIZED (SELECT t."name", t."Size" FROM "public"."country" AS t) `
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
		{`SELECT 1 FROM "Own".step AS t1 CROSS JOIN public.country AS t2`, []Table{country, step},
			strings.TrimSuffix(begin, " ") + `, "fugu whole 2" AS MATERIALIZED (SELECT t."n" FROM "Own"."step" AS t) ` +
				`SELECT 1 FROM "fugu whole 2" t1 CROSS JOIN "fugu whole 1" t2 OFFSET ((SELECT pg_catalog.count(*) ` +
				`FROM "fugu whole 1") + (SELECT pg_catalog.count(*) FROM "fugu whole 2")) * 0`},
	} {
		if got, err := ReadWhole(c.sql, c.tables); err != nil || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.sql, err, got, c.want)
		}
	}
	for _, sql := range []string{"SELECT 1 OFFSET 1", "WITH x AS (SELECT 1) SELECT FROM x", "TABLE", "DELETE FROM x"} {
		if got, err := ReadWhole(sql, []Table{country}); err == nil {
			t.Errorf("%s: %s", sql, got)
		}
	}
}
