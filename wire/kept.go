package wire

import (
	"maps"
	"slices"
	"sync"
	"unique"
)

// kept are the prepared statements of a client that has its guests from a pool, each as it was sent to a guest. One
// that has not got it gets it when the client names it, unseen. Guests hold the statements of one client alone, so
// these have the names that the client gave them.
type kept struct {
	segment int // counts what ends the server's skipping: of the frontend

	mu    sync.Mutex
	m     map[string]keptStatement
	open  map[string]change
	bytes int
}

type keptStatement struct {
	parse unique.Handle[string] // the frame of a Parse: many clients prepare the same
	scrub bool                  // of a rewritten text
	on    uint64                // the serial of the guest that has it
}

// maxKept is how much of its statements is kept for a client, in bytes of Parse. One with more is pinned.
const maxKept = 1 << 20

// change takes note that a change of a name is sent.
func (k *kept) change(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open == nil {
		k.m, k.open = map[string]keptStatement{}, map[string]change{}
	}
	k.open[name] = change{k.open[name].n + 1, k.segment}
}

// settled takes note that the server has answered one, with mu held.
func (k *kept) settled(name string) {
	c := k.open[name]
	if c.n--; c.n == 0 {
		delete(k.open, name)
		return
	}
	k.open[name] = c
}

func (k *kept) remember(name string, st keptStatement) {
	k.m[name] = st
	k.bytes += len(name) + len(st.parse.Value())
}

func (k *kept) forget(name string) {
	if st, ok := k.m[name]; ok {
		delete(k.m, name)
		k.bytes -= len(name) + len(st.parse.Value())
	}
}

// get finds a statement. sent: the last change of the name was sent in the segment that the client is at, so that the
// guest has it, or skips what follows.
func (k *kept) get(name []byte) (st keptStatement, known, sent, open bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	st, known = k.m[string(name)]
	c, open := k.open[string(name)]
	return st, known, open && c.segment == k.segment, open
}

// names are those of the statements that are kept, without the unnamed one.
func (k *kept) names() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(k.m)), func(name string) bool { return name == "" })
}

// naming does what names.changing does, and remembers what may have to be sent again: a statement of the engine's with
// the frame of its Parse, or for an ordinary one the frame alone. Where there is neither, the name becomes free. scrub
// says that the guest's errors about the statement are not the client's to see in full.
func (s *session) naming(name string, st Statement, parse []byte, scrub bool) func(ending) {
	done := s.names.changing(name, st, s.kept.segment)
	if s.pool == nil {
		return done
	}

	var statement *keptStatement
	if parse != nil {
		statement = &keptStatement{unique.Make(string(parse)), scrub, s.held.serial}
	}

	// The name counts as in doubt until the server has answered.
	k := &s.kept
	k.change(name)
	return func(how ending) {
		if done != nil {
			done(how)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.settled(name)
		if how == succeeded || how == failed && name == "" {
			k.forget(name)
		}
		if how == succeeded && statement != nil && !s.pinned.Load() {
			k.remember(name, *statement)
			if k.bytes > maxKept {
				s.pinned.Store(true)
			}
		}
	}
}

// ordinary is naming for an ordinary statement, whose Parse was read last.
func (s *session) ordinary(name []byte) func(ending) {
	if s.pool == nil {
		return s.names.freeing(name, s.kept.segment)
	}
	return s.naming(string(name), nil, s.in.raw, false)
}

// freeing is naming for a name that no statement takes, or one that is not kept.
func (s *session) freeing(name []byte) func(ending) {
	if s.pool == nil {
		return s.names.freeing(name, s.kept.segment)
	}
	return s.naming(string(name), nil, nil, false)
}
