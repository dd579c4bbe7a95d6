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
)

// claimed claims a key of a ledger, which nobody else has.
func claimed(t *testing.T, l *store, key Key) (release func()) {
	t.Helper()
	release, err := l.Claim(t.Context(), key)
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
		key, other := charge(1).Key, charge(2).Key
		first := claimed(t, ls[0], key)
		claimed(t, ls[1], other)()
		claimed(t, ls[0], other)()

		// In this process, and in another.
		for _, l := range ls {
			ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
			release, err := l.Claim(ctx, key)
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
					release, err := l.Claim(t.Context(), key)
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
			first = claimed(t, ls[0], key)
		}
		first()
		claimed(t, ls[1], key)()
	})
}

// Of many who claim one question at once, in four processes, no two have it at a time.
func TestRaceForAClaim(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		ls := handles(t, p, 4)
		var having, had atomic.Int64
		together(func(i int) {
			for range 5 {
				release, err := ls[i%len(ls)].Claim(context.Background(), "k")
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
			release, err := l.Claim(t.Context(), charge(1).Key)
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
		claimed(t, l, charge(1).Key)()
	})
}

// A ledger that is open for reading has nothing to claim.
func TestClaimsAreOfWhoWrites(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		closeLedger(t, p.open(t, Options{}))
		l := p.open(t, Options{ReadOnly: true})
		defer closeLedger(t, l)
		if _, err := l.Claim(t.Context(), charge(1).Key); !errors.Is(err, errReadOnly) {
			t.Errorf("%v", err)
		}
	})
}
