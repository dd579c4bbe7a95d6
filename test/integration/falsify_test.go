package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/privacy"
	"fugu/test/falsify"
	"fugu/test/nightly"
	"fugu/test/patient"
)

// fillExpected makes a table whose counts by sex are those that the model expects when a share p has high incomes: two
// such tables are as far apart as the model says of the pair.
func fillExpected(ctx context.Context, c *pgx.Conn, p float64) error {
	_, err := c.Exec(ctx,
		fmt.Sprintf(
			`WITH share AS (SELECT avg((sex = 'Female')::int) FILTER (WHERE income = '>50K') AS inside,
			  avg((sex = 'Female')::int) FILTER (WHERE income <> '>50K') AS outside FROM adult_reference),
	    gone AS (DELETE FROM adult)
	  INSERT INTO adult (sex, income) SELECT CASE
	    WHEN i <= %[1]d * (%[2]g * inside + (1 - %[2]g) * outside) THEN 'Female' ELSE 'Male' END, '>50K' FROM share,
	    generate_series(1, %[1]d) AS i`, fewRows, p))
	return err
}

// Releases through the proxy, as bytes on a socket, under the two ends of the pair .25 and .30: the policy's promise
// cannot be refuted; a policy with a quarter of the pair's width adds too little noise, and that is seen. The first
// fails with probability at most 1e-8 where the promise holds.
func TestReleasesThroughTheProxyKeepThePromise(t *testing.T) {
	patient.Test(t)
	for _, test := range []struct {
		within string
		holds  bool
	}{{"0.05", true}, {"0.0125", false}} {
		t.Run("within "+test.within, func(t *testing.T) {
			f, own := serveFew(t, "falsify", options{policy: []string{"within: 0.05", "within: " + test.within}})
			client := connect(t, strings.Replace(f.dsn("alice"), "/adult", "/falsify", 1))
			data := connect(t, own)
			now := 0.0
			sampler := func(p float64, _ *rand.Rand) []float64 {
				if p != now {
					now = p
					if err := fillExpected(t.Context(), data, p); err != nil {
						t.Fatal(err)
					}
				}
				return counts(t, client)
			}
			promise := privacy.Budget{Epsilon: 1, Delta: .001}
			found := falsify.Trial{Sampler: sampler, Pairs: [][2]float64{{.25, .3}}, Promise: promise,
				Tests: []falsify.Test{falsify.Logistic(false)},
				Train: nightly.Or(500, 200), Held: nightly.Or(3000, 600), Alarm: 1e-8, Seed: 1}.Run()
			t.Logf("promised %v: %v", promise, found)
			if found.Refutes(promise) == test.holds {
				t.Errorf("expected the promise to hold: %v", test.holds)
			}
		})
	}
}

func counts(t *testing.T, c *pgx.Conn) []float64 {
	t.Helper()
	rows, err := c.Query(t.Context(), "SELECT sex, count(*) FROM adult GROUP BY sex ORDER BY sex",
		pgx.QueryResultFormats{pgx.TextFormatCode})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []float64
	for rows.Next() {
		v, err := strconv.ParseFloat(string(rows.RawValues()[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return out
}
