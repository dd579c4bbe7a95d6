package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// A period is a time for which one budget is. Those of a dataset are numbered from 0, the totals of each begin at nothing,
// and every charge is booked in the latest one begun, for everybody and all shares alike. None is ever begun twice or
// gone back to: the number only grows, in the transaction of the charge that finds the latest one over. A clock that is
// put back therefore begins nothing until it has caught up, and one that jumps ahead, however far, begins one.

// Standing is where a dataset stands.
type Standing struct {
	Epoch  int64
	Label  string // of the epoch; may be empty
	Period int64  // in which a charge would be booked now
	Due    bool   // that period has not begun: nothing was spent in it
}

// Standing implements Ledger.
func (l *store) Standing(ctx context.Context, dataset string, renew time.Duration) (s Standing, err error) {
	err = l.again(ctx, func() error {
		e, err := l.onRead.epoch(ctx, dataset)
		if err != nil {
			return err
		}
		p, err := l.onRead.period(ctx, dataset)
		if err != nil {
			return err
		}
		s = Standing{Epoch: e.Number, Label: e.Label, Period: p.number}
		if renew == 0 {
			return nil
		}
		now, err := l.clock(ctx, l.read)
		if _, s.Due = p.over(renew, now); s.Due {
			s.Period++
		}
		return err
	})
	if err != nil {
		return Standing{}, fmt.Errorf("reading where the dataset stands: %w", err)
	}
	return s, nil
}

// period is a row of periods.
type period struct {
	dataset   string
	number    int64
	began, at time.Time
	cause     string
	known     bool // it has a row; period 0 of a dataset whose budget is never renewed has none
}

// over reports whether the period is over, and since when: whole periods after it began, so that their bounds stay where
// they are whenever charges come.
func (p period) over(renew time.Duration, now time.Time) (since time.Time, over bool) {
	elapsed := now.Sub(p.began)
	if !p.known || renew <= 0 || elapsed < renew {
		return time.Time{}, false
	}
	return p.began.Add(elapsed.Truncate(renew)), true
}

// period returns the latest period of a dataset that has begun.
func (r *reading) period(ctx context.Context, dataset string) (period, error) {
	p, err := scanPeriod(r.lastPeriod.QueryRowContext(ctx, dataset))
	if errors.Is(err, sql.ErrNoRows) {
		return period{dataset: dataset}, nil
	}
	return p, err
}

const periodColumns = `SELECT dataset, number, began, at, cause FROM periods `

func scanPeriod(row scanner) (period, error) {
	var began, at int64
	p := period{known: true}
	err := row.Scan(&p.dataset, &p.number, &began, &at, &p.cause)
	p.began, p.at = time.UnixMicro(began).UTC(), time.UnixMicro(at).UTC()
	return p, err
}

// period returns the number of the period that the charge falls in, which it begins where the latest one is over. The
// first charge under a policy that renews fixes when period 0 began.
func (b *booking) period(ctx context.Context) (int64, error) {
	p, err := b.read.period(ctx, b.Dataset)
	if err != nil || b.Renew == 0 {
		return p.number, err
	}
	now, err := b.clock(ctx)
	if err != nil {
		return 0, err
	}
	since, over := p.over(b.Renew, now)
	switch {
	case over:
		p.number++
		p.began, p.cause = since, "renewal"
	case !p.known:
		p.began, p.cause = now, "first"
	default:
		return p.number, nil
	}
	p.at = now
	return p.number, b.begin(ctx, p)
}

// renew begins the next period now, for a reason other than time.
func (b *booking) renew(ctx context.Context, cause string) error {
	p, err := b.read.period(ctx, b.Dataset)
	if err != nil {
		return err
	}
	now, err := b.clock(ctx)
	if err != nil {
		return err
	}
	// Where the clock was put back, the next period ends no sooner than it would have.
	began := now
	if p.began.After(now) {
		began = p.began
	}
	return b.begin(ctx, period{dataset: b.Dataset, number: p.number + 1, began: began, at: now, cause: cause})
}

// begin writes a period.
func (b *booking) begin(ctx context.Context, p period) error {
	if _, err := b.write.period.ExecContext(ctx, p.dataset, p.number, p.began.UnixMicro(), p.at.UnixMicro(), p.cause); err != nil {
		return err
	}
	return b.append(ctx, p.entry())
}

// entry tells of a period that began.
func (p period) entry() Entry {
	began := p.began
	return Entry{At: p.at, Event: NewPeriod, Dataset: p.dataset, Period: p.number, Began: &began, Reason: p.cause}
}

// queryer is a database or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// processClock is the time of a ledger in a file: this process's.
func processClock(context.Context, queryer) (time.Time, error) {
	return now(), nil
}

// serverClock is the time of a ledger in PostgreSQL: the server's, which is one for all proxies; of the moment, since a
// transaction began before it waited for others.
func serverClock(ctx context.Context, q queryer) (time.Time, error) {
	var at int64
	err := q.QueryRowContext(ctx, `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint`).Scan(&at)
	return time.UnixMicro(at).UTC(), err
}
