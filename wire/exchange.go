package wire

import (
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// Kinds of entries: what the client or Fugu sent, by the type byte of the message where it has one of its own.
const (
	kindQuery             = msgQuery
	kindParse             = msgParse
	kindBind              = msgBind
	kindDescribeStatement = 'd'
	kindDescribePortal    = msgDescribe
	kindExecute           = msgExecute
	kindClose             = msgClose
	kindSync              = msgSync
	kindFlush             = msgFlush // a damaged one: nothing answers others
	// Marks, which the server does not answer.
	kindCopyData = 'k'         // CopyData follows
	kindCopyEnd  = msgCopyDone // CopyDone or CopyFail; hidden: a CopyFail of Fugu's
)

// entry is a message to the guest whose reply is outstanding.
type entry struct {
	kind    byte
	hidden  bool // the client did not ask: replies of success are dropped
	quiet   bool // NoData is dropped
	mute    bool // so is an error
	final   bool // the last statement of a script: its CommandComplete waits for what follows
	damaged bool // nothing but an error may answer it
	scrub   bool // an error speaks of a rewritten text: its position and context are dropped
	// place brings an error's position to the client's text; nil: it is there, or is dropped.
	place   func(int32) int32
	replace *sqlstate.Error           // stands in for the server's error, which was provoked
	before  []pgproto3.BackendMessage // goes out before the reply
	params  int                       // parameters that the client may see of a ParameterDescription; -1: all
	tag     string                    // replaces the command tag; empty: the server's stands
	rows    *[][]string               // collects rows instead of relaying them
	types   *[]uint32                 // collects the OIDs of a hidden ParameterDescription
	copying bool                      // the server reads a copy for it; replace is then for a copy that was given up
	done    func(ending)              // told how it ended; called with the exchange locked
}

// ending is how an entry ended.
type ending int

const (
	succeeded ending = iota
	failed           // the server answered with an error
	dropped          // the server skipped the message
)

func (e *entry) end(how ending) {
	if e.done != nil {
		e.done(how)
	}
}

// exchange is the queue of entries between a session's two goroutines.
type exchange struct {
	mu       sync.Mutex
	changed  sync.Cond
	entries  []entry // within store, or behind it where append had to move
	store    []entry
	skipping bool // the server skips to the next Sync
	copyIn   bool // the server is in copy-in mode, and ignores Sync and Flush
	open     bool // something was sent since the last Sync or Query
	closed   bool
	status   byte      // of the last ReadyForQuery
	since    time.Time // when nothing was outstanding any more
	handling bool      // a message of the client's is being handled, and perhaps not pushed yet
	lost     bool      // the guest has ended while nothing depended on it
	stray    int       // Syncs sent to a copy that has failed: the server has ignored them, or will answer them
}

func newExchange(status byte) *exchange {
	x := &exchange{status: status, since: time.Now()}
	x.changed.L = &x.mu
	return x
}

// push adds an entry; while the server skips, it is told at once that it was dropped.
func (x *exchange) push(e entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		e.end(dropped)
		return
	case e.kind == kindCopyData, e.kind == kindCopyEnd:
		x.copyIn = x.copyIn && e.kind != kindCopyEnd
		if len(x.entries) == 0 {
			return
		}
	case e.kind == kindSync && x.copyIn: // ignored, if the server reads it in time
	case e.kind == kindSync:
		x.skipping, x.open = false, false
	case x.skipping:
		e.end(dropped)
		return
	default:
		x.open = e.kind != kindQuery
	}

	// Entries stand in room of their own as long as there are few of them.
	if n := len(x.entries); n == cap(x.entries) {
		x.store = make([]entry, 0, 2*n+4) // most clients wait for each reply
		x.entries = append(x.store, x.entries...)
	}
	x.entries = append(x.entries, e)
}

// head returns the entry that the next reply belongs to; ok is false where none is outstanding.
func (x *exchange) head() (entry, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.entries) == 0 {
		return entry{}, false
	}
	e := x.entries[0]
	x.entries[0].before = nil // once
	return e, true
}

// drop removes the first n entries, and the marks that then stand first.
func (x *exchange) drop(n int) {
	for n < len(x.entries) && (x.entries[n].kind == kindCopyEnd || x.entries[n].kind == kindCopyData) {
		n++
	}
	clear(x.entries[:n])
	if x.entries = x.entries[n:]; len(x.entries) == 0 {
		x.entries = x.store[:0]
		if x.open {
			x.since = time.Now()
		}
	}
	x.changed.Broadcast()
}

// pop ends the head entry with success.
func (x *exchange) pop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return
	}
	x.copied()
	x.stray = 0
	x.entries[0].end(succeeded)
	x.drop(1)
}

// ready ends the head entry with a ReadyForQuery, and reports false where none is due.
func (x *exchange) ready(status byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status, x.since = status, time.Now()
	switch {
	case x.closed:
	case len(x.entries) > 0 && (x.entries[0].kind == kindQuery || x.entries[0].kind == kindSync):
		x.copied()
		x.entries[0].end(succeeded)
		x.drop(1)
		x.open = x.open && len(x.entries) > 0 // a Sync that was not ignored
	case x.stray > 0:
		x.stray--
		x.skipping = false
	default:
		return false
	}
	return true
}

// fail ends the head entry with an error of that code: in the extended protocol everything up to the next Sync fails
// with it.
func (x *exchange) fail(code string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.copyFailed(code)
	if len(x.entries) == 0 || x.entries[0].kind == kindQuery || x.entries[0].kind == kindSync {
		return // ReadyForQuery follows
	}
	n, how := 0, failed
	for n < len(x.entries) && x.entries[n].kind != kindSync {
		x.entries[n].end(how)
		n, how = n+1, dropped
	}
	x.skipping = n == len(x.entries)
	x.drop(n)
}

// mode reports whether the server skips to the next Sync, and whether it is in copy-in mode.
func (x *exchange) mode() (skipping, copyIn bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.skipping, x.copyIn
}

// idle reports whether nothing is outstanding, and since when at most.
func (x *exchange) idle() (bool, time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.entries) == 0, x.since
}

// free reports whether nothing is outstanding or unfinished, not even a transaction.
func (x *exchange) free() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.entries) == 0 && !x.open && !x.skipping && x.status == statusIdle
}

// outcome is how a wait ended.
type outcome int

const (
	settled outcome = iota // everything sent so far has succeeded
	skipped                // the server skips to the next Sync
	copying                // the server reads a copy, and nothing else before its end
	gone                   // the session is over
)

// wait blocks until at most n replies are outstanding, or nothing more will come. It always ends: the backend closes
// the exchange when it does.
func (x *exchange) wait(n int) outcome {
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		switch {
		case x.closed:
			return gone
		case x.skipping:
			return skipped
		case len(x.entries) <= n:
			return settled
		case x.copyIn:
			return copying
		}
		x.changed.Wait()
	}
}

// crowded reports whether more than n replies are outstanding.
func (x *exchange) crowded(n int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.entries) > n
}

// close ends every entry and wakes whoever waits.
func (x *exchange) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for i := range x.entries {
		x.entries[i].end(dropped)
	}
	x.changed.Broadcast()
}

// transaction is the status byte of the last ReadyForQuery.
func (x *exchange) transaction() byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.status
}
