package upstream

import (
	"context"
	"errors"
	"math/big"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"fugu/mechanism"
	"fugu/planner"
	"fugu/planner/aggregate"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
	"fugu/test/pgcluster"
)

// newReader makes a database with a table t of a few rows, and a reader that may read it.
func newReader(t *testing.T, db string, timeout time.Duration) *Reader {
	t.Helper()
	run(t, "postgres", "CREATE DATABASE "+db)
	run(t, db, `CREATE ROLE `+db+`_reader LOGIN; CREATE TABLE t (k text, x int, d int, s text, f float8);
		INSERT INTO t VALUES ('a', 1, 1, '10', 1), ('a', 2, 1, '20', 2), ('b', 3, 0, 'hidden-value', 'NaN'),
			('c', 4, 1, '4', 'Infinity');
		GRANT SELECT ON t TO `+db+`_reader`)
	// What the role says, and what the connection string says, does not count.
	run(t, db, "ALTER ROLE "+db+"_reader SET search_path = public; ALTER ROLE "+db+"_reader SET DateStyle = 'German'")
	r, err := OpenReader(pgcluster.Shared(t).DSN(db+"_reader", db)+"&TimeZone=Japan&extra_float_digits=-5", timeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// scalar is a question with one aggregate and no keys, whose value is component k of F.
func scalar(sql string, k int) Question {
	return Question{SQL: sql, Cut: &planner.Bound{Cut: &planner.Cut{}, Terms: make([]planner.Term, 1),
		Aggregates: []planner.Aggregate{named("sum", 0)}, Cells: []planner.Cell{{}}},
		Component: [][]int{{k}}}
}

func named(name string, terms ...int) planner.Aggregate {
	f, _ := aggregate.Lookup(name)
	return planner.Aggregate{Function: f, Terms: terms}
}

// reveal gives F as integers. Statistics show nothing to anybody, so it adds noise that is too small to matter.
func reveal(t *testing.T, s mechanism.Statistics, width int) []string {
	t.Helper()
	shift := sensitivity.Shift{Secret: "s", Along: make([]float64, width), Beside: make([]float64, width)}
	components := make([]mechanism.Component, width)
	for k := range width {
		shift.Along[k] = 1e-6
		components[k] = mechanism.Component{Lattice: 1e-6, Unit: 1, Integer: true}
	}
	c, err := mechanism.Calibrate(t.Context(), mechanism.ExpmLaplace, mechanism.Request{
		Shifts: []sensitivity.Shift{shift}, Components: components, Budget: privacy.Budget{Epsilon: 1}})
	if err != nil {
		t.Fatal(err)
	}
	release, err := c.Release(s)
	if err != nil {
		t.Fatal(err)
	}
	return release.Values()
}

func rationals(n int) []*big.Rat {
	out := make([]*big.Rat, n)
	for i := range out {
		out[i] = new(big.Rat)
	}
	return out
}

// measured is what is read of the questions.
func measured(ctx context.Context, r *Reader, questions []Question, start []*big.Rat) (s mechanism.Statistics,
	err error) {
	err = r.Statistics(ctx, questions, start, func(read mechanism.Statistics, err error) error {
		s = read
		return err
	})
	return s, err
}

func TestReaderPinned(t *testing.T) {
	r := newReader(t, "pinned", 7*time.Second)
	for name, want := range map[string]string{
		"default_transaction_read_only": "on", "transaction_read_only": "on", "search_path": "pg_catalog, pg_temp",
		"TimeZone":  "UTC",
		"DateStyle": "ISO, YMD", "IntervalStyle": "postgres", "extra_float_digits": "1", "client_encoding": "UTF8",
		"standard_conforming_strings": "on", "statement_timeout": "7s",
		"enable_indexscan": "off", "enable_indexonlyscan": "off", "enable_bitmapscan": "off",
	} {
		rows, err := r.Query(t.Context(), "SELECT current_setting($1)", [][]byte{[]byte(name)}, nil)
		if err != nil || len(rows) != 1 || rows[0][0].Text != want {
			t.Errorf("%s is %v, want %q; %v", name, rows, want, err)
		}
	}
}

// The reader's transactions refuse to write, whatever its role may do.
func TestReaderReadOnly(t *testing.T) {
	r := newReader(t, "readonly", time.Minute)
	run(t, "readonly", "GRANT ALL ON t TO readonly_reader; GRANT CREATE ON SCHEMA public TO readonly_reader")
	for _, sql := range []string{
		"INSERT INTO public.t VALUES ('z')", "UPDATE public.t SET x = 0", "DELETE FROM public.t",
		"CREATE TABLE public.u (x int)",
		"SELECT nextval('public.sq')", "WITH w AS (DELETE FROM public.t RETURNING 1) SELECT count(*) FROM w",
	} {
		_, err := r.Query(t.Context(), sql, nil, nil)
		if !sqlstate.Is(err, sqlstate.StatisticsFailed) {
			t.Errorf("%s: %v", sql, err)
		}
		_, err = measured(t.Context(), r, []Question{scalar(sql, 0)}, rationals(1))
		if !sqlstate.Is(err, sqlstate.StatisticsFailed) {
			t.Errorf("statistics, %s: %v", sql, err)
		}
	}
	var n int
	if err := open(t, "postgres", "readonly").QueryRow(t.Context(),
		"SELECT count(*) FROM t WHERE x > 0").Scan(&n); err != nil || n != 4 {
		t.Errorf("%d rows are left, %v", n, err)
	}
}

// An error of the rows is PV005 and tells nothing else, and so is a value that is no number.
func TestReaderRowErrors(t *testing.T) {
	r := newReader(t, "rowerrors", time.Minute)
	for _, sql := range []string{
		"SELECT sum(x / d) FROM public.t",
		"SELECT sum(s::int) FROM public.t",
		"SELECT sum(2147483647 + x) FROM public.t",
		"SELECT count(*) FROM public.t WHERE 1 / d > 0",
		"SELECT sum(f) FROM public.t",
		"SELECT sum(f) FROM public.t WHERE k = 'c'",
		"SELECT -sum(f) FROM public.t WHERE k = 'c'",
		"SELECT sum(f) FROM public.t WHERE k <= 'b'",
	} {
		_, err := measured(t.Context(), r, []Question{scalar("SELECT count(*) FROM public.t", 0), scalar(sql, 1)},
			rationals(2))
		wantCode(t, err, sqlstate.StatisticsFailed, "division", "hidden-value", "range", "NaN", "22012", "22P02")
		if e := sqlstate.As(err); e.Message != ErrStatistics.Message || e.Detail != ErrStatistics.Detail ||
			e.Hint != ErrStatistics.Hint || e.Position != 0 {
			t.Errorf("%s: %+v is not what every failure says", sql, e)
		}
	}
	// The connection is as good as before, outside any transaction.
	s, err := measured(t.Context(), r, []Question{scalar("SELECT count(*) FROM public.t", 0)}, rationals(1))
	if err != nil {
		t.Fatal(err)
	}
	if got := reveal(t, s, 1); got[0] != "4" {
		t.Errorf("count is %s", got[0])
	}
}

func TestReaderTimeout(t *testing.T) {
	r := newReader(t, "slow", time.Second)
	_, err := measured(t.Context(), r, []Question{scalar("SELECT count(*) FROM public.t, pg_sleep(600)", 0)},
		rationals(1))
	wantCode(t, err, sqlstate.StatisticsFailed, "timeout", "57014")
}

func TestReaderCancel(t *testing.T) {
	r := newReader(t, "cancel", time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := measured(ctx, r, []Question{scalar("SELECT count(*) FROM public.t, pg_sleep(600)", 0)}, rationals(1))
		done <- err
	}()
	waitFor(t, "cancel",
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'cancel_reader' AND wait_event = 'PgSleep'")
	cancel()
	wantCode(t, <-done, sqlstate.QueryCanceled)
	_, err := r.Query(ctx, "SELECT 1", nil, nil) // before it has a connection
	wantCode(t, err, sqlstate.QueryCanceled)
}

// waitFor waits until a query gives true.
func waitFor(t *testing.T, db, sql string) {
	t.Helper()
	conn := open(t, "postgres", db)
	for {
		var ok bool
		if err := conn.QueryRow(t.Context(), sql).Scan(&ok); err != nil {
			t.Fatal(err)
		}
		if ok {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// A database that is not there, or has no place, is no failure of the statement: that would be charged.
func TestReaderUnavailable(t *testing.T) {
	r := newReader(t, "unavailable", time.Minute)
	ask := func(r *Reader) error {
		_, err := measured(t.Context(), r, []Question{scalar("SELECT count(*) FROM public.t", 0)}, rationals(1))
		return err
	}
	dsn := pgcluster.Shared(t).DSN("unavailable_reader", "unavailable")
	for name, change := range map[string]func(*pgxpool.Config){
		"nobody listens": func(c *pgxpool.Config) { c.ConnConfig.Port = closedPort(t) },
		"no such role":   func(c *pgxpool.Config) { c.ConnConfig.User = "nobody_at_all" },
		"no database":    func(c *pgxpool.Config) { c.ConnConfig.Database = "nothing_at_all" },
		"no dialing": func(c *pgxpool.Config) {
			c.ConnConfig.DialFunc = func(context.Context, string, string) (net.Conn, error) {
				return nil,
					errors.New("no")
			}
		},
	} {
		broken, err := OpenReader(dsn, time.Minute, change)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			wantCode(t, ask(broken), sqlstate.ConnectionFailure, "nobody", "nothing", "127.0.0.1")
		})
		broken.Close()
	}
	t.Run("no place", func(t *testing.T) {
		run(t, "unavailable", "ALTER ROLE unavailable_reader CONNECTION LIMIT 0")
		defer run(t, "unavailable", "ALTER ROLE unavailable_reader CONNECTION LIMIT -1")
		wantCode(t, ask(r), sqlstate.ConnectionFailure, "too many")
	})
	t.Run("ended by the administrator", func(t *testing.T) {
		done := make(chan error, 1)
		go func() {
			_, err := measured(t.Context(), r, []Question{scalar("SELECT count(*) FROM public.t, pg_sleep(600)", 0)},
				rationals(1))
			done <- err
		}()
		waitFor(t, "unavailable",
			"SELECT count(pg_terminate_backend(pid)) = 1 FROM pg_stat_activity WHERE usename = 'unavailable_reader' "+
				"AND wait_event = 'PgSleep'")
		wantCode(t, <-done, sqlstate.ConnectionFailure, "terminating")
		if err := ask(r); err != nil { // and then there is a new connection
			t.Error(err)
		}
	})
}

func TestReaderDescribe(t *testing.T) {
	r := newReader(t, "describe", time.Minute)
	d, err := r.Describe(t.Context(), "SELECT count(*), avg(x), sum(f) FROM public.t WHERE x > $1 AND k = $2",
		[]uint32{20, 0})
	if err != nil || !slices.Equal(d.ParamTypes, []uint32{20, 25}) ||
		!slices.Equal(d.ResultTypes, []uint32{20, 1700, 701}) {
		t.Errorf("%v %v", d, err)
	}
	for sql, want := range map[string]sqlstate.Code{
		"SELECT count(*) FROM public.t WHERE x LIKE k":     "42883",
		"SELECT count(*) FROM public.t WHERE x = 'a'":      "22P02",
		"SELECT count(*) FROM public.t WHERE no = 1":       "42703",
		"SELECT count(*) FROM public.t WHERE x = '1' || k": "42883",
	} {
		_, err := r.Describe(t.Context(), sql, nil)
		wantCode(t, err, want)
		if e := sqlstate.As(err); e.Position != 0 || e.Message == "" || e.Message == ErrStatistics.Message {
			t.Errorf("%s: %+v", sql, e)
		}
	}
}

// What is done meanwhile is done once, after the question; its panic costs no connection.
func TestReaderDescribeMeanwhile(t *testing.T) {
	r := newReader(t, "meanwhile", time.Minute)
	done := 0
	d, err := r.DescribeMeanwhile(t.Context(), "SELECT avg(x) FROM public.t", nil, func() { done++ })
	if err != nil || done != 1 || !slices.Equal(d.ResultTypes, []uint32{1700}) {
		t.Errorf("%v %v, done %d times", d, err, done)
	}
	_, err = r.DescribeMeanwhile(t.Context(), "SELECT no FROM public.t", nil, func() { done++ })
	if wantCode(t, err, "42703"); done != 2 {
		t.Errorf("done %d times", done)
	}
	for range 2 * ReaderConns {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a panic is lost")
				}
			}()
			_, _ = r.DescribeMeanwhile(t.Context(), "SELECT 1", nil, func() { panic("work") })
		}()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := r.Describe(ctx, "SELECT 1", nil); err != nil {
		t.Error(err)
	}
}

// Several questions see one state of the database.
func TestReaderSnapshot(t *testing.T) {
	r := newReader(t, "snapshot", time.Minute)
	writer := open(t, "postgres", "snapshot")
	if _, err := writer.Exec(t.Context(), "SELECT pg_advisory_lock(1)"); err != nil {
		t.Fatal(err)
	}
	type result struct {
		s   mechanism.Statistics
		err error
	}
	done := make(chan result, 1)
	go func() {
		s, err := measured(t.Context(), r, []Question{
			scalar("SELECT count(*) FROM public.t", 0),
			// Waits until there is another row.
			scalar("SELECT count(*) FROM (SELECT pg_advisory_xact_lock_shared(1)) AS l", 1),
			scalar("SELECT count(*) FROM public.t", 2),
		}, rationals(3))
		done <- result{s, err}
	}()
	waitFor(t, "snapshot",
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'snapshot_reader' AND wait_event = 'advisory'")
	if _, err := writer.Exec(t.Context(), "INSERT INTO t VALUES ('new'); SELECT pg_advisory_unlock(1)"); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	if f := reveal(t, got.s, 3); !slices.Equal(f, []string{"4", "1", "4"}) {
		t.Errorf("counts are %v", f)
	}
}

// Values go to their cells by their keys; a key that is not public goes nowhere, and what has no value stays as it was.
func TestReaderCells(t *testing.T) {
	r := newReader(t, "cells", time.Minute)
	cut := &planner.Bound{Cut: &planner.Cut{Keys: []planner.Key{{Name: "k"}}}, Terms: make([]planner.Term, 3),
		Aggregates: []planner.Aggregate{named("count", 0), named("avg", 1, 2)}}
	sql := "SELECT k, count(*), count(x) FILTER (WHERE k <> 'a'), sum(x) FILTER (WHERE k <> 'a') FROM public.t WHERE " +
		"x > $1 GROUP BY k"
	for _, key := range []planner.Value{{Text: "b"}, {Text: "a"}, {Text: "nobody"}, {Null: true}} {
		cut.Cells = append(cut.Cells, planner.Cell{Keys: []planner.Value{key}})
	}
	start := make([]*big.Rat, 7)
	for k := range start {
		start[k] = big.NewRat(int64(100+k), 1)
	}
	s, err := measured(t.Context(), r, []Question{{Cut: cut, SQL: sql, Args: [][]byte{[]byte("0")},
		Types: []uint32{23}, Component: [][]int{{0, 1}, {2, 3}, {4, 5}, {6, -1}}}}, start)
	if err != nil {
		t.Fatal(err)
	}
	if f := reveal(t, s, 7); !slices.Equal(f, []string{"1", "3", "2", "103", "104", "105", "106"}) {
		t.Errorf("F is %v", f)
	}
	if start[0].RatString() != "100" {
		t.Error("the start values were changed")
	}
}

// The counters that everybody may read must not tell how many rows a condition holds for.
func TestReaderLeavesIndexesAlone(t *testing.T) {
	r := newReader(t, "counters", time.Minute)
	run(t, "counters",
		"INSERT INTO t SELECT 'many', i FROM generate_series(1, 20000) AS i; CREATE INDEX ON t (x); ANALYZE t")
	const used = "SELECT coalesce(sum(idx_tup_read), 0) + coalesce(sum(idx_scan), 0) FROM pg_stat_all_indexes WHERE " +
		"relname = 't'"
	guest := open(t, "postgres", "counters")
	for _, sql := range []string{"SELECT count(*) FROM public.t WHERE x = 7000",
		"SELECT sum(x) FROM public.t WHERE x BETWEEN 5000 AND 5099"} {
		if _, err := measured(t.Context(), r, []Question{scalar(sql, 0)}, rationals(1)); err != nil {
			t.Fatal(err)
		}
	}
	r.Close() // an ending session reports what it has counted
	waitFor(t, "counters", "SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'counters_reader'")
	var n int
	if err := guest.QueryRow(t.Context(), used).Scan(&n); err != nil || n != 0 {
		t.Errorf("indexes were used: %d, %v", n, err)
	}
}

// closedPort is a port that nobody listens on.
func closedPort(t *testing.T) uint16 {
	t.Helper()
	return uint16(pgcluster.ClosedPort(t))
}
