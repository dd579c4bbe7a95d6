package wire

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

func (s *session) parse(body []byte) error {
	name, sql, types, err := parseFields(body)
	if err != nil {
		return s.malformed(kindParse)
	}
	if err := s.heed(sql); err != nil {
		return err
	}
	if len(name) > 0 { // the server is to say that the name is taken
		if err := s.provide(msgParse, name); err != nil {
			return err
		}
	}

	statements, err := s.interpret(msgParse, sql, types)
	switch {
	case errors.Is(err, errTold):
		return nil
	case err != nil:
		return s.raise(err, string(name))
	case len(statements) != 1: // none: it is ordinary; several: PostgreSQL refuses them itself
		s.exchange.push(entry{kind: kindParse, done: s.ordinary(name)})
		return s.forward()
	}

	// The guest parses the engine's text under the client's name.
	st := statements[0]
	b, err := (&pgproto3.Parse{Name: string(name), Query: st.Text(), ParameterOIDs: st.ParamTypes()}).Encode(s.buf[:0])
	if err != nil {
		return tooLong(err)
	}
	s.buf = b[:0]
	scrub, place := errorRules(st)
	done := s.naming(string(name), st, b, !st.Ordinary())
	s.exchange.push(entry{kind: kindParse, scrub: scrub, place: place, done: done})
	_, _ = s.out.Write(b)
	return nil
}

func (s *session) bind(body []byte) error {
	name, statement, damage := bindFields(body)
	if err := s.provide(msgBind, statement); err != nil {
		return err
	}
	st, err := s.protected(msgBind, statement)
	switch {
	case err != nil:
		return err
	case damage != nil && (st == nil || silent(st)):
		return s.malformed(kindBind)
	case damage != nil: // the server would speak of the engine's parameters
		return s.raise(damage, rejected)
	case st == nil:
		s.tally.statement(nil)
		delete(s.portals, string(name))
		s.exchange.push(entry{kind: kindBind})
		return s.forward()
	case silent(st):
		return s.bindSilent(string(name), st)
	}

	// Of a protected statement the values are needed, so the whole message is read.
	var m pgproto3.Bind
	if err := m.Decode(body); err != nil {
		return fmt.Errorf("%w: %w", errMessage, err)
	}
	if err := unbindable(&m, st); err != nil {
		return s.raise(err, rejected)
	}
	return s.bindProtected(st, &m)
}

// unbindable is PostgreSQL's error of a Bind that does not fit a statement. The server would speak of the engine's
// parameters, too.
func unbindable(m *pgproto3.Bind, st Statement) error {
	if n := len(m.ParameterFormatCodes); n > 1 && n != len(m.Parameters) {
		return sqlstate.New(sqlstate.ProtocolViolation, "bind message has %d parameter formats but %d parameters",
			n, len(m.Parameters))
	}
	if want := st.ClientParams(); len(m.Parameters) != want {
		return sqlstate.New(sqlstate.ProtocolViolation,
			"bind message supplies %d parameters, but prepared statement \"%s\" requires %d",
			len(m.Parameters), m.PreparedStatement, want)
	}
	return nil
}

// bindProtected lets the engine answer, when everything sent before has succeeded and the statement is still there. m
// is the Bind that was read last.
func (s *session) bindProtected(st Statement, m *pgproto3.Bind) error {
	bound, recalled := s.recall(st, m.ParameterFormatCodes, m.Parameters)

	// SQL can have ended the statement since (DEALLOCATE, DISCARD): then the server says so before anything is charged.
	// Or it has made another of the name (PREPARE), which is known by its parameters.
	types := st.ParamTypes()
	if m.PreparedStatement != "" && !recalled {
		s.exchange.push(entry{kind: kindDescribeStatement, hidden: true, types: &types})
		if err := s.send(&pgproto3.Describe{ObjectType: objectStatement, Name: m.PreparedStatement}); err != nil {
			return err
		}
	}
	switch o, err := s.settleFor(msgBind); {
	case err != nil:
		return err
	case o == skipped:
		return nil // what the server skips is neither answered nor charged
	case !typesFit(types, st.ParamTypes()):
		s.names.forget(m.PreparedStatement)
		delete(s.portals, m.DestinationPortal)
		s.exchange.push(entry{kind: kindBind})
		return s.forward()
	}

	if !recalled {
		var err error
		bound, err = s.compute(st, m.ParameterFormatCodes, m.Parameters)
		if errors.Is(err, errTold) {
			return nil
		} else if err != nil {
			return s.raise(err, rejected)
		}
	}
	if len(m.Parameters)+len(bound.Values) > math.MaxUint16 {
		return s.raise(sqlstate.New(sqlstate.ProgramLimitExceeded, "the statement has too many parameters"), rejected)
	}
	return s.bindBound(st, m, bound)
}

// bindBound sends the client's Bind with what the engine adds to it.
func (s *session) bindBound(st Statement, m *pgproto3.Bind, bound Bound) error {
	s.tally.statement(st)
	p := portal{tag: st.Tag()}
	p.scrub, p.place = errorRules(st)
	p.scrub = p.scrub || bound.Text != ""
	s.opened(m.DestinationPortal, p)

	// Another text has a statement of its own, where the one of a binding that failed may still be.
	if bound.Text != "" {
		m.PreparedStatement, m.Parameters, m.ParameterFormatCodes = s.askName+" bound", nil, nil
		s.exchange.push(entry{kind: kindClose, hidden: true})
		s.exchange.push(entry{kind: kindParse, hidden: true, scrub: true})
		err := s.send(&pgproto3.Close{ObjectType: objectStatement, Name: m.PreparedStatement},
			&pgproto3.Parse{Name: m.PreparedStatement, Query: bound.Text, ParameterOIDs: bound.ParamTypes})
		if err != nil {
			return err
		}
	}
	s.exchange.push(entry{kind: kindBind, scrub: p.scrub, place: p.place, before: notices(bound.Notices)})
	if err := s.send(combined(m, bound.Values)); err != nil || bound.Text == "" {
		return err
	}

	// The portal keeps what it needs, and nobody is to see the statement.
	s.exchange.push(entry{kind: kindClose, hidden: true})
	return s.send(&pgproto3.Close{ObjectType: objectStatement, Name: m.PreparedStatement})
}

// bindSilent passes on the Bind that was read last.
func (s *session) bindSilent(name string, st Statement) error {
	s.tally.statement(st)
	p := portal{tag: st.Tag()}
	p.scrub, p.place = errorRules(st)
	s.opened(name, p)
	s.exchange.push(entry{kind: kindBind, scrub: p.scrub, place: p.place})
	return s.forward()
}

// typesFit reports whether a statement that the server has with these types of parameters can be one that was parsed
// with the wanted ones. 0 and unknown were left to the server, and so may have been the last.
func typesFit(types, wanted []uint32) bool {
	for i, oid := range wanted {
		if i >= len(types) || oid != types[i] && oid != 0 && oid != unknownType {
			return false
		}
	}
	return true
}

// unknownType is the OID of the pseudo-type unknown.
const unknownType = 705

// rejected is the name under which what raises an error is parsed where no statement of the client's is concerned.
const rejected = "fugu rejected"

// combined is the client's Bind with the engine's values, in text, behind the client's.
func combined(m *pgproto3.Bind, extra [][]byte) *pgproto3.Bind {
	formats := make([]int16, 0, len(m.Parameters)+len(extra))
	for i := range m.Parameters {
		switch len(m.ParameterFormatCodes) {
		case 0:
			formats = append(formats, pgproto3.TextFormat)
		case 1:
			formats = append(formats, m.ParameterFormatCodes[0])
		default:
			formats = append(formats, m.ParameterFormatCodes[i])
		}
	}
	for range extra {
		formats = append(formats, pgproto3.TextFormat)
	}
	return &pgproto3.Bind{DestinationPortal: m.DestinationPortal, PreparedStatement: m.PreparedStatement,
		ParameterFormatCodes: formats, Parameters: slices.Concat(m.Parameters, extra),
		ResultFormatCodes: m.ResultFormatCodes}
}

// describe handles a Describe of a portal or a statement.
func (s *session) describe(body []byte) error {
	object, name, err := objectFields(body)
	if err != nil {
		return s.malformed(kindDescribePortal)
	}

	// Of a protected statement the client sees its own parameters, and errors without the text that it did not write.
	e := entry{kind: kindDescribePortal, params: -1}

	switch object {
	case objectPortal:
		p := s.portals[string(name)]
		e.scrub, e.place = p.scrub, p.place
	case objectStatement:
		e.kind = kindDescribeStatement
		if err := s.provide(msgDescribe, name); err != nil {
			return err
		}
		st, err := s.protected(msgDescribe, name)
		if err != nil {
			return err
		}
		if st != nil {
			e.params = st.ClientParams()
			e.scrub, e.place = errorRules(st)
		}
	default:
		return s.malformed(kindDescribePortal)
	}
	s.exchange.push(e)
	return s.forward()
}

func (s *session) execute(body []byte) error {
	name, err := executeFields(body)
	if err != nil {
		return s.malformed(kindExecute)
	}
	p := s.portals[string(name)]
	s.fed = false
	s.exchange.push(entry{kind: kindExecute, tag: p.tag, scrub: p.scrub, place: p.place})
	return s.forward()
}

func (s *session) closeMessage(body []byte) error {
	object, name, err := objectFields(body)
	if err != nil {
		return s.malformed(kindClose)
	}
	e := entry{kind: kindClose}
	switch object {
	case objectStatement:
		e.done = s.freeing(name)
	case objectPortal:
		delete(s.portals, string(name))
	default:
		return s.malformed(kindClose)
	}
	s.exchange.push(e)
	return s.forward()
}
