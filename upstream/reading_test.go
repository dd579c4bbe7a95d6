package upstream

import (
	"errors"
	"testing"
	"time"

	"fugu/mechanism"
	"fugu/sqlstate"
)

// Until done returns, the transaction that has read holds its snapshot; then it is over, and the connection is free.
func TestReadingLasts(t *testing.T) {
	r := newReader(t, "lasting", time.Minute)
	watch := open(t, "postgres", "lasting")
	holds := func() (n int) {
		t.Helper()
		if err := watch.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE usename = 'lasting_reader' "+
			"AND state = 'idle in transaction' AND backend_xmin IS NOT NULL").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	var during int
	q := []Question{scalar("SELECT count(*) FROM public.t", 0)}
	err := r.Statistics(t.Context(), q, rationals(1), func(s mechanism.Statistics, err error) error {
		during = holds()
		return err
	})
	if err != nil || during != 1 {
		t.Errorf("%d transactions hold a snapshot while it lasts, %v", during, err)
	}
	if n := holds(); n != 0 || r.pool.Stat().AcquiredConns() != 0 {
		t.Errorf("%d transactions are left, and %d connections", n, r.pool.Stat().AcquiredConns())
	}
}

// Protected rows are read without parallel workers, whatever the role says; a reference is not.
func TestReadingAlone(t *testing.T) {
	r := newReader(t, "alone", time.Minute)
	run(t, "alone", "ALTER ROLE alone_reader SET max_parallel_workers_per_gather = 4")
	const workers = "SELECT current_setting('max_parallel_workers_per_gather')::int"
	s, err := measured(t.Context(), r, []Question{scalar(workers, 0)}, rationals(1))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := r.Query(t.Context(), workers, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := reveal(t, s, 1); got[0] != "0" || rows[0][0].Text != "4" {
		t.Errorf("%s workers for protected rows, %s for a reference", got[0], rows[0][0].Text)
	}

	// Nor does it loop through one table for each row of another.
	const loops = "SELECT (current_setting('enable_nestloop') = 'on')::int"
	if s, err = measured(t.Context(), r, []Question{scalar(loops, 0)}, rationals(1)); err != nil {
		t.Fatal(err)
	}
	if got := reveal(t, s, 1); got[0] != "0" {
		t.Error("protected rows are joined by nested loops")
	}
	if err := r.InSnapshot(t.Context(), nil, nil, func(snap *Snapshot) error {
		return snap.Statistics(t.Context(), []Question{scalar(loops, 0)}, rationals(1),
			func(read mechanism.Statistics, err error) error {
				s = read
				return err
			})
	}); err != nil {
		t.Fatal(err)
	}
	if got := reveal(t, s, 1); got[0] != "0" {
		t.Error("protected rows are joined with ordinary tables by nested loops")
	}
}

// Who does not want what was read gives the connection up, as one that is cancelled while it reads is.
func TestReadingGivenUp(t *testing.T) {
	r := newReader(t, "givenup", time.Minute)
	dropped := errors.New("dropped")
	q := []Question{scalar("SELECT count(*) FROM public.t", 0)}
	err := r.Statistics(t.Context(), q, rationals(1), func(mechanism.Statistics, error) error {
		return sqlstate.Canceled(dropped)
	})
	if wantCode(t, err, sqlstate.QueryCanceled); !errors.Is(err, dropped) {
		t.Errorf("got %v", err)
	}
	waitFor(t, "givenup", "SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'givenup_reader'")
}

// A connection that is lost while rows are read is told from one that there was none of.
func TestReadingLost(t *testing.T) {
	r := newReader(t, "losing", time.Minute)
	_, err := measured(t.Context(), r,
		[]Question{scalar("SELECT pg_terminate_backend(pg_backend_pid())::int FROM public.t", 0)}, rationals(1))
	if wantCode(t, err, sqlstate.ConnectionFailure); !errors.Is(err, ErrLost) {
		t.Errorf("got %v", err)
	}
	run(t, "losing", "ALTER ROLE losing_reader CONNECTION LIMIT 0")
	_, err = measured(t.Context(), r, []Question{scalar("SELECT count(*) FROM public.t", 0)}, rationals(1))
	if wantCode(t, err, sqlstate.ConnectionFailure); errors.Is(err, ErrLost) {
		t.Errorf("got %v", err)
	}
}
