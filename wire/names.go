package wire

import "sync"

// names are the prepared statements of the guest's that the engine answers. The backend commits a change when the
// server has confirmed it; until then it is open.
type names struct {
	used bool // the session has prepared a protected statement: of the frontend

	mu   sync.Mutex
	open map[string]change
	last map[string]Statement // that the open changes give a name at last
	m    map[string]Statement
}

// change is what has been sent that changes a name, and is not yet confirmed.
type change struct{ n, segment int }

// changing returns what an entry is to do when the server has answered: st takes the name, or frees it where st is nil.
// A failure leaves the name as it was, except that the unnamed statement is dropped before its successor is looked at
// (manual, "Extended Query"). It is nil where it makes no difference. segment is what kept counts.
func (n *names) changing(name string, st Statement, segment int) func(ending) {
	if st == nil && !n.used {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if st == nil && n.m[name] == nil && n.open[name].n == 0 {
		return nil
	}

	if !n.used {
		n.used, n.open, n.last, n.m = true, map[string]change{}, map[string]Statement{}, map[string]Statement{}
	}
	n.open[name] = change{n.open[name].n + 1, segment}
	n.last[name] = st

	// The last of those that are under way leaves no trace of having been.
	return func(how ending) {
		n.mu.Lock()
		defer n.mu.Unlock()
		c := n.open[name]
		if c.n--; c.n > 0 {
			n.open[name] = c
		} else {
			delete(n.open, name)
			delete(n.last, name)
		}

		switch {
		case how == succeeded && st != nil:
			n.m[name] = st
		case how == succeeded, how == failed && name == "":
			delete(n.m, name)
		}
	}
}

// freeing is changing for a name that an ordinary statement takes, or none.
func (n *names) freeing(name []byte, segment int) func(ending) {
	if !n.used {
		return nil
	}
	return n.changing(string(name), nil, segment)
}

// get finds what a name stands for, and whether changes of it are open. sent is what they give it: what is sent in the
// same segment meets that, or the server skips it.
func (n *names) get(name []byte, segment int) (st, sent Statement, open bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, open := n.open[string(name)]
	if open && c.segment == segment {
		sent = n.last[string(name)]
	}
	return n.m[string(name)], sent, open
}

// forget drops a name that SQL has freed.
func (n *names) forget(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.m, name)
}
