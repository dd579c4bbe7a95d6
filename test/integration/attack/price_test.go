//go:build fuguhooks

package attack

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/upstream"
)

// Answers whose transaction is rolled back, fails afterwards, or whose client is gone before the last byte: if any of
// these gave the cost back, or forgot the answer, the next try would be a fresh draw for nothing.
func TestRefunds(t *testing.T) {
	rolledBack := func(a analyst) (float64, bool) {
		run(a.t, a.conn, "BEGIN")
		x, ok := number(a.t, a.conn, rich)
		run(a.t, a.conn, "ROLLBACK")
		return x, ok
	}
	failedLater := func(a analyst) (float64, bool) {
		p := dial(a.t, a.fugu)
		defer p.Conn.Close()
		return p.count(a.t, append(extended(rich, 0)[:5], &pgproto3.Parse{Query: "SELECT 1 / 0 FRM"},
			&pgproto3.Sync{})...)
	}
	goneBefore := func(a analyst) (float64, bool) {
		p := dial(a.t, a.fugu)
		defer p.Conn.Close() // no Sync was sent: the transaction is open still
		return p.count(a.t, append(extended(rich, 0)[:5], &pgproto3.Flush{})...)
	}
	canceled := func(a analyst) (float64, bool) {
		p := dial(a.t, a.fugu)
		defer p.Conn.Close()
		x, ok := p.count(a.t, append(extended(rich, 0)[:5], &pgproto3.Flush{})...)
		p.cancel(a.t)
		return x, ok
	}
	ways := []func(analyst) (float64, bool){rolledBack, failedLater, goneBefore, canceled}
	game{off: []*bool{&hook.NoStored, &hook.NoCharge}, guess: func(a analyst) float64 {
		n := len(ways)
		if hook.NoCharge {
			n = many
		}
		return until(n, func(i int) (float64, bool) { return ways[i%len(ways)](a) })
	}}.play(t)
}

// count sends messages and reads up to the number of the first row; ok is false if the budget refused it.
func (p peer) count(t testing.TB, messages ...pgproto3.FrontendMessage) (n float64, ok bool) {
	t.Helper()
	p.Send(t, messages...)
	for {
		m, err := p.Frontend.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.DataRow:
			if _, err := fmt.Sscan(string(m.Values[0]), &n); err != nil {
				t.Fatal(err)
			}
			return n, true
		case *pgproto3.ErrorResponse:
			if m.Code != "PV002" {
				t.Fatalf("%s: %s", m.Code, m.Message)
			}
			return 0, false
		}
	}
}

// cancel sends a cancel request, and waits until it was taken.
func (p peer) cancel(t testing.TB) {
	t.Helper()
	c, err := p.Config.DialFunc(t.Context(), "tcp", p.Conn.RemoteAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	request, err := (&pgproto3.CancelRequest{ProcessID: p.PID, SecretKey: p.SecretKey}).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(request); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(hang))
	_, _ = c.Read(make([]byte, 1))
}

// Many statements at once, each of which the budget would cover if it were alone: all have looked at what is left
// before the first is charged.
func TestRaceForTheLastBudget(t *testing.T) {
	const racers = 8
	race := func(t *testing.T) (answered int, epsilon float64) {
		f := serve(t, worlds[0], options{wrapLedger: func(l ledger.Ledger) ledger.Ledger {
			return &starting{Ledger: l, left: racers, gun: make(chan struct{})}
		}})
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range racers {
			c := f.connect(t, fmt.Sprintf("user%d", i))
			wg.Go(func() {
				_, err := value(t, c, spelled(i))
				mu.Lock()
				defer mu.Unlock()
				switch code(err) {
				case "PV002":
				case "":
					answered++
				}
				if err != nil && code(err) != "PV002" {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		epsilon, _ = spent(t, f.connect(t, ""))
		return answered, epsilon
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.Overdraft)
		if n, e := race(t); n != racers || e < racers*0.9 {
			t.Errorf("%d of %d racers were answered for epsilon %g: it is no test of the defence", n, racers, e)
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if n, e := race(t); n != 1 || e > 1+1e-9 {
			t.Errorf("%d racers were answered for epsilon %g; there is 1", n, e)
		}
	})
}

// starting holds what looks at the budget back until all have looked.
type starting struct {
	ledger.Ledger
	mu   sync.Mutex
	left int
	gun  chan struct{}
}

func (s *starting) Spent(ctx context.Context, dataset, scope string) ([]ledger.Account, error) {
	accounts, err := s.Ledger.Spent(ctx, dataset, scope)
	s.mu.Lock()
	if s.left--; s.left == 0 {
		close(s.gun)
	}
	s.mu.Unlock()
	<-s.gun
	return accounts, err
}

// Failures that nobody pays for: each tells whether a row is there that makes the statement fail.
func TestFreeFailures(t *testing.T) {
	const probe = "SELECT count(*) FROM customer WHERE 1 / (id - %d) > 7"
	costs := func(t *testing.T) float64 {
		off(t, &hook.RowErrors) // or none would fail but by a timeout
		f := serve(t, worlds[0], options{policy: []string{"budget: {epsilon: 1,", "budget: {epsilon: 10,"}})
		c := f.connect(t, "")
		failed := 0
		for _, id := range []int{300, 400, 500} {
			if _, err := value(t, c, fmt.Sprintf(probe, id)); code(err) == "PV005" {
				failed++
			}
		}
		e, _ := spent(t, c)
		if failed != 3 {
			t.Fatalf("%d statements failed on their rows", failed)
		}
		return e
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.FreeFailures)
		if e := costs(t); e != 0 {
			t.Errorf("three failures cost epsilon %g: it is no test of the defence", e)
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if e := costs(t); e < 3-1e-9 {
			t.Errorf("three failures cost epsilon %g", e)
		}
	})
}

// A policy that is loaded again and again: as it was, which is no new question; and with a change that makes every
// stored answer one to another question, which is paid for like any other.
func TestReloads(t *testing.T) {
	const loads = 5
	ask := func(t *testing.T, edit func(i int) string) (seen map[float64]int, epsilon float64) {
		f := serve(t, worlds[0], options{})
		c := f.connect(t, "")
		seen = map[float64]int{}
		for i := range loads {
			f.engine.Load().Replace(f.snapshot(t, "within: 0.05", edit(i)))
			if x, ok := number(t, c, rich); ok {
				seen[x]++
			}
		}
		epsilon, _ = spent(t, c)
		return seen, epsilon
	}
	same := func(int) string { return "within: 0.0500" }
	other := func(i int) string { return fmt.Sprintf("within: 0.04%d", 9-i) } // what is promised only narrows
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.NoCharge)
		// Five draws are not all the same number.
		if seen, e := ask(t, other); len(seen) < 2 || e != 0 {
			t.Errorf("answers %v for epsilon %g: it is no test of the defence", seen, e)
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if seen, e := ask(t, other); len(seen) != 1 || e > 1+1e-9 {
			t.Errorf("answers %v for epsilon %g", seen, e)
		}
		if seen, e := ask(t, same); len(seen) != 1 || e > 1+1e-9 {
			t.Errorf("without a change: answers %v for epsilon %g", seen, e)
		}
	})
}

// A statement prepared under a policy that has since been made stricter.
func TestStatementPreparedBeforeReload(t *testing.T) {
	ask := func(t *testing.T) (string, float64) {
		f := serve(t, worlds[0], options{})
		c := f.connect(t, "")
		if _, err := c.Prepare(t.Context(), "old", rich); err != nil {
			t.Fatal(err)
		}
		f.engine.Load().Replace(f.snapshot(t, "  epsilon: 1\n", "  epsilon: 0.1\n"))
		_, err := value(t, c, "old")
		e, _ := spent(t, c)
		return code(err), e
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.StaleStatements)
		if code, e := ask(t); code != "" || e < 0.9 {
			t.Errorf("%q after epsilon %g: it is no test of the defence", code, e)
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if code, e := ask(t); code != "0A000" || e != 0 {
			t.Errorf("%q after epsilon %g", code, e)
		}
	})
}

// Settings of the session, each of which could change what a statement means, how its answer is written, or its plan.
func TestSettings(t *testing.T) {
	settings := []string{"TimeZone = 'Asia/Tokyo'", "DateStyle = 'German, DMY'", "DateStyle = 'SQL, MDY'",
		"IntervalStyle = 'iso_8601'", "extra_float_digits = 3",
		"extra_float_digits = -15", "search_path = pg_temp, pg_catalog", "search_path = ''", "work_mem = '64kB'",
		"enable_seqscan = off", "enable_hashagg = off",
		"default_transaction_isolation = 'serializable'", "default_transaction_read_only = on", "row_security = off",
		"statement_timeout = '1min'", "lc_numeric = 'C'",
		"bytea_output = 'escape'", "standard_conforming_strings = on", "application_name = 'fugu reader'", "jit = off",
		"max_parallel_workers_per_gather = 0", "constraint_exclusion = on", "transform_null_equals = on",
		"backslash_quote = on", "fugu.notices = on", "fugu.confidence = 0.5"}
	answers := func(t *testing.T) (map[float64]int, int) {
		f := serve(t, worlds[0], options{})
		c := f.connect(t, "")
		seen := map[float64]int{}
		for _, s := range settings {
			run(t, c, "SET "+s)
			x, err := value(t, c, "SELECT count(*) FROM customer WHERE joined < '2020-03-02' AND spike > 0.1 "+
				"AND income = 'high'")
			if err != nil {
				t.Fatalf("%s: %v", s, err)
			}
			seen[x]++
		}
		_, n := spent(t, c)
		return seen, n
	}
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.NoStored, &hook.NoCharge)
		if seen, _ := answers(t); len(seen) < len(settings)/2 {
			t.Errorf("%d different answers: it is no test of the defence", len(seen))
		}
	})
	t.Run("defence on", func(t *testing.T) {
		if seen, n := answers(t); len(seen) != 1 || n != 1 {
			t.Errorf("answers %v in %d releases", seen, n)
		}
	})
}

// Rows written into the reference, so that the model shows no movement and the noise becomes as small as it can be.
func TestPlantedReference(t *testing.T) {
	c := databases(t)
	for _, w := range worlds {
		for role, holes := range map[string]bool{"fugu_guest": false, "fugu_open": true} {
			found, _, err := upstream.CheckGuest(t.Context(), config(t, c.DSN(role, w.database)), nil,
				[]string{`"public"."customer_reference"`})
			if err != nil || (len(found) > 0) != holes {
				t.Errorf("%s: the check finds %v, %v", role, found, err)
			}
		}
	}
	game{role: "fugu_open", guess: func(a analyst) float64 {
		_, err := a.conn.Exec(a.t.Context(), "UPDATE customer_reference SET spend = 100")
		if err == nil {
			a.t.Cleanup(func() {
				if err := c.Exec(context.Background(), a.database, "SELECT refer()"); err != nil {
					a.t.Error(err)
				}
			})
		}
		if denied := a.role != "fugu_open"; denied != (code(err) == "42501") {
			a.t.Fatalf("as %s: %v", a.role, err)
		}
		x, _ := number(a.t, a.conn, "SELECT count(*) FROM customer WHERE spend > 70")
		return x
	}}.play(t)
}
