package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/sqlstate"
	"fugu/test/compat/sides"
)

// large is a statement of 8,000 values, five of each of 16 by 100 groups; n tells it from others.
func large(n int64) string {
	return fmt.Sprintf(`EXPLAIN (PRIVACY) SELECT education, hours_per_week, count(*), sum(age), avg(age),
	  sum(hours_per_week), count(*) FILTER (WHERE sex = 'Male') FROM adult WHERE age > %d GROUP BY 1, 2`, -n)
}

// searching measures how much one user's searches for noise slow another's statements: eight statements of 8,000
// values, explained at once, which costs no budget, and eight more when these are done. Beside it stands what a load
// does that is no part of Fugu: of as many processes as a proxy has places for searches, each of which keeps one
// processor busy.
func searching(ctx context.Context, through target, rows int64, rounds, places int) error {
	other, err := pgx.Connect(ctx, target{user: "bob", addr: through.addr}.dsn())
	if err != nil {
		return err
	}
	defer other.Close(context.WithoutCancel(ctx))
	asked := 0
	unseen := func() string { // true of every row, and new each time
		asked++
		return fmt.Sprintf("SELECT education, avg(age) FROM adult WHERE hours_per_week > %d.5 GROUP BY education",
			-asked)
	}
	fresh := func() error { return query(ctx, other, unseen()) }
	explained := func() error { return query(ctx, other, "EXPLAIN (PRIVACY) "+unseen()) }
	point := func() error { return query(ctx, other, "SELECT abalance FROM pgbench_accounts WHERE aid = 4711") }

	var all []*measurement
	var seen explanations
	loads := []struct {
		name  string
		start func() (stop func() error)
	}{
		{"", func() func() error { return func() error { return nil } }},
		{", beside eight searches", func() func() error { return seen.start(ctx, through) }},
		{", beside busy processes", func() func() error { return busy(ctx, places) }},
	}
	for _, load := range loads {
		for _, m := range []measurement{{name: "grouped average, new", run: fresh, times: 5},
			{name: "grouped average, explained", run: explained, times: 5}, {name: "point select", run: point,
				times: 100}} {
			if load.name != "" {
				m.to = m.name
			}
			m.name += load.name
			all = append(all, &m)
		}
	}
	for round := range rounds + 1 { // the first warms up
		for i, load := range loads {
			stop := load.start()
			for _, m := range all[3*i : 3*i+3] {
				if err = m.measure(round > 0); err != nil {
					err = fmt.Errorf("%s: %w", m.name, err)
					break
				}
			}
			if err = errors.Join(err, stop()); err != nil {
				return err
			}
		}
	}
	title := fmt.Sprintf("Another user's statements beside searches: %d rows, medians of %d rounds in turn", rows,
		rounds)
	title += fmt.Sprintf("; explained %d, refused or ended %d", seen.explained.Load(), seen.refused.Load())
	return show(all, title)
}

// explanations counts what came of large statements.
type explanations struct{ number, explained, refused atomic.Int64 }

// start explains eight large statements at once, again and again until stop is called, and returns when the first is
// refused: then as many search or wait as may.
func (e *explanations) start(ctx context.Context, through target) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	refused := make(chan struct{}) // closed by the first refusal
	var once sync.Once
	one := func() error {
		c, err := pgx.Connect(ctx, through.dsn())
		if err != nil {
			return err
		}
		defer c.Close(context.WithoutCancel(ctx))
		err = query(ctx, c, large(e.number.Add(1)))
		var pe *pgconn.PgError
		if err == nil {
			e.explained.Add(1)
			return nil
		}
		if !errors.As(err, &pe) {
			return err
		}
		switch sqlstate.Code(pe.Code) {
		case sqlstate.TooManySearches, sqlstate.QueryCanceled:
			e.refused.Add(1)
			once.Do(func() { close(refused) })
			return nil
		}
		return err
	}
	go func() {
		var err error
		for ctx.Err() == nil && err == nil {
			results := make(chan error, 8)
			for range 8 {
				go func() { results <- one() }()
			}
			for range 8 {
				err = errors.Join(err, <-results)
			}
		}
		once.Do(func() { close(refused) })
		done <- err
	}()
	<-refused
	return func() error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		select {
		case err := <-done: // it has ended by itself
			return err
		default:
		}
		cancel()
		<-done // what it ended with is that it was told to
		return nil
	}
}

// busy keeps so many processors busy, each by a process of its own, until stop is called.
func busy(ctx context.Context, processes int) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	var started []error
	self, err := os.Executable()
	for range processes {
		cmd := sides.Command(ctx, self, "-busy")
		if err = errors.Join(err, cmd.Start()); err != nil {
			started = append(started, err)
			break
		}
		running.Go(func() { _ = cmd.Wait() }) // it is killed
	}
	return func() error {
		cancel()
		running.Wait()
		return errors.Join(started...)
	}
}
