package wire

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// errSynchronization is how PostgreSQL ends a session in which a message stood in a copy where none can.
var errSynchronization = sqlstate.New(sqlstate.ProtocolViolation,
	"terminating connection because protocol synchronization was lost").Ending()

// misplaced is called for a message of the type that came while the server was reading a copy. PostgreSQL ends the copy
// with an error and the session with another. But the copy may have failed already, and then the message is like any
// other: the server alone knows. So it gets a CopyFail, which it heeds in a copy and nowhere else. Without an error,
// the copy is over and the message can be handled.
func (s *session) misplaced(typ byte) error {
	if s.exchange.giveUp(sqlstate.New(sqlstate.ProtocolViolation,
		"unexpected message type 0x%02X during COPY from stdin", typ)) {
		s.exchange.push(entry{kind: kindCopyEnd, hidden: true})
		if err := s.send(&pgproto3.CopyFail{Message: "unexpected message"}); err != nil {
			return err
		}
	}
	if _, err := s.settle(); err != nil {
		return err
	}
	return s.endReason() // errSynchronization, if the copy was still there
}

// settleFor is settle before a message of a type that cannot stand in a copy.
func (s *session) settleFor(typ byte) (outcome, error) {
	for {
		o, err := s.settle()
		if err != nil || o != copying {
			return o, err
		}
		if err := s.misplaced(typ); err != nil {
			return gone, err
		}
	}
}

// follow relays what the client sends to a copy within a script, up to its end. A copy that fails is over at once: as
// with PostgreSQL, the client need not send its end.
func (s *session) follow() error {
	s.following.Store(true)
	defer s.following.Store(false)
	for {
		s.within = false

		// While nothing has come of a message, the copy's end may wake the wait for it.
		typ, length, err := s.in.next()
		if errors.Is(err, errCopyOver) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading from the client: %w", err)
		}
		s.within = true
		if err := s.admit(typ, length); err != nil {
			return err
		}

		// The server may have ended the copy while the message was on its way.
		if !s.copyIn() {
			return nil // what was not read yet is handled behind the script
		}
		switch typ {
		case msgTerminate:
			return errDone
		case msgCopyData:
			s.feed()
			if err := s.relay(typ, length); err != nil {
				return err
			}
		case msgSync, msgFlush:
			if err := s.in.skip(length); err != nil {
				return err
			}
		case msgCopyDone, msgCopyFail:
			if _, err := s.in.read(length); err != nil {
				return fmt.Errorf("reading from the client: %w", err)
			}
			s.copyEnd()
			return s.forward()
		default:
			return s.misplaced(typ)
		}
	}
}

// admit refuses messages that are none of the protocol's, and those that are too long.
func (s *session) admit(typ byte, length int) error {
	if !strings.ContainsRune(requests, rune(typ)) {
		return fmt.Errorf("%w: type %q", errMessage, typ)
	}
	if length+4 > maxSmall && strings.ContainsRune(smallRequests, rune(typ)) {
		return fmt.Errorf("%w: length %d of type %q", errMessage, length+4, typ)
	}
	if length > s.maxBody {
		return sqlstate.New(sqlstate.ProgramLimitExceeded, "a message has %d bytes, and at most %d are accepted",
			length, s.maxBody).Ending()
	}
	return nil
}

// feed takes note of the first data that is sent to a copy.
func (s *session) feed() {
	if !s.fed {
		s.fed = true
		s.exchange.push(entry{kind: kindCopyData})
	}
}

// copyEnd takes note of CopyDone or CopyFail.
func (s *session) copyEnd() {
	s.fed = false
	s.exchange.push(entry{kind: kindCopyEnd})
}
