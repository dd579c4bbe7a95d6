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

// A client that cancels would learn by the moment of the cancel whether the rows had been read by then: an answer or an
// error, how soon, and what others see of the reader. So a reading goes on for as long as the first point is away, then
// it is stopped or dropped, and as long again is what stopping it may take before the client is told. It is told at a
// point of a grid of its own, and either way it costs the reader its connection.

// reading is the time in which rows are read.
type reading struct {
	question *Question
	client   context.Context
	ctx      context.Context // of the reading; it ends a while after the client's
	stop     context.CancelFunc
	unwatch  func() bool

	start    time.Time
	canceled atomic.Pointer[time.Time] // when the client gave up; nil: it has not
}

// startReading begins a reading for a client. It has to be ended.
func (q *Question) startReading(client context.Context) *reading {
	r := &reading{question: q, client: client, start: time.Now()}
	r.ctx, r.stop = context.WithCancel(context.WithoutCancel(client))
	r.unwatch = context.AfterFunc(client, func() {
		r.cancel()
		time.AfterFunc(time.Until(r.stops()), r.stop)
	})
	return r
}

// end is that nothing is read any more.
func (r *reading) end() {
	r.unwatch()
	r.stop()
}

// grid is the first point of the grid of a statement that costs nothing; 0: there is no grid.
func (r *reading) grid() time.Duration {
	if hook.NoGrid {
		return 0
	}
	return r.question.desk.Grid
}

func (r *reading) cancel() {
	now := time.Now()
	r.canceled.CompareAndSwap(nil, &now)
}

// stops is when a reading ends that the client has given up.
func (r *reading) stops() time.Time { return r.canceled.Load().Add(r.grid()) }

// wait returns at the next point of the grid, counted from the beginning of the reading. It returns an error if the
// client has cancelled meanwhile, and then when a reading that is cancelled ends.
func (r *reading) wait() error {
	if r.grid() == 0 {
		return nil
	}
	rest := time.NewTimer(point(r.question.first(), time.Since(r.start)) - time.Since(r.start))
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-r.client.Done():
	}
	if r.client.Err() == nil {
		return nil
	}
	r.cancel()
	time.Sleep(time.Until(r.stops()))
	return sqlstate.Canceled(r.client.Err())
}

// settle returns when a client that has cancelled may be told so.
func (r *reading) settle() {
	if at := r.canceled.Load(); at != nil && r.grid() > 0 {
		time.Sleep(time.Until(at.Add(point(2*r.grid(), time.Since(*at)))))
	}
}
