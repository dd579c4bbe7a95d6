package wire

import (
	"bytes"
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// errTold is an error that the client has been told of by the server itself.
var errTold = errors.New("the server has told the client")

// ask runs a statement on the guest, hidden from the client, in order with everything sent before. If it fails, so does
// the client's transaction, and the client gets the server's own error. An ask that failed can have left a statement of
// the same name behind, which is closed first.
func (s *session) ask(ctx context.Context, sql string) ([][]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	// Each message has a place in the queue of replies, of which the client is shown none.
	var rows [][]string
	for _, kind := range []byte{kindClose, kindParse, kindBind, kindExecute, kindClose, kindClose} {
		e := entry{kind: kind, hidden: true, scrub: true, rows: new([][]string)}
		if kind == kindExecute {
			e.rows = &rows
		}
		s.exchange.push(e)
	}

	err := s.send(&pgproto3.Close{ObjectType: objectStatement, Name: s.askName},
		&pgproto3.Parse{Name: s.askName, Query: sql},
		&pgproto3.Bind{DestinationPortal: s.askName, PreparedStatement: s.askName},
		&pgproto3.Execute{Portal: s.askName},
		&pgproto3.Close{ObjectType: objectPortal, Name: s.askName},
		&pgproto3.Close{ObjectType: objectStatement, Name: s.askName})
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

// interpret asks the engine about a text that came in a message of type typ. types are the fields of a Parse that hold
// the types of its parameters.
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

	// What the names mean has to be known before the engine looks at the text.
	ctx, rested := s.working()
	defer rested()
	text := string(sql)
	if err := s.resolve(ctx, typ, text); err != nil {
		return nil, s.canceled(ctx, err)
	}
	statements, err := s.engine.Interpret(ctx, text, paramTypes)
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
	case o != settled, s.exchange.transaction() == statusFailed:
		return nil
	}

	// What is looked up is no part of a Query, whose statements may not stand behind another one.
	ask := s.ask
	if typ == msgQuery {
		ask = s.askBefore
	}
	rows, err := ask(ctx, query)
	if err == nil {
		r.Resolve(rows)
	}
	return err
}

// askBefore is ask before a Query. What is looked up is no part of it, which may hold what cannot stand behind another
// statement.
func (s *session) askBefore(ctx context.Context, sql string) ([][]string, error) {
	rows, err := s.ask(ctx, sql)
	if err != nil {
		return nil, err
	}
	s.kept.segment++
	s.exchange.push(entry{kind: kindSync, hidden: true})
	return rows, s.send(&pgproto3.Sync{})
}

// split returns the statements of a Query if they have to be interpreted one by one, and nil otherwise.
func (s *session) split(sql []byte) []Statement {
	r, ok := s.engine.(Resolver)
	if !ok || !several(sql) || !utf8.Valid(sql) || s.engine.Ordinary(sql) {
		return nil
	}
	ctx, rested := s.working()
	defer rested()
	return r.Split(ctx, string(sql))
}

// several reports whether a text may hold more than one statement: most do not, and pay no more than a look at it.
func several(sql []byte) bool {
	return bytes.IndexByte(bytes.TrimRight(sql, "; \t\r\n"), ';') >= 0
}

// reinterpret asks the engine about one statement of a script, now that those before it have run: its names may mean
// something else since.
func (s *session) reinterpret(st Statement) (Statement, error) {
	statements, err := s.interpret(msgParse, []byte(st.Text()), nil)
	if err != nil || len(statements) == 0 {
		return st, err
	}
	return statements[0], nil
}

// compute lets the engine answer. A transaction that had failed at the last ReadyForQuery may have been ended since by
// a ROLLBACK. Only the server knows: it is asked first, and refuses if the transaction is still failed, so that what
// cannot run costs nothing.
func (s *session) compute(st Statement, formats []int16, values [][]byte) (Bound, error) {
	if !st.Ordinary() && s.exchange.transaction() == statusFailed {
		if _, err := s.ask(s.ctx, "SELECT"); err != nil {
			return Bound{}, err
		}
	}

	ctx, rested := s.working()
	defer rested()
	begun := time.Now()
	bound, err := st.Bind(ctx, Binding{Formats: formats, Values: values, Ask: s.ask})
	s.tally.waited(st, begun)
	if skipping, _ := s.exchange.mode(); skipping {
		return bound, errTold // by an Ask that failed, whatever the engine made of it
	}
	return bound, s.canceled(ctx, err)
}

// recall returns an answer that the engine remembers, and whether it remembers one. Such an answer costs nothing, so
// the server need not say first that the statement can run, as it must before anything is charged. While replies are
// outstanding nothing is recalled, since they could change what the answer is.
func (s *session) recall(st Statement, formats []int16, values [][]byte) (Bound, bool) {
	r, ok := st.(Recaller)
	if !ok || s.exchange.transaction() == statusFailed {
		return Bound{}, false
	}
	if idle, _ := s.exchange.idle(); !idle {
		return Bound{}, false
	}
	return r.Recall(s.ctx, formats, values)
}
