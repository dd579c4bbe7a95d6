package ledger

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fugu/privacy"
)

// handles opens one ledger several times, as several processes would.
func handles(t *testing.T, p place, n int) []*store {
	out := make([]*store, n)
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() {
			l, err := Open(context.Background(), string(p), Options{})
			if err != nil {
				t.Error(err)
				return
			}
			out[i] = l.(*store)
			if err := out[i].waitLong(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		for _, l := range out {
			closeLedger(t, l)
		}
		closeLedger(t, p.open(t, Options{})) // verifies
	})
	return out
}

// waitLong lets a charge wait for the others for as long as that takes: how many of them a busy machine books within
// the time of a client's patience is no concern of a race.
func (l *store) waitLong() error {
	l.waiting = 10 * time.Minute
	wait := "PRAGMA busy_timeout = 600000"
	if l.alone != nil { // PostgreSQL
		wait = "SET lock_timeout = '10min'; SET statement_timeout = '10min'"
	}
	_, err := l.write.Exec(wait)
	return err
}

// together calls f from 64 goroutines at once.
func together(f func(i int)) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

func TestRaceForTheLastBudget(t *testing.T) {
	for round := range 3 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			everywhere(t, func(t *testing.T, p place) {
				ls := handles(t, p, 4)
				limit := privacy.Budget{Epsilon: 2, Delta: 0.01} // for eight of them
				var mu sync.Mutex
				won := map[int64]bool{}
				together(func(i int) {
					a, err := ls[i%len(ls)].Charge(context.Background(), with(charge(i), func(c *Charge) {
						c.Limit = limit
					}))
					mu.Lock()
					defer mu.Unlock()
					var x *Exhausted
					switch {
					case err == nil && (won[a.ID] || !a.Fresh || string(a.Bytes) != fmt.Sprint("answer ", i)):
						t.Errorf("%d was given %+v", i, a)
					case err == nil:
						won[a.ID] = true
					case !errors.As(err, &x):
						t.Errorf("%d: %v", i, err)
					case x.Spent.Pure != 2:
						t.Errorf("%d: refused at %+v", i, x.Spent)
					}
				})
				if len(won) != 8 {
					t.Errorf("%d charges were paid, the limit is for 8", len(won))
				}
				if got := spent(t, ls[0], ""); got[0].Loss.Pure != 2 || got[0].Releases != 8 {
					t.Errorf("spent %+v", got)
				}
			})
		})
	}
}

func TestRaceForOneKey(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		ls := handles(t, p, 4)
		var mu sync.Mutex
		given := map[string]int{}
		fresh := 0
		together(func(i int) {
			c := with(charge("same"), func(c *Charge) {
				c.Answer = fmt.Append(nil, "draw ", i)
				c.Shares = shares([]string{"alice", "bob"}[i%2])
				c.Limit.Epsilon, c.Shares[0].Limit.Epsilon = 0.25, 0.25 // paying twice is too much
			})
			l := ls[i%len(ls)]
			a, err := l.Charge(context.Background(), c)
			if err != nil {
				t.Errorf("%d: %v", i, err)
				return
			}
			found, ok, err := l.Find(context.Background(), c.Key, c.Shares[0].Scope)
			if err != nil || !ok || string(found.Bytes) != string(a.Bytes) {
				t.Errorf("%d: charged %q, then found %q, %v, %v", i, a.Bytes, found.Bytes, ok, err)
			}
			mu.Lock()
			defer mu.Unlock()
			given[string(a.Bytes)]++
			if a.Fresh {
				fresh++
			}
		})
		if len(given) != 1 || fresh != 1 {
			t.Errorf("answers %v, %d of them fresh: want one answer, fresh once", given, fresh)
		}
		for _, scope := range []string{Everybody, "alice", "bob"} {
			if got := spent(t, ls[0], scope); len(got) != 1 || got[0].Loss.Pure != 0.25 || got[0].Releases != 1 {
				t.Errorf("%q spent %+v", scope, got)
			}
		}
	})
}

func TestCloseWaitsForTheWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fugu.db")
	l := open(t, path, Options{Exclusive: true})
	writer, err := l.write.Conn(context.Background()) // as Charge takes it
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- l.Close() }()
	for l.read.Ping() == nil { // which Close closes first
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	if _, err := Open(context.Background(), "sqlite:"+path, Options{Exclusive: true}); err == nil {
		t.Error("the lock is free while someone writes")
	}
	select {
	case <-closed:
		t.Error("closed while someone writes")
	default:
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	closeLedger(t, open(t, path, Options{Exclusive: true}))
}

// Closing amid charges loses none of them.
func TestCloseAmidCharges(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{Exclusive: true})
		var mu sync.Mutex
		var charged []Key
		first := make(chan struct{}, 64)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for n := 0; ; n++ {
					c := with(charge(fmt.Sprint(i, "/", n)), func(c *Charge) { c.Limit.Epsilon = 1e6 })
					if _, err := l.Charge(context.Background(), c); err != nil {
						return
					}
					mu.Lock()
					charged = append(charged, c.Key)
					mu.Unlock()
					select {
					case first <- struct{}{}:
					default:
					}
				}
			})
		}
		<-first
		closeLedger(t, l)
		again := p.open(t, Options{Exclusive: true}) // the lock is free, and the totals are right
		wg.Wait()
		for _, k := range charged {
			if _, ok, err := again.Find(context.Background(), k, ""); !ok || err != nil {
				t.Errorf("lost: %v", err)
			}
		}
		closeLedger(t, again)
	})
}
