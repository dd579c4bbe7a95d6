package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fugu/test/badnet"
	"fugu/test/pgcluster"
)

// badNetwork is a network to an address that ends with the test.
func badNetwork(t testing.TB, address string) *badnet.Network {
	t.Helper()
	n, err := badnet.New(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// behind is a proxy with a network between it and PostgreSQL.
func behind(t testing.TB, c *pgcluster.Cluster, edit func(*Config)) (*proxy, *badnet.Network) {
	t.Helper()
	n := badNetwork(t, fmt.Sprintf("127.0.0.1:%d", c.Port()))
	return serve(t, func(config *Config, f *fake) {
		f.guest.Port = uint16(n.Port())
		if edit != nil {
			edit(config)
		}
	}), n
}

// guests is the number of sessions that PostgreSQL has, without the one that asks. Clients of the tests' own are told
// by their application_name.
func guests(t testing.TB) int {
	t.Helper()
	c := direct(t)
	defer c.Close(context.Background())
	return count(t, c, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'wiretest'")
}

// nothingLeft checks that nobody has left anything behind: neither goroutines of the server's nor sessions of
// PostgreSQL's.
func nothingLeft(t *testing.T, p *proxy) {
	t.Helper()
	stopped(t, p)
	eventually(t, "PostgreSQL has no session of a client's left", func() bool { return guests(t) == 0 })
	if n := p.server.clients.Load(); n != 0 {
		t.Errorf("%d clients are counted when all have left", n)
	}
	if n := p.server.conns.Load(); n != 0 {
		t.Errorf("%d connections are counted when all have left", n)
	}
	p.server.keys.mu.Lock()
	defer p.server.keys.mu.Unlock()
	if n := len(p.server.keys.m); n != 0 {
		t.Errorf("%d cancel keys are left", n)
	}
}

const lost = "E FATAL 08006 the connection to the database was lost"

// A slow network that carries a few bytes at a time changes nothing but time.
func TestSlowNetwork(t *testing.T) {
	p, n := behind(t, cluster(t), nil)
	want := unsplit(t, p.address)
	for _, w := range []badnet.Weather{{Pieces: 100, Delay: time.Millisecond}, {Pieces: 1}} {
		n.Set(w)
		compare(t, unsplit(t, p.address), want)
	}
	n.Set(badnet.Weather{})
	nothingLeft(t, p)
}

// The connection to PostgreSQL is reset behind any byte of the answer to a long pipeline: what has come is relayed, a
// message of which a part came is not told from it, and one FATAL error is the last thing that the client hears.
func TestUpstreamResetAnywhere(t *testing.T) {
	p, n := behind(t, cluster(t), nil)
	want := unsplit(t, p.address)
	pipeline, waits := mixedBytes(t)
	told := 0
	for at := int64(1); ; at += 61 {
		c := dial(t, p.address)
		c.run(t, script{q(copyTable), "Z"})
		n.ResetAfter(at)
		c.put(t, pipeline)
		got, torn := c.whole(t, len(waits))
		n.ResetAfter(0)
		if slices.Equal(got, want) { // it is no longer than that
			break
		}
		if last := len(got) - 1; last >= 0 && got[last] == lost {
			told++
			got = got[:last]
		} else if !torn {
			t.Errorf("reset behind byte %d: the client is not told", at)
		}
		if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Fatalf("reset behind byte %d:\n\t%s", at, strings.Join(got, "\n\t"))
		}
		_ = c.Close()
		if at > 1<<20 {
			t.Fatal("the answer has no end")
		}
	}
	if told < 10 {
		t.Errorf("only %d clients were told that the database was lost", told)
	}
	nothingLeft(t, p)
}

// whole reads replies up to the given number of ReadyForQuery or the end, and reports whether the last was cut off.
func (p *peer) whole(t testing.TB, ready int) (got []string, torn bool) {
	t.Helper()
	for ready > 0 {
		_ = p.SetReadDeadline(time.Now().Add(patience))
		typ, length, err := p.in.next()
		if err != nil {
			return got, !errors.Is(err, io.EOF)
		}
		body, err := p.in.read(length)
		if err != nil {
			return got, true
		}
		if got = append(got, show(typ, body)); typ == 'Z' {
			ready--
		}
	}
	return got, false
}

// load is what clients under load come to, together.
type load struct {
	address string
	stop    chan struct{} // closed: they go away

	mu             sync.Mutex
	served, fatals int
}

// one is a client that asks until it hears of the end, once.
func (c *load) one(t *testing.T, kind int) {
	conn, err := net.Dial("tcp", c.address)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	a := &peer{Conn: conn, in: newFrames(conn)}
	a.put(t, packet(protocol30, "user", "postgres", "database", "postgres", "application_name", "wiretest"))
	got := a.until(t, "Z")
	for got[len(got)-1] != "end" {
		select {
		case <-c.stop:
			return
		default:
		}
		b := encode(t, q("SELECT pg_sleep(0.005)"))
		if kind%2 == 0 {
			b = encode(t, parse("", "SELECT generate_series(1, 1000)"), bind("", ""), execN("", 10), exec(""),
				sync_)
		}
		_, _ = a.Write(b)
		var torn bool
		if got, torn = a.whole(t, 1); torn {
			return // a message of which a part came is the end without a word
		}
		if len(got) == 0 || got[len(got)-1] != `Z "I"` {
			got = append(got, "end")
		}
		c.mu.Lock()
		c.served++
		c.mu.Unlock()
	}
	errors := strings.Count(strings.Join(got, "\n"), " FATAL ")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fatals += errors; errors != 1 {
		t.Errorf("a client heard of the end %d times: %q", errors, got)
	}
}

// PostgreSQL is killed and comes back while clients are at work. Each hears of it once; those that come meanwhile are
// refused with a code; those that come after are served.
func TestServerKilledUnderLoad(t *testing.T) {
	c := pgcluster.StartTest(t, pgcluster.Options{})
	if err := c.Exec(t.Context(), "postgres", "CREATE TABLE kept (x int)"); err != nil {
		t.Fatal(err)
	}
	p, _ := behind(t, c, nil)
	load := &load{address: p.address, stop: make(chan struct{})}
	var clients sync.WaitGroup
	for kind := range 8 {
		clients.Go(func() {
			for {
				select {
				case <-load.stop:
					return
				default:
					load.one(t, kind)
					time.Sleep(5 * time.Millisecond)
				}
			}
		})
	}
	for range 3 {
		before := progress(&load.mu, &load.served)
		eventually(t, "clients are served", func() bool { return progress(&load.mu, &load.served) > before+20 })
		down := progress(&load.mu, &load.fatals)
		c.Kill()
		eventually(t, "clients hear that it is down", func() bool { return progress(&load.mu, &load.fatals) >= down+8 })
		if err := c.Restart(t.Context()); err != nil {
			t.Error(err)
			break
		}
	}
	before := progress(&load.mu, &load.served)
	eventually(t, "clients are served again", func() bool { return progress(&load.mu, &load.served) > before+20 })
	close(load.stop)
	clients.Wait()
	nothingLeft(t, p)
}

func progress(mu *sync.Mutex, n *int) int {
	mu.Lock()
	defer mu.Unlock()
	return *n
}

// Clients that are gone without a word, behind a network that carries nothing, are sent away when they have been idle
// for too long, whether they can be told or not.
func TestHalfOpenClients(t *testing.T) {
	unhurried(t, func(timeout time.Duration) bool {
		p := serve(t, func(c *Config, _ *fake) { c.IdleTimeout, c.IdleInTransactionTimeout = timeout, timeout })
		n := badNetwork(t, p.address)
		asking := []string{"SELECT 1", "BEGIN", "BEGIN; " + protected, "LISTEN l"}
		for _, sql := range asking {
			c := dial(t, n.Address())
			_, _ = c.Write(encode(t, q(sql)))
			c.until(t, "Z")
		}
		stuck := dial(t, n.Address())
		n.Set(badnet.Weather{Frozen: true})
		_, _ = stuck.Write(encode(t, q("SELECT 1")))

		// Those that are gone by now were sent away while they could be told.
		there := p.opened() == len(asking)+1
		eventually(t, "all guests are closed", func() bool { return p.opened() == 0 })
		n.Close()
		nothingLeft(t, p)
		return there
	})
}

// A client that does not read holds its own guest up, and costs no more than its buffers; others do not wait for it.
func TestSlowReader(t *testing.T) {
	const rows, width = 200_000, 1000
	p := serve(t, nil)
	slow, other := dial(t, p.address), dial(t, p.address)
	c := direct(t)
	before := heap()
	slow.put(t, encode(t, q(fmt.Sprintf("SELECT repeat('x', %d) FROM generate_series(1, %d) -- slow reader", width,
		rows))))
	eventually(t, "the guest waits for its client", func() bool {
		return count(t, c, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%slow reader' AND wait_event = "+
			"'ClientWrite'") == 1
	})
	for range 100 {
		other.run(t, script{q(protected), "Z"})
	}
	// Buffers are some 100 kB; the answer has 200 MB.
	eventually(t, "little is held for a client that does not read", func() bool { return heap()-before <= 8<<20 })
	got := 0
	for {
		_ = slow.SetReadDeadline(time.Now().Add(patience))
		typ, length, err := slow.in.next()
		if err != nil {
			t.Fatal(err)
		}
		if err := slow.in.skip(length); err != nil {
			t.Fatal(err)
		}
		if typ == 'D' {
			got++
		}
		if typ == 'Z' {
			break
		}
	}
	if got != rows {
		t.Errorf("%d rows arrived of %d", got, rows)
	}
	nothingLeft(t, p)
}

// heap is the memory in use, in bytes, behind a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// Clients vanish behind any byte of a long pipeline, with a reset or without. Their guests end what was sent whole, and
// nothing of them is left; the next client finds everything as it should be.
func TestClientsVanish(t *testing.T) {
	p := serve(t, nil)
	pipeline, _ := mixedBytes(t)
	for i, at := 0, 1; at < len(pipeline); i, at = i+1, at+37 {
		c := dial(t, p.address)
		c.put(t, encode(t, q(copyTable)))
		if i%2 == 0 {
			c.until(t, "Z")
		}
		c.put(t, pipeline[:at])
		if i%3 == 0 {
			_ = c.Conn.(*net.TCPConn).SetLinger(0)
		}
		_ = c.Close()
	}
	eventually(t, "all guests are closed", func() bool { return p.opened() == 0 })
	dial(t, p.address).run(t, script{q("SELECT count(*) FROM pg_prepared_statements"), q(protected), "ZZ"})
	nothingLeft(t, p)
}
