package wire

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// relay passes the frame that is next on to the guest, and those of its type that are there.
func (s *session) relay(typ byte, length int) error {
	s.torn = true
	if err := s.in.relay(s.out, length); err != nil {
		return fmt.Errorf("relaying to the guest: %w", err)
	}
	s.torn = false
	s.in.relayAlike(s.out, typ)
	return nil
}

// forward passes the frame that was read on to the guest. An error of the guest's connection shows when it is flushed.
func (s *session) forward() error {
	s.out.pass(s.in.raw)
	if len(s.in.raw) > bufferSize {
		_ = s.out.Flush() // such a frame is not in a buffer
	}
	return nil
}

// send writes messages of our own to the guest.
func (s *session) send(messages ...pgproto3.FrontendMessage) error {
	for _, m := range messages {
		b, err := m.Encode(s.buf[:0])
		if err != nil {
			return tooLong(err)
		}
		s.buf = b[:0]
		_, _ = s.out.Write(b)
	}
	return nil
}

func tooLong(err error) error {
	return sqlstate.New(sqlstate.ProgramLimitExceeded, "a message to the database is too long").Because(err).Ending()
}

// flush writes messages of our own, and lets the guest have everything.
func (s *session) flush(messages ...pgproto3.FrontendMessage) error {
	if err := s.send(messages...); err != nil {
		return err
	}
	if s.out == nil { // nor is there a guest
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errGuest, err)
	}
	return nil
}

// settle waits until everything sent so far has its reply.
func (s *session) settle() (outcome, error) {
	if idle, _ := s.exchange.idle(); !idle {
		if err := s.flush(&pgproto3.Flush{}); err != nil {
			return gone, err
		}
	}
	o := s.exchange.wait(0)
	if o == gone {
		return o, s.endReason()
	}
	return o, nil
}

// refusal is what is sent to the guest where an error of ours is to be raised: it cannot be parsed.
func refusal(e *sqlstate.Error) string { return "fugu refused a statement: " + string(e.Code) }

// raise makes the guest fail in the extended protocol, and puts our error in the place of its own. name is a prepared
// statement that the failure may drop, as PostgreSQL's own would.
func (s *session) raise(err error, name string) error {
	e := s.known(err)
	if e.Fatal {
		return e
	}
	s.exchange.push(entry{kind: kindParse, replace: e, done: s.freeing([]byte(name))})
	return s.send(&pgproto3.Parse{Name: name, Query: refusal(e)})
}

// raiseQuery does the same in the simple protocol.
func (s *session) raiseQuery(err error) error {
	e := s.known(err)
	if e.Fatal {
		return e
	}
	s.kept.segment++
	s.exchange.push(entry{kind: kindQuery, replace: e, done: s.freeing(nil)})
	return s.send(&pgproto3.Query{String: refusal(e)})
}

// malformed lets the guest say what is wrong with the message that was read last, which fields finds damaged.
// PostgreSQL reads the same fields before it does anything, so an error is all that may answer it.
func (s *session) malformed(kind byte) error {
	s.exchange.push(entry{kind: kind, damaged: true})
	return s.forward()
}

// end ends a script.
func (s *session) end() error {
	s.kept.segment++
	s.exchange.push(entry{kind: kindSync})
	return s.send(&pgproto3.Sync{})
}
