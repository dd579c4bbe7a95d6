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
