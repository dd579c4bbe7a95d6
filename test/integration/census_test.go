package integration

import (
	"fmt"
	"strings"
	"testing"

	"fugu/test/adult"
	"fugu/test/pgcluster"
	"fugu/twin/build"
)

const censusPolicy = `version: 1
dataset: adult
tables:
  public.adult:
    rows: %d
    answers: twin
    twin: {rows: shown, drop: [fnlwgt], known_rows: 0}
secrets:
  high_income: {table: public.adult, proportion: income = '>50K', values: {from: 0.10, to: 0.60, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 1, delta: 0.001, per: dataset}}
analysts: [alice, fugu_guest]
`

// census is the Adult table with a twin, in a database of its own.
var census *database

func censusDatabase(t testing.TB) *database {
	t.Helper()
	if census != nil {
		return census
	}
	c := pgcluster.Shared(t)
	loaded, err := adult.Load(t.Context(), c, "census", adult.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(t.Context(), "census",
		`CREATE ROLE census_keeper LOGIN; GRANT SELECT ON adult TO census_keeper;
	  GRANT CREATE ON DATABASE census TO census_keeper;
	  CREATE SCHEMA own AUTHORIZATION fugu_guest; GRANT USAGE ON SCHEMA own TO fugu_reader;
	  CREATE TABLE own.country (name text PRIMARY KEY, continent text); ALTER TABLE own.country OWNER TO fugu_guest;
	  INSERT INTO own.country VALUES ('Male', 'M'), ('Female', 'F')`); err != nil {
		t.Fatal(err)
	}
	census = &database{c, loaded.Rows}
	return census
}

// buildCensus builds the twin of the census.
func buildCensus(t testing.TB, o build.Options) {
	t.Helper()
	db := censusDatabase(t)
	buildTwins(t, db.cluster.DSN("census_keeper", "census"), fmt.Sprintf(censusPolicy, db.rows),
		build.Keeper{Guests: []string{"fugu_guest"}}, o)
}

var censusBuilt bool

// serveCensus starts a Fugu over the census with its twin; edits are of the policy, old and new in turn.
func serveCensus(t testing.TB, edits ...string) (f *fugu, through, direct string) {
	t.Helper()
	adultDatabase(t)
	db := censusDatabase(t)
	if !censusBuilt {
		buildCensus(t, build.Options{})
		censusBuilt = true
	}
	text := strings.NewReplacer(edits...).Replace(fmt.Sprintf(censusPolicy, db.rows))
	f = serve(t, options{guest: db.cluster.DSN("fugu_guest", "census"), reader: db.cluster.DSN("fugu_reader", "census"),
		policyText: text})
	return f, strings.Replace(f.dsn("alice"), "/adult", "/census", 1), db.cluster.DSN("fugu_guest", "census")
}
