package wire

import (
	"strings"
	"testing"
)

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
