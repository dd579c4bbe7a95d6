package wire

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"fugu/sqlstate"
)

// pooled is a proxy with a pool of guests.
func pooled(t testing.TB, p Pool) *proxy {
	t.Helper()
	if p.Wait == 0 {
		p.Wait = patience
	}
	return serve(t, func(c *Config, _ *fake) { c.Pool = p })
}

// restless makes sessions give their guests back after each transaction, as if somebody always waited for one.
func (p *proxy) restless(t testing.TB) {
	p.server.pool.waiting.Add(1)
	t.Cleanup(func() { p.server.pool.waiting.Add(-1) })
}

// isParked waits until nobody has the guest.
func (p *proxy) isParked(t testing.TB) {
	t.Helper()
	eventually(t, "the guest is parked", func() bool {
		p.server.pool.mu.Lock()
		defer p.server.pool.mu.Unlock()
		return len(p.server.pool.parked) == 1
	})
}

// say is run without the question that shows that both are in step.
func (p *peer) say(t testing.TB, s script) []string {
	t.Helper()
	got := p.run(t, s)
	if n := len(got) - 4; n >= 0 && got[len(got)-1] != "end" {
		return got[:n]
	}
	return got
}

// value is the only value of a query's only row.
func (p *peer) value(t testing.TB, sql string) string {
	t.Helper()
	p.put(t, encode(t, q(sql)))
	for _, reply := range p.until(t, "Z") {
		if v, ok := strings.CutPrefix(reply, `D ["`); ok {
			return strings.TrimSuffix(v, `"]`)
		}
	}
	return ""
}

const (
	ready = `Z "I"`
	pid   = "SELECT pg_backend_pid()"
)

// renewals is how often a guest was renewed.
func (p *pool) renewals() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int(p.serial)
}

// The scripts give the same replies where each transaction has another guest, without exception.
func TestPoolScripts(t *testing.T) {
	p := pooled(t, Pool{Size: 5})
	p.restless(t)
	protocolScripts(t, p)
	if n := p.server.pool.renewals(); n < 300 {
		t.Errorf("guests were renewed %d times: nothing was tested", n)
	}
	stopped(t, p)
}

// Many clients share few guests: each has its own statements, under the same names, and there are no more guests than
// there may be.
func TestPoolCrowd(t *testing.T) {
	const clients, size = 200, 5
	p := pooled(t, Pool{Size: size})
	peers := make([]*peer, clients)
	for i := range peers {
		peers[i] = dial(t, p.address)
	}
	var all sync.WaitGroup
	for i, c := range peers {
		all.Go(func() {
			row := func(s string) []string { return []string{`2 ""`, fmt.Sprintf(`D [%q]`, s), `C "SELECT 1\x00"`} }
			own, sum := row(fmt.Sprint("client ", i)), row(fmt.Sprint(6+i))
			compare(t, c.say(t, script{parse("s", fmt.Sprintf("SELECT 'client %d'", i)),
				parse("p", fmt.Sprintf("SELECT sum(x)+%d FROM noisy /*p*/", i)),
				parse("", fmt.Sprintf("SELECT 'client %d'", i)), sync_, "Z"}), []string{`1 ""`, `1 ""`, `1 ""`, ready})
			for range 2 {
				compare(t, c.say(t, script{bind("", "s"), exec(""), bind("", "p"), exec(""), sync_, "Z"}),
					slices.Concat(own, sum, []string{ready}))
				compare(t, c.say(t, script{parse("", "SELECT 1/0"), bind("", ""), exec(""), bind("", "s"), sync_,
					bind("", "p"), exec(""), sync_, "ZZ"}),
					slices.Concat([]string{`1 ""`, "E ERROR 22012 division by zero", ready}, sum, []string{ready}))
				compare(t, c.say(t, script{q("BEGIN"), bind("", "s"), exec(""), sync_, "ZZ", q("SELECT 1/0"), "Z",
					bind("", "s"), sync_, "Z", q("ROLLBACK"), "Z"}),
					slices.Concat([]string{`C "BEGIN\x00"`, `Z "T"`}, own,
						[]string{`Z "T"`, "E ERROR 22012 division by zero", `Z "E"`,
							"E ERROR 25P02 current transaction is aborted, commands ignored until end of " +
								"transaction block",
							`Z "E"`, `C "ROLLBACK\x00"`, ready}))
			}
		})
	}
	all.Wait()
	if n := p.opened(); n > size || n == 0 {
		t.Errorf("there are %d guests", n)
	}
	if n := p.server.pool.renewals(); n < 2*clients {
		t.Errorf("guests were renewed %d times: they went to nobody else", n)
	}
	stopped(t, p)
}

// Prepared statements outlive their transaction, the unnamed one too, and end as they would with PostgreSQL.
func TestPoolStatements(t *testing.T) {
	p := pooled(t, Pool{Size: 2})
	p.restless(t)
	same(t, p, script{parse("", "SELECT $1::int+1"), describeS(""), sync_, "Z", bind("", "", "1"), exec(""), sync_, "Z",
		bind("", "", "2"), exec(""), sync_, "Z",
		parse("", "SELECT nothing"), sync_, "Z", bind("", ""), sync_, "Z"})
	same(t, p, script{parse("", "SELECT 1"), sync_, "Z", q("SELECT 2"), "Z", bind("", ""), sync_, "Z"})
	same(t, p, script{parse("s", "SELECT 1"), sync_, "Z", closeS("s"), sync_, "Z", bind("", "s"), sync_, "Z",
		parse("s", "SELECT 2"), sync_, "Z", parse("s", "SELECT 3"), sync_, "Z", bind("", "s"), exec(""), sync_, "Z"})
	// A first attempt to bring the statement to a guest may be skipped.
	same(t, p, script{parse("s", "SELECT 1"), sync_, "Z", parse("", "SELECT 1/0"), bind("", ""), exec(""),
		bind("", "s"), sync_,
		bind("", "s"), exec(""), sync_, "ZZ", bind("", "s"), exec(""), sync_, "Z"})
	same(t, p, script{parse("s", "SELECT 1"), parse("t", "SELECT 2"), sync_, "Z", q("DEALLOCATE s"), "Z", bind("", "s"),
		sync_, "Z",
		q("EXECUTE t"), "Z", q("DEALLOCATE ALL"), "Z", bind("", "t"), sync_, "Z"})
	same(t, p, script{parse("s", "SELECT 1"), parse("t", "SELECT 2"), sync_, "Z", q("BEGIN"), q("DEALLOCATE t"),
		q("EXECUTE s"), q("COMMIT"), "ZZZZ", bind("", "t"), sync_, "Z"})
	same(t, p, script{q("DROP TABLE IF EXISTS going; CREATE TABLE going (x int)"), parse("g", "SELECT x FROM going"),
		parse("s", "SELECT 1"), sync_, "ZZ",
		q("DROP TABLE going"), "Z", bind("", "g"), sync_, "Z", q("EXECUTE s"), "Z"})
}

// What a session has of its own stays its own, and no other client sees it, also where a function has made it.
func TestPoolState(t *testing.T) {
	c := direct(t)
	if _, err := c.Exec(t.Context(),
		`CREATE FUNCTION hidden(text) RETURNS void LANGUAGE plpgsql AS 'BEGIN EXECUTE $1; END'; CREATE ROLE pool_other;
		CREATE FUNCTION lock7() RETURNS void LANGUAGE sql AS 'SELECT pg_advisory_lock(7)'`); err != nil {
		t.Fatal(err)
	}
	for _, state := range []struct{ make, see, has string }{
		{"SET search_path = elsewhere", "SHOW search_path", "elsewhere"},
		{"SET datestyle = 'SQL, DMY'", "SHOW datestyle", "SQL, DMY"},
		{"SET fugu.epsilon = '0.5'", "SELECT coalesce(nullif(current_setting('fugu.epsilon', true), ''), 'none')",
			"0.5"},
		{"SET ROLE pool_other", "SELECT current_user", "pool_other"},
		{"SET SESSION AUTHORIZATION pool_other", "SELECT session_user", "pool_other"},
		{"CREATE TEMP TABLE mine AS SELECT 1", "SELECT to_regclass('mine')", "mine"},
		{"PREPARE mine AS SELECT 1", "SELECT string_agg(name, ' ') FROM pg_prepared_statements WHERE from_sql", "mine"},
		{"BEGIN; DECLARE mine CURSOR WITH HOLD FOR SELECT 1; COMMIT",
			"SELECT string_agg(name, ' ') FROM pg_cursors WHERE is_holdable", "mine"},
		{"LISTEN mine", "SELECT string_agg(c, ' ') FROM pg_listening_channels() c", "mine"},
		{"SELECT pg_advisory_lock(7)",
			"SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()", "7"},
		{"SELECT hidden('SET work_mem = ''5MB''')", "SHOW work_mem", "5MB"},
		{"SELECT hidden('SET ROLE pool_other')", "SELECT current_user", "pool_other"},
		{"SELECT hidden('CREATE TEMPORARY TABLE mine AS SELECT 1')", "SELECT to_regclass('mine')", "mine"},
		{"SELECT hidden('LISTEN mine')", "SELECT string_agg(c, ' ') FROM pg_listening_channels() c", "mine"},
		{"SELECT lock7()", "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()", "7"},
	} {
		t.Run(state.make, func(t *testing.T) {
			p := pooled(t, Pool{Size: 2})
			p.restless(t)
			a, b := dial(t, p.address), dial(t, p.address)
			a.say(t, script{parse("s", "SELECT 's'"), sync_, "Z"})
			first := b.value(t, state.see)
			a.put(t, encode(t, q(state.make)))
			if got := a.until(t, "Z"); strings.HasPrefix(got[0], "E") || got[len(got)-1] != ready {
				t.Fatalf("got %q", got)
			}
			for range 3 {
				if got := b.value(t, state.see); got != first || got == state.has {
					t.Errorf("another client sees %q, and saw %q", got, first)
				}
				if got := a.value(t, state.see); got != state.has {
					t.Errorf("the client sees %q, not %q", got, state.has)
				}
				compare(t, a.say(t, script{bind("", "s"), exec(""), sync_, "Z"}), []string{`2 ""`, `D ["s"]`,
					`C "SELECT 1\x00"`, ready})
			}
			before := a.value(t, pid)
			_ = a.Close()
			eventually(t, "the guest of a client that had state has ended", func() bool {
				return count(t, c, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1::text::int", before) == 0
			})
		})
	}
}

// Users, and clients that begin with other parameters, have guests of their own.
func TestPoolKinds(t *testing.T) {
	p := pooled(t, Pool{Size: 1})
	seen := map[string]string{}
	for _, leaving := range []bool{false, true, true} {
		for _, kind := range [][]string{{"user", "postgres"}, {"user", "somebody"}, {"user", "postgres", "datestyle",
			"SQL, DMY"}} {
			conn, err := net.Dial("tcp", p.address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			c := &peer{Conn: conn, in: newFrames(conn)}
			c.put(t, packet(protocol30, append(slices.Clone(kind), "database", "postgres", "application_name",
				"wiretest")...))
			c.until(t, "Z")
			got := c.value(t, pid)
			if whose := fmt.Sprint(kind); got == "" || seen[got] != "" && seen[got] != whose {
				t.Errorf("%s has guest %q of %s", whose, got, seen[got])
			} else {
				seen[got] = whose
			}
			if got := c.value(t, "SHOW datestyle"); (got == "SQL, DMY") != (len(kind) > 2) {
				t.Errorf("%s has DateStyle %s", kind, got)
			}
			eventually(t, "there is one guest", func() bool { return p.opened() == 1 })
			if leaving {
				_ = c.Close()
				p.isParked(t)
			}
		}
	}
}

// A cancel request reaches the statement that its client runs, and nobody else's, also when it comes late; the guest to
// which one was sent goes to nobody.
func TestPoolCancel(t *testing.T) {
	p := pooled(t, Pool{Size: 1})
	a, b := dial(t, p.address), dial(t, p.address)
	cancel := readAction(t, "cancel", "cancel", "").(action)
	first := a.value(t, pid)
	if got := b.value(t, pid); got != first {
		t.Errorf("guests %s and %s", first, got)
	}
	control := direct(t)
	b.put(t, encode(t, q("SELECT pg_sleep(601), 'of b'")))
	eventually(t, "b's statement runs", func() bool { return running(t, control, "'of b'") })
	cancel(t, a) // which has had this guest
	a.put(t, encode(t, q("SELECT 'of a'")))
	eventually(t, "a waits", func() bool { return p.server.pool.wanted() })
	if !running(t, control, "'of b'") {
		t.Error("a's cancel request has canceled b's statement")
	}
	cancel(t, b)
	compare(t, b.until(t, "Z"), []string{"T pg_sleep:2278/-1/0 ?column?:25/-1/0",
		"E ERROR 57014 canceling statement due to user request", ready})
	compare(t, a.until(t, "Z"), []string{"T ?column?:25/-1/0", `D ["of a"]`, `C "SELECT 1\x00"`, ready})
	if got := a.value(t, pid); got == first {
		t.Error("a guest to which a cancel request was sent serves another client")
	}
}

// A guest that ends between two transactions is not missed. One that ends in the middle ends its client's session
// alone.
func TestPoolGuestEnds(t *testing.T) {
	p := pooled(t, Pool{Size: 2})
	c, control := dial(t, p.address), direct(t)
	kill := func(pid string) {
		count(t, control, "SELECT 1 FROM pg_terminate_backend($1::text::int)", pid)
		eventually(t, "the guest has ended", func() bool {
			return count(t, control, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1::text::int", pid) == 0
		})
	}
	c.say(t, script{parse("s", "SELECT 's'"), sync_, "Z"})
	first := c.value(t, pid)
	kill(first)
	eventually(t, "the guest's end is noticed", func() bool { return p.opened() == 0 })
	compare(t, c.say(t, script{bind("", "s"), exec(""), sync_, "Z"}), []string{`2 ""`, `D ["s"]`, `C "SELECT 1\x00"`,
		ready})
	second := c.value(t, pid)
	if second == first || second == "" {
		t.Errorf("guests %q and %q", first, second)
	}
	c.put(t, encode(t, q("BEGIN")))
	c.until(t, "Z")
	kill(c.value(t, pid))
	compare(t, c.rest(t), []string{"E FATAL 57P01 terminating connection due to administrator command"})
	d := dial(t, p.address) // with a guest that dies while nobody has it
	first = d.value(t, pid)
	_ = d.Close()
	p.isParked(t)
	kill(first)
	d = dial(t, p.address)
	if got := d.value(t, pid); got == first || got == "" {
		t.Errorf("guests %q and %q", first, got)
	}
	stopped(t, p)
	if n := p.server.pool.open; n != 0 {
		t.Errorf("%d guests are counted", n)
	}
}

// Where all guests are at work a client waits for one up to a time.
func TestPoolWait(t *testing.T) {
	t.Parallel() // as it waits, for longer than a guest is waited for that nobody keeps
	p := pooled(t, Pool{Size: 1, Wait: idleness})
	a, b := dial(t, p.address), dial(t, p.address)
	a.put(t, encode(t, q("BEGIN")))
	a.until(t, "Z")
	b.put(t, encode(t, q("SELECT 1")))
	got := b.rest(t)
	if len(got) != 1 || !strings.HasPrefix(got[0], "E FATAL "+string(sqlstate.TooManyConnections)) {
		t.Errorf("a client that waited for too long was told %q", got)
	}
	a.put(t, encode(t, q("COMMIT")))
	a.until(t, "Z")
	compare(t, dial(t, p.address).say(t, script{q("SELECT 1"), "Z"}), []string{"T ?column?:23/-1/0", `D ["1"]`,
		`C "SELECT 1\x00"`, ready})
}

// It waits until it has one, or cancels, or the server stops.
func TestPoolExhausted(t *testing.T) {
	p := pooled(t, Pool{Size: 1})
	a, b := dial(t, p.address), dial(t, p.address)
	c, d := dial(t, p.address), dial(t, p.address)
	a.put(t, encode(t, q("BEGIN")))
	a.until(t, "Z")
	waiting := func(n int32) {
		eventually(t, fmt.Sprint(n, " clients wait"), func() bool { return p.server.pool.waiting.Load() == n })
	}
	for i, client := range []*peer{b, c, d} {
		client.put(t, encode(t, q("SELECT 1")))
		waiting(int32(i + 1))
	}
	readAction(t, "cancel", "cancel", "").(action)(t, c)
	compare(t, c.rest(t), []string{"E FATAL 57014 canceling statement due to user request"})
	waiting(2)
	a.put(t, encode(t, q("ROLLBACK")))
	a.until(t, "Z")
	for _, client := range []*peer{b, d} {
		if got := client.until(t, "Z"); got[len(got)-1] != ready {
			t.Errorf("a client that waited was told %q", got)
		}
	}
	a.put(t, encode(t, q("BEGIN")))
	a.until(t, "Z")
	b.put(t, encode(t, q("SELECT 1")))
	waiting(1)
	_ = a.Close() // in its transaction
	if got := b.until(t, "Z"); got[len(got)-1] != ready {
		t.Errorf("a client that waited was told %q", got)
	}
	b.put(t, encode(t, q("BEGIN")))
	b.until(t, "Z")
	d.put(t, encode(t, q("SELECT 1")))
	waiting(1)
	p.cancel()
	_ = b.Close()
	d.rest(t)
	stopped(t, p)
}
