package upstream

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"fugu/sqlstate"
	"fugu/test/pgcluster"
)

// late is a connection on which what is written from a mark in it on arrives only when it is let go.
type late struct {
	net.Conn
	mark []byte
	held chan struct{} // closed once something is held back

	mu      sync.Mutex
	rest    []byte
	holding bool
	gone    bool // it was let go
}

func (c *late) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.gone || !c.holding && !bytes.Contains(b, c.mark):
		return c.Conn.Write(b)
	case !c.holding:
		c.holding = true
		close(c.held)
	}
	c.rest = append(c.rest, b...)
	return len(b), nil
}

func (c *late) letGo() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.Conn.SetDeadline(time.Time{}) // that of a context which has ended
	_, _ = c.Conn.Write(c.rest)
	c.rest, c.gone = nil, true
}

// early is the connection of a cancel request, behind whose end the other one's statement arrives.
type early struct {
	net.Conn
	then func()
}

func (c early) Close() error {
	err := c.Conn.Close()
	c.then()
	return err
}

// A cancel request that arrives before its statement cancels nothing, and PostgreSQL begins the statement afterwards.
// Another request ends it, and not statement_timeout.
func TestReaderCancelsTooEarly(t *testing.T) {
	newReader(t, "early", time.Minute).Close()
	const sql = "SELECT count(*) FROM public.t, pg_sleep(600)"
	var first *late
	held := make(chan struct{})
	r, err := OpenReader(pgcluster.Shared(t).DSN("early_reader", "early"), time.Hour, func(c *pgxpool.Config) {
		dial := c.ConnConfig.DialFunc
		c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			if first == nil { // connections are made one after the other here
				first = &late{Conn: conn, mark: []byte("pg_sleep"), held: held}
				return first, nil
			}
			return early{conn, sync.OnceFunc(first.letGo)}, nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := measured(ctx, r, []Question{scalar(sql, 0)}, rationals(1))
		done <- err
	}()
	<-held
	cancel()
	wantCode(t, <-done, sqlstate.QueryCanceled)

	waitFor(t, "early", "SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'early_reader'")
}
