//go:build fuguhooks

package kill

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/privacy"
	"fugu/test/compat/sides"
)

// racers are the clients of TestTwoProxiesRace, half of them at each proxy; every group of them has one statement in
// common, which goes to both proxies, and each has one of its own.
const (
	racers = 64
	group  = 8
	budget = 9.5 // at ε = 1 a statement
)

// asked is a statement with what came of it.
type asked struct {
	sql string
	reply
}

// race has the racers ask at once, and returns what is wrong, with how many statements were answered, and how many
// refused. If hold has a name, the first of them asks before all others, and waits at that point until somebody has
// been refused.
func race(t *testing.T, hold string, environment ...string) (wrong []string, answered, refused int) {
	t.Helper()
	s := newScene(t, "PostgreSQL", budget, environment...)
	s.start()
	if hold != "" {
		s.order(point{hold, 1}.order("hold"))
	}
	second := s.config
	second.Dir = t.TempDir()
	second.Environment = append(slices.Clone(environment), hook.DirectoryEnv+"="+second.Dir)
	other, err := sides.Serve(second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Kill)

	common := make([]string, racers/group)
	for i := range common {
		common[i] = s.statement()
	}
	replies := make([][2]asked, racers)
	start := make(chan struct{})
	var running sync.WaitGroup
	var release sync.Once
	for i := range racers {
		proxy := []*sides.Proxy{s.proxy, other}[i%2]
		c, own := dial(t, proxy.Address(), "alice"), s.statement()
		running.Go(func() {
			asks := []string{common[i/group], own}
			if i == 0 && hold != "" {
				slices.Reverse(asks) // what it has in common, others would be answered meanwhile
			} else {
				<-start
			}
			for k, sql := range asks {
				replies[i][k] = asked{sql, c.exchange(simple(sql))}
				if hold != "" && replies[i][k].code() == "PV002" {
					release.Do(func() { s.order() })
				}
			}
		})
	}
	if hold != "" {
		s.eventually("the first is held", s.held)
	}
	close(start)
	running.Wait()

	return judge(t, s, replies)
}

// judge looks whether everybody was told the same, and no more was charged than the budget allows.
func judge(t *testing.T, s *scene, replies [][2]asked) (wrong []string, answered, refused int) {
	t.Helper()
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	b := s.read()
	given := map[string]string{}
	for _, pair := range replies {
		for _, r := range pair {
			switch {
			case r.complete && r.code() == "PV002" && !r.told():
				refused++
			case !r.complete || r.code() != "" || len(r.rows()) != 2:
				complain("%s: %v", r.sql, r)
			case given[r.sql] != "" && given[r.sql] != string(r.bytes):
				complain("%s: two answers", r.sql)
			case !b.has(r.rows()):
				complain("%s: released, and not in the ledger", r.sql)
			default:
				given[r.sql] = string(r.bytes)
			}
		}
	}
	for i, pair := range replies {
		if (pair[0].code() == "") != (given[pair[0].sql] != "") {
			complain("client %d was refused what others were answered: %v", i, pair[0])
		}
	}
	if len(given) != len(b.entries) {
		complain("%d statements were answered, %d charged", len(given), len(b.entries))
	}
	sums := map[string]privacy.Loss{}
	for _, e := range b.entries {
		for secret, loss := range e.Losses {
			sums[secret] = sums[secret].Plus(loss)
		}
	}
	l, err := ledger.Open(context.Background(), s.url, ledger.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accounts, err := l.Spent(context.Background(), "people", ledger.Everybody)
	if err != nil || len(accounts) != len(sums) {
		t.Fatal(accounts, err)
	}
	limit := privacy.Budget{Epsilon: budget, Delta: 0.01}
	for _, a := range accounts {
		if !sums[a.Secret].Allowed(limit, 2) {
			complain("%d releases to secret %s exceed the budget: %+v", a.Releases, a.Secret, sums[a.Secret])
		}
		// The ledger rounds each addition up: it is never below, and not more than so many roundings above.
		if d := a.Loss.Pure - sums[a.Secret].Pure; d < 0 || d > 1e-12 || a.Releases != len(given) {
			complain("secret %s: %d releases of %+v, the ledger says %+v", a.Secret, len(given), sums[a.Secret], a)
		}
	}
	return wrong, len(given), refused
}

// Two proxies serve from one ledger, and 64 clients race for the last of a budget: with statements that others ask at
// the same moment, at the other proxy too, and with statements of their own.
func TestTwoProxiesRace(t *testing.T) {
	t.Parallel()
	wrong, answered, refused := race(t, "")
	for _, w := range wrong {
		t.Error(w)
	}
	t.Logf("%d statements answered and charged once, %d askings refused", answered, refused)
	if answered == 0 || refused == 0 {
		t.Error("there was no race")
	}
}

// The race finds a ledger that looks at the budget only before it reads.
func TestRaceFindsOverdraft(t *testing.T) {
	t.Parallel()
	// On a busy machine they may come one after the other, and then nothing is overdrawn. So one has looked at the
	// budget before the others, and waits with its charge until they have spent it.
	wrong, answered, _ := race(t, "charge: BEGIN", "FUGUHOOKS_FAULT=generous")
	if !strings.Contains(strings.Join(wrong, "\n"), "exceed the budget") {
		t.Errorf("%d were answered, and nothing was overdrawn: %q", answered, wrong)
	}
}

// Two ask the same, and the budget is enough for one: the second, who has found no answer and then no budget either,
// gets the answer that the first has paid for meanwhile.
func TestSameStatementAtTheEndOfTheBudget(t *testing.T) {
	t.Parallel()
	s := newScene(t, "PostgreSQL", 1.5)
	s.start()
	second := s.config
	second.Dir, second.Environment = t.TempDir(), nil
	other, err := sides.Serve(second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Kill)
	sql := s.statement()
	var first reply
	c := dial(t, s.proxy.Address(), "alice")
	got := amid(func(s *scene) {
		first = dial(t, other.Address(), "alice").exchange(simple(sql))
	})(s, point{"spent: SELECT totals", 1}, func() reply { return c.exchange(simple(sql)) })
	if first.code() != "" || string(got.bytes) != string(first.bytes) || len(s.read().entries) != 1 {
		t.Errorf("%v\nand\n%v", first, got)
	}
	if r := c.exchange(simple(s.statement())); r.code() != "PV002" {
		t.Errorf("another statement: %v", r)
	}
}
