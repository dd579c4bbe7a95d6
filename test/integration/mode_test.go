package integration

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// texts runs a statement and returns its rows as PostgreSQL writes them, NULL as ∅.
func texts(t testing.TB, c *pgx.Conn, sql string, args ...any) (out []string) {
	t.Helper()
	rows, err := c.Query(t.Context(), sql, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer rows.Close()
	for rows.Next() {
		var row []string
		for _, v := range rows.RawValues() {
			text := string(v)
			if v == nil {
				text = "∅"
			}
			row = append(row, text)
		}
		out = append(out, strings.Join(row, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// askedModes are statements that ask for modes, each with what it groups by and counts, and among which rows.
var askedModes = []struct{ sql, groups, values, where string }{
	{"SELECT mode() WITHIN GROUP (ORDER BY sex), pg_typeof(mode() WITHIN GROUP (ORDER BY sex)) FROM adult", "1",
		"sex", "true"},
	{"SELECT pg_catalog.mode() WITHIN GROUP (ORDER BY age < 60 DESC) AS younger, pg_typeof(mode() " +
		"WITHIN GROUP (ORDER BY age < 60)) FROM adult a", "1", "age < 60", "true"},
	{"SELECT (age / 40 * 40), mode() WITHIN GROUP (ORDER BY sex) FROM adult WHERE age BETWEEN 20 AND 79 " +
		"GROUP BY 1 ORDER BY 1", "age / 40", "sex", "age BETWEEN 20 AND 79"},
	{"SELECT sex, mode() WITHIN GROUP (ORDER BY sex) AS m FROM adult GROUP BY sex ORDER BY m", "sex", "sex",
		"true"},
	{"SELECT sex, mode() WITHIN GROUP (ORDER BY age > 60), grouping(sex) FROM adult GROUP BY ROLLUP (sex) " +
		"ORDER BY sex", "sex", "age > 60", "true"},
	{"SELECT DISTINCT mode() WITHIN GROUP (ORDER BY sex) FROM adult GROUP BY age > 60 ORDER BY mode() " +
		"WITHIN GROUP (ORDER BY sex)", "age > 60", "sex", "true"},
	{"SELECT 1 FROM adult HAVING mode() WITHIN GROUP (ORDER BY sex) = 'Male'", "1", "sex", "true"},
	{"SELECT x, (SELECT mode() WITHIN GROUP (ORDER BY age / 60) FILTER (WHERE sex = 'Male') FROM adult) " +
		"FROM generate_series(1, 2) AS x", "1", "age / 60", "sex = 'Male'"},
	{"SELECT sex, count(*) > 0 FROM adult GROUP BY sex UNION ALL SELECT mode() " +
		"WITHIN GROUP (ORDER BY sex), true FROM adult ORDER BY 1", "1", "sex", "true"},
}

// mode() is the value with the greatest noisy count, of PostgreSQL's type. Where the greatest count is 32 standard
// deviations ahead of the next it is PostgreSQL's own: either count moves by 16 with probability 1e-9 at most (see
// TestSecondMoments).
func TestMode(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	f := serve(t, options{policy: []string{"epsilon: 1 ", "epsilon: 50 ", "epsilon: 20,", "epsilon: 100000,",
		"delta: 0.01,", "delta: 0.5,"}})
	client, truth := f.connect(t), db.truth(t)
	t.Run("as PostgreSQL", func(t *testing.T) { modesAsPostgreSQL(t, client, truth) })
	t.Run("the greatest noisy count, and no further cost", func(t *testing.T) { modesAsCounts(t, client) })
	t.Run("never NULL for lack of rows", func(t *testing.T) { modesOfNothing(t, client) })
	t.Run("explained", func(t *testing.T) { modesExplained(t, client) })
	t.Run("refused without public values", func(t *testing.T) { modesRefused(t, client) })
}

// modesAsPostgreSQL compares the modes with PostgreSQL's own.
func modesAsPostgreSQL(t *testing.T, client, truth *pgx.Conn) {
	t.Helper()
	for _, c := range askedModes {
		got, want := texts(t, client, c.sql), texts(t, truth, c.sql)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, PostgreSQL's is %v", c.sql, got, want)
		}
		margin := *numbers(t, truth, "SELECT min(apart)::float8 FROM (SELECT max(n) - COALESCE((array_agg(n "+
			"ORDER BY n DESC))[2], 0) AS apart FROM (SELECT "+
			c.groups+" AS g, "+c.values+" AS v, count(*) AS n FROM adult WHERE "+c.where+" GROUP BY "+
			strings.TrimPrefix(c.groups+", ", "1, ")+c.values+") AS x GROUP BY g) AS y")[0][0]
		sd := *numbers(t, client, "SELECT COALESCE(max(noise_sd), 0)::float8 FROM fugu.last_release")[0][0]
		if !(margin > 32*sd) {
			t.Errorf("%s: counts are %g apart, noise of %g: the test says nothing", c.sql, margin, sd)
		}
	}
}

// modesAsCounts compares a mode with the counts that it is of, which pay for it.
func modesAsCounts(t *testing.T, client *pgx.Conn) {
	t.Helper()
	counts := texts(t, client, "SELECT education FROM adult GROUP BY education "+
		"ORDER BY count(*) DESC, education LIMIT 1")
	spent := texts(t, client, "SELECT * FROM fugu.budget")
	got := texts(t, client, "SELECT mode() WITHIN GROUP (ORDER BY education) FROM adult")
	if fmt.Sprint(got) != fmt.Sprint(counts) {
		t.Errorf("mode %v, and the greatest count is that of %v", got, counts)
	}
	if after := texts(t, client, "SELECT * FROM fugu.budget"); fmt.Sprint(after) != fmt.Sprint(spent) {
		t.Errorf("what was counted is charged again: %v, before %v", after, spent)
	}
	both := texts(t, client, "SELECT education FROM adult WHERE age > 30 GROUP BY education "+
		"HAVING education = (SELECT mode() WITHIN GROUP (ORDER BY education) FROM adult WHERE age > 30) "+
		"AND count(*) >= ALL (SELECT count(*) FROM adult WHERE age > 30 GROUP BY education)")
	if len(both) != 1 {
		t.Errorf("counts and mode of one statement agree in %v", both)
	}
	released := *numbers(t, client, "SELECT count(*)::float8 FROM fugu.last_release")[0][0]
	if math.Mod(released, 16) != 0 || released > 16 {
		t.Errorf("%g values are released for counts and mode of 16 values", released)
	}
}

// modesOfNothing asks for modes of no rows.
func modesOfNothing(t *testing.T, client *pgx.Conn) {
	t.Helper()
	for _, sql := range []string{
		"SELECT sex, mode() WITHIN GROUP (ORDER BY education) FROM adult WHERE age > 1000 GROUP BY sex",
		"SELECT mode() WITHIN GROUP (ORDER BY education) FILTER (WHERE capital_gain < 0) FROM adult WHERE $1",
	} {
		var args []any
		if strings.Contains(sql, "$1") {
			args = append(args, false)
		}
		got := texts(t, client, sql, args...)
		if len(got) == 0 || strings.Contains(fmt.Sprint(got), "∅") {
			t.Errorf("%s: %v", sql, got)
		}
	}
}

// modesExplained asks what a mode would cost, which is free.
func modesExplained(t *testing.T, client *pgx.Conn) {
	t.Helper()
	spent := texts(t, client, "SELECT * FROM fugu.budget")
	lines := strings.Join(texts(t, client, "EXPLAIN (PRIVACY) SELECT sex, mode() "+
		"WITHIN GROUP (ORDER BY education) FROM adult GROUP BY sex"), "\n")
	if !strings.Contains(lines, "count(*) of mode() WITHIN GROUP (ORDER BY education)") {
		t.Error(lines)
	}
	t.Log(lines)
	if after := texts(t, client, "SELECT * FROM fugu.budget"); fmt.Sprint(after) != fmt.Sprint(spent) {
		t.Errorf("an explanation is charged: %v, before %v", after, spent)
	}
}

// modesRefused asks for modes of values that are not public.
func modesRefused(t *testing.T, client *pgx.Conn) {
	t.Helper()
	for _, sql := range []string{"SELECT mode() WITHIN GROUP (ORDER BY workclass) FROM adult",
		"SELECT sex, mode() WITHIN GROUP (ORDER BY fnlwgt % 3) FROM adult GROUP BY sex"} {
		_, err := client.Exec(t.Context(), sql)
		if pe := pgError(err); pe == nil || pe.Code != "PV001" || !strings.Contains(pe.Hint, "group_by") ||
			pe.Position < 8 {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
