//go:build fuguhooks

package kill

import (
	"strings"
	"testing"
)

// A point that is not passed is found to be none, at once: a fault that does not come about shows nothing.
func TestPointNotPassed(t *testing.T) {
	t.Parallel()
	s := newScene(t, "SQLite", 1e6)
	for _, f := range []fault{die, amid(func(*scene) { t.Error("held") })} {
		wrong, _ := s.try(kinds[0], s.statement(), point{"charge: COMMIT", 2}, f)
		if len(wrong) != 1 || !strings.Contains(wrong[0], "the point was not passed") {
			t.Errorf("found: %q", wrong)
		}
	}
}

// The kills find each planted fault, at the points at which it shows, and nothing but it: without a kill, late and
// forgetful behave as they should.
func TestKillsFindPlantedFaults(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		fault string // see cmd/proxy
		point point
		want  string // among what is found
	}{
		// The answer before its charge. Not "after sending": the login may be there still.
		{"late", point{"rows: amid sending", 1}, "rows were sent, and there is no charge"},
		// the charge without the answer
		{"split", point{"charge: COMMIT: done", 1}, "charged 2 times, 1 of them before"},
		{"forgetful", point{"charge: COMMIT: done", 1}, "charged 2 times, 1 of them before"}, // the same answer twice
	} {
		t.Run(x.fault, func(t *testing.T) {
			s := newScene(t, "SQLite", 1e6, "FUGUHOOKS_FAULT="+x.fault)
			wrong, _ := s.try(kinds[0], s.statement(), x.point, die)
			if !strings.Contains(strings.Join(wrong, "\n"), x.want) {
				t.Errorf("found: %q", wrong)
			}
			if x.fault == "split" {
				return
			}
			s = newScene(t, "SQLite", 1e6, "FUGUHOOKS_FAULT="+x.fault)
			s.start()
			c, sql := dial(t, s.proxy.Address(), "alice"), s.statement()
			first, other, again := c.exchange(simple(sql)), c.exchange(simple(s.statement())), c.exchange(simple(sql))
			if b := s.read(); !b.has(first.rows()) || len(other.rows()) != 2 ||
				string(first.bytes) != string(again.bytes) {
				t.Errorf("without a kill: %v, then %v; %d charges", first, again, len(b.entries))
			}
		})
	}
}
