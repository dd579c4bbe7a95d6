package integration

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// grouped is one F; above it anything may stand, and it is the same answer.
const grouped = "SELECT sex, education, count(*) AS n, avg(age) AS a FROM adult GROUP BY sex, education"

// Statements on @, which is F or a table that keeps the answer. They need a table t (k, v).
var above = []string{
	"SELECT * FROM @ x ORDER BY sex, education",
	"WITH q AS (SELECT sex, sum(n) s FROM @ x GROUP BY sex), r AS (SELECT max(s) m FROM q) SELECT sex, s / m " +
		"FROM q, r ORDER BY sex",
	"WITH q AS MATERIALIZED @ SELECT count(*), sum(n), max(a) FROM q WHERE n > 500",
	"WITH q AS NOT MATERIALIZED @, r AS (SELECT * FROM q WHERE sex = 'Male') SELECT r.education, r.n - q.n FROM r " +
		"JOIN q USING (education) WHERE q.sex = 'Female' ORDER BY 1",
	"WITH RECURSIVE o AS (SELECT sex, n, row_number() OVER (ORDER BY n, sex, education) i " +
		"FROM @ x), w AS (SELECT i, n s FROM o WHERE i = 1 UNION ALL SELECT o.i, w.s + o.n FROM w JOIN o " +
		"ON o.i = w.i + 1) SELECT * FROM w ORDER BY i",
	"SELECT x.sex, z.* FROM (SELECT DISTINCT sex FROM @ y) x, LATERAL (SELECT education, n FROM @ y " +
		"WHERE y.sex = x.sex ORDER BY n DESC, education LIMIT 2) z ORDER BY 1, 3, 2",
	"SELECT DISTINCT ON (sex) sex, education, n FROM @ x ORDER BY sex, n DESC, education",
	"SELECT sex, sum(n), avg(a), min(n), array_agg(education ORDER BY education), stddev(n) FROM @ x GROUP BY sex " +
		"HAVING sum(n) > 100 ORDER BY sex",
	"SELECT sex, education, sum(n) FROM @ x GROUP BY ROLLUP (sex, education) ORDER BY 1, 2",
	"SELECT sex FROM @ x WHERE n > 300 UNION SELECT k FROM t EXCEPT SELECT 'Female' ORDER BY 1",
	"SELECT sex, education FROM @ x INTERSECT SELECT sex, education FROM @ y WHERE n > 400 ORDER BY 1, 2",
	"SELECT education, rank() OVER (PARTITION BY sex ORDER BY n DESC, education), n - lag(n) OVER w, ntile(4) OVER w " +
		"FROM @ x WINDOW w AS (ORDER BY n, sex, education) ORDER BY n, 1, sex",
	"SELECT t.k, t.v, x.n FROM t LEFT JOIN @ x ON t.k = x.sex AND x.n > t.v ORDER BY 1, 2, 3",
	"SELECT k FROM t FULL JOIN @ x ON k = sex ORDER BY 1 LIMIT 3",
	"SELECT k, (SELECT sum(n) FROM @ x WHERE x.sex = t.k) FROM t ORDER BY 1",
	"SELECT k FROM t WHERE v < ANY (SELECT n FROM @ x WHERE x.sex = t.k) AND EXISTS (SELECT FROM @ x " +
		"WHERE x.education = 'Masters' AND n > 5) ORDER BY 1",
	"SELECT k FROM t ORDER BY (SELECT max(n) FROM @ x WHERE sex = k), k LIMIT (SELECT 1 + count(*) * 0 " +
		"FROM @ x) OFFSET 0",
	"SELECT a.sex, sum(a.n * b.n) FROM @ a JOIN @ b ON a.education = b.education AND a.sex <> b.sex GROUP BY a.sex " +
		"ORDER BY 1",
	"SELECT * FROM (VALUES ('Male', (SELECT sum(n) FROM @ x)), ('Female', 0)) v (s, c) ORDER BY 1",
	"SELECT CASE WHEN n > 400 THEN 'many' ELSE 'few' END c, count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY a) " +
		"FROM @ x GROUP BY c ORDER BY c",
	"SELECT jsonb_agg(to_jsonb(x) ORDER BY sex, education) FROM @ x",
	"SELECT x.sex, g FROM @ x, generate_series(1, 2) g WHERE x.education = 'Masters' ORDER BY 1, 2",
	"SELECT sex, n FROM @ x WHERE (sex, n) IN (SELECT sex, max(n) FROM @ y GROUP BY sex) ORDER BY 1",
	"SELECT count(*) FILTER (WHERE n > 300), string_agg(DISTINCT sex, ',') FROM @ x",
	"SELECT sex, n FROM @ x ORDER BY n DESC, sex FETCH FIRST 3 ROWS WITH TIES",
	"SELECT upper(sex) || '-' || education AS \"Name\", to_char(a, '999.9'), n::text " +
		"FROM @ AS x (sex, education, n, a) ORDER BY 1",
	"SELECT (x).n FROM @ x ORDER BY 1 LIMIT 2",
	"INSERT INTO t SELECT sex, sum(n) FROM @ x GROUP BY sex ORDER BY sex " +
		"ON CONFLICT (k) DO UPDATE SET v = excluded.v + t.v RETURNING k, v, (SELECT count(*) FROM t)",
	"UPDATE t SET v = x.n FROM @ x WHERE x.sex = t.k AND x.education = 'Masters' RETURNING t.k, t.v, x.n",
	"UPDATE t SET v = (SELECT sum(n) FROM @ x WHERE sex = k), k = upper(k) WHERE v < (SELECT max(n) FROM @ x) " +
		"RETURNING *",
	"DELETE FROM t USING @ x WHERE x.sex = t.k AND x.n > t.v AND x.education = 'Masters' RETURNING t.*",
	"WITH d AS (DELETE FROM t WHERE k IN (SELECT sex FROM @ x) RETURNING *), i AS (INSERT INTO t " +
		"SELECT education, sum(n) FROM @ x GROUP BY 1 RETURNING 1) SELECT (SELECT count(*) FROM d), (SELECT count(*) " +
		"FROM i)",
	"MERGE INTO t USING (SELECT sex, sum(n) s FROM @ x GROUP BY sex) x " +
		"ON k = sex WHEN MATCHED THEN UPDATE SET v = s WHEN NOT MATCHED THEN INSERT VALUES (sex, s)",
}

// Pairs: a cut with things above it in the same SELECT, and the same over the kept answer.
var aboveDirect = [][2]string{
	{"SELECT sex, education, rank() OVER (ORDER BY count(*) DESC, sex, education) FROM adult GROUP BY sex, education " +
		"HAVING avg(age) > 1 ORDER BY 3", "SELECT sex, education, rank() OVER (ORDER BY n DESC, sex, education) " +
		"FROM kept WHERE a > 1 ORDER BY 3"},
	{"SELECT sex, education, sum(count(*)) OVER (PARTITION BY sex), count(*) * 100 / sum(count(*)) OVER () pct, " +
		"round(avg(age), 2) FROM adult GROUP BY sex, education ORDER BY 1, 2",
		"SELECT sex, education, sum(n) OVER (PARTITION BY sex), n * 100 / sum(n) OVER () pct, round(a, 2) FROM kept " +
			"ORDER BY 1, 2"},
	{"SELECT sex, education, count(*) - lag(count(*), 1, 0::int8) OVER w, avg(avg(age)) OVER w FROM adult " +
		"GROUP BY sex, education WINDOW w AS (PARTITION BY sex ORDER BY count(*), education ROWS 2 PRECEDING) " +
		"ORDER BY 1, 2",
		"SELECT sex, education, n - lag(n, 1, 0::int8) OVER w, avg(a) OVER w FROM kept WINDOW w AS (PARTITION BY sex " +
			"ORDER BY n, education ROWS 2 PRECEDING) ORDER BY 1, 2"},
	{"SELECT DISTINCT ON (sex) sex, education, count(*), avg(age) > 30 FROM adult GROUP BY 1, 2 " +
		"ORDER BY sex, count(*) DESC, education", "SELECT DISTINCT ON (sex) sex, education, n, a > 30 FROM kept " +
		"ORDER BY sex, n DESC, education"},
	{"SELECT DISTINCT count(*) > 300, avg(age) > 38 FROM adult GROUP BY sex, education ORDER BY 1, 2",
		"SELECT DISTINCT n > 300, a > 38 FROM kept ORDER BY 1, 2"},
	{"SELECT adult.sex, education, count(*), avg(age), (SELECT v FROM t WHERE t.k = adult.sex) FROM adult " +
		"GROUP BY 1, 2 ORDER BY (SELECT v FROM t WHERE k = sex), 2, 1",
		"SELECT sex, education, n, a, (SELECT v FROM t WHERE t.k = kept.sex) FROM kept ORDER BY (SELECT v FROM t " +
			"WHERE k = sex), 2, 1"},
	{"SELECT x.sex, x.education, count(*), (SELECT count(*) FROM t WHERE t.v < avg(x.age)) FROM adult x " +
		"GROUP BY x.sex, x.education HAVING count(*) > (SELECT min(v) FROM t WHERE v < avg(x.age)) ORDER BY 1, 2",
		"SELECT x.sex, x.education, n, (SELECT count(*) FROM t WHERE t.v < x.a) FROM kept x WHERE n > (SELECT min(v) " +
			"FROM t WHERE v < x.a) ORDER BY 1, 2"},
	{"SELECT sex, education, count(*), avg(age) FROM public.adult GROUP BY 1, 2 HAVING EXISTS (SELECT FROM t " +
		"WHERE t.k = public.adult.sex AND avg(adult.age) > t.v) ORDER BY count(*), 1, 2 LIMIT (SELECT count(*) " +
		"FROM t) OFFSET 1",
		"SELECT sex, education, n, a FROM kept WHERE EXISTS (SELECT FROM t WHERE t.k = kept.sex AND a > t.v) " +
			"ORDER BY n, 1, 2 LIMIT (SELECT count(*) FROM t) OFFSET 1"},
	{"SELECT sex, education, count(*), (SELECT string_agg(k, ',' ORDER BY k) FROM (SELECT k FROM t UNION " +
		"SELECT adult.sex) u), avg(age) FROM adult GROUP BY sex, education ORDER BY 1, 2",
		"SELECT sex, education, n, (SELECT string_agg(k, ',' ORDER BY k) FROM (SELECT k FROM t UNION " +
			"SELECT kept.sex) u), a FROM kept ORDER BY 1, 2"},
	{"SELECT (SELECT count(*) FROM (SELECT sex, education, count(*) n, avg(age) FROM adult GROUP BY 1, 2) x " +
		"WHERE n > 100) + v FROM t ORDER BY 1", "SELECT (SELECT count(*) FROM kept WHERE n > 100) + v FROM t " +
		"ORDER BY 1"},
}

func TestAboveTheCut(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	for name, mode := range map[string]pgx.QueryExecMode{"simple": pgx.QueryExecModeSimpleProtocol,
		"extended": pgx.QueryExecModeExec, "prepared": pgx.QueryExecModeDescribeExec} {
		t.Run(name, func(t *testing.T) {
			c := f.connect(t)
			rows(t, c, "CREATE TEMP TABLE kept AS "+grouped, mode)
			rows(t, c, "CREATE TEMP TABLE t (k text PRIMARY KEY, v numeric); ", mode)
			rows(t, c, "INSERT INTO t VALUES ('Male', 10), ('Female', 37), ('Other', 5000)", mode)
			compare := func(protected, plain string) {
				t.Helper()
				var got [2]string
				var tags [2]string
				for i, sql := range []string{protected, plain} {
					rows(t, c, "BEGIN", mode)
					r, err := c.Query(t.Context(), sql, mode, pgx.QueryResultFormats{pgx.TextFormatCode})
					if err != nil {
						t.Fatalf("%s: %v", sql, err)
					}
					for r.Next() {
						for _, v := range r.RawValues() {
							got[i] += string(v) + "|"
						}
						got[i] += "\n"
					}
					if err := r.Err(); err != nil {
						t.Errorf("%s: %v", sql, err)
					}
					tags[i] = r.CommandTag().String()
					got[i] += rows(t, c, "ABORT", mode)
				}
				if got[0] != got[1] || tags[0] != tags[1] {
					t.Errorf("%s\ngives %s\n%swhere the kept answer gives %s\n%s", protected, tags[0], got[0], tags[1],
						got[1])
				}
				if tags[1] == "SELECT 0" {
					t.Errorf("%s shows nothing", plain)
				}
			}
			for _, sql := range above {
				compare(strings.ReplaceAll(sql, "@", "("+grouped+")"), strings.ReplaceAll(sql, "@",
					"(SELECT * FROM kept)"))
			}
			for _, pair := range aboveDirect {
				compare(pair[0], pair[1])
			}
		})
	}
	// Whatever stands above, and however often F is named, it is one question.
	if _, n := spent(t, f.connect(t)); n != 1 {
		t.Errorf("%d releases for one question", n)
	}
}
