package integration

import (
	"crypto/sha256"
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
	"fugu/twin/build"
)

const shownPolicy = `version: 1
dataset: shown
database: shown
tables:
  public.adult:
    rows: %d
    reference: public.adult_reference
    answers: twin
    twin:
      rows: shown
      drop: [fnlwgt, income]
      columns:
        sex: {obfuscate: {epsilon: 0.3, delta: 1e-9}}
        hours_per_week: {transport: {hide: high_income, target: pooled, cost: absolute}}
secrets:
  high_income: {table: public.adult, proportion: income = '>50K', values: {from: 0.10, to: 0.60, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 1, delta: 0.001, per: dataset}}
`

// buildShown loads the census into a database of its own and builds its twin, with fixed random bytes.
func buildShown(t testing.TB) (db *database) {
	t.Helper()
	adultDatabase(t)
	c := pgcluster.Shared(t)
	loaded, err := adult.Load(t.Context(), c, "shown", adult.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(t.Context(), "shown", `CREATE ROLE shown_keeper LOGIN; GRANT SELECT ON adult, adult_reference TO
		shown_keeper; GRANT CREATE ON DATABASE shown TO shown_keeper`); err != nil {
		t.Fatal(err)
	}
	buildTwins(t, c.DSN("shown_keeper", "shown"), fmt.Sprintf(shownPolicy, loaded.Rows), build.Keeper{
		Random: rand.NewChaCha8(sha256.Sum256([]byte("shown"))), Guests: []string{"fugu_guest"}}, build.Options{})
	return &database{c, loaded.Rows}
}

// Columns that are shown row by row, through psql: what a session is told, the channel, and a count that is inverted by
// it. The inverted count of women is 2,000 rows off at most, which are five standard deviations of about 390 (that of
// the channel over the 17,000 rows of the sample, and of the sample); as it is shown it is off by 10,000.
func TestShownColumns(t *testing.T) {
	patient.Test(t)
	db := buildShown(t)
	f := serve(t, options{guest: db.cluster.DSN("fugu_guest", "shown"), reader: db.cluster.DSN("fugu_reader", "shown"),
		policyText: fmt.Sprintf(shownPolicy, db.rows)})
	out, err := f.psql(t, `
SELECT 'rows ' || count(*) FROM adult;
SELECT column_name, outcome, count(*), count(DISTINCT to_value) > 1, round(sum(probability)::numeric, 9)
  = count(DISTINCT from_value) FROM fugu.channel WHERE table_name = 'public.adult' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT 'shown ' || count(*) FROM adult WHERE sex = 'Female';
SELECT 'inverted ' || round((count(*) FILTER (WHERE sex = 'Female') - b * count(*)) / (a - b)) FROM adult,
  (SELECT max(probability) FILTER (WHERE from_value = 'Female') AS a,
     max(probability) FILTER (WHERE from_value = 'Male') AS b
   FROM fugu.channel WHERE column_name = 'sex' AND to_value = 'Female') AS channel GROUP BY a, b;
SELECT 'told ' || sum(told) FROM fugu.twin;
SELECT from_value || ' as ' || to_value || ': ' || round(probability::numeric, 4) FROM fugu.channel
  WHERE column_name = 'sex' ORDER BY 1;
`, "PGDATABASE=shown")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("psql says\n%s", out)
	for _, want := range []string{"values of sex, hours_per_week are drawn row by row, and fugu.channel has the " +
		"chances",
		fmt.Sprintf("told %d\n", db.rows), "hours_per_week|high_income=false|", "sex||4|t|t\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("psql does not say %q", want)
		}
	}

	direct, err := pgx.Connect(t.Context(), db.cluster.DSN("postgres", "shown"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = direct.Close(t.Context()) }()
	var women float64
	if err := direct.QueryRow(t.Context(), "SELECT count(*)::float8 FROM adult WHERE sex = 'Female'").Scan(
		&women); err != nil {
		t.Fatal(err)
	}
	t.Logf("%v women", women)
	if shown := valueBehind(t, out, "shown "); math.Abs(shown-women) < 5000 {
		t.Errorf("%v rows show Female, of %v: the column is as it was", shown, women)
	}
	if inverted := valueBehind(t, out, "inverted "); math.Abs(inverted-women) > 2000 {
		t.Errorf("inverted, the count of women is %v, and there are %v", inverted, women)
	}
}

// valueBehind is the number behind a word of psql's output.
func valueBehind(t testing.TB, out, word string) float64 {
	t.Helper()
	_, rest, ok := strings.Cut(out, "\n"+word)
	number, _, _ := strings.Cut(rest, "\n")
	v, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil {
		t.Fatalf("no number behind %q: %v", word, err)
	}
	return v
}
