package integration

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/patient"
)

// SET fugu.x belongs to the session and its transactions as PostgreSQL's own settings do.
func TestSettingsFollowTransactions(t *testing.T) {
	f := serve(t, options{})
	c := f.connect(t)
	n := 0
	for _, step := range []struct {
		do   string // before the statement
		want float64
	}{
		{"SET fugu.notices = off", 1},
		{"BEGIN; SET fugu.epsilon = 0.5", 0.5},
		{"ROLLBACK", 1},
		{"BEGIN; SET LOCAL fugu.epsilon = 0.25", 0.25},
		{"COMMIT", 1},
		{"BEGIN; SAVEPOINT s; SET fugu.epsilon = 0.5; ROLLBACK TO s", 1},
		{"COMMIT; SET fugu.epsilon = 0.125", 0.125},
		{"RESET fugu.epsilon", 1},
		{"SELECT set_config('fugu.epsilon', '0.5', false)", 0.5},
		{"RESET ALL", 1},
		{"SET SESSION fugu.epsilon TO 0.25", 0.25},
		{"DISCARD ALL", 1},
	} {
		rows(t, c, step.do, pgx.QueryExecModeSimpleProtocol)
		n++
		rows(t, c, fmt.Sprintf("SELECT count(*) FROM adult WHERE income = '>50K' AND age > %d", n),
			pgx.QueryExecModeExec)
		var got float64
		if err := c.QueryRow(t.Context(), "SELECT max(epsilon) FROM fugu.last_release",
			pgx.QueryExecModeExec).Scan(&got); err != nil {
			t.Fatal(err)
		}
		// What covariances add beside (docs/accounting.md, covariances in the total) grows a little with each answer.
		if got > step.want+0.005 || got < step.want*0.99 {
			t.Errorf("%s: the statement cost epsilon %g, not %g", step.do, got, step.want)
		}

		// Either table says both what was asked for and what was charged.
		var asked, again, charged float64
		if err := c.QueryRow(t.Context(), "SELECT max(l.epsilon_asked), max(r.epsilon), max(r.epsilon_charged) FROM "+
			"fugu.last_release l JOIN fugu.releases r USING (statement_id)", pgx.QueryExecModeExec).
			Scan(&asked, &again, &charged); err != nil || asked != step.want || again != asked || charged != got {
			t.Errorf("%s: asked for %g and %g, charged %g and %g, %v", step.do, asked, again, got, charged, err)
		}
	}
	if got := rows(t, c, "SHOW fugu.epsilon"); !strings.Contains(got, `"1"`) {
		t.Errorf("SHOW says %s", got)
	}
	other := connect(t, strings.Replace(f.dsn("alice"), "?", "?options=-c%20fugu.epsilon%3D0.25&", 1))
	if got := rows(t, other, "SHOW fugu.epsilon"); !strings.Contains(got, "0.25") {
		t.Errorf("the startup option is lost: %s", got)
	}
}

// SHOW tells what holds, the policy's value where a session has set none, as if the server had all the settings.
func TestShowSettings(t *testing.T) {
	patient.Test(t)
	c := serve(t, options{}).connect(t)
	show := func(name string, args ...any) string { return strings.TrimSpace(rows(t, c, "SHOW "+name, args...)) }
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec,
		pgx.QueryExecModeCacheStatement} {
		for name, want := range map[string]string{"epsilon": "1", "delta": "0.001", "mechanism": "auto",
			"notices": "once", "confidence": "0.95"} {
			if got := show("fugu."+name, mode); got != fmt.Sprintf("[%q]", want) {
				t.Errorf("%v: %s is %s, want %s", mode, name, got, want)
			}
		}
		for _, step := range [][2]string{{"SET fugu.epsilon = 0.5", "0.5"}, {"BEGIN; SET fugu.epsilon = 0.25", "0.25"},
			{"ROLLBACK", "0.5"}, {"RESET fugu.epsilon", "1"}, {"SET fugu.epsilon = 0.5; RESET ALL", "1"}} {
			rows(t, c, step[0], pgx.QueryExecModeSimpleProtocol)
			if got := show("FUGU.Epsilon", mode); got != fmt.Sprintf("[%q]", step[1]) {
				t.Errorf("%v: after %s it is %s", mode, step[0], got)
			}
		}
	}
	results, err := c.PgConn().Exec(t.Context(), "SET fugu.epsilon = 0.5; SHOW fugu.epsilon; "+
		"SELECT 1; RESET fugu.epsilon").ReadAll()
	if err != nil || len(results) != 4 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	shown := results[1]
	if f := shown.FieldDescriptions[0]; shown.CommandTag.String() != "SHOW" || f.Name != "fugu.epsilon" ||
		f.DataTypeOID != 25 || f.TableOID != 0 || string(shown.Rows[0][0]) != "0.5" {
		t.Errorf("%s, %+v, %q", shown.CommandTag, f, shown.Rows)
	}
	for sql, code := range map[string]string{"SHOW fugu.nonsense": "42704",
		"BEGIN; SELECT 1/0; SHOW fugu.epsilon": "22012", "SHOW fugu.epsilon": "25P02"} {
		if sql == "SHOW fugu.epsilon" {
			_, _ = c.Exec(t.Context(), "BEGIN; SELECT 1/0", pgx.QueryExecModeSimpleProtocol)
		}
		_, err := c.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != code {
			t.Errorf("%s: %v, want %s", sql, err, code)
		}
		_, _ = c.Exec(t.Context(), "ROLLBACK", pgx.QueryExecModeSimpleProtocol)
	}
}

// A statement that fails on protected data fails its transaction on the server too, and nothing behind it is run.
func TestRefusalAbortsTheTransaction(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	f := serve(t, options{})
	c := f.connect(t)
	kept := func() (n int) {
		t.Helper()
		if err := db.truth(t).QueryRow(t.Context(), "SELECT count(*) FROM country WHERE continent = 'Aborted'").Scan(
			&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	failRows(t, "1 / (age - 39) > -9")
	const failing = "SELECT count(*) FROM adult WHERE sex = 'Male'"
	for _, x := range []struct{ refused, code string }{{"SELECT max(age) FROM adult", "PV001"}, {failing, "PV005"},
		{"SET fugu.epsilon = 0", "22023"},
		{"SELECT race, count(*) FROM adult GROUP BY race", "PV003"}} {
		r := c.PgConn().Exec(t.Context(), "INSERT INTO country VALUES ('A', 'Aborted'); "+x.refused+
			"; INSERT INTO country VALUES ('B', 'Aborted')")
		results, err := r.ReadAll()
		if code(err) != x.code || len(results) > 2 {
			t.Errorf("%s: %v, %d results", x.refused, err, len(results))
		}
		for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec,
			pgx.QueryExecModeDescribeExec} {
			rows(t, c, "BEGIN")
			rows(t, c, "INSERT INTO country VALUES ('C', 'Aborted')")
			if _, err := c.Exec(t.Context(), x.refused, mode); code(err) != x.code {
				t.Errorf("%s: %v", x.refused, err)
			}
			if s := c.PgConn().TxStatus(); s != 'E' {
				t.Errorf("%s: the client is told status %c", x.refused, s)
			}
			if _, err := c.Exec(t.Context(), "SELECT 1"); code(err) != "25P02" {
				t.Errorf("behind %s: %v", x.refused, err)
			}
			if tag, err := c.Exec(t.Context(), "COMMIT"); err != nil || tag.String() != "ROLLBACK" {
				t.Errorf("%s: COMMIT says %s, %v", x.refused, tag, err)
			}
		}
	}
	if n := kept(); n != 0 {
		t.Errorf("%d rows of refused transactions were kept", n)
	}
}

// What cannot run costs nothing, and its error is PostgreSQL's own.
func TestWhatCannotRunIsFree(t *testing.T) {
	patient.Test(t)
	f := serve(t, options{})
	c := f.connect(t)
	if _, err := c.Prepare(t.Context(), "prepared", "SELECT count(*) FROM adult"); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec,
		pgx.QueryExecModeDescribeExec} {
		if _, err := c.Exec(t.Context(), "SELECT sex, nope FROM (SELECT sex, count(*) FROM adult GROUP BY sex) x",
			mode); code(err) != "42703" {
			t.Errorf("%v: an unknown column above the cut: %v", mode, err)
		}
		if _, err := c.Exec(t.Context(), "SELECT count(*) FROM adult JOIN nowhere USING (sex)",
			mode); code(err) != "PV001" && code(err) != "42P01" {
			t.Errorf("%v: an unknown table: %v", mode, err)
		}
		rows(t, c, "BEGIN")
		if _, err := c.Exec(t.Context(), "SELECT 1/0"); code(err) != "22012" {
			t.Fatal(err)
		}
		if _, err := c.Exec(t.Context(), "SELECT count(*) FROM adult", mode); code(err) != "25P02" {
			t.Errorf("%v: in a failed transaction: %v", mode, err)
		}
		if _, err := c.Exec(t.Context(), "prepared"); code(err) != "25P02" {
			t.Errorf("prepared before, in a failed transaction: %v", err)
		}
		rows(t, c, "ROLLBACK")
	}
	for _, value := range []string{"x", "", "1.5", "99999999999"} {
		p := dial(t, f.dsn("alice"))
		p.Send(t, parse("", "SELECT count(*) FROM adult WHERE age > $1"), bind("", "", value), execute("", 0), sync)
		got := p.until(t, ready(1))
		if !contains(got, `"22P02"`) && !contains(got, `"22003"`) || contains(got, "DataRow") {
			t.Errorf("parameter %q: %s", value, got)
		}
	}
	if e, n := spent(t, c); e != 0 || n != 0 {
		t.Errorf("%d releases, epsilon %g", n, e)
	}
}

// Plain rows of a protected table are those of its reference, and a notice says so.
func TestPlainRowsComeFromTheReference(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	f := serve(t, options{})
	c, notices := f.noticing(t)
	const columns = "age, fnlwgt, education, sex, income FROM "
	got := rows(t, c, "SELECT "+columns+"adult ORDER BY 1, 2, 3, 4, 5 LIMIT 50")
	if want := rows(t, db.truth(t), "SELECT "+columns+"adult_reference ORDER BY 1, 2, 3, 4, 5 LIMIT 50"); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if len(*notices) != 1 || !contains((*notices)[0], "adult_reference") {
		t.Errorf("notices %q", *notices)
	}
	if e, n := spent(t, c); e != 0 || n != 0 {
		t.Errorf("reference rows cost epsilon %g, %d releases", e, n)
	}
}

func TestCopyThroughClients(t *testing.T) {
	f := serve(t, options{})
	c := f.connect(t)
	rows(t, c, "CREATE TEMP TABLE t (a int, b text)")
	tag, err := c.PgConn().CopyFrom(t.Context(), strings.NewReader(strings.Repeat("1\tx\n", 200_000)),
		"COPY t FROM STDIN")
	if err != nil || tag.RowsAffected() != 200_000 {
		t.Fatalf("%s, %v", tag, err)
	}
	if n, err := c.CopyFrom(t.Context(), pgx.Identifier{"t"}, []string{"a", "b"},
		pgx.CopyFromRows([][]any{{2, "y"}, {3, nil}})); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	var out strings.Builder
	if tag, err := c.PgConn().CopyTo(t.Context(), &out, "COPY t TO STDOUT"); err != nil ||
		tag.RowsAffected() != 200_002 || out.Len() != 200_000*4+len("2\ty\n3\t\\N\n") {
		t.Errorf("%s, %d bytes, %v", tag, out.Len(), err)
	}
	if _, err := c.PgConn().CopyFrom(t.Context(), strings.NewReader("one\tx\n"),
		"COPY t FROM STDIN"); code(err) != "22P02" {
		t.Errorf("got %v", err)
	}
	if _, err := c.PgConn().CopyTo(t.Context(), &out, "COPY adult TO STDOUT"); code(err) != "PV001" {
		t.Errorf("got %v", err)
	}
	rows(t, c, "SELECT count(*) FROM adult")

	db, err := sql.Open("postgres", f.dsn("alice"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	stmt, err := tx.PrepareContext(t.Context(), "COPY country (name, continent) FROM STDIN")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if _, err := stmt.ExecContext(t.Context(), fmt.Sprint("Copyland ", i), "Nowhere"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := stmt.ExecContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := stmt.Close(); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM country WHERE continent = 'Nowhere'").Scan(
		&n); err != nil || n != 1000 {
		t.Errorf("%d, %v", n, err)
	}
}

// A cancel request ends what the client is at, whether the guest runs it or the engine, and nothing else. A protected
// statement that is cancelled before its charge costs nothing; one that is cancelled while its rows are read has been
// paid for, and asked again it is paid for again.
func TestCancel(t *testing.T) {
	db := adultDatabase(t)
	f := serve(t, options{})
	truth, locker := db.truth(t), db.truth(t) // in a transaction, pg_stat_activity stands still
	c := f.connect(t)
	if _, err := c.Prepare(t.Context(), "prepared", "SELECT count(*) FROM adult WHERE age > $1"); err != nil {
		t.Fatal(err)
	}
	// cancelled runs a statement, cancels it when the condition holds at PostgreSQL, and returns its error.
	cancelled := func(condition, sql string, args ...any) error {
		t.Helper()
		result := make(chan error, 1)
		go func() {
			_, err := c.Exec(t.Context(), sql, args...)
			result <- err
		}()
		eventually(t, func() bool {
			var is bool
			if err := truth.QueryRow(t.Context(), "SELECT EXISTS ("+condition+")").Scan(&is); err != nil {
				t.Fatal(err)
			}
			return is
		}, condition)
		if err := c.PgConn().CancelRequest(t.Context()); err != nil {
			t.Fatal(err)
		}
		return <-result
	}
	const asleep = "SELECT FROM pg_stat_activity WHERE usename = 'fugu_guest' AND wait_event = 'PgSleep'"
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeDescribeExec} {
		if err := cancelled(asleep, "SELECT pg_sleep(60)", mode); code(err) != "57014" {
			t.Errorf("an ordinary statement: %v", err)
		}
		if got := rows(t, c, "SELECT 1"); got != "[\"1\"]\n" {
			t.Errorf("after a cancel: %s", got)
		}
	}
	rows(t, locker, "BEGIN")
	rows(t, locker, "LOCK adult IN ACCESS EXCLUSIVE MODE")
	const waiting = "SELECT FROM pg_locks l JOIN pg_stat_activity USING (pid) WHERE usename = 'fugu_reader' " +
		"AND NOT granted"
	if err := cancelled(waiting, "prepared", 30); code(err) != "57014" {
		t.Errorf("while the reader reads: %v", err)
	}
	eventually(t, func() bool { return rows(t, truth, "SELECT EXISTS ("+waiting+")") == "[\"f\"]\n" },
		"the reader's statement ends too")
	if err := cancelled(waiting, "SELECT avg(age) FROM adult WHERE sex = 'Male' AND age < 77",
		pgx.QueryExecModeSimpleProtocol); code(err) != "57014" {
		t.Errorf("while the statement is planned: %v", err)
	}
	rows(t, locker, "ROLLBACK")
	if e, n := spent(t, c); e == 0 || n != 1 {
		t.Errorf("cancelled statements, of which one was being read, cost epsilon %g, %d releases", e, n)
	}
	rows(t, c, "prepared", 30)
	if _, n := spent(t, c); n != 2 {
		t.Errorf("%d releases", n)
	}
}

// eventually waits until a condition holds; one that never does fails the test.
func eventually(t testing.TB, holds func() bool, what string) {
	t.Helper()
	for end := time.Now().Add(hang); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never happened: %s", what)
		}
	}
}
