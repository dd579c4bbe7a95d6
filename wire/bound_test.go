package wire

import (
	"strings"
	"testing"
)

// Statements whose text is decided when they are bound.
const (
	lateCopy   = "COPY (SELECT x FROM noisy ORDER BY x) TO STDOUT /*p*/ /*late*/"
	lateSelect = "SELECT x FROM noisy ORDER BY x /*p*/ /*late*/"
)

// What SQL has ended is not answered: neither the statement nor a text that would be decided.
func TestEndedBySQLIsNotBound(t *testing.T) {
	p := serve(t, nil)
	for _, text := range []string{protected, lateCopy, lateSelect} {
		for _, end := range []string{"DEALLOCATE s", "DEALLOCATE ALL", "DISCARD ALL",
			"DO $$ BEGIN EXECUTE 'DEALLOCATE s'; END $$"} {
			c := dial(t, p.address)
			c.run(t, script{parse("s", text), sync_, "Z", q(end), "Z"})
			p.bound()
			got := c.run(t, script{bind("", "s"), exec(""), sync_, "Z"})
			if b := p.bound(); len(b) != 0 || !strings.HasPrefix(got[0], "E ERROR 26000") {
				t.Errorf("%s, %s: bound %q, got %q", text, end, b, got)
			}
		}
	}
}

// What is known is not bound anew, and what the server says of the statement instead of running it is told.
func TestKnownIsRecalled(t *testing.T) {
	const text = "SELECT x FROM noisy ORDER BY x /*p*/ /*known*/"
	p := serve(t, nil)
	c := dial(t, p.address)
	rows := `D ["1"], D ["2"], D ["3"]`
	ask := func(when string, s script, want string, binds int) {
		t.Helper()
		got := strings.Join(c.run(t, s), ", ")
		if b := p.bound(); !strings.Contains(got, want) || len(b) != binds {
			t.Errorf("%s: %s, bound %q, want %s and %d", when, got, b, want, binds)
		}
	}
	byName := script{bind("", "s"), exec(""), sync_, "Z"}
	ask("simple", script{q(text), "Z"}, rows, 0)
	ask("prepare", script{parse("s", text), sync_, "Z"}, `Z "I"`, 0)
	ask("by name", byName, rows, 0)
	ask("twice in one query", script{q(text + ";" + text), "Z"}, rows, 1) // something is outstanding at the second
	ask("behind something", script{q("SELECT 4"), q(text), "Z", "Z"}, rows, 0)
	failing := append(script{q("BEGIN"), "Z", bind("", "s"), exec(""), sync_, "Z", q("SELECT 1/0"), "Z"}, byName...)
	ask("in a transaction that fails", append(failing, q(text), "Z", q("ROLLBACK"), "Z"),
		`22012 division by zero, Z "E", E ERROR 25P02`, 0)
	ask("deallocate", script{q("DEALLOCATE s"), "Z"}, `Z "I"`, 0)
	ask("by name, ended", byName, "26000", 0)
	ask("in step", script{q(text), "Z"}, rows, 0)
}
