package wire

import "fugu/sqlstate"

// startCopyIn takes note that the server entered copy-in mode: up to the end of the copy it ignores every Sync.
func (x *exchange) startCopyIn() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return
	}
	x.entries[0].copying = true
	_, _, ended := x.copySpan()
	x.copyIn = !ended
	x.changed.Broadcast()
}

// copySpan gives the number of entries, from the head on, that belong to the copy that the server reads for it: those
// up to its end, or to a message that cannot stand in a copy. fed: the client has sent data for it, or its end.
func (x *exchange) copySpan() (n int, fed, ended bool) {
	for n = 1; n < len(x.entries); n++ {
		switch e := x.entries[n]; e.kind {
		case kindSync:
		case kindCopyData:
			fed = true
		case kindCopyEnd:
			return n + 1, fed || !e.hidden, true
		default:
			return n, fed, false
		}
	}
	return n, fed, false
}

// copyDone takes note that the copy of a simple Query has succeeded; others may follow in it.
func (x *exchange) copyDone() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.closed {
		x.copied()
	}
}

// copied removes what belonged to the head's copy, if the server has read one: the Syncs in it were ignored.
func (x *exchange) copied() {
	x.copyIn = false
	if len(x.entries) > 0 && x.entries[0].copying {
		n, _, _ := x.copySpan()
		x.cut(n)
	}
}

// copyFailed sorts out the Syncs that were sent to the head's copy before it failed. Where no data was sent the copy
// has failed before it read anything, unless it was given up or canceled, and the Syncs are answered. Otherwise the
// server has read some or all of them, and what it answers is taken as it comes.
func (x *exchange) copyFailed(code string) {
	x.copyIn = false
	if len(x.entries) == 0 || !x.entries[0].copying {
		return
	}
	n, fed, _ := x.copySpan()
	if !fed && code != string(sqlstate.QueryCanceled) {
		return
	}
	for _, e := range x.entries[1:n] {
		if e.kind == kindSync {
			x.stray++
		}
	}
	x.cut(n)
}

// cut removes the entries behind the head and before n.
func (x *exchange) cut(n int) {
	x.entries[0].copying = false
	kept := append(x.entries[:1], x.entries[n:]...)
	clear(x.entries[len(kept):])
	x.entries = kept
	x.changed.Broadcast()
}

// giveUp takes note that the head's copy is to be failed by Fugu, with e in the place of the server's error. It reports
// false where the server reads no copy any more.
func (x *exchange) giveUp(e *sqlstate.Error) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.copyIn || x.closed {
		return false
	}
	x.entries[0].replace = e
	return true
}
