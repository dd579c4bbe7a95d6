package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/patient"
)

// What a policy says of its model reaches the client: in EXPLAIN (PRIVACY), in fugu.last_release and in the budget.
func TestAssumptionsReachTheClient(t *testing.T) {
	patient.Test(t)
	for name, test := range map[string]struct {
		policy                                     []string
		sql, mechanism, assumption, explain, hides string
	}{
		"relaxed": {[]string{"assume: [translation, gaussian]", "assume: [translation]", "mechanism: auto",
			"mechanism: expm-laplace\n  model: {within: {rows: 5, lambda: 0.1}}"},
			"SELECT count(*) FROM adult WHERE age > 40", "expm-laplace", "translation, relaxed",
			"Relaxed: the true table is at most 5 rows from the model's", "high_income"},
		"network": {[]string{"secrets:\n  high_income:", `networks:
  public.adult:
    independent: [age]
    parameters:
      incomes: {column: income, values: [low, high], probabilities: [[0.5, 0.5]]}
      schooling: {column: education, values: [short, long], parents: [incomes], probabilities: [[0.6, 0.4], [0.4, 0.6]]}
      hours: {column: hours_per_week, values: [few, many], parents: [schooling],
        probabilities: [[0.62, 0.38], [0.38, 0.62]]}
secrets:
  high_income:`, "proportion: income = '>50K'      # proportion: PREDICATE | mean: EXPRESSION | categories: COLUMN\n" +
			"    values: {from: 0.10, to: 0.60, within: 0.05}   " +
			"# protect every pair of values in the range at most 0.05 apart", "parameter: incomes",
			"proportion: workclass = 'Private'\n    pairs: [[0.68, 0.72]]", "parameter: hours"},
			"SELECT count(*) FROM adult WHERE education = 'Masters'", "markov-quilt", "independent columns",
			"Parameter private_sector is one with hours, given schooling (influence 0.4895)", "private_sector"},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, options{policy: test.policy})
			c := server.connect(t)
			told, _ := c.Query(t.Context(), "EXPLAIN (PRIVACY) "+test.sql)
			lines, err := pgx.CollectRows(told, pgx.RowTo[string])
			if text := strings.Join(lines, "\n"); err != nil || !strings.Contains(text, test.explain) ||
				!strings.Contains(text, test.assumption) {
				t.Errorf("%v:\n%s", err, text)
			}

			// What is said of the release when there is one.
			var n int64
			if err := c.QueryRow(t.Context(), test.sql).Scan(&n); err != nil {
				t.Fatal(err)
			}
			var mechanism, assumption, secret string
			const last = "SELECT mechanism, assumption, secret FROM fugu.last_release LIMIT 1"
			if err := c.QueryRow(t.Context(), last).Scan(&mechanism, &assumption, &secret); err != nil {
				t.Fatal(err)
			}
			if mechanism != test.mechanism || assumption != test.assumption || secret != test.hides {
				t.Errorf("%s, %s, for %s", mechanism, assumption, secret)
			}
			var spent float64
			if err := c.QueryRow(t.Context(), "SELECT max(epsilon_spent) FROM fugu.budget").Scan(&spent); err != nil ||
				!(spent > .4 && spent <= 1+1e-6) {
				t.Errorf("spent %v, %v", spent, err)
			}
		})
	}
}

// What the policy says of the model and of what is public, through psql: parts of the model that are only nearly right
// are named and charged, and a public statement is answered exactly, for nothing.
func TestModelKeysInPsql(t *testing.T) {
	patient.Test(t)
	const spent = "SELECT 'spent ' || round(epsilon_spent::numeric, 3) FROM fugu.budget WHERE secret = 'high_income';\n"
	relaxed := serve(t, options{policy: []string{"mechanism: auto",
		"mechanism: auto\n  model: {within: {eta: 1e-15, lambda: 0.01}}"}})
	out, err := relaxed.psql(t, "EXPLAIN (PRIVACY) SELECT count(*) FROM adult WHERE age > 40;\n"+
		"SELECT 'told ' || (count(*) > 0) FROM adult WHERE age > 40;\n"+
		"SELECT 'rests on ' || assumption FROM fugu.last_release LIMIT 1;\n"+spent)
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{"Relaxed: ", "told true\n", "relaxed\n", "spent 0.9"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}

	totals := cellsOf(t, adultDatabase(t).truth(t), "SELECT sex, count(*) FROM adult GROUP BY sex")
	values := fmt.Sprintf("{count(*) at sex=Female: %.0f, count(*) at sex=Male: %.0f}", totals["Female"],
		totals["Male"])
	public := serve(t, options{policy: []string{"analysts: ", "public:\n  sexes:\n    statement: SELECT sex, " +
		"count(*) FROM adult GROUP BY sex\n    values: " + values + "\nanalysts: ",
		"  private_sector:\n    table: public.adult\n    proportion: workclass = 'Private'\n    pairs: [[0.68, " +
			"0.72]]\n", ""}})
	out, err = public.psql(t, "SELECT 'everybody knows ' || sex || ' ' || count(*) FROM adult GROUP BY sex;\n"+spent)
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{fmt.Sprintf("everybody knows Female %.0f\n", totals["Female"]),
		fmt.Sprintf("everybody knows Male %.0f\n", totals["Male"]), "spent 0.000\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}

	// How far from normal the rows' sums are given what is public nobody knows: what counts on it is refused,
	// uncharged.
	out, _ = public.psql(t, "\\set VERBOSITY sqlstate\nSET fugu.mechanism = 'optimal-gaussian';\n"+
		"SELECT count(*) FROM adult WHERE age > 40;\n"+spent)
	if !strings.Contains(out, "PV004") || !strings.Contains(out, "spent 0.000\n") {
		t.Errorf("a mechanism that counts the randomness of the rows, beside what is public:\n%s", out)
	}
}
