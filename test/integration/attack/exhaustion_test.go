//go:build fuguhooks

package attack

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"

	"fugu/internal/hook"
)

// extensive explains a statement of 3000 values; n tells it from others.
func extensive(n int) string {
	return fmt.Sprintf("EXPLAIN (PRIVACY) SELECT region, visits, count(*), sum(spend), sum(age), avg(age) "+
		"FROM customer WHERE age > %d GROUP BY 1, 2", n)
}

// rush is what came of eight explanations at once.
type rush struct {
	explained, refused int
	peak               uint64 // bytes of the heap beyond what was there before
	meanwhile          int    // small statements of others that were answered while at least one was being explained
}

// heap is how many bytes are in use.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func rushing(t *testing.T) (out rush) {
	t.Helper()
	f := serve(t, worlds[0], options{policy: []string{"remote]", "remote]\n      visits: {from: 0, to: 149}"}})
	other := f.connect(t, "bob")
	number(t, other, scanned) // so that it is stored, and nothing of it waits for the database
	// What is no longer used is collected soon, so that the heap is what is used.
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	// What is in a pool is not free before it was not used from one collection to the next.
	runtime.GC()
	runtime.GC()
	before := heap()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 8 {
		c := f.connect(t, "")
		all.Go(func() {
			_, err := c.Exec(ctx, extensive(i))
			mu.Lock()
			defer mu.Unlock()
			switch code(err) {
			case "":
				if err == nil {
					out.explained++
				}
			case "53400":
				out.refused++
			default:
				t.Errorf("%v", err)
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return out
		default:
		}
		if now := heap(); now > before {
			out.peak = max(out.peak, now-before)
		}
		if _, ok := number(t, other, scanned); ok {
			out.meanwhile++
		}
	}
}

// Eight explanations of a large statement at once: only so many are looked for as leave room for others, of whom
// statements are answered meanwhile; the rest are told so, and cost neither memory nor time.
func TestManySearches(t *testing.T) {
	// A search of 3000 values takes some 6 MB, 2 KB for each. One user has two, of which both run where there are
	// places.
	most := uint64(min(2, max(1, runtime.GOMAXPROCS(0)/2))) * 3000 << 12
	var with, without rush
	t.Run("defence off", func(t *testing.T) {
		off(t, &hook.OpenSearches)
		for range 5 { // on a busy machine they may come one after the other
			without = rushing(t)
			t.Logf("%+v", without)
			if without.explained != 8 {
				t.Errorf("%d of eight were explained: it is no test of the defence", without.explained)
			}
			if without.peak > most {
				break
			}
		}
	})
	t.Run("defence on", func(t *testing.T) {
		with = rushing(t)
		t.Logf("%+v", with)
		// One of a user's may run and one wait; a statement that comes when the first is done takes its place.
		if with.explained < 1 || with.refused < 3 || with.explained+with.refused != 8 {
			t.Errorf("%d explained and %d refused; one user may have one running, and one waiting", with.explained,
				with.refused)
		}
		if with.meanwhile == 0 {
			t.Error("nobody else was answered meanwhile")
		}
	})
	if with.peak > most {
		t.Errorf("eight at once took %d bytes, more than %d", with.peak, most)
	}
	if without.peak <= most {
		t.Errorf("eight at once took %d bytes without the defence, within %d: it is no test of it", without.peak, most)
	}
}
