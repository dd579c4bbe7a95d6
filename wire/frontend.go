package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
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

// admit refuses messages that are none of the protocol's, and those that are too long.
func (s *session) admit(typ byte, length int) error {
	if !strings.ContainsRune("QPBDECSHFdcfX", rune(typ)) {
		return fmt.Errorf("%w: type %q", errMessage, typ)
	}
	if length+4 > maxSmall && strings.ContainsRune("DECSHcfX", rune(typ)) {
		return fmt.Errorf("%w: length %d of type %q", errMessage, length+4, typ)
	}
	if length > s.maxBody {
		return sqlstate.New(sqlstate.ProgramLimitExceeded, "a message has %d bytes, and at most %d are accepted", length, s.maxBody).Ending()
	}
	return nil
}

// message handles one message of the client's.
func (s *session) message(typ byte, length int) error {
	if err := s.admit(typ, length); err != nil {
		return err
	}
	skipping, copyIn := s.exchange.mode()
	switch {
	case typ == 'X': // Terminate
		return errDone
	case skipping && typ != 'S':
		return s.in.skip(length) // as the server would
	case copyIn && !strings.ContainsRune("dcfHS", rune(typ)):
		if err := s.misplaced(typ); err != nil {
			return err
		}
		return s.message(typ, length)
	case typ == 'd' && s.pool != nil && !copyIn && s.exchange.unbound():
		return s.in.skip(length) // as the server would
	case typ == 'd': // CopyData
		s.feed()
		return s.relay(typ, length)
	}
	body, err := s.in.read(length)
	if err != nil {
		return fmt.Errorf("reading from the client: %w", err)
	}
	if err := s.engage(); err != nil {
		return err
	}
	switch typ {
	case 'Q':
		return s.query(body)
	case 'P':
		return s.parse(body)
	case 'B':
		return s.bind(body)
	case 'D':
		return s.describe(body)
	case 'E':
		return s.execute(body)
	case 'C':
		return s.closeMessage(body)
	case 'H': // a damaged Flush within a copy is ignored like a good one, and otherwise answered by an error
		switch {
		case length > 0 && copyIn:
			return s.send(&pgproto3.Flush{})
		case length > 0:
			return s.malformed(kindFlush)
		}
	case 'S':
		s.kept.segment++
		s.exchange.push(entry{kind: kindSync})
	case 'c', 'f': // CopyDone, CopyFail
		s.copyEnd()
	case 'F':
		return s.raiseQuery(sqlstate.New(sqlstate.FeatureNotSupported, "the function call protocol is not supported through Fugu").
			WithHint("Use SELECT function(...)."))
	}
	return s.forward() // Flush too
}

// malformed lets the guest say what is wrong with the message that was read last, which fields finds damaged.
// PostgreSQL reads the same fields before it does anything, so an error is all that may answer it.
func (s *session) malformed(kind byte) error {
	s.exchange.push(entry{kind: kind, damaged: true})
	return s.forward()
}

// interpret asks the engine about a text, of a message of that type. types are the fields of a Parse.
func (s *session) interpret(typ byte, sql, types []byte) ([]Statement, error) {
	switch {
	case !utf8.Valid(sql):
		return nil, sqlstate.New(sqlstate.CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\"")
	case s.engine.Ordinary(sql):
		return nil, nil
	}
	var paramTypes []uint32
	for f := (fields{rest: types}); len(f.rest) > 0; {
		paramTypes = append(paramTypes, uint32(f.int32()))
	}
	ctx, stop := s.working()
	defer stop()
	if err := s.resolve(ctx, typ, string(sql)); err != nil {
		return nil, s.canceled(ctx, err)
	}
	statements, err := s.engine.Interpret(ctx, string(sql), paramTypes)
	return statements, s.canceled(ctx, err)
}

// resolve lets the engine look up what the names of a text mean in the guest's session, behind everything that was sent
// before. In a transaction that has failed nothing can be looked up, nor read.
func (s *session) resolve(ctx context.Context, typ byte, sql string) error {
	r, ok := s.engine.(Resolver)
	if !ok {
		return nil
	}
	query := r.Lookup(ctx, sql)
	if query == "" {
		return nil
	}
	switch o, err := s.settleFor(typ); {
	case err != nil:
		return err
	case o != settled, s.exchange.transaction() == 'E':
		return nil
	}
	rows, err := s.ask(ctx, query)
	if err != nil {
		return err
	}
	r.Resolve(rows)
	if typ == 'Q' {
		// What is looked up is no part of the Query, which may hold what cannot stand behind another statement.
		s.kept.segment++
		s.exchange.push(entry{kind: kindSync, hidden: true})
		return s.send(&pgproto3.Sync{})
	}
	return nil
}

// canceled gives work that was cut short by a cancel request the error that PostgreSQL has for it.
func (s *session) canceled(ctx context.Context, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.asked && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return sqlstate.New(sqlstate.QueryCanceled, "canceling statement due to user request").Because(err)
	}
	return err
}

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
		return o, s.why()
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

// known gives an error the form in which a client may see it, and logs what it may not see. What a database said can
// repeat literals, so of that the log has the code alone.
func (s *session) known(err error) *sqlstate.Error {
	e := sqlstate.As(err)
	switch e.Code {
	case sqlstate.InternalError, sqlstate.ConnectionFailure, sqlstate.CannotConnectNow:
		s.log.Error("a statement failed", "code", string(e.Code), "cause", loggable(e.Cause))
	}
	return e
}

func loggable(err error) string {
	var p *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &p):
		return "the database raised " + p.Code
	}
	return err.Error()
}
