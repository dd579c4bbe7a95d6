package wire

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"fugu/sqlstate"
)

// Kind is what a statement is counted as.
type Kind int

// Kinds of statements, by what the engine made of them.
const (
	Plain     Kind = iota // relayed as the client sent it
	Protected             // about protected rows: answered from releases, or explained
	Twin                  // over a twin, and over no protected row
	Catalog               // on the catalog, with masks
	Own                   // on the engine's own tables and settings
	lastKind
)

// Counted is a Statement that says what it is counted as, once it has been bound. Any other is Own.
type Counted interface{ Counted() Kind }

// WaitBounds are the upper bounds of the steps in which it is counted how long clients waited for the engine. Each is
// four times the one before, where answers about protected rows leave at points of a grid each of which is a quarter
// later: in a step there are six points or more, so that a count tells less than the clock of whoever asked.
var WaitBounds = [...]time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 80 * time.Millisecond,
	320 * time.Millisecond, 1280 * time.Millisecond, 5120 * time.Millisecond, 20480 * time.Millisecond,
	81920 * time.Millisecond}

// Counts are what a server is at, and what it has done since it was made. None has a part of a client's text, and none
// moves between the moment at which protected rows have been read and that at which the client is told.
type Counts struct {
	Connections int64                   // that are open, with those of which nothing is known yet
	Sessions    int64                   // that are open
	Begun       int64                   // sessions, in all
	Statements  [lastKind]int64         // by Kind
	Errors      map[sqlstate.Code]int64 // that clients were told by the proxy itself, and not by the database
	// Waits are how many bindings of Protected statements took the engine up to each of WaitBounds; the last: longer.
	Waits [len(WaitBounds) + 1]int64

	Pooled        bool // clients share guests; otherwise there is one for each session
	Guests, Idle  int  // of the pool: there, and of these with nobody
	Places, Queue int  // of the pool: how many there may be, and clients that wait for one
}

// mostCodes bounds the codes that are counted apart: those of the catalogue, and PostgreSQL's for what a statement
// alone makes it say. What is beyond is counted as an internal error.
const mostCodes = 200

// tally counts for all sessions of a server.
type tally struct {
	sessions, begun atomic.Int64
	statements      [lastKind]atomic.Int64
	waits           [len(WaitBounds) + 1]atomic.Int64

	mu     sync.Mutex
	errors map[sqlstate.Code]int64
}

// enter counts a session, until leave.
func (t *tally) enter() (leave func()) {
	t.begun.Add(1)
	t.sessions.Add(1)
	return func() { t.sessions.Add(-1) }
}

// statement counts what is about to run; nil: it is the client's own text.
func (t *tally) statement(st Statement) { t.statements[kindOf(st)].Add(1) }

func kindOf(st Statement) Kind {
	if st == nil {
		return Plain
	}
	if c, ok := st.(Counted); ok {
		return c.Counted()
	}
	return Own
}

// waited counts how long the engine had taken to bind a statement when it was done with it. Of other statements than
// Protected it is not worth asking the clock.
func (t *tally) waited(st Statement, since time.Time) {
	if kindOf(st) != Protected {
		return
	}
	took := time.Since(since)
	for i, bound := range WaitBounds {
		if took <= bound {
			t.waits[i].Add(1)
			return
		}
	}
	t.waits[len(WaitBounds)].Add(1)
}

// failed counts an error that a client is told.
func (t *tally) failed(code sqlstate.Code) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.errors == nil {
		t.errors = map[sqlstate.Code]int64{}
	}
	if _, known := t.errors[code]; !known && len(t.errors) >= mostCodes {
		code = sqlstate.InternalError
	}
	t.errors[code]++
}

// counts are those of the tally alone.
func (t *tally) counts() Counts {
	c := Counts{Sessions: t.sessions.Load(), Begun: t.begun.Load()}
	for i := range c.Statements {
		c.Statements[i] = t.statements[i].Load()
	}
	for i := range c.Waits {
		c.Waits[i] = t.waits[i].Load()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c.Errors = maps.Clone(t.errors)
	return c
}
