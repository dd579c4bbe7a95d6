//go:build fuguhooks

package kill

import (
	"fmt"
	"testing"
	"time"
)

// The proxy's clock jumps, years to and fro: releases keep the order in which they were given, the audit finds nothing,
// what was given stays what it was, also after a restart before its time, and is charged once.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	const day = 24 * 3600
	for _, store := range ledgers {
		t.Run(store, func(t *testing.T) {
			if store != ledgers[0] && !all() {
				t.Skip("make kills does it")
			}
			s := newScene(t, store, 1e6)
			jumps := []int{0, 3650 * day, -3650 * day, -1, 1, 0}
			var asked []string
			var told []reply
			for _, jump := range jumps {
				s.start()
				s.order(fmt.Sprint("clock ", jump))
				c := dial(t, s.proxy.Address(), "alice")
				for range 2 {
					sql := s.statement()
					asked, told = append(asked, sql), append(told, c.exchange(simple(sql)))
				}
				for i, sql := range asked {
					if r := c.exchange(simple(sql)); r.code() != "" || string(r.bytes) != string(told[i].bytes) {
						t.Errorf("after a jump by %ds statement %d was answered %v, before it was %v", jump, i, r,
							told[i])
					}
				}
				_ = c.Close()
				if jump < 0 {
					s.stop()
				}
			}
			b := s.read()
			if len(b.entries) != len(asked) || len(b.answers) != len(asked) {
				t.Fatalf("%d statements, %d charges, %d answers", len(asked), len(b.entries), len(b.answers))
			}
			for i, e := range b.entries {
				a := b.answers[len(asked)-1-i]
				// Between two charges the chain has what came of the first.
				if a.ID != e.Answer || i > 0 && e.Number <= b.entries[i-1].Number ||
					!(book{answers: b.answers[len(asked)-1-i:][:1]}).has(told[i].rows()) {
					t.Errorf("entry %d is of answer %d, in its place is %d", i, e.Answer, a.ID)
				}
				want := time.Now().Add(time.Duration(jumps[i/2]) * time.Second)
				if d := e.At.Sub(want); d > time.Hour || d < -time.Hour || !e.At.Equal(a.At) {
					t.Errorf("entry %d is of %v, the answer of %v, the clock was about %v", i, e.At, a.At, want)
				}
			}
		})
	}
}
