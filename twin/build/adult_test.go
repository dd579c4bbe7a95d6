package build_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/adult"
	"fugu/test/patient"
	"fugu/test/pgcluster"
	"fugu/test/policies"
	"fugu/test/serving"
	"fugu/twin/build"
)

const adultPolicy = `version: 1
dataset: adult
tables:
  public.adult: {rows: %d, answers: twin, twin: {rows: shown, drop: [fnlwgt], known_rows: 0}}
secrets:
  high_income: {table: public.adult, proportion: income = '>50K', values: {from: 0.10, to: 0.60, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 1, delta: 0.001, per: dataset}}
`

// A table without a primary key, and what its twin says beside it: Σ|error|/Σ|F| of grouped counts and of an average.
// The bounds are five times what the law expects; a twin of the wrong size or weights is far beyond them. The seed is
// fixed: noise on the secret that moves a quarter of all rows, beyond the bounds, has a chance of a thousandth.
func TestAdult(t *testing.T) {
	patient.Test(t)
	c := pgcluster.Shared(t)
	loaded, err := adult.Load(t.Context(), c, "adult_twin", adult.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(t.Context(), "adult_twin", "CREATE ROLE adult_keeper LOGIN; GRANT SELECT "+
		"ON adult TO adult_keeper; GRANT CREATE ON DATABASE adult_twin TO adult_keeper"); err != nil {
		t.Fatal(err)
	}
	p := policies.Load(t, fmt.Sprintf(adultPolicy, loaded.Rows))
	built, err := serving.BuildTwins(t.Context(), c.DSN("adult_keeper", "adult_twin"), p,
		build.Keeper{Guests: []string{"fugu_guest"}, Random: rand.NewChaCha8([32]byte{5})}, build.Options{})
	if err != nil {
		t.Fatal(err)
	}
	made := built[0].Twins[0]
	t.Logf("told %v, taken %v of %d rows", made.Told, made.Taken, loaded.Rows)

	admin, err := pgx.Connect(t.Context(), c.DSN("postgres", "adult_twin"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(t.Context()) }()
	for sql, most := range map[string]float64{
		"SELECT education, count(*) FROM %s GROUP BY 1":                      .25,
		"SELECT race, count(*) FROM %s GROUP BY 1":                           .1,
		"SELECT sex || education, count(*) FROM %s GROUP BY 1":               .3,
		"SELECT age, count(*) FROM %s GROUP BY 1":                            .35,
		"SELECT education, avg(age) FROM %s GROUP BY 1":                      .15,
		"SELECT 1, count(*) FROM %s":                                         1e-9,
		"SELECT education, count(*) FROM %s WHERE sex = 'Female' GROUP BY 1": .35,
	} {
		truth, told := values(t, admin, fmt.Sprintf(sql, "adult")), values(t, admin,
			fmt.Sprintf(sql, "fugu_twin.adult"))
		var off, all float64
		for key, v := range truth {
			off, all = off+math.Abs(told[key]-v), all+math.Abs(v)
		}
		t.Logf("%.4f  %s", off/all, strings.ReplaceAll(sql, "%s", "adult"))
		if !(off/all <= most) {
			t.Errorf("%s: relative error %.3f, more than %.3f", sql, off/all, most)
		}
	}
}

// values is a map from the first column of a query's rows to the second.
func values(t testing.TB, c *pgx.Conn, sql string) map[string]float64 {
	t.Helper()
	rows, _ := c.Query(t.Context(), "SELECT a::text, b::text FROM ("+sql+") AS x(a, b)")
	out := map[string]float64{}
	var key, value string
	if _, err := pgx.ForEachRow(rows, []any{&key, &value}, func() (err error) {
		out[key], err = strconv.ParseFloat(value, 64)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}
