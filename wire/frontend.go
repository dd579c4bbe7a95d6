package wire

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// maxOutstanding bounds the replies that a client may leave outstanding before its messages wait.
const maxOutstanding = 10_000

// frontend reads the client's messages until it leaves.
func (s *session) frontend() error {
	for {
		s.within = false
		typ, length, err := s.in.next()
		if err != nil {
			return fmt.Errorf("reading from the client: %w", err)
		}
		s.within = true
		if err := s.message(typ, length); err != nil {
			return err
		}
		if s.pool != nil {
			s.exchange.rest()
		}

		// A client that sends and does not read is not read from any more, until half of its replies have come.
		if s.exchange.crowded(maxOutstanding) {
			if err := s.flush(&pgproto3.Flush{}); err != nil {
				return err
			}
			if o := s.exchange.wait(maxOutstanding / 2); o == copying && s.exchange.crowded(2*maxOutstanding) {
				return sqlstate.New(sqlstate.ProgramLimitExceeded, "too many messages during COPY from stdin").Ending()
			}
		}
	}
}

// requestReader is the client's connection as the frontend reads it: before it waits, the guest gets what there is, and
// it waits no longer than the session is to last.
type requestReader struct{ s *session }

func (r requestReader) fill(in *inlet) (int, error) {
	if err := r.s.flush(); err != nil {
		return 0, err
	}
	r.s.buf = small(r.s.buf)
	for {
		if err := r.s.attend(); err != nil {
			return 0, err
		}
		r.s.offer() // who wants the guest from here on ends the wait
		n, err := in.read(r.s.conn)
		switch {
		case n > 0:
			return n, nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, fmt.Errorf("%w: %w", errClient, err)
		}
		r.s.expired()
	}
}

// message handles one message of the client's.
func (s *session) message(typ byte, length int) error {
	if err := s.admit(typ, length); err != nil {
		return err
	}
	skipping, copyIn := s.exchange.mode()
	switch {
	case typ == msgTerminate:
		return errDone
	case skipping && typ != msgSync:
		return s.in.skip(length) // as the server would
	case copyIn && !strings.ContainsRune(copyRequests, rune(typ)):
		if err := s.misplaced(typ); err != nil {
			return err
		}
		return s.message(typ, length)
	case typ == msgCopyData && s.pool != nil && !copyIn && s.exchange.unbound():
		return s.in.skip(length) // as the server would
	case typ == msgCopyData:
		s.feed()
		return s.relay(typ, length)
	}

	// From here on the message is read as a whole, and there is a guest for it.
	body, err := s.in.read(length)
	if err != nil {
		return fmt.Errorf("reading from the client: %w", err)
	}
	if err := s.engage(); err != nil {
		return err
	}

	switch typ {
	case msgQuery:
		return s.query(body)
	case msgParse:
		return s.parse(body)
	case msgBind:
		return s.bind(body)
	case msgDescribe:
		return s.describe(body)
	case msgExecute:
		return s.execute(body)
	case msgClose:
		return s.closeMessage(body)
	case msgFlush:
		if length > 0 {
			return s.damagedFlush(copyIn)
		}
	case msgSync:
		s.kept.segment++
		s.exchange.push(entry{kind: kindSync})
	case msgCopyDone, msgCopyFail:
		s.copyEnd()
	case msgFunctionCall:
		return s.raiseQuery(sqlstate.New(sqlstate.FeatureNotSupported,
			"the function call protocol is not supported through Fugu").
			WithHint("Use SELECT function(...)."))
	}
	return s.forward() // Flush too
}

// damagedFlush is ignored like a good one within a copy, and otherwise answered by an error.
func (s *session) damagedFlush(copyIn bool) error {
	if copyIn {
		return s.send(&pgproto3.Flush{})
	}
	return s.malformed(kindFlush)
}
