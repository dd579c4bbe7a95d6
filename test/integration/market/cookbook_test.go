package market

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/examples/marketplace"
	"fugu/test/beside"
	"fugu/test/patient"
)

var update = flag.Bool("update", false, "write docs/cookbook.md and the table of docs/choosing.md anew")

const cookbookPage = "../../../docs/cookbook.md"

// TestCookbook asks the statements of docs/cookbook.md of the twin and with noise, and compares the page with
// what became of them. What the page says of noise (answered, refused with which SQLSTATE and words, how large it
// is) depends on no chance, as EXPLAIN (PRIVACY) says it. What it says of the twin is a bound that cookbook.sql
// states, on the median error of a statement's cells, and holds for twins whose noise is at most twice its scale, as
// in TestAnalyst: it asks the same one. With -builds 10 it is asked of those of ten.
func TestCookbook(t *testing.T) {
	patient.Test(t)
	m := load(t)
	recipes, err := marketplace.Recipes()
	if err != nil {
		t.Fatal(err)
	}
	m.thin(t)
	truth := connect(t, m.cluster.DSN("postgres", database))

	m.twins(t, func(twin *served, noise float64) {
		if math.Abs(noise) <= 2*within {
			checkTwin(t, truth, connect(t, twin.dsn("alice")), recipes)
		}
	})

	// Each statement costs up to epsilon 1, and the page has more of them than a usual budget.
	config := m.configure(t, t.TempDir(), noise(), "epsilon: 30, delta: 0.001", "epsilon: 3000, delta: 0.1")
	noisy := m.serve(t, config, thinned)
	defer noisy.stop(t)
	page := cookbook(t, connect(t, noisy.dsn("alice")), recipes)
	if *update {
		if err := os.WriteFile(cookbookPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(cookbookPage); err != nil || string(got) != page {
		t.Errorf("docs/cookbook.md is not what happens (%v); run go test ./test/integration/market -run Cookbook "+
			"-update, and look at what has changed", err)
	}
}

const thinned = "thinned"

// noise is the setting that answers with noise, of what thin.sql leaves.
func noise() setting {
	return setting{"fugu-noise.yaml", "marketplace-noise.policy.yaml", thinned, 243000, *orders - *orders/10}
}

// thin makes the database in which a tenth of the orders is given away, if no test has before.
func (m *market) thin(t *testing.T) {
	t.Helper()
	conn := connect(t, m.cluster.DSN("postgres", "postgres"))
	var there bool
	const looking = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)"
	if err := conn.QueryRow(t.Context(), looking, thinned).Scan(&there); err != nil || there {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(filepath.Join(example, "thin.sql"))
	if err != nil {
		t.Fatal(err)
	}
	// The copy has no twin: noise and twins of one table are alternatives. Who looked at the database has to be gone.
	const leave = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + database + "'"
	for _, s := range []struct{ database, sql string }{
		{"postgres", leave}, {"postgres", "CREATE DATABASE " + thinned + " TEMPLATE " + database},
		{thinned, "DROP SCHEMA IF EXISTS fugu_twin CASCADE"}, {thinned, "BEGIN;" + string(text) + "COMMIT;"},
	} {
		if err := m.cluster.Exec(t.Context(), s.database, s.sql); err != nil {
			t.Fatal(err)
		}
	}
}

// checkTwin asks each statement of the twin and of the true tables.
func checkTwin(t *testing.T, truth, twin *pgx.Conn, recipes []marketplace.Recipe) {
	t.Helper()
	for _, r := range recipes {
		told, err := beside.Query(t.Context(), twin, r.SQL)
		if err != nil {
			t.Errorf("%s, on the twin: %v", r.Title, err)
			continue
		}
		if r.Near == 0 {
			continue
		}
		true, err := beside.Query(t.Context(), truth, r.SQL)
		if err != nil {
			t.Fatalf("%s: %v", r.Title, err)
		}
		off := beside.Median(beside.Cells(true, told, r.Keys))
		t.Logf("%5.1f%% of at most %2.0f%%: %s", 100*off, 100*r.Near, r.Title)
		if !(off <= r.Near) {
			t.Errorf("%s: the twin is off by %.1f%%, the page says at most %.0f%%", r.Title, 100*off, 100*r.Near)
		}
	}
}

const (
	cookbookMark = "<!-- Written by `go test ./test/integration/market -run Cookbook -update`; do not edit. -->"
	cookbookTop  = "Statements that analysts and BI tools ask all day, and what becomes of them: on a twin, and with " +
		"noise. They are asked of [the marketplace](../examples/marketplace/README.md) in a test " +
		"(`test/integration/market/cookbook_test.go`), which fails when this page says what does not happen; " +
		"the statements stand in `examples/marketplace/cookbook.sql`. The secret, within .02, is the share of orders " +
		"that go to the largest supplier."
	cookbookTwin = "**Twin**: by how much answers are off at most, in the median of a statement's cells, at 120,000 " +
		"orders and ε = 1, as long as the noise on the secret is not beyond twice its scale (it is once in seven " +
		"builds). Nothing is charged."
	cookbookNoise = "**Noise**: how large the noise is, beside what is expected of all cells, at 108,000 orders, a " +
		"reference of 12,000 and ε = 1 a statement, as `EXPLAIN (PRIVACY)` says it before anything is paid; the " +
		"policy is `marketplace-noise.policy.yaml`. What is refused costs nothing. [What makes noise " +
		"small](mechanisms.md#what-makes-noise-small); [the whole list](sql-support.md) of what is answered."
)

// cookbook is the page, with what becomes of each statement that is asked with noise.
func cookbook(t *testing.T, noisy *pgx.Conn, recipes []marketplace.Recipe) string {
	t.Helper()
	page := []string{cookbookMark, "# Cookbook", fold(cookbookTop), fold(cookbookTwin), fold(cookbookNoise)}
	for _, r := range recipes {
		twin := "- **Twin**: answered."
		if r.Near > 0 {
			twin = fmt.Sprintf("- **Twin**: answered, off by at most %.0f%%.", 100*r.Near)
		}
		said, refused := outcome(t, noisy, r.SQL)
		noise := strings.ReplaceAll(fold("- **Noise**: "+said), "\n", "\n  ")
		page = append(page, "## "+r.Title, fence(r.SQL), twin+"\n"+noise)
		if r.Note != "" {
			page = append(page, fold(r.Note))
		}

		if r.Noise == "" {
			continue
		}
		if !refused {
			t.Errorf("%s is answered with noise, and the page has something else for it", r.Title)
		}
		instead, refused := outcome(t, noisy, r.Noise)
		if refused {
			t.Errorf("%s: what to write instead is refused, too: %s", r.Title, instead)
		}
		page = append(page, "With noise, instead:", fence(r.Noise), strings.ToUpper(instead[:1])+instead[1:])
	}
	return strings.Join(page, "\n\n") + "\n"
}

func fence(sql string) string { return "```sql\n" + sql + "\n```" }

// fold breaks a paragraph into lines that are short enough for a list, too.
func fold(text string) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > 116 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return strings.Join(append(lines, line), "\n")
}

// outcome is what becomes of a statement with noise, in words. It is explained, and then really asked.
func outcome(t *testing.T, noisy *pgx.Conn, sql string) (words string, refused bool) {
	t.Helper()
	var text string
	explained := noisy.QueryRow(t.Context(), "EXPLAIN (PRIVACY, FORMAT JSON) "+sql).Scan(&text)
	_, err := beside.Query(t.Context(), noisy, sql)
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return fmt.Sprintf("refused with %s: %s. *%s*", said.Code, said.Message, said.Hint), true
	}
	if err != nil || explained != nil {
		t.Fatalf("%s: %v, explained: %v", sql, err, explained)
	}

	var plans []struct {
		Noise []struct {
			Error float64 `json:"relative_error"`
		} `json:"noise"`
	}
	if err := json.Unmarshal([]byte(text), &plans); err != nil || len(plans) != 1 {
		t.Fatalf("%s: %v in %s", sql, err, text)
	}
	worst := 0.
	for _, n := range plans[0].Noise {
		worst = max(worst, n.Error)
	}
	switch {
	case len(plans[0].Noise) == 0:
		return "answered exactly, and free.", false
	case worst > 1:
		return "answered with more noise than there is to see (`SET fugu.max_error` refuses such a statement, " +
			"uncharged).", false
	}
	return fmt.Sprintf("answered, off by some %s.", percent(worst)), false
}

// percent is a share with one digit that counts, so that what is computed on another processor is the same text.
func percent(share float64) string {
	digits := math.Pow(10, math.Floor(math.Log10(share)))
	return fmt.Sprintf("%.2g%%", 100*math.Round(share/digits)*digits)
}
