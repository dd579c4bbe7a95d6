package answer

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"fugu/internal/hook"
	"fugu/sqlstate"
)

// What is read of protected rows leaves at points in time that are known before any is read, so that how long the
// reading took is seen as a point of a grid and not as a time. The first point is where the dearest rows that the
// statement's text allows would be done; each further one is later by a quarter. Between an answer at 20 ms and one at
// a minute there are 36 points: a statement tells at most log2(36), some 5 bits, by its time, and none where it is done
// before the first.

// step is how much later a point of the grid is than the one before. A client waits for an eighth longer on average,
// and at most for a quarter; a finer grid would save little of that and tell more.
const step = 1.25

// everyday is what the expressions of everyday statements cost for one row, in nanoseconds. What costs more is taken
// three times, for processors that are slower or shared: what such a statement could tell by its time is more, too.
const everyday = 1000

// first returns the first point at which the answer may leave. It depends on the policy, the text and the configuration
// alone.
func (q *Question) first() time.Duration {
	rows := 0.0
	for _, c := range q.Request.Cuts {
		cost := float64(c.Cost)
		cost += 2 * math.Max(0, cost-everyday)
		rows += float64(c.Table.Rows) * cost
	}
	return max(q.desk.Grid, time.Duration(math.Min(rows, float64(time.Hour))))
}

// point returns the first point of the grid that is not before elapsed.
func point(first, elapsed time.Duration) time.Duration {
	for p := first; ; p = time.Duration(float64(p) * step) {
		if p >= elapsed {
			return p
		}
	}
}

// reading is the time in which rows are read.
type reading struct {
	start    time.Time
	canceled atomic.Pointer[time.Time] // when the client gave up; nil: it has not
	unwatch  func() bool
}

func startReading(ctx context.Context) *reading {
	r := &reading{start: time.Now()}
	r.unwatch = context.AfterFunc(ctx, r.cancel)
	return r
}

func (r *reading) cancel() {
	now := time.Now()
	r.canceled.CompareAndSwap(nil, &now)
}

// wait returns at the next point of the grid, counted from the beginning of the reading. It returns an error if the
// client has cancelled meanwhile. read says whether the rows were read to their end.
func (q *Question) wait(ctx context.Context, r *reading, read bool) error {
	defer r.unwatch()
	if q.desk.Grid == 0 || hook.NoGrid {
		return nil
	}
	start := r.start
	rest := time.NewTimer(point(q.first(), time.Since(start)) - time.Since(start))
	defer rest.Stop()
	select {
	case <-rest.C:
		return nil
	case <-ctx.Done():
		r.cancel()
		q.settle(*r.canceled.Load(), read)
		return sqlstate.Canceled(ctx.Err())
	}
}

// settle makes a cancelled reading look the same whether or not it was done already. To stop a reading takes a moment,
// so the client is told at a point of a grid that begins when it cancelled. And it costs the reader its connection,
// which the next statement may notice: so the connection is given up in either case.
func (q *Question) settle(since time.Time, read bool) {
	if read {
		q.desk.Reader.Forget()
	}
	time.Sleep(time.Until(since.Add(point(q.desk.Grid, time.Since(since)))))
}
