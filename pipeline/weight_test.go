package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"fugu/dataset"
	"fugu/planner"
	"fugu/test/patient"
)

func TestPlanKey(t *testing.T) {
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

func TestWeight(t *testing.T) {
	big := make([]byte, 1000, 1024)
	type node struct {
		next *node
		text string
	}
	ring := &node{text: "four"}
	ring.next = ring
	for name, c := range map[string]struct {
		value     any
		low, high int
	}{
		"nothing":     {nil, 0, 0},
		"string":      {"four", 20, 20},
		"capacity":    {big, 1048, 1048},
		"once":        {[][]byte{big, big}, 1024 + 3*24, 1024 + 3*24},
		"ring":        {ring, 8 + 24 + 4, 8 + 24 + 4},
		"interface":   {[]any{strings.Repeat("x", 100)}, 24 + 16 + 16 + 100, 24 + 16 + 16 + 100},
		"map":         {map[string][]byte{"k": big}, 1024, 2500},
		"shared":      {[]template{{plain: &dataset.Protected{Table: &planner.Table{Name: strings.Repeat("x", 10_000)}}}}, 50, 300},
		"not shared":  {planner.Cell{Keys: []planner.Value{{Text: strings.Repeat("x", 10_000)}}}, 10_000, 10_100},
		"array":       {[2]string{"ab", "c"}, 35, 35},
		"nil pointer": {[]*node{nil}, 32, 32},
	} {
		if got := weight(c.value); got < c.low || got > c.high {
			t.Errorf("%s: %d bytes, want %d to %d", name, got, c.low, c.high)
		}
	}
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
