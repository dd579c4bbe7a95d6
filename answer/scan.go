package answer

import (
	"context"
	"errors"
	"fmt"

	"fugu/account"
	"fugu/explain"
	"fugu/internal/hook"
	"fugu/internal/trace"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/upstream"
)

// scan reads protected rows for a question that has been charged, and stores what comes of it. Each scan tells a little
// by the time that it takes, so there is no second one for the same charge. A question is scanned by one client at a
// time, of all proxies that share the ledger. If the scan ends without an answer, because the client cancels or the
// database gives up, the question is charged anew when it is asked again. Only if the proxy itself ended amid the scan,
// which no client can bring about, is the question scanned again at no charge.
func (q *Question) scan(ctx context.Context, c ledger.Charge, a ledger.Answer,
	m *quote.Quote) (_ ledger.Answer, done bool, err error) {
	// A statement that holds ordinary tables has had its place since it took one of the reader's connections for them.
	ctx, leave, err := q.desk.Place(ctx, q.asked.User)
	if err != nil {
		return ledger.Answer{}, false, err
	}
	defer leave()

	release, err := q.desk.Ledger.Claim(ctx, q.Key, a.ID)
	switch {
	case err != nil && ctx.Err() != nil:
		return ledger.Answer{}, false, sqlstate.Canceled(ctx.Err())
	case err != nil:
		return ledger.Answer{}, false, account.Error(err)
	case release == nil:
		return ledger.Answer{}, false, nil
	}
	defer release()

	// Another may have answered, or given up, since this one looked: then what was charged has been read for.
	now, ok, err := q.desk.Ledger.Find(ctx, q.Key, q.Scopes()...)
	switch {
	case err != nil:
		return ledger.Answer{}, false, account.Error(err)
	case ok:
		return now, true, failed(now)
	case !now.Pending, now.ID != a.ID:
		return ledger.Answer{}, false, nil
	}

	// What was charged is the noise that was known then: the reference may be another since.
	if string(a.Bytes) != string(m.NoiseDigest()) {
		return ledger.Answer{}, false, q.abandon(ctx, a)
	}

	// The trace, too, sees the scan end at a point of the grid.
	_, span := trace.Begin(ctx, trace.Scan)
	span.Tell(trace.Facts{Mechanism: c.Mechanism})
	hook.Point("before the statistics")
	out, err := q.read(ctx, m)
	span.End(&err)
	if err != nil {
		return q.scanFailed(ctx, c, a, m, err)
	}
	hook.Point("after the noise")
	return q.give(ctx, c, a, out)
}

// outcome is what a scan found; without bytes it failed.
type outcome struct {
	bytes []byte
	cells []ledger.Cell
}

// read asks for the statistics, and returns at a point of the grid what the ledger is to keep of them. Until then the
// reader's transaction goes on.
func (q *Question) read(ctx context.Context, m *quote.Quote) (out outcome, err error) {
	r := q.startReading(ctx)
	defer r.end()
	reached := false
	err = q.asked.Database.Statistics(r.ctx, m.Questions, m.Start, func(s mechanism.Statistics, failed error) error {
		reached = true
		hook.Point("after the statistics")
		if failed == nil {
			out, failed = q.noisy(m, s)
		}
		if late := r.wait(); late != nil {
			return late // whatever was read: a client that has left learns nothing of it, not even later
		}
		return failed
	})

	// If nothing could be read, that is told at a point, too.
	if !reached {
		if late := r.wait(); late != nil {
			err = late
		}
	}
	if err != nil {
		r.settle()
		return outcome{}, err
	}
	return out, nil
}

// noisy adds the noise to statistics, and writes down what the ledger is to keep of them.
func (q *Question) noisy(m *quote.Quote, statistics mechanism.Statistics) (out outcome, err error) {
	c := m.Calibration
	release, err := c.Release(statistics)
	if err != nil {
		return outcome{}, fmt.Errorf("adding noise: %w", err)
	}

	// Values of which the sum is public add up to it, as whoever asks expects.
	if len(m.Sums) > 0 {
		if release, err = release.SummingTo(c.Noise, m.Sums); err != nil {
			return outcome{}, err
		}
	}
	if out.bytes, err = m.Encode(release, m.Keep(q.Request.Policy)); err != nil {
		return outcome{}, fmt.Errorf("storing the release: %w", err)
	}
	out.cells = q.cells(m, nil, release.Values(), explain.Confidence)
	return out, nil
}

// scanFailed books a scan that found no statistics. A failure that is final is the answer. One that may pass ends the
// charge; so does a connection that was lost amid the scan, since whoever can bring that about would take its time
// again and again for one price. If no server could be reached nothing was read, and the question stays charged, to be
// asked again.
func (q *Question) scanFailed(ctx context.Context, c ledger.Charge, a ledger.Answer, m *quote.Quote,
	cause error) (_ ledger.Answer, done bool, err error) {
	final := sqlstate.Is(cause, sqlstate.StatisticsFailed) && !errors.Is(cause, upstream.ErrInterrupted)
	if final && m.Joint != nil {
		// What was charged is in the joint account, where a failure has no place: it costs its pure loss beside.
		c.Key, c.Losses = q.freshKey(), q.Request.Nominal()
		if _, err := q.fail(ctx, c, cause); !sqlstate.Is(err, sqlstate.StatisticsFailed) {
			return ledger.Answer{}, false, err
		}
	}

	// A failure that is final is given like an answer, since the next try would only fail again and pay again.
	switch {
	case final:
		given, done, err := q.give(ctx, c, a, outcome{})
		if sqlstate.Is(err, sqlstate.StatisticsFailed) {
			err = cause
		}
		return given, done, err
	case sqlstate.Is(cause, sqlstate.ConnectionFailure) && (!errors.Is(cause, upstream.ErrLost) || hook.FreeLosses):
		return ledger.Answer{}, false, cause
	}
	if err := q.abandon(ctx, a); err != nil {
		return ledger.Answer{}, false, err
	}
	return ledger.Answer{}, false, cause
}

// give stores what came of a question.
func (q *Question) give(ctx context.Context, c ledger.Charge, a ledger.Answer,
	out outcome) (given ledger.Answer, done bool, err error) {
	ctx, span := trace.Begin(ctx, trace.Keep)
	defer span.End(&err)
	given, err = q.desk.Ledger.Give(context.WithoutCancel(ctx),
		ledger.Outcome{Key: c.Key, Charged: a, Dataset: c.Dataset, Epoch: c.Epoch, User: c.User,
			Scopes: account.Scopes(c.Shares), Answer: out.bytes, Failed: out.bytes == nil, Cells: out.cells})
	if errors.Is(err, ledger.ErrAbandoned) {
		return ledger.Answer{}, false, nil
	} else if err != nil {
		return ledger.Answer{}, false, account.Error(err)
	}
	hook.Point("after the answer")
	return given, true, failed(given)
}

// abandon gives up what was charged, whatever has become of the client.
func (q *Question) abandon(ctx context.Context, a ledger.Answer) error {
	if err := q.desk.Ledger.Abandon(context.WithoutCancel(ctx), q.Key, a.ID, q.asked.User); err != nil {
		return account.Error(err)
	}
	return nil
}

// chargeLate reads rows first and charges for them then: the wrong order, which a test can ask for.
func (q *Question) chargeLate(ctx context.Context, c ledger.Charge, m *quote.Quote,
	p account.Price) (ledger.Answer, error) {
	out, err := q.read(ctx, m)
	if sqlstate.Is(err, sqlstate.StatisticsFailed) {
		return q.fail(ctx, c, err)
	} else if err != nil {
		return ledger.Answer{}, err
	}
	c = p.Now(c, m)
	c.Answer, c.Cells = out.bytes, out.cells
	return q.charge(ctx, c)
}
