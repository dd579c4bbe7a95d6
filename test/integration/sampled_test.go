package integration

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/adult"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// askedSampled are percentiles and distinct values, with their types and what noise they may have.
var askedSampled = []struct {
	aggregates []string
	types      string
	rest       string
	useful     float64 // the noise's standard deviation at most; 0: it may be anything
}{
	{[]string{"percentile_cont(0.5) WITHIN GROUP (ORDER BY age)"}, "double precision", "", 6},
	{[]string{"percentile_disc(0.5) WITHIN GROUP (ORDER BY age)"}, "integer", "WHERE sex = 'Male'", 8},
	{[]string{"percentile_disc(0.1) WITHIN GROUP (ORDER BY hours_per_week) FILTER (WHERE age > 20)"}, "integer", "",
		40},
	{[]string{"percentile_disc(0.5) WITHIN GROUP (ORDER BY age::numeric / 2)"}, "numeric", "", 4},
	{[]string{"percentile_cont(0.25) WITHIN GROUP (ORDER BY hours_per_week)"}, "double precision",
		"GROUP BY sex ORDER BY sex", 40},
	{[]string{"count(DISTINCT sex)"}, "bigint", "", 2},
	{[]string{"count(DISTINCT education)"}, "bigint", "GROUP BY sex ORDER BY sex", 60},
	{[]string{"count(DISTINCT workclass)"}, "bigint", "", 0},
	{[]string{"sum(DISTINCT age)", "avg(DISTINCT age)", "count(DISTINCT age)"}, "bigint numeric bigint", "", 0},
	{[]string{"percentile_cont(0.9) WITHIN GROUP (ORDER BY age)", "count(*)", "avg(age)"},
		"double precision bigint numeric", "", 30},
}

// Percentiles and distinct values through Fugu: each answer is PostgreSQL's with noise of the size that Fugu says, at
// most 16 of its standard deviations off (see TestSecondMoments), of PostgreSQL's type, and resting on coupled datasets
// alone.
func TestSampled(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	f := serve(t, options{policy: []string{"epsilon: 20,", "epsilon: 1000,", "delta: 0.01,", "delta: 0.5,"}})
	client, truth := f.connect(t), db.truth(t)
	for _, c := range askedSampled {
		var list, types []string
		for _, a := range c.aggregates {
			list, types = append(list, a+"::float8"), append(types, "pg_typeof("+a+")::text")
		}
		sql := "SELECT " + strings.Join(list, ", ") + " FROM adult " + c.rest
		got, want := numbers(t, client, sql), numbers(t, truth, sql)
		if len(got) != len(want) {
			t.Fatalf("%s: %d rows, want %d", sql, len(got), len(want))
		}
		var typ string
		if err := client.QueryRow(t.Context(), "SELECT concat_ws(' ', "+strings.Join(types, ", ")+") FROM adult "+
			c.rest).Scan(&typ); err != nil || typ != c.types {
			t.Errorf("%s: types %s, %v; want %s", sql, typ, err, c.types)
		}
		var assumptions string
		if err := client.QueryRow(t.Context(), "SELECT string_agg(DISTINCT assumption, ';') FROM fugu.last_release "+
			"WHERE noise_sd > 0").Scan(&assumptions); err != nil {
			t.Fatal(err)
		}
		if mixed := strings.Contains(sql, "count(*)"); mixed && assumptions != "translation" || !mixed &&
			assumptions != "coupling" {
			t.Errorf("%s rests on %s", sql, assumptions)
		}
		for k, name := range c.aggregates {
			released := numbers(t, client, "SELECT noise_sd::float8 FROM fugu.last_release WHERE column_name LIKE $1",
				strings.ReplaceAll(strings.SplitN(name, "FILTER", 2)[0], "age::numeric / 2", "%")+"%")
			if len(released) != len(got) {
				t.Fatalf("%s: %d cells of %s are released, want %d", sql, len(released), name, len(got))
			}
			for i := range got {
				v, exact, sd := *got[i][k], *want[i][k], *released[i][0]
				if !(math.Abs(v-exact) <= 16*sd+.5) { // whole numbers are rounded
					t.Errorf("%s: %s is %g, want %g with noise of %g", sql, name, v, exact, sd)
				}
				if c.useful > 0 && sd > c.useful {
					t.Errorf("%s: noise of %g on a %s of %g", sql, sd, name, exact)
				}
				t.Logf("%s %s: %g, without noise %g, sd %.3g", name, c.rest, v, exact, sd)
			}
		}
	}
}

// What a table of protected rows holds does not show in the shape of an answer: no rows, NULL alone, and NaN,
// infinities and numbers far out of bounds give values, of as many rows, where the reference has any.
func TestSampledShapes(t *testing.T) {
	patient.Test(t)
	cluster := pgcluster.Shared(t)
	if _, err := adult.Load(t.Context(), cluster, "sampled", adult.Options{}); err != nil {
		t.Fatal(err)
	}
	data := connect(t, cluster.DSN("postgres", "sampled"))
	execute := func(sql string) {
		t.Helper()
		if _, err := data.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	execute("ALTER TABLE adult ADD score float8; ALTER TABLE adult_reference ADD score float8; UPDATE " +
		"adult_reference SET score = age / 10.0")
	count := func() int64 {
		var n int64
		if err := data.QueryRow(t.Context(), "SELECT count(*) FROM adult").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const sql = `SELECT sex, percentile_cont(0.5) WITHIN GROUP (ORDER BY score), percentile_disc(0.5) WITHIN
	  GROUP (ORDER BY score), percentile_disc(0.9) WITHIN GROUP (ORDER BY age),
	  count(DISTINCT age), avg(DISTINCT age), sum(DISTINCT score), count(DISTINCT score) FROM adult GROUP BY sex
	    ORDER BY sex`
	rows := count()
	for name, change := range map[string]string{
		"as loaded": "SELECT", "NULL": "UPDATE adult SET age = NULL, score = NULL",
		"infinities": "UPDATE adult SET score = CASE WHEN sex = 'Male' THEN 'Infinity' ELSE '-Infinity' " +
			"END::float8",
		"NaN": "UPDATE adult SET score = 'NaN'", "far out": "UPDATE adult SET score = 1e308, age = 2000000000",
		"no rows": "DELETE FROM adult", "other keys": "UPDATE adult SET sex = 'other'",
	} {
		t.Run(name, func(t *testing.T) {
			execute("BEGIN; DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT * FROM adult; COMMIT; " + change)
			defer execute("BEGIN; DELETE FROM adult; INSERT INTO adult SELECT * FROM kept; COMMIT")
			f, err := start(context.WithoutCancel(t.Context()), &database{cluster, rows}, t.TempDir(), options{
				guest: cluster.DSN("fugu_guest", "sampled"), reader: cluster.DSN("fugu_reader", "sampled")})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := f.stop(); err != nil {
					t.Error(err)
				}
			}()
			client := connect(t, strings.Replace(f.dsn("alice"), "/adult", "/sampled", 1))
			if got := fullGroups(t, client, sql); fmt.Sprint(got) != "[Female Male]" {
				t.Errorf("groups %v", got)
			}
		})
	}
}

// fullGroups are the first columns of an answer, which has no NULL.
func fullGroups(t *testing.T, client *pgx.Conn, sql string) (groups []string) {
	t.Helper()
	answer, err := client.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	for answer.Next() {
		values, err := answer.Values()
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if v == nil {
				t.Errorf("column %d is NULL", i)
			}
		}
		groups = append(groups, fmt.Sprint(values[0]))
	}
	if err := answer.Err(); err != nil {
		t.Fatal(err)
	}
	return groups
}

// What has no bound on coupled datasets is refused, with a hint.
func TestSampledRefused(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	for _, c := range []struct{ edit, sql, code, hint string }{
		{"", "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY education) FROM adult", "PV001", "integers"},
		{"", "SET fugu.delta = 0; SELECT count(DISTINCT sex) FROM adult", "PV004", "fugu.delta"},
		{"", "SET fugu.mechanism = wasserstein; SELECT count(DISTINCT sex) FROM adult", "22023", "fugu.mechanism"},
		{"proportion: income = '>50K'|mean: age|values: {from: 0.10, to: 0.60, within: 0.05}|values: {from: 30, to: " +
			"45, within: 2}", "SELECT count(DISTINCT sex) FROM adult", "PV004", "averages"},
		{"plain_rows: reference|drawn: from-reference", "SELECT count(DISTINCT sex) FROM adult", "PV004", "drawn"},
	} {
		var edits []string
		if c.edit != "" {
			edits = strings.Split(c.edit, "|")
		}
		f, err := start(t.Context(), &database{db.cluster, 200}, t.TempDir(), options{policy: edits})
		if err != nil {
			t.Fatal(err)
		}
		client := f.connect(t)
		ctx, cancel := context.WithTimeout(t.Context(), hang)
		defer cancel()
		_, err = client.PgConn().Exec(ctx, c.sql).ReadAll()
		if pe := pgError(err); pe == nil || pe.Code != c.code || !strings.Contains(pe.Hint, c.hint) {
			t.Errorf("%s: %v, want %s with a hint on %s", c.sql, err, c.code, c.hint)
		} else {
			t.Log(pe.Message, "|", pe.Hint)
		}
		if err := f.stop(); err != nil {
			t.Error(err)
		}
	}
}
