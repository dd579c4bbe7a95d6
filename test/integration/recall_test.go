package integration

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// An answer that is in memory is bound before the server has said that the statement can run: what the server says
// instead is told, the session stays in step, and the answer is the same.
func TestKnownAnswers(t *testing.T) {
	f := serve(t, options{})
	c, other := f.connect(t), f.connect(t) // a session that has named fugu asks the server, for its settings
	const sql = "SELECT sex, count(*) FROM adult WHERE age > 30 GROUP BY sex ORDER BY sex"
	if _, err := c.Prepare(t.Context(), "known", sql); err != nil {
		t.Fatal(err)
	}
	first := rows(t, c, "known")
	cost, n := spent(t, other)
	same := func(when string) {
		t.Helper()
		for name, got := range map[string]string{"named": rows(t, c, "known"), "unnamed": rows(t, c, sql,
			pgx.QueryExecModeExec), "simple": rows(t, c, sql, pgx.QueryExecModeSimpleProtocol)} {
			if got != first {
				t.Errorf("%s, %s: %s\nbefore it was\n%s", when, name, got, first)
			}
		}
	}
	same("again")
	rows(t, c, "BEGIN")
	same("in a transaction")
	if _, err := c.Exec(t.Context(), "SELECT 1/0"); code(err) != "22012" {
		t.Error(err)
	}
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		if _, err := c.Exec(t.Context(), sql, mode); code(err) != "25P02" {
			t.Errorf("in a failed transaction: %v", err)
		}
	}
	rows(t, c, "ROLLBACK")
	same("after it")
	if got := rows(t, c, "SELECT count(*) FROM fugu.last_release"); got != "[\"2\"]\n" {
		t.Errorf("fugu.last_release has %s", got)
	}
	if now, m := spent(t, other); now != cost || m != n {
		t.Errorf("known answers cost %g in %d releases", now-cost, m-n)
	}
	forgotten(t, dial(t, f.dsn("alice")), sql)
}

// forgotten ends a known statement behind Fugu's back, which is the server's to tell.
func forgotten(t *testing.T, p *peer, sql string) {
	t.Helper()
	p.meet(t)
	p.Send(t, query("PREPARE unused AS SELECT 1"))
	p.until(t, ready(1))
	p.Send(t, parse("known", sql), sync)
	p.until(t, ready(1))
	ask := func() string {
		p.Send(t, bind("", "known"), execute("", 0), sync)
		return p.until(t, ready(1))
	}
	if again := ask(); again != ask() || !contains(again, "SELECT 2") {
		t.Errorf("by name: %s", again)
	}
	p.Send(t, query("DEALLOCATE known"))
	p.until(t, ready(1))
	if got := ask(); !contains(got, "26000") {
		t.Errorf("after DEALLOCATE: %s", got)
	}
	p.Send(t, query("SELECT 'in step'"))
	if got := p.until(t, ready(1)); !contains(got, "in step") {
		t.Errorf("out of step: %s", got)
	}
}
