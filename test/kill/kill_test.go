//go:build fuguhooks

package kill

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fugu/test/compat/sides"
)

// allEnv has each fault done at every point: make kills sets it. Otherwise the proxy dies where something is decided,
// and of the other points, and by the other faults, there is a share. Shares are odd, since every other point is the
// end of the one before.
const allEnv = "FUGUHOOKS_KILLS"

// kind is a way to ask.
type kind struct {
	name  string
	user  string
	send  func(sql string) []byte
	known bool // the statement was answered before, to alice, by another process
	costs int  // entries of the ledger: one for everybody, one for the share
	first bool // it is the first charge of a period, with which the ledger keeps what is promised
}

var kinds = []kind{
	{"new", "alice", simple, false, 1, false},
	{"first of a period", "alice", simple, false, 1, true},
	{"new, extended", "alice", extended, false, 1, false},
	{"new, with a share", "bob", simple, false, 2, false},
	{"known to another", "bob", simple, true, 1, false},
	{"known", "alice", simple, true, 0, false},
}

// standing is in the names of the points at which the ledger is asked where the dataset stands. A process remembers
// that for a second, so that only one that has just started is sure to pass them.
const standing = "standing: "

// fault is what goes wrong at a point.
type fault func(s *scene, p point, ask func() reply) reply

// die kills the proxy at the point.
func die(s *scene, p point, ask func() reply) reply {
	s.order(p.order("kill"))
	r := ask()
	// A point that writes to the client is passed once less where two writes were one: then it lives, and is killed
	// here.
	switch sending := strings.HasSuffix(p.name, "sending"); {
	case !sending && r.complete:
		s.missed++
	case !sending:
		s.ended()
	}
	s.proxy.Kill()
	s.proxy = nil
	return r
}

// ended waits until the proxy has ended by itself.
func (s *scene) ended() {
	s.t.Helper()
	s.eventually("the proxy is dead", s.proxy.Ended)
}

// try has one statement meet a fault at a point, checks what the client has and what the ledger says, asks again, and
// checks that. It returns what it found wrong, and the reply that the statement has.
func (s *scene) try(k kind, sql string, p point, f fault) (wrong []string, full reply) {
	s.t.Helper()
	complain := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s, %s: ", k.name, p)+fmt.Sprintf(format, args...))
	}
	if strings.HasPrefix(p.name, standing) && s.proxy != nil {
		s.stop()
	}
	s.start()
	if s.last == nil {
		b := s.read()
		s.last = &b
	}
	before, missed := *s.last, s.missed
	c := dial(s.t, s.proxy.Address(), k.user)
	s.client = c
	got := f(s, p, func() reply { return c.exchange(k.send(sql)) })
	_ = c.Close()

	after := s.read()
	booked := len(after.entries) - len(before.entries)
	if s.missed > missed {
		complain("the point was not passed: %v", got)
	}
	switch {
	case booked != 0 && booked != k.costs:
		complain("%d charges", booked)
	case got.told() && booked < k.costs:
		complain("rows were sent, and there is no charge: %v", got)
	case len(got.rows()) > 0 && !after.has(got.rows()):
		complain("rows were sent that the ledger does not have: %v", got)
	case len(after.answers)-len(before.answers) != min(booked, 1) && !k.known:
		complain("%d charges, %d answers", booked, len(after.answers)-len(before.answers))
	}
	if code := got.code(); code != "" && code != "57P03" {
		complain("the client was told %s: %v", code, got)
	}

	s.start()
	c = dial(s.t, s.proxy.Address(), k.user)
	defer c.Close()
	full = c.exchange(k.send(sql))
	again := c.exchange(k.send(sql))
	end := s.read()
	s.last = &end
	switch {
	case !full.complete || full.code() != "" || len(full.rows()) != 2:
		complain("asked again: %v", full)
	case got.code() == "" && !bytes.HasPrefix(full.bytes, got.bytes):
		complain("the client received\n%v\nand asked again\n%v", got, full)
	case !bytes.Equal(full.bytes, again.bytes):
		complain("asked again\n%v\nand again\n%v", full, again)
	case len(end.entries)-len(before.entries) != k.costs*(1+end.abandoned-before.abandoned):
		complain("charged %d times, %d of them before it was asked again", len(end.entries)-len(before.entries), booked)
	case !end.has(full.rows()):
		complain("the ledger does not have what was sent: %v", full)
	}
	return wrong, full
}

// round is a kind of statement, and one of the points that it passes.
type round struct {
	kind
	point
}

// plans are those of each kind of ledger: they do not depend on where it is.
var plans struct {
	sync.Mutex
	of map[string][]round
}

// plan lists the points that every kind of statement passes in a process that has just started.
func plan(t testing.TB, store string) []round {
	t.Helper()
	plans.Lock()
	defer plans.Unlock()
	if plans.of == nil {
		plans.of = map[string][]round{}
	}
	if plans.of[store] == nil {
		plans.of[store] = newScene(t, store, 1e6).rounds(kinds)
	}
	return plans.of[store]
}

func (s *scene) rounds(kinds []kind) (rounds []round) {
	s.t.Helper()
	s.promise()
	for _, k := range kinds {
		s.start()
		sql := s.statement()
		if k.first {
			s.renew()
		}
		ask := func(k kind) {
			c := dial(s.t, s.proxy.Address(), k.user)
			defer c.Close()
			if r := c.exchange(k.send(sql)); !r.complete || r.code() != "" {
				s.t.Fatalf("%s: %v", k.name, r)
			}
		}
		if k.known {
			ask(kinds[0])
			s.stop()
			s.start()
		}
		c := dial(s.t, s.proxy.Address(), k.user)
		for _, p := range s.trace(func() { c.exchange(k.send(sql)) }) {
			again := strings.HasPrefix(p.name, standing) && p.nth > 1 // which is when a second has passed
			if !again && (!k.first || strings.HasPrefix(p.name, "charge: ")) {
				rounds = append(rounds, round{k, p})
			}
		}
		_ = c.Close()
		s.stop()
	}
	return rounds
}

func (s *scene) stop() {
	s.t.Helper()
	if err := s.proxy.Stop(); err != nil {
		s.t.Fatal(err)
	}
	s.proxy = nil
}

// sweep has every share-th round meet a fault, and returns how many there were, and what was found wrong.
func (s *scene) sweep(rounds []round, share int, f fault) (n int, wrong []string) {
	s.t.Helper()
	type given struct {
		sql string
		by  *sides.Proxy
	}
	var known []given // answered to alice, and to nobody else
	s.promise()
	for i, r := range rounds {
		if i%share != 0 {
			continue
		}
		sql := s.statement()
		switch {
		case r.known && len(known) == 0:
			s.last = nil
			s.start()
			c := dial(s.t, s.proxy.Address(), "alice")
			c.exchange(simple(sql))
			_ = c.Close()
			s.stop()
		case r.known:
			sql = known[0].sql
			if s.proxy == known[0].by { // which would not ask the ledger again
				s.stop()
			}
			known = known[1:]
		}
		if r.first {
			s.renew()
		}
		w, _ := s.try(r.kind, sql, r.point, f)
		wrong = append(wrong, w...)
		n++
		if !r.known {
			known = append(known, given{sql, s.proxy})
		}
	}
	return n, wrong
}

func all() bool { return os.Getenv(allEnv) != "" }

// leastKills is how many kills TestKilledAtEveryPoint makes at the least, with make kills, and by day.
const leastKills, leastByDay = 500, 60

// ledgersOf is how many ledgers the kills of one kind are spread over with make kills; it is odd, as shares are. A
// ledger is verified as a whole each time that it is opened: with fewer of them, that is what the kills take their time
// for.
const ledgersOf = 5

// decisive are the points between which something is decided: whether what was charged stays, and whether the client
// has any of it. Between all others nothing changes that outlives the proxy or leaves it.
func (p point) decisive() bool {
	return strings.Contains(p.name, ": COMMIT") || p.name == "after the charge" || p == point{"rows: amid sending", 1}
}

// byDay are the decisive points, and every share-th of the others.
func byDay(rounds []round, share int) (few []round) {
	for i, r := range rounds {
		if r.decisive() || i%share == 0 {
			few = append(few, r)
		}
	}
	return few
}

// The proxy is killed at each point that a statement passes on its way, of every kind of statement, in every store,
// also where answers are charged to a joint account. Each kill is by SIGKILL, of the program itself; with make kills
// there are two at each point, and without it one at each decisive point and at every 67th of the others.
func TestKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	swept, least := 1, leastByDay
	if all() {
		swept, least = ledgersOf, leastKills
	}
	var kills, points atomic.Int64
	sweep := func(t *testing.T, name string, rounds []round, make func(t *testing.T) *scene) {
		points.Add(int64(len(rounds)))
		if all() {
			rounds = slices.Repeat(rounds, 2)
		} else {
			rounds = byDay(rounds, 67)
		}
		for i := range swept {
			t.Run(fmt.Sprint(name, " ", i), func(t *testing.T) {
				t.Parallel()
				n, wrong := make(t).sweep(rounds[i:], swept, die)
				kills.Add(int64(n))
				for _, w := range wrong {
					t.Error(w)
				}
			})
		}
	}
	t.Run("stores", func(t *testing.T) {
		for _, store := range ledgers {
			passes := func(rounds []round, name string) bool {
				return slices.ContainsFunc(rounds, func(r round) bool { return r.point.name == name })
			}
			if !passes(plan(t, store), "charge: INSERT promises") {
				t.Error("nothing is promised")
			}
			sweep(t, store, plan(t, store), func(t *testing.T) *scene { return newScene(t, store, 1e6) })
			joint := func(t *testing.T) *scene { return newScene(t, store, 1e6).joint() }
			rounds := joint(t).rounds(kinds[:2])
			if !passes(rounds, "charge: INSERT terms") {
				t.Error("nothing is written into the joint account")
			}
			sweep(t, store+", joint", rounds, joint)
		}
	})
	t.Logf("%d kills of the proxy at %d points", kills.Load(), points.Load())
	if int(kills.Load()) < least {
		t.Errorf("%d kills are to be made at the least", least)
	}
}

// The client leaves at each point. What it asked for may be charged, once, and stays; where it left amid the scan, it
// is charged again when it is asked again.
func TestClientLeavesAtEveryPoint(t *testing.T) {
	t.Parallel()
	for _, store := range ledgers {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, store, 1e6)
			share := 45
			if all() {
				share = 1
			}
			n, wrong := s.sweep(without(plan(t, store)), share, amid(func(s *scene) { _ = s.client.Close() }))
			for _, w := range wrong {
				t.Error(w)
			}
			t.Logf("%d clients left", n)
		})
	}
}
