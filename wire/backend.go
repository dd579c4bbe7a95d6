package wire

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// backend relays the guest's replies until the guest's connection ends, and then tells the client why, if it has to be
// told. It goes on when the client is gone: what the guest still has to say must not keep it from reading. Where the
// session can go on without this guest, the error says why it has to.
func (s *session) backend() error {
	err := s.guarded(s.replies)
	if why := s.part(err); why != nil {
		return why
	}
	s.stop(err)
	s.tell()
	s.exchange.close()
	// After a panic the guest is still there, and the frontend may be writing to it.
	_ = s.guest.Close()
	return nil
}

func (s *session) replies() error {
	in := &frames{r: &inlet{from: replyReader{s}}}
	defer func() {
		s.client.flush() // before what it is to write goes
		in.r.close()
	}()
	for {
		typ, length, err := in.next()
		if err == nil {
			err = s.reply(in, typ, length)
		}
		switch {
		case err == nil:
		case s.yielded(in, err):
			return errYield
		default:
			return fmt.Errorf("%w: %w", errGuest, err)
		}
	}
}

// replyReader is the guest's connection as the backend reads it: before it waits, the client gets what there is.
type replyReader struct{ s *session }

func (r replyReader) fill(in *inlet) (int, error) {
	r.s.client.flush()
	r.s.client.buf = small(r.s.client.buf)
	if err := r.s.client.err; err != nil && !r.s.client.muted {
		r.s.client.muted = true
		r.s.stop(fmt.Errorf("%w: %w", errClient, err))
	}
	return in.read(r.s.guest)
}

// endings are the kinds of entries that a reply of success may end, by its type.
var endings = [256]string{
	replyParseComplete:        kinds(kindParse),
	replyBindComplete:         kinds(kindBind),
	replyCloseComplete:        kinds(kindClose),
	replyRowDescription:       kinds(kindDescribeStatement, kindDescribePortal, kindQuery),
	replyParameterDescription: kinds(kindDescribeStatement),
	replyNoData:               kinds(kindDescribeStatement, kindDescribePortal),
	replyDataRow:              kinds(kindExecute, kindQuery),
	replyCommandComplete:      kinds(kindExecute, kindQuery),
	replyEmptyQuery:           kinds(kindExecute, kindQuery),
	replyPortalSuspended:      kinds(kindExecute),
	replyCopyIn:               kinds(kindExecute, kindQuery),
	replyCopyOut:              kinds(kindExecute, kindQuery),
	replyCopyBoth:             kinds(kindExecute, kindQuery),
	replyCopyData:             kinds(kindExecute, kindQuery),
	replyCopyDone:             kinds(kindExecute, kindQuery),
	replyReadyForQuery:        kinds(kindSync, kindQuery),
}

func kinds(of ...byte) string { return string(of) }

// reply handles one message of the guest's.
func (s *session) reply(in *frames, typ byte, length int) error {
	switch typ {
	case replyNotification:
		s.completed()
		return s.client.relay(in, length)
	case replyParameterStatus:
		s.completed()
		return s.parameterStatus(in, length)
	}

	// What belongs to an entry of the queue, or may come at any time.
	e, ok := s.exchange.head()
	s.client.send(e.before...)
	switch typ {
	case replyNotice:
		return s.notice(in, length, e)
	case replyError:
		if !ok && s.lose() {
			return errLost // the server takes leave
		}
		return s.errorResponse(in, length, e)
	case replyReadyForQuery:
		return s.readyForQuery(in, length, e)
	}

	// Replies of success, which have to be of the entry's kind.
	if !ok || e.damaged || strings.IndexByte(endings[typ], e.kind) < 0 {
		return s.outOfStep(typ)
	}

	switch typ {
	case replyDataRow, replyCopyData:
		if e.rows != nil {
			return s.collect(in, length, e)
		}
		if err := s.client.relay(in, length); err != nil {
			return err
		}
		in.relayAlike(s.client, typ) // they belong to the same entry
		return nil
	case replyParseComplete, replyBindComplete, replyCloseComplete, replyPortalSuspended:
		return s.finish(in, length, e, true)
	case replyParameterDescription:
		return s.parameters(in, length, e)
	case replyRowDescription, replyEmptyQuery:
		return s.finish(in, length, e, e.kind != kindQuery)
	case replyNoData:
		e.hidden = e.hidden || e.quiet
		return s.finish(in, length, e, true)
	case replyCommandComplete:
		return s.commandComplete(in, length, e)
	case replyCopyIn, replyCopyBoth:
		s.exchange.startCopyIn()
	}
	return s.client.relay(in, length) // replyCopyOut and replyCopyDone too
}

// fail ends the session for a reason that the client is told when the guest's connection has ended.
func (s *session) fail(err error) {
	s.stop(err)
	s.client.muted = true
}

func (s *session) outOfStep(typ byte) error {
	return fmt.Errorf("the guest sent %q, which answers nothing", typ)
}

func (s *session) readyForQuery(in *frames, length int, e entry) error {
	body, err := in.read(length)
	if err != nil {
		return err
	}
	if len(body) != 1 || !s.exchange.ready(body[0]) {
		return s.outOfStep(replyReadyForQuery)
	}
	if e.hidden {
		return nil
	}
	s.completed()
	s.client.pass(in.raw)
	s.afterReady()
	return nil
}

// finish relays a reply, unless e hides it, and ends e if the reply is its last.
func (s *session) finish(in *frames, length int, e entry, last bool) error {
	var err error
	if e.hidden {
		err = in.skip(length)
	} else {
		err = s.client.relay(in, length)
	}
	if err == nil && last {
		s.exchange.pop()
		s.afterReady() // the reply may be the last that a draining session waits for
	}
	return err
}

func (s *session) collect(in *frames, length int, e entry) error {
	body, err := in.read(length)
	if err != nil {
		return err
	}
	var row pgproto3.DataRow
	if err := row.Decode(body); err != nil {
		return err
	}
	text := make([]string, len(row.Values))
	for i, v := range row.Values {
		text[i] = string(v)
	}
	*e.rows = append(*e.rows, text)
	return nil
}

// parameters shows the client its own parameters of a statement, and not those of the engine's behind them.
func (s *session) parameters(in *frames, length int, e entry) error {
	switch {
	case e.hidden && e.types == nil:
		return in.skip(length)
	case !e.hidden && e.params < 0:
		return s.client.relay(in, length)
	}

	body, err := in.read(length)
	if err != nil {
		return err
	}
	var d pgproto3.ParameterDescription
	if err := d.Decode(body); err != nil {
		return err
	}

	// What is hidden was asked by Fugu itself, for the types; the client's own come first.
	if e.hidden {
		*e.types = d.ParameterOIDs
		return nil
	}
	d.ParameterOIDs = d.ParameterOIDs[:min(e.params, len(d.ParameterOIDs))]
	s.client.send(&d)
	return nil
}

func (s *session) commandComplete(in *frames, length int, e entry) error {
	if e.copying && e.kind == kindQuery {
		s.exchange.copyDone()
	}
	if e.tag == "" && !e.final || e.hidden {
		return s.finish(in, length, e, e.kind == kindExecute)
	}

	body, err := in.read(length)
	if err != nil {
		return err
	}
	c := pgproto3.CommandComplete{CommandTag: []byte(e.tag)}
	if e.tag == "" {
		if err := c.Decode(body); err != nil {
			return err
		}
		c.CommandTag = bytes.Clone(c.CommandTag)
	}

	// The last one of a script comes behind the commit, as it does of a Query.
	if e.final {
		s.complete = &c
	} else {
		s.client.send(&c)
	}
	s.exchange.pop()
	return nil
}

// completed sends the CommandComplete that was held back: what comes now comes behind the commit.
func (s *session) completed() {
	if s.complete != nil {
		s.client.send(s.complete)
		s.complete = nil
	}
}

// notice relays a notice; what Fugu's own statements have to say is not the client's concern.
func (s *session) notice(in *frames, length int, e entry) error {
	switch {
	case e.rows != nil:
		return in.skip(length)
	case !e.scrub && e.place == nil:
		return s.client.relay(in, length)
	}
	body, err := in.read(length)
	if err != nil {
		return err
	}
	var m pgproto3.NoticeResponse
	if err := m.Decode(body); err != nil {
		return err
	}
	e.voice((*pgproto3.ErrorResponse)(&m))
	s.client.send(&m)
	return nil
}

// errorResponse relays an error, or what e says in its place. One that ends the guest's session ends the client's.
func (s *session) errorResponse(in *frames, length int, e entry) error {
	body, err := in.read(length)
	if err != nil {
		return err
	}
	var m pgproto3.ErrorResponse
	if err := m.Decode(body); err != nil {
		return err
	}

	s.complete = nil // the commit behind it has failed
	fatal := m.SeverityUnlocalized == "FATAL" || m.SeverityUnlocalized == "PANIC"

	// What the client is told.
	switch {
	case e.mute && !fatal:
	case e.copying && e.replace != nil && m.Code == string(sqlstate.QueryCanceled):
		own := response(e.replace)
		own.Where = m.Where
		s.client.send(own)
		s.fail(errSynchronization)
	case e.replace != nil && !e.copying && !fatal:
		s.client.send(response(e.replace))
	case e.scrub || e.place != nil:
		e.voice(&m)
		s.client.send(&m)
	default:
		_, _ = s.client.Write(in.raw)
	}

	if fatal {
		s.heard = true
		return errDone
	}

	// What it means for the messages behind it.
	s.exchange.fail(m.Code)
	if s.following.Load() {
		s.wake()
	}
	return nil
}

// voice lets an error or notice speak of what the client has sent.
func (e *entry) voice(m *pgproto3.ErrorResponse) {
	switch {
	case e.scrub:
		scrub(m)
	case m.Position > 0:
		m.Position = e.place(m.Position)
	}
}

// scrub takes from an error or notice what speaks of the rewritten text, or of the values bound to it.
func scrub(m *pgproto3.ErrorResponse) {
	m.Position, m.InternalPosition, m.InternalQuery, m.Where = 0, 0, "", ""
	m.Detail, m.Hint, m.File, m.Line, m.Routine = "", "", "", 0, ""
}

// pins are the settings that Fugu's parser reads by; a session that changes one is over.
var pins = map[string]string{"standard_conforming_strings": "on", "client_encoding": "UTF8"}

func (s *session) parameterStatus(in *frames, length int) error {
	body, err := in.read(length)
	if err != nil {
		return err
	}
	var p pgproto3.ParameterStatus
	if err := p.Decode(body); err != nil {
		return err
	}
	if want, ok := pins[p.Name]; ok && p.Value != want {
		s.fail(pinned(p.Name, want))
	}
	s.report(p.Name, p.Value)
	_, _ = s.client.Write(in.raw)
	return nil
}

func pinned(name, want string) error {
	return sqlstate.New(sqlstate.FeatureNotSupported, "%s must be %s in a session through Fugu", name, want).
		WithHint("Leave the setting as it is.").Ending()
}
