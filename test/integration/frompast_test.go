package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/ledger"
	"fugu/test/patient"
)

// pastPolicy has statements answered from the past where that is within three times a fresh answer's error.
var pastPolicy = []string{"budget: {epsilon: 20", "error: 300%\n  budget: {epsilon: 20"}

// drill is a client that drills a dashboard up, once its cells are paid for.
type drill struct {
	*testing.T
	conn    *pgx.Conn
	notices *[]string
	cells   map[string]int64 // by education and sex
}

// counts returns the numbers of a statement's second column by the names in its first.
func (d drill) counts(sql string, args ...any) map[string]int64 {
	d.Helper()
	rows, err := d.conn.Query(d.Context(), sql, args...)
	if err != nil {
		d.Fatalf("%s: %v", sql, err)
	}
	out := map[string]int64{}
	var key string
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&key, &n}, func() error { out[key] = n; return nil }); err != nil {
		d.Fatalf("%s: %v", sql, err)
	}
	return out
}

// spent is what the budget says.
func (d drill) spent() (text string) {
	d.Helper()
	if err := d.conn.QueryRow(d.Context(), "SELECT string_agg(secret || ' ' || epsilon_spent || ' ' || releases, ', ' "+
		"ORDER BY secret) FROM fugu.budget").Scan(&text); err != nil {
		d.Fatal(err)
	}
	return text
}

func (d drill) exec(statements ...string) {
	d.Helper()
	for _, sql := range statements {
		if _, err := d.conn.Exec(d.Context(), sql); err != nil {
			d.Fatal(err)
		}
	}
}

// sum adds up the cells by what keep calls them; those that it does not name are left out.
func (d drill) sum(keep func(education, sex string) string) map[string]int64 {
	out := map[string]int64{}
	for key, n := range d.cells {
		education, sex, _ := strings.Cut(key, ":")
		if k := keep(education, sex); k != "" {
			out[k] += n
		}
	}
	return out
}

// A dashboard that is drilled up: the cells are paid for, and every margin of them is free and adds up with them.
func TestDrillUp(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{policy: pastPolicy})
	c, notices := f.noticing(t)
	d := drill{T: t, conn: c, notices: notices}

	d.cells = d.counts("SELECT education || ':' || sex, count(*) FROM adult GROUP BY education, sex")
	before := d.spent()
	if !strings.Contains(before, " 1,") && !strings.HasSuffix(before, " 1") {
		t.Fatalf("spent %s: the cells are free", before)
	}

	d.margins()
	if after := d.spent(); after != before {
		t.Errorf("spent %s, and %s before the margins", after, before)
	}
	var shown string
	if err := c.QueryRow(t.Context(), "SELECT string_agg(DISTINCT mechanism, ', ' ORDER BY mechanism) "+
		"FROM fugu.releases").Scan(&shown); err != nil || shown != "directional, "+ledger.Derived {
		t.Errorf("releases show %q, %v", shown, err)
	}

	d.confidence()
	d.drawnAfresh(before)
	if _, err := f.ledger.Audit(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// margins are free, what the cells add up to, and have an interval all the same.
func (d drill) margins() {
	d.Helper()
	for _, margin := range []struct {
		sql  string
		args []any
		want map[string]int64
	}{
		{"SELECT sex, count(*) FROM adult GROUP BY sex", nil, d.sum(func(_, s string) string { return s })},
		{"SELECT education, count(*) FROM adult GROUP BY education ORDER BY 2 DESC", nil,
			d.sum(func(e, _ string) string { return e })},
		{"SELECT 'all', count(*) FROM adult WHERE sex = $1", []any{"Male"},
			d.sum(func(_, s string) string { return map[string]string{"Male": "all"}[s] })},
		{"SELECT sex, count(*) FROM adult WHERE education = ANY($1) GROUP BY sex",
			[]any{[]string{"Masters", "Doctorate"}},
			d.sum(func(e, s string) string { return map[string]string{"Masters": s, "Doctorate": s}[e] })},
		{"SELECT coalesce(sex, 'all'), count(*) FROM adult WHERE education LIKE 'B%' GROUP BY CUBE (sex) " +
			"HAVING sex = 'Male'", nil,
			d.sum(func(e, s string) string {
				if s == "Male" && e[0] == 'B' {
					return s
				}
				return ""
			})},
	} {
		got := d.counts(margin.sql, margin.args...)
		if fmt.Sprint(got) != fmt.Sprint(margin.want) {
			d.Errorf("%s: %v, and the cells add up to %v", margin.sql, got, margin.want)
		}
		if again := d.counts(margin.sql, margin.args...); fmt.Sprint(again) != fmt.Sprint(got) {
			d.Errorf("%s: another answer when asked again", margin.sql)
		}
		var mechanism, assumption string
		var epsilon, sd, least float64
		if err := d.conn.QueryRow(d.Context(), "SELECT DISTINCT mechanism, assumption, max(epsilon), max(noise_sd), "+
			"min(upper - lower) FROM fugu.last_release GROUP BY 1, 2").Scan(&mechanism, &assumption, &epsilon, &sd,
			&least); err != nil {
			d.Fatal(err)
		}
		if mechanism != ledger.Derived || assumption == "" || epsilon != 0 || !(sd > 1) || !(least > 0) {
			d.Errorf("%s: %s, %s, epsilon %v, sd %v, interval %v", margin.sql, mechanism, assumption, epsilon, sd,
				least)
		}
	}
}

// confidence: another one widens the interval of what was computed, too.
func (d drill) confidence() {
	d.Helper()
	widths := map[string]float64{}
	for _, confidence := range []string{"0.5", "0.99"} {
		d.exec("SET fugu.confidence = " + confidence)
		d.counts("SELECT sex, count(*) FROM adult GROUP BY sex")
		var w float64
		if err := d.conn.QueryRow(d.Context(), "SELECT max(upper - lower) FROM fugu.last_release").Scan(
			&w); err != nil {
			d.Fatal(err)
		}
		widths[confidence] = w
	}
	if !(widths["0.5"] < widths["0.99"]/2) {
		d.Errorf("widths %v", widths)
	}
}

// drawnAfresh: fugu.error = 0 has a margin drawn, and that is told from then on, to everybody.
func (d drill) drawnAfresh(before string) {
	d.Helper()
	d.exec("SET fugu.notices = on", "SET fugu.error = '0'")
	*d.notices = nil
	fresh := d.counts("SELECT sex, count(*) FROM adult GROUP BY sex")
	if d.spent() == before || len(*d.notices) != 1 || contains((*d.notices)[0], "from answers") {
		d.Errorf("drawn afresh: spent %s, notices %q", d.spent(), *d.notices)
	}
	d.exec("RESET fugu.error")
	if now := d.counts("SELECT sex, count(*) FROM adult GROUP BY sex"); fmt.Sprint(now) != fmt.Sprint(fresh) {
		d.Errorf("%v, and %v was drawn", now, fresh)
	}

	// From the margin and the cells together a number is better than from either.
	*d.notices = nil
	better := d.counts("SELECT 'men', count(*) FROM adult WHERE sex = 'Male' AND education IS NOT NULL")
	if len(better) != 1 || len(*d.notices) != 1 || !contains((*d.notices)[0], "no cost") {
		d.Errorf("%v, %q", better, *d.notices)
	}
	if _, err := d.conn.Exec(d.Context(), "SET fugu.error = 'some'"); code(err) != "22023" {
		d.Errorf("SET fugu.error = 'some': %v", err)
	}
}

// psql, over the simple protocol, and EXPLAIN (PRIVACY) before it.
func TestDrillUpInPsql(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{policy: pastPolicy})
	out, err := f.psql(t, `
SELECT sum(count) AS s FROM (SELECT sex, education, count(*) FROM adult GROUP BY sex, education) c
  WHERE sex = 'Female' \gset a_
EXPLAIN (PRIVACY) SELECT count(*) FROM adult WHERE sex = 'Female';
SELECT count(*) AS s FROM adult WHERE sex = 'Female' \gset b_
SELECT :a_s = :b_s AS adds_up;
SELECT mechanism, epsilon FROM fugu.last_release;
EXPLAIN (PRIVACY) SELECT count(*) FROM adult WHERE sex = 'Female';
SELECT max(releases) FROM fugu.budget;
`)
	if err != nil {
		t.Fatal(err, out)
	}
	for _, want := range []string{"Past: from answers 1, error (sd) ", "0 (the answer is computed from past ones)",
		"Past: given before as answer 2, from answers 1", ledger.Derived + "|0\n"} {
		if !contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if !contains(out, "\nt\n") || !strings.HasSuffix(strings.TrimSpace(out), "1") {
		t.Errorf("it does not add up, or was paid for:\n%s", out)
	}
}
