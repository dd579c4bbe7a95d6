package pgcluster

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Peer is a client that sends and sees every message of the protocol itself.
type Peer struct{ *pgconn.HijackedConn }

// Dial connects a Peer, which is closed with the test. It has no deadline yet.
func Dial(t testing.TB, dsn string) Peer {
	t.Helper()
	c, err := pgconn.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SyncConn(t.Context()); err != nil {
		t.Fatal(err)
	}
	h, err := c.Hijack()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Conn.Close() })
	return Peer{h}
}

// Send writes messages in one go.
func (p Peer) Send(t testing.TB, messages ...pgproto3.FrontendMessage) {
	t.Helper()
	for _, m := range messages {
		p.Frontend.Send(m)
	}
	if err := p.Frontend.Flush(); err != nil {
		t.Fatal(err)
	}
}
