package wire

import "github.com/jackc/pgx/v5/pgproto3"

// heed lets the session keep its guest from here on if what a text does may last. SQL will see the statements that the
// client has prepared: all of them are brought to the guest. In a transaction of the client's, one that cannot be
// prepared any more fails it.
func (s *session) heed(sql []byte) error {
	if s.pool == nil || s.lasting || !s.engine.Lasting(sql) {
		return nil
	}

	s.lasting = true
	s.pinned.Store(true)
	alone := s.exchange.unbound()

	// Outside of a transaction each is prepared by itself, so that one which cannot be any more fails alone.
	for _, name := range s.kept.names() {
		if !alone {
			if err := s.provide(msgParse, []byte(name)); err != nil {
				return err
			}
			continue
		}
		if st, _, _, _ := s.kept.get([]byte(name)); st.on != s.held.serial {
			s.prepare(name, st, entry{mute: true})
			s.kept.segment++
			s.exchange.push(entry{kind: kindSync, hidden: true})
			if err := s.send(&pgproto3.Sync{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// provide lets the guest have the statement of that name, before a message of the type that needs it. Whether it has
// got it is not known while a change of the name is open that may have been skipped; then that is waited for.
func (s *session) provide(typ byte, name []byte) error {
	if s.pool == nil {
		return nil
	}
	st, known, sent, open := s.kept.get(name)
	if open && !sent {
		if _, err := s.settleFor(typ); err != nil {
			return err
		}
		st, known, sent, _ = s.kept.get(name)
	}
	if sent || !known || st.on == s.held.serial {
		return nil
	}
	s.prepare(string(name), st, entry{})
	return nil
}

// prepare sends the guest a statement that the client believes it has. What else the entry of its reply says is the
// caller's.
func (s *session) prepare(name string, st keptStatement, reply entry) {
	k, serial := &s.kept, s.held.serial
	k.change(name)
	reply.kind, reply.hidden, reply.scrub = kindParse, true, st.scrub
	reply.done = func(how ending) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.settled(name)
		if now, ok := k.m[name]; ok && how == succeeded {
			now.on = serial
			k.m[name] = now
		}
	}
	s.exchange.push(reply)
	_, _ = s.out.Write([]byte(st.parse.Value()))
}

// protected finds the protected statement of that name, nil for an ordinary one. It waits for the server's word where a
// change of the name is open, on behalf of a message of the type, unless the name goes to what is silent: then nothing
// hangs on whether the change comes about. A session that never prepared a protected statement never waits.
func (s *session) protected(typ byte, name []byte) (Statement, error) {
	if !s.names.used {
		return nil, nil
	}
	st, sent, open := s.names.get(name, s.kept.segment)
	if silent(sent) {
		return sent, nil
	}
	if open {
		if _, err := s.settleFor(typ); err != nil {
			return nil, err
		}
		st, _, _ = s.names.get(name, s.kept.segment)
	}
	if st == remnant {
		s.exchange.push(entry{kind: kindClose, hidden: true, done: s.freeing(nil)})
		return nil, s.send(&pgproto3.Close{ObjectType: objectStatement})
	}
	return st, nil
}

// remnant stands for the unnamed statement that a script leaves on the guest. A simple Query leaves none, also when it
// fails: so it is closed before it could be found.
var remnant Statement = struct{ Statement }{}

// leaving is naming for what a script leaves on the guest under no name.
func (s *session) leaving() func(ending) { return s.naming("", remnant, nil, false) }
