package pipeline

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"fugu/parser"
	"fugu/test/patient"
)

func TestPlanKey(t *testing.T) {
	patient.Test(t)
	keys := map[planKey]bool{}
	for _, types := range [][]uint32{nil, {0}, {23}, {23, 25}, {25, 23}, {0x17000000}, {0x19}} {
		for _, sql := range []string{"", "a", "[23] a"} {
			keys[newPlanKey(sql, types)] = true
		}
	}
	if len(keys) != 7*3 {
		t.Errorf("%d keys", len(keys))
	}
	if newPlanKey("a", nil) != newPlanKey("a", []uint32{}) {
		t.Error("no types are not no types")
	}
}

// What plans are said to take is not much less than what they do: the heap grows by at most twice as much with n = 100
// of a kind, each of another text. A size that forgets what grows with the text says less than a tenth of it.
func TestPlansTakeWhatTheySay(t *testing.T) {
	patient.Test(t)
	const n = 100
	h := newHouse(t)
	s := &session{engine: h.engine, user: "alice"}
	p := s.planning(h.engine.snapshot.Load())
	for name, sql := range map[string]string{
		"groups":    "SELECT education, sex, avg(age) FROM adult WHERE age > %d GROUP BY education, sex",
		"long list": "SELECT count(*) FROM adult WHERE age IN (" + strings.Repeat("1, ", 2000) + "%d)",
		"long tree": "SELECT count(*) FROM adult WHERE " + strings.Repeat("age = 1 OR ", 300) + "age = %d",
		"parameter": "SELECT avg(age) FROM adult WHERE age > $1 AND hours_per_week > %d",
		"masked":    "SELECT * FROM pg_class WHERE relname = 'adult' LIMIT %d",
		"execute":   "EXECUTE x(" + strings.Repeat("1, ", 2000) + "%d)",
	} {
		s.prepared = true // that EXECUTE is looked at
		keep, said := make([][]template, n), 0
		before := heap()
		for i := range keep {
			st, err := parser.Parse(fmt.Sprintf(sql, i), p.Catalog(t.Context(), p.reader, nil))
			if err != nil {
				t.Fatal(err)
			}
			one, err := p.plan(t.Context(), st[0], nil)
			if err != nil {
				t.Fatal(name, err)
			}
			one.source = st[0].Text
			keep[i] = []template{one}
			said += templatesSize(keep[i])
		}
		if grown := heap() - before; grown > 2*said+1<<20 {
			t.Errorf("%s: the heap grows by %d bytes, and %d plans say %d", name, grown, n, said)
		}
		runtime.KeepAlive(keep)
	}
}

// heap is how many bytes are reachable.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// A hundred thousand texts that are new each time, of every kind: ordinary ones, ones that mention a protected table,
// protected ones, long ones. The caches stay within their bounds, and so does each plan.
func TestCachesStayBounded(t *testing.T) {
	patient.Test(t)
	h := newHouse(t)
	s := &session{engine: h.engine, user: "alice"}
	snap := h.engine.snapshot.Load()
	for i := range 100_000 {
		sql := fmt.Sprintf("SELECT %d", i)
		switch {
		case i%500 == 0:
			sql = fmt.Sprintf("SELECT education, sex, avg(age) FROM adult WHERE age > %d GROUP BY education, sex", i)
		case i%25 == 1:
			sql = fmt.Sprintf("SELECT '%s', 'adult', %d", strings.Repeat("x", 70_000), i)
		case i%10 == 2:
			sql = fmt.Sprintf("SELECT 'adult', %d", i)
		}
		if _, err := s.Interpret(t.Context(), sql, nil); err != nil {
			t.Fatal(err)
		}
	}
	n, bytes := snap.plans.Size()
	if n > planEntries || bytes > planBytes || n < planEntries/4 || bytes < planBytes/2 {
		t.Errorf("%d plans of %d bytes", n, bytes)
	}
	for k, bytes := range snap.plans.Weights() {
		if k.sql[7] != '\'' && bytes > 50_000 || bytes < len(k.sql) {
			t.Errorf("the plan of %.60s takes %d bytes", k.sql, bytes)
		}
	}
}
