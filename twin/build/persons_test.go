package build_test

import (
	"crypto/sha256"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// persons is a table of 6,000 rows with a name each, and a reference of 4,000 with other frequencies. One region of the
// table is none of the reference's, which has regions that are NULL.
const persons = `
CREATE TABLE people (id int PRIMARY KEY, name text NOT NULL, rich bool NOT NULL, sex text NOT NULL,
  region varchar(8) NOT NULL, hours numeric(5,1), CHECK (sex IN ('f', 'm') AND hours < 90));
INSERT INTO people SELECT i, 'n' || i, i % 4 = 0, CASE WHEN i % 10 < 3 THEN 'f' ELSE 'm' END,
  (ARRAY['north', 'south', 'east', 'gone'])[1 + i % 7 % 4], 20 + 10 * (i % 3 + (i % 4 = 0)::int) FROM generate_series(1,
  6000) i;
CREATE TABLE before (rich bool, sex text, region varchar(8), hours numeric(5,1));
INSERT INTO before SELECT i % 4 = 0, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END,
  (ARRAY['north', 'south', 'east', NULL, 'north'])[1 + i % 5], 20 + 10 * (i % 3 + (i % 4 = 0)::int)
  FROM generate_series(1, 4000) i;
GRANT SELECT ON people, before TO shop_keeper`

const personsPolicy = `version: 1
dataset: people
tables:
  public.people:
    rows: 6000
    reference: public.before
    answers: twin
    twin:
      rows: shown
      columns:
        sex: {obfuscate: {epsilon: 0.3, delta: 1e-9}}
        region: {obfuscate: {epsilon: 0.6, delta: 1e-9}}
        hours: {transport: {hide: rich, target: pooled, cost: absolute}}
secrets:
  rich: {table: public.people, proportion: rich, values: {from: 0.10, to: 0.40, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 5, delta: 0.1}}
`

// personsWorld is a world of people, with fixed random bytes.
func personsWorld(t testing.TB, name string, seed byte) *world {
	w := newWorld(t, name, persons, personsPolicy)
	w.keeper.Random = rand.NewChaCha8(sha256.Sum256([]byte{seed}))
	return w
}

// matrix is a channel as the list of the database has it: the probabilities of what is shown, by column, outcome of the
// secret that is hidden, and true value.
func (w *world) matrix() map[string]map[string]float64 {
	w.t.Helper()
	out := map[string]map[string]float64{}
	for _, line := range w.column(
		`SELECT column_name || ' ' || coalesce(x.outcome, '') || ' ' || coalesce(x."from", '-'),
			coalesce(x."to", '-'), x.weight
		FROM fugu_twin."fugu columns", jsonb_to_recordset(channel) AS x(outcome text, "from" text, "to" text,
			weight int8)`) {
		parts := strings.Split(line, "|")
		if out[parts[0]] == nil {
			out[parts[0]] = map[string]float64{}
		}
		weight, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil {
			w.t.Fatal(err)
		}
		out[parts[0]][parts[1]] = float64(weight) / (1 << 48)
	}
	return out
}

// showing are how many rows of the sample show what, by column, outcome and true value.
func (w *world) showings() map[string]map[string]int {
	w.t.Helper()
	out := map[string]map[string]int{}
	for _, line := range w.column(`SELECT DISTINCT ON (t.name) t.rich, p.sex, t.sex, CASE p.region WHEN 'gone' THEN
			'north' ELSE p.region END, coalesce(t.region, '-'), p.hours, t.hours
		FROM fugu_twin.people t JOIN people p USING (name) ORDER BY t.name`) {
		p := strings.Split(line, "|")
		rich := map[string]string{"t": "rich=true", "f": "rich=false"}[p[0]]
		for key, value := range map[string]string{"sex  " + p[1]: p[2], "region  " + p[3]: p[4],
			"hours " + rich + " " + p[5]: p[6]} {
			if out[key] == nil {
				out[key] = map[string]int{}
			}
			out[key][value]++
		}
	}
	return out
}

// follow is the p-value of Pearson's chi-square of what true values show against the channel: 0 if a value was shown
// that the channel excludes.
func follow(matrix map[string]map[string]float64, seen map[string]map[string]int) (p float64, n, freedom int) {
	chi := 0.
	for key, shown := range seen {
		rows, cells := 0, 0
		for value, k := range shown {
			if matrix[key][value] == 0 {
				return 0, n, freedom
			}
			rows += k
		}
		for value, chance := range matrix[key] {
			expected := chance * float64(rows)
			chi += math.Pow(float64(shown[value])-expected, 2) / expected
			cells++
		}
		n, freedom = n+rows, freedom+cells-1
	}
	return distuv.ChiSquared{K: float64(freedom)}.Survival(chi), n, freedom
}

// rows are what the rows of the sample show, by their names.
func (w *world) rows() map[string]string {
	out := map[string]string{}
	for _, line := range w.column("SELECT DISTINCT name, sex, region, hours FROM fugu_twin.people") {
		name, row, _ := strings.Cut(line, "|")
		out[name] = row
	}
	return out
}
