package wire

import (
	"context"
	"errors"
	"fmt"
	"math"

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
		if err := s.provide('P', name); err != nil {
			return err
		}
	}
	statements, err := s.interpret('P', sql, types)
	switch {
	case errors.Is(err, errTold):
		return nil
	case err != nil:
		return s.raise(err, string(name))
	case len(statements) != 1: // none: it is ordinary; several: PostgreSQL refuses them itself
		s.exchange.push(entry{kind: kindParse, done: s.ordinary(name)})
		return s.forward()
	}
	st := statements[0]
	b, err := (&pgproto3.Parse{Name: string(name), Query: st.Text(), ParameterOIDs: st.ParamTypes()}).Encode(s.buf[:0])
	if err != nil {
		return tooLong(err)
	}
	s.buf = b[:0]
	scrub, place := voiced(st)
	s.exchange.push(entry{kind: kindParse, scrub: scrub, place: place, done: s.naming(string(name), st, b, !st.Ordinary())})
	_, _ = s.out.Write(b)
	return nil
}

func (s *session) bind(body []byte) error {
	name, statement, damage := bindFields(body)
	if err := s.provide('B', statement); err != nil {
		return err
	}
	st, err := s.protected('B', statement)
	switch {
	case err != nil:
		return err
	case damage != nil && (st == nil || silent(st)):
		return s.malformed(kindBind)
	case damage != nil: // the server would speak of the engine's parameters
		return s.raise(damage, rejected)
	case st == nil:
		delete(s.portals, string(name))
		s.exchange.push(entry{kind: kindBind})
		return s.forward()
	case silent(st):
		return s.bindSilent(string(name), st)
	}
	var m pgproto3.Bind
	if err := m.Decode(body); err != nil {
		return fmt.Errorf("%w: %w", errMessage, err)
	}
	if n := len(m.ParameterFormatCodes); n > 1 && n != len(m.Parameters) {
		return s.raise(sqlstate.New(sqlstate.ProtocolViolation, "bind message has %d parameter formats but %d parameters", n, len(m.Parameters)), rejected)
	}
	if want := st.ClientParams(); len(m.Parameters) != want {
		return s.raise(sqlstate.New(sqlstate.ProtocolViolation, "bind message supplies %d parameters, but prepared statement \"%s\" requires %d",
			len(m.Parameters), m.PreparedStatement, want), rejected)
	}
	bound, recalled := s.recall(st, m.ParameterFormatCodes, m.Parameters)
	types := st.ParamTypes()
	if m.PreparedStatement != "" && !recalled {
		// SQL can have ended it since (DEALLOCATE, DISCARD): then the server says so before anything is charged. Or it has
		// made another of the name (PREPARE), which is known by its parameters.
		s.exchange.push(entry{kind: kindDescribeStatement, hidden: true, types: &types})
		if err := s.send(&pgproto3.Describe{ObjectType: 'S', Name: m.PreparedStatement}); err != nil {
			return err
		}
	}
	switch o, err := s.settleFor('B'); {
	case err != nil:
		return err
	case o == skipped:
		return nil // what the server skips is neither answered nor charged
	case !alike(types, st.ParamTypes()):
		s.names.forget(m.PreparedStatement)
		delete(s.portals, m.DestinationPortal)
		s.exchange.push(entry{kind: kindBind})
		return s.forward()
	}
	if !recalled {
		bound, err = s.compute(st, m.ParameterFormatCodes, m.Parameters)
	}
	switch {
	case errors.Is(err, errTold):
		return nil
	case err != nil:
		return s.raise(err, rejected)
	case len(m.Parameters)+len(bound.Values) > math.MaxUint16:
		return s.raise(sqlstate.New(sqlstate.ProgramLimitExceeded, "the statement has too many parameters"), rejected)
	}
	p := portal{tag: st.Tag()}
	p.scrub, p.place = voiced(st)
	p.scrub = p.scrub || bound.Text != ""
	s.opened(m.DestinationPortal, p)
	if bound.Text != "" {
		// The statement of a binding that failed may still be there.
		m.PreparedStatement, m.Parameters, m.ParameterFormatCodes = s.askName+" bound", nil, nil
		s.exchange.push(entry{kind: kindClose, hidden: true})
		s.exchange.push(entry{kind: kindParse, hidden: true, scrub: true})
		if err := s.send(&pgproto3.Close{ObjectType: 'S', Name: m.PreparedStatement},
			&pgproto3.Parse{Name: m.PreparedStatement, Query: bound.Text, ParameterOIDs: bound.ParamTypes}); err != nil {
			return err
		}
	}
	s.exchange.push(entry{kind: kindBind, scrub: p.scrub, place: p.place, before: notices(bound.Notices)})
	if err := s.send(combined(&m, bound.Values)); err != nil || bound.Text == "" {
		return err
	}
	s.exchange.push(entry{kind: kindClose, hidden: true}) // the portal keeps what it needs, and nobody is to see the statement
	return s.send(&pgproto3.Close{ObjectType: 'S', Name: m.PreparedStatement})
}

// unknownType is the OID of the pseudo-type unknown.
const unknownType = 705

// alike reports whether a statement that the server has with these types of parameters can be one that was parsed with
// the wanted ones. 0 and unknown were left to the server, and so may have been the last.
func alike(types, wanted []uint32) bool {
	for i, oid := range wanted {
		if i >= len(types) || oid != types[i] && oid != 0 && oid != unknownType {
			return false
		}
	}
	return true
}

// portal is what the replies to a portal's Execute need.
type portal struct {
	tag   string
	scrub bool
	place func(int32) int32
}

// opened takes note of a portal.
func (s *session) opened(name string, p portal) {
	if s.portals == nil {
		s.portals = map[string]portal{}
	}
	if s.exchange.free() {
		clear(s.portals) // they ended with their transaction
	}
	s.portals[name] = p
}

// voiced says what becomes of the guest's errors about a statement's text, as entries have it.
func voiced(st Statement) (scrub bool, place func(int32) int32) {
	if p, ok := st.(Placer); ok {
		place = p.Placed()
	}
	return !st.Ordinary() && place == nil, place
}

// rejected is the name under which what raises an error is parsed where no statement of the client's is concerned.
const rejected = "fugu rejected"

// compute lets the engine answer. A transaction that had failed at the last ReadyForQuery may be over by a ROLLBACK since:
// the server is asked first, and refuses while it is not, so that what cannot run costs nothing.
func (s *session) compute(st Statement, formats []int16, values [][]byte) (Bound, error) {
	if !st.Ordinary() && s.exchange.transaction() == 'E' {
		if _, err := s.ask(s.ctx, "SELECT"); err != nil {
			return Bound{}, err
		}
	}
	ctx, stop := s.working()
	defer stop()
	bound, err := st.Bind(ctx, Binding{Formats: formats, Values: values, Ask: s.ask})
	if skipping, _ := s.exchange.mode(); skipping {
		return bound, errTold // by an Ask that failed, whatever the engine made of it
	}
	return bound, s.canceled(ctx, err)
}

// recall is what the engine knows of an answer without the server: then the server need not be asked before whether the
// statement can run, as it must be before anything is charged. Nothing may be outstanding, which could change that.
func (s *session) recall(st Statement, formats []int16, values [][]byte) (Bound, bool) {
	r, ok := st.(Recaller)
	if !ok || s.exchange.transaction() == 'E' {
		return Bound{}, false
	}
	if idle, _ := s.exchange.idle(); !idle {
		return Bound{}, false
	}
	return r.Recall(s.ctx, formats, values)
}

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
	return &pgproto3.Bind{DestinationPortal: m.DestinationPortal, PreparedStatement: m.PreparedStatement, ParameterFormatCodes: formats,
		Parameters: append(append([][]byte{}, m.Parameters...), extra...), ResultFormatCodes: m.ResultFormatCodes}
}

func (s *session) describe(body []byte) error {
	object, name, err := objectFields(body)
	if err != nil {
		return s.malformed(kindDescribePortal)
	}
	e := entry{kind: kindDescribePortal, params: -1}
	switch object {
	case 'P':
		p := s.portals[string(name)]
		e.scrub, e.place = p.scrub, p.place
	case 'S':
		e.kind = kindDescribeStatement
		if err := s.provide('D', name); err != nil {
			return err
		}
		st, err := s.protected('D', name)
		if err != nil {
			return err
		}
		if st != nil {
			e.params = st.ClientParams()
			e.scrub, e.place = voiced(st)
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
	case 'S':
		e.done = s.freeing(name)
	case 'P':
		delete(s.portals, string(name))
	default:
		return s.malformed(kindClose)
	}
	s.exchange.push(e)
	return s.forward()
}

// errTold is an error that the client has been told of by the server itself.
var errTold = errors.New("the server has told the client")

// ask runs a statement on the guest, hidden from the client, in order with everything sent before. An error of it is
// the server's to tell, since it fails the client's transaction. A statement of the same name can be left from an Ask
// that failed, and is closed first.
func (s *session) ask(ctx context.Context, sql string) ([][]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var rows [][]string
	for _, kind := range []byte{kindClose, kindParse, kindBind, kindExecute, kindClose, kindClose} {
		e := entry{kind: kind, hidden: true, scrub: true, rows: new([][]string)}
		if kind == kindExecute {
			e.rows = &rows
		}
		s.exchange.push(e)
	}
	err := s.send(&pgproto3.Close{ObjectType: 'S', Name: s.askName}, &pgproto3.Parse{Name: s.askName, Query: sql},
		&pgproto3.Bind{DestinationPortal: s.askName, PreparedStatement: s.askName}, &pgproto3.Execute{Portal: s.askName},
		&pgproto3.Close{ObjectType: 'P', Name: s.askName}, &pgproto3.Close{ObjectType: 'S', Name: s.askName})
	if err != nil {
		return nil, err
	}
	switch o, err := s.settle(); {
	case err != nil:
		return nil, err
	case o != settled:
		return nil, errTold
	}
	return rows, nil
}
