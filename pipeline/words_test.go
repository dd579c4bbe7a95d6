package pipeline

import (
	"testing"

	"fugu/test/patient"
)

// What is decided without the parser, or found in the cache, allocates nothing.
func TestDecisionsDoNotAllocate(t *testing.T) {
	patient.Test(t)
	s := &session{engine: newHouse(t).engine, user: "alice"}
	for name, sql := range ordinary {
		if st, err := s.Interpret(t.Context(), sql, nil); st != nil || err != nil {
			t.Fatalf("%s: %v, %v", sql, st, err)
		}
		raw := []byte(sql)
		n := testing.AllocsPerRun(100, func() {
			if !s.Ordinary(raw) {
				t.Fatalf("%s is not known to be ordinary", sql)
			}
			if st, err := s.Interpret(t.Context(), sql, nil); st != nil || err != nil {
				t.Fatalf("%s: %v, %v", sql, st, err)
			}
		})
		if n != 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}

// What is taken for ordinary at a glance is what Interpret takes for ordinary; a statement on protected data never is,
// nor one that names fugu for the first time.
func TestOrdinaryAtAGlance(t *testing.T) {
	patient.Test(t)
	s := &session{engine: newHouse(t).engine, user: "alice"}
	for _, sql := range []string{"SELECT count(*) FROM adult", "SELECT 1; SELECT count(*) FROM ADULT",
		"SELECT * FROM fugu.budget", "SET fugu.epsilon = 'much'", "SELECT reltuples FROM pg_class"} {
		for range 2 { // the second time from the cache
			if s.Ordinary([]byte(sql)) {
				t.Errorf("%s is taken for ordinary", sql)
			}
			_, _ = s.Interpret(t.Context(), sql, nil)
		}
	}
	if s = (&session{engine: s.engine, user: "alice"}); s.Ordinary([]byte("SELECT 'fugu'")) {
		t.Error("a text that was not decided is taken for ordinary")
	}
	if st, err := s.Interpret(t.Context(), "SELECT 'fugu'", nil); st != nil || err != nil {
		t.Fatal(st, err)
	}
	other := &session{engine: s.engine, user: "alice"}
	if !other.Ordinary([]byte("SELECT 'fugu'")) || !other.touched {
		t.Error("a text that was decided is not known, or the session does not count as one that named fugu")
	}
	other.prepared = true
	if other.Ordinary([]byte("EXECUTE x")) {
		t.Error("an EXECUTE after a protected PREPARE is taken for ordinary")
	}
}
