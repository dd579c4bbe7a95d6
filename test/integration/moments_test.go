package integration

import (
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// Variances, correlation and regression through Fugu: each answer is PostgreSQL's with noise of the size that Fugu
// says, and that noise is no larger than the answer is useful for. An answer may be off by 16 of its standard
// deviations: the tails of Laplace noise beyond that have probability e^(-16√2) < 2e-10, over 60 values less than 1e-7.
func TestSecondMoments(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	f := serve(t, options{policy: []string{"epsilon: 20,", "epsilon: 1000,"}})
	client, truth := f.connect(t), db.truth(t)
	for _, c := range []struct {
		aggregates []string
		rest       string
		// the noise's standard deviation, as a share of the answer's size, at most; 0: groups may be too small
		useful float64
	}{
		{[]string{"stddev(age)", "var_pop(age)"}, "", 0.2},
		{[]string{"stddev_pop(hours_per_week)", "avg(hours_per_week)"}, "WHERE sex = 'Female'", 0.2},
		{[]string{"covar_pop(age, hours_per_week)", "regr_sxx(age, hours_per_week)", "regr_avgy(age, hours_per_week)",
			"regr_count(age, hours_per_week)"}, "", 1},
		{[]string{"corr(age, hours_per_week)", "regr_slope(age, hours_per_week)",
			"regr_intercept(age, hours_per_week)"}, "", 1},
		{[]string{"stddev(age)", "corr(age, hours_per_week)", "count(*)"}, "GROUP BY sex ORDER BY sex", 1},
		{[]string{"stddev(age)", "regr_slope(hours_per_week, age)"}, "GROUP BY education ORDER BY education", 0},
	} {
		sql := "SELECT " + strings.Join(c.aggregates, "::float8, ") + "::float8 FROM adult " + c.rest
		got, want := numbers(t, client, sql), numbers(t, truth, sql)
		if len(got) != len(want) {
			t.Fatalf("%s: %d rows, want %d", sql, len(got), len(want))
		}
		for k, name := range c.aggregates {
			released := numbers(t, client, "SELECT noise_sd::float8 FROM fugu.last_release WHERE column_name = $1",
				name)
			most := 0.0
			for _, r := range released {
				most = math.Max(most, *r[0])
			}
			for i := range got {
				if got[i][k] == nil || want[i][k] == nil {
					if c.useful > 0 {
						t.Errorf("%s: row %d has no %s", sql, i, name)
					}
					continue
				}
				sd := most // where groups have no value, which is whose is not known
				if len(released) == len(got) {
					sd = *released[i][0]
				}
				switch v, exact := *got[i][k], *want[i][k]; {
				case !(math.Abs(v-exact) <= 16*sd):
					t.Errorf("%s: %s is %g, want %g with noise of %g", sql, name, v, exact, sd)
				case c.useful > 0 && sd > c.useful*math.Abs(exact):
					t.Errorf("%s: noise of %g on a %s of %g", sql, sd, name, exact)
				default:
					t.Logf("%s %s: %g, without noise %g, sd %.3g", name, c.rest, v, exact, sd)
				}
			}
		}
	}
}

// numbers reads an answer of numbers; nil is NULL.
func numbers(t *testing.T, c *pgx.Conn, sql string, args ...any) [][]*float64 {
	t.Helper()
	rows, err := c.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]*float64, error) {
		values := make([]*float64, len(row.FieldDescriptions()))
		into := make([]any, len(values))
		for i := range values {
			into[i] = &values[i]
		}
		return values, row.Scan(into...)
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}
