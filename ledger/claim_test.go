package ledger

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// claimed claims a question that was charged ahead, which nobody else has.
func claimed(t *testing.T, l *store, c Charge, id int64) (release func()) {
	t.Helper()
	release, err := l.Claim(t.Context(), c.Key, id)
	if err != nil || release == nil {
		t.Fatalf("claimed by another: %t, %v", release == nil, err)
	}
	return release
}

// A question is one process's at a time, and another one waits and is sent to look again; other questions are anybody's
// meanwhile. Who waits may leave, and takes nothing along.
func TestClaims(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		ls := handles(t, p, 2)
		c, other := ahead(1), ahead(2)
		id, another := must(t, ls[0], c).ID, must(t, ls[0], other).ID
		first := claimed(t, ls[0], c, id)
		claimed(t, ls[1], other, another)()
		claimed(t, ls[0], other, another)()

		// In this process, and in another.
		for _, l := range ls {
			ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
			release, err := l.Claim(ctx, c.Key, id)
			if !errors.Is(err, context.DeadlineExceeded) || release != nil {
				t.Fatalf("claimed twice: %t, %v", release != nil, err)
			}
			leave()
		}

		// Nobody has it before it is given back; who asked before that, in this process or in another, is sent to look
		// again. On a busy machine one may ask too late for that, and the next time is given longer.
		sent := make([]atomic.Bool, len(ls))
		for pause := 50 * time.Millisecond; !sent[0].Load() || !sent[1].Load(); pause *= 2 {
			var given atomic.Bool
			var waiting sync.WaitGroup
			for i, l := range ls {
				waiting.Go(func() {
					release, err := l.Claim(t.Context(), c.Key, id)
					if err != nil || !given.Load() {
						t.Errorf("%v; the claim was given back: %t", err, given.Load())
					}
					if release != nil {
						release()
					} else {
						sent[i].Store(true)
					}
				})
			}
			time.Sleep(pause)
			given.Store(true)
			first()
			waiting.Wait()
			if t.Failed() || pause > time.Minute {
				t.Fatal("who waits is not sent to look again")
			}
			first = claimed(t, ls[0], c, id)
		}
		first()
		claimed(t, ls[1], c, id)()
	})
}

// Of many who claim one question at once, in four processes, no two have it at a time.
func TestRaceForAClaim(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		ls := handles(t, p, 4)
		c := ahead(1)
		id := must(t, ls[0], c).ID
		var having, had atomic.Int64
		together(func(i int) {
			for range 5 {
				release, err := ls[i%len(ls)].Claim(context.Background(), c.Key, id)
				if err != nil {
					t.Error(err)
				}
				if release == nil {
					continue
				}
				if n := having.Add(1); n != 1 {
					t.Errorf("%d have it", n)
				}
				had.Add(1)
				time.Sleep(time.Millisecond)
				having.Add(-1)
				release()
			}
		})
		if had.Load() == 0 {
			t.Error("nobody had it")
		}
	})
}

// What a process has claimed is free when it is killed.
func TestClaimsEndWithTheirProcess(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		defer closeLedger(t, l)
		c := ahead(1)
		id := must(t, l, c).ID
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), childMode+"=claim", childURL+"="+string(p))
		child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		out, err := child.StdoutPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		said := make([]byte, 100)
		n, err := out.Read(said)
		if err != nil || !strings.HasPrefix(string(said[:n]), "claimed") {
			t.Fatalf("%q, %v", said[:n], err)
		}

		done := make(chan error, 1)
		go func() {
			release, err := l.Claim(t.Context(), c.Key, id)
			if release != nil { // it had not asked before the child was gone
				release()
			}
			done <- err
		}()
		select {
		case err := <-done:
			t.Fatalf("claimed beside the child: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
		_ = child.Process.Kill()
		_ = child.Wait()
		if err := <-done; err != nil {
			t.Error(err)
		}
		claimed(t, l, c, id)()
	})
}

// A ledger that is open for reading has nothing to claim.
func TestClaimsAreOfWhoWrites(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		closeLedger(t, p.open(t, Options{}))
		l := p.open(t, Options{ReadOnly: true})
		defer closeLedger(t, l)
		if _, err := l.Claim(t.Context(), charge(1).Key, 1); !errors.Is(err, errReadOnly) {
			t.Errorf("%v", err)
		}
	})
}

// A guest of the ledger's database sees which lock a claim is, waits for it, and has it when it is given back. Who
// waits for the answer is told that there is one, or that the question was given up; and then it is another lock.
func TestClaimsBesideAGuestsLock(t *testing.T) {
	p := inDatabase(t)
	ls := handles(t, p, 2)
	c := ahead(1)
	id := must(t, ls[0], c).ID
	release := claimed(t, ls[0], c, id)

	// The guest's lock is asked for before the second proxy's, which looks for it again and again and gets behind it.
	look, guest := asAnybody(t, p), asAnybody(t, p)
	const number = `SELECT classid::bigint << 32 | objid::bigint FROM pg_locks
		WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	var lock int64
	if err := look.QueryRow(t.Context(), number).Scan(&lock); err != nil {
		t.Fatal(err)
	}
	taken := make(chan error, 1)
	go func() {
		_, err := guest.Exec(t.Context(), "SELECT pg_advisory_lock($1)", lock)
		taken <- err
	}()
	for waits := false; !waits; {
		err := look.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks
			WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
	}
	waiting := make(chan error, 1)
	go func() {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		defer stop()
		release, err := ls[1].Claim(ctx, c.Key, id)
		if release != nil {
			err = errors.New("it has the claim")
		}
		waiting <- err
	}()

	if err := ls[0].Abandon(t.Context(), c.Key, id, "alice"); err != nil {
		t.Fatal(err)
	}
	release()
	if err := errors.Join(<-taken, <-waiting); err != nil {
		t.Fatalf("who waits beside the guest: %v", err)
	}
	claimed(t, ls[1], c, must(t, ls[1], c).ID)()
}

// asAnybody is a session of a role that the ledger gives no right to.
func asAnybody(t *testing.T, p place) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(string(p))
	if err != nil {
		t.Fatal(err)
	}
	config.User = "postgres" // any role may take such a lock
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
