package integration

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/mechanism"
	"fugu/sqlstate"
	"fugu/test/patient"
)

// Every mechanism that a session may name answers a count by sex through the proxy, within 20 standard deviations of
// the truth (18 values, each beyond that with probability at most e^-28: a false alarm below 1e-10), or is refused for
// a reason: no-noise does not hide what moves. Each answer names its mechanism and assumptions.
func TestEveryMechanismThroughTheProxy(t *testing.T) {
	patient.Test(t)
	const sql = "SELECT sex, count(*) FROM adult GROUP BY sex ORDER BY sex"
	truth, err := countsByName(t, adultDatabase(t).truth(t), sql)
	if err != nil || len(truth) != 2 {
		t.Fatal(truth, err)
	}
	answered := map[mechanism.Kind]bool{}
	for _, kind := range mechanism.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			server := serve(t, options{})
			c := server.connect(t)
			if _, err := c.Exec(t.Context(), "SET fugu.mechanism = '"+string(kind)+"'"); err != nil {
				t.Fatal(err)
			}
			got, err := countsByName(t, c, sql)
			if err != nil {
				var refusal *pgconn.PgError
				if !errors.As(err, &refusal) || refusal.Code != string(sqlstate.InvalidParameterValue) &&
					refusal.Code != string(sqlstate.BudgetExhausted) {
					t.Fatal(err)
				}
				t.Logf("refused: %s: %s", refusal.Code, refusal.Message)
				return
			}
			answered[kind] = true
			var name, assumption string
			var sd float64
			if err := c.QueryRow(t.Context(), "SELECT mechanism, assumption, max(noise_sd) FROM fugu.last_release "+
				"GROUP BY 1, 2").Scan(&name, &assumption, &sd); err != nil {
				t.Fatal(err)
			}
			if kind != mechanism.Auto && name != string(kind) || !strings.Contains(assumption, mechanism.Translation) {
				t.Errorf("answered by %s, assuming %s", name, assumption)
			}
			for sex, want := range truth {
				if off := math.Abs(got[sex] - want); off > 20*sd {
					t.Errorf("%s: %g off, with noise of %g", sex, off, sd)
				}
			}
			t.Logf("noise of %.3g, assuming %s", sd, assumption)
		})
	}
	for _, kind := range []mechanism.Kind{mechanism.Auto, mechanism.ExpmLaplace, mechanism.ExpmGaussian,
		mechanism.Directional,
		mechanism.Wasserstein, mechanism.ApproximateWasserstein, mechanism.Eigm, mechanism.Daum,
		mechanism.OptimalGaussian, mechanism.Apgm} {
		if !answered[kind] {
			t.Errorf("%s did not answer", kind)
		}
	}
	if answered[mechanism.NoNoise] {
		t.Error("no-noise answered")
	}
}

// countsByName returns the numbers of a statement's second column by the names in its first.
func countsByName(t *testing.T, c *pgx.Conn, sql string) (map[string]float64, error) {
	t.Helper()
	rows, err := c.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	var name string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		counts[name] = float64(n)
		return nil
	})
	return counts, err
}
