//go:build fuguhooks

package kill

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/badnet"
)

// amid holds the proxy at the point, does something to its surroundings, and lets it go on. Where the statement is
// answered without passing the point, it does nothing.
func amid(do func(s *scene)) fault {
	return func(s *scene, p point, ask func() reply) reply {
		s.t.Helper()
		s.order(p.order("hold"))
		replies := make(chan reply, 1)
		go func() { replies <- ask() }()
		s.eventually("the proxy is held or done", func() bool { return s.held() || len(replies) > 0 })
		if !s.held() {
			s.missed++
			s.order()
			return <-replies
		}
		do(s)
		s.order()
		return <-replies
	}
}

// without leaves out rounds at points of what is sent: there the ledger has done its work.
func without(rounds []round) (out []round) {
	for _, r := range rounds {
		if !strings.HasSuffix(r.point.name, "sending") {
			out = append(out, r)
		}
	}
	return out
}

// killBackends kills every process of PostgreSQL's that works for the proxy, with SIGKILL; PostgreSQL then recovers.
func killBackends(s *scene) {
	s.t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.server.DSN("postgres", "postgres"))
	if err != nil {
		s.t.Fatal(err)
	}
	rows, err := c.Query(ctx, "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()",
		s.database)
	if err != nil {
		s.t.Fatal(err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		s.t.Fatal(err)
	}

	// After a crash the proxy may have answered from its memory, and have no connection yet.
	if len(pids) == 0 {
		s.spared++
		_ = c.Close(ctx)
		return
	}
	for i, pid := range pids {
		// Behind the first PostgreSQL ends all the others itself.
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && (i == 0 || !errors.Is(err, syscall.ESRCH)) {
			s.t.Fatal(err)
		}
	}
	_, _ = c.Exec(ctx, "SELECT pg_sleep(600)") // until PostgreSQL ends this one too
	_ = c.Close(ctx)
	s.up()
}

// up waits until the ledger's server lets clients in.
func (s *scene) up() {
	s.t.Helper()
	s.eventually("PostgreSQL is up", func() bool {
		c, err := pgx.Connect(context.Background(), s.url)
		if err != nil {
			return false
		}
		return c.Close(context.Background()) == nil
	})
}

// The ledger's server dies while a charge is on its way: each of its processes by SIGKILL, or all at once, and then it
// is down until the client has been told.
func TestServerKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	s := newScene(t, "PostgreSQL", 1e6)
	s.on(ownServer(t))
	rounds := without(plan(t, ledgers[1]))
	share := 67
	if all() {
		share = 3
	}
	n, wrong := s.sweep(rounds, share, amid(killBackends))
	if 4*s.spared > n {
		t.Errorf("at %d of %d points there was no process to kill", s.spared, n)
	}
	down := func(s *scene, p point, ask func() reply) reply {
		r := amid(func(s *scene) {
			s.server.Kill()
		})(s, p, ask)
		if err := s.server.Restart(context.Background()); err != nil {
			s.t.Fatal(err)
		}
		return r
	}
	k, more := s.sweep(rounds[share/2:], share, down)
	for _, w := range append(wrong, more...) {
		t.Error(w)
	}
	t.Logf("%d and %d crashes at %d points", n, k, len(rounds))
}

// The connection to the ledger is cut: at each point, and behind each so many bytes of what the ledger says, in the
// midst of its messages.
func TestConnectionCut(t *testing.T) {
	t.Parallel()
	s := newScene(t, "PostgreSQL", 1e6)
	n, err := badnet.New(fmt.Sprintf("127.0.0.1:%d", s.server.Port()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = n.Address()
	s.config.Ledger = u.String()
	rounds := without(plan(t, ledgers[1]))
	share, step := 31, int64(67)
	if all() {
		share, step = 1, 13
	}
	cuts, wrong := s.sweep(rounds, share, amid(func(*scene) { n.Reset() }))
	bytes, served, refused := 0, 0, 0
	for at := int64(1); ; at += step {
		cut := true
		w, _ := s.try(kinds[0], s.statement(), point{fmt.Sprintf("byte %d of the ledger's", at), 1},
			func(_ *scene, _ point, ask func() reply) reply {
				n.ResetAfter(at)
				r := ask()
				cut = n.Left() == 0
				n.ResetAfter(0)
				switch r.code() {
				case "":
					served++
				default:
					refused++
				}
				return r
			})
		wrong = append(wrong, w...)
		if !cut {
			break
		}
		bytes++
	}
	for _, w := range wrong {
		t.Error(w)
	}
	t.Logf("%d cuts at points, %d amid replies: %d served, %d refused", cuts, bytes, served, refused)
	if bytes < 3 || refused == 0 {
		t.Error("the cuts did not meet the charge")
	}
}
