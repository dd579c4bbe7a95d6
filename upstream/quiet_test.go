package upstream

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"fugu/test/pgcluster"
)

// counted is a connection that counts what it writes.
type counted struct {
	*net.TCPConn
	writes *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.TCPConn.Write(b)
}

// One statement is one message to the database, and the first after a restart succeeds all the same.
func TestReaderAsksOnce(t *testing.T) {
	newReader(t, "quiet", time.Minute).Close()
	var writes, dials atomic.Int64
	r, err := OpenReader(pgcluster.Shared(t).DSN("quiet_reader", "quiet"), time.Minute, func(c *pgxpool.Config) {
		dial := c.ConnConfig.DialFunc
		c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials.Add(1)
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return counted{conn.(*net.TCPConn), &writes}, nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	describe := func() {
		t.Helper()
		if _, err := r.Describe(t.Context(), "SELECT count(*) FROM public.t", nil); err != nil {
			t.Fatal(err)
		}
	}
	describe()
	for round := range 20 {
		before := writes.Load()
		for range 10 {
			describe()
		}
		if n := writes.Load() - before; n != 10 {
			t.Errorf("10 statements took %d messages", n)
		}
		if n := dials.Load(); n != int64(round+1) {
			t.Errorf("%d connections after %d ends", n, round)
		}
		run(t, "quiet", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'quiet_reader'")
		waitFor(t, "quiet", "SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'quiet_reader'")
		describe()
	}
}

// A connection is quiet while it is open and the other side says nothing, also while somebody waits to read from it.
func TestQuiet(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, reading := range []bool{false, true} {
		near, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer near.Close()
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer far.Close()
		read := make(chan int, 1)
		if reading {
			go func() {
				n, _ := near.Read(make([]byte, 10))
				read <- n
			}()
		}
		for range 20 { // by the end the reader waits
			if !quiet(near) || !quiet(tls.Client(near, nil)) {
				t.Errorf("reading %v: an idle connection is not quiet", reading)
			}
			time.Sleep(time.Millisecond)
		}
		if reading {
			if _, err := far.Write([]byte("x")); err != nil || <-read != 1 {
				t.Fatal(err)
			}
		} else {
			if _, err := far.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			for quiet(near) { // until it has come
				time.Sleep(time.Millisecond)
			}
			if n, err := near.Read(make([]byte, 10)); n != 1 || err != nil || !quiet(near) {
				t.Errorf("%d bytes, %v", n, err)
			}
		}
		far.Close()
		for quiet(near) {
			time.Sleep(time.Millisecond)
		}
		near.Close()
		if quiet(near) {
			t.Error("a closed connection is quiet")
		}
	}
	a, _ := net.Pipe()
	if quiet(a) {
		t.Error("a connection that nothing is known of is quiet")
	}
}

// BenchmarkDescribe is what planning asks of PostgreSQL.
func BenchmarkDescribe(b *testing.B) {
	r, err := OpenReader(pgcluster.Shared(b).DSN("postgres", "postgres"), time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for b.Loop() {
		if _, err := r.Describe(b.Context(),
			"SELECT relkind, count(*) FROM pg_class WHERE relpages > $1 GROUP BY relkind", []uint32{23}); err != nil {
			b.Fatal(err)
		}
	}
}
