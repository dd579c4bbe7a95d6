package wire

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/test/patient"
	"fugu/wire/auth"
)

// Many clients come at once, some of which do not mean it: each is served, or refused with PostgreSQL's words, or, when
// there are far too many, hears nothing.
func TestConnectStorm(t *testing.T) {
	const most = 20
	p := serve(t, func(c *Config, _ *fake) { c.MaxClients = most })
	start := make(chan struct{})
	var clients sync.WaitGroup
	var mu sync.Mutex
	served := 0
	for i := range 300 {
		clients.Go(func() {
			<-start
			conn, err := net.Dial("tcp", p.address)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			a := &peer{Conn: conn, in: newFrames(conn)}
			hello := packet(protocol30, "user", "postgres", "database", "postgres", "application_name", "wiretest")
			if i%4 == 0 { // gone before it is in
				_, _ = conn.Write(hello[:i%len(hello)])
				_ = conn.(*net.TCPConn).SetLinger(0)
				return
			}
			_, _ = conn.Write(hello)
			got := a.until(t, "Z")
			switch last := got[len(got)-1]; {
			case last == `Z "I"`:
				a.run(t, script{q(protected), "Z"})
				mu.Lock()
				served++
				mu.Unlock()
			case last == "end" && len(got) == 1:
			case len(got) != 2 || got[0] != "E FATAL 53300 sorry, too many clients already":
				t.Errorf("a client got %q", got)
			}
		})
	}
	close(start)
	clients.Wait()
	if served == 0 {
		t.Error("nobody was served")
	}
	eventually(t, "there is room again", func() bool { return p.server.clients.Load() == 0 })
	for range most {
		dial(t, p.address)
	}
	nothingLeft(t, p)
}

// silentGuests is an engine whose guests are there and do not cost a PostgreSQL session each.
type silentGuests struct{ open sync.WaitGroup }

func (e *silentGuests) Open(context.Context, Startup) (Session, error) {
	near, far := net.Pipe()
	e.open.Go(func() { scripted(far) })
	return &pipeSession{fakeSession{fake: &fake{}}, near}, nil
}

// Two thousand clients that do nothing are no burden, and leave nothing behind when they are sent away.
func TestManyIdleClients(t *testing.T) {
	const n = 2000
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	engine := &silentGuests{}
	s := New(Config{Auth: auth.Trust{}, MaxClients: n, DrainTimeout: patience, Logger: slog.New(slog.DiscardHandler)},
		engine)
	s.linger = patience
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, listener) }()
	clients := make([]*peer, n)
	for i := range clients {
		clients[i] = hello(t, listener.Addr().String(), "postgres")
	}
	for _, c := range clients {
		c.until(t, "Z")
	}
	compare(t, hello(t, listener.Addr().String(), "postgres").until(t, "Z"),
		[]string{"E FATAL 53300 sorry, too many clients already", "end"})
	for _, c := range clients[:50] {
		c.put(t, encode(t, q("SELECT 1")))
		compare(t, c.until(t, "Z"), []string{`D ["1"]`, `C "SELECT 1\x00"`, `Z "I"`})
	}
	stop()
	for _, c := range clients {
		compare(t, c.rest(t), []string{shutdown})
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	engine.open.Wait()
	eventually(t, "no goroutine is left", func() bool { return len(goroutines()) == 0 })
	if n := s.conns.Load() + s.clients.Load() + int64(len(s.keys.m)); n != 0 {
		t.Errorf("%d things are left", n)
	}
}

// A client that waits holds nothing of the long messages that it has sent or read before, nor do its guest's buffers.
func TestNothingIsHeldOfLongMessages(t *testing.T) {
	patient.Test(t)
	const n, long = 8, 4 << 20
	p := serve(t, func(c *Config, _ *fake) { c.MessageBytes = 2 * long })
	text := strings.Repeat("x", long)
	for name, s := range map[string][]pgproto3.FrontendMessage{
		"query":           {q("SELECT 1 /*" + text + "*/")},
		"protected query": {q(protected + "/*" + text + "*/")},
		"bind":            {parse("", "SELECT length($1)"), bind("", "", text), exec(""), sync_},
		"protected bind": {parse("", "SELECT x FROM noisy WHERE $1 <> '' ORDER BY x /*p*/", 25), bind("", "", text),
			exec(""), sync_},
		"error": {q("DO $$ BEGIN RAISE '%', repeat('x', " + fmt.Sprint(long) + "); END $$")},
		"scrubbed notice": {parse("", "SELECT loud("+fmt.Sprint(long)+"), x FROM noisy /*p*/"), bind("", ""), exec(""),
			sync_},
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			clients := make([]*peer, n)
			for i := range clients {
				clients[i] = dial(t, p.address)
				clients[i].put(t, encode(t, s...))
				if got := clients[i].until(t, "Z"); got[len(got)-1] != ready {
					t.Fatalf("not answered: %.100q", got)
				}
				clients[i].in = newFrames(clients[i])
			}
			p.bound() // which has what they were bound with
			// A session that has just answered may still have to lay its buffers down.
			eventually(t, fmt.Sprint("nothing is held for ", n, " clients that wait"), func() bool {
				return heap()-before <= n*long/4
			})
			for _, c := range clients {
				_ = c.Close()
			}
			eventually(t, "all guests are closed", func() bool { return p.opened() == 0 })
		})
	}
}
