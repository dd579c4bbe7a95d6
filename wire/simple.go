package wire

import (
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// query handles a simple Query.
func (s *session) query(body []byte) error {
	sql, err := queryFields(body)
	if err != nil {
		s.kept.segment++
		return s.malformed(kindQuery)
	}
	if err := s.heed(sql); err != nil {
		return err
	}

	// What the names of a statement mean may depend on the statements before it. Then each is interpreted when its turn
	// comes, and otherwise all are now.
	statements, interpret := s.split(sql), s.reinterpret
	if statements == nil {
		interpret = asItIs
		if statements, err = s.interpret(msgQuery, sql, nil); errors.Is(err, errTold) {
			return s.end()
		} else if err != nil {
			return s.raiseQuery(err)
		}
		if st := relayed(statements); st != nil {
			return s.relayQuery(st)
		}
	}

	if len(statements) > 0 {
		// If something before it fails, the server skips the Query.
		switch o, err := s.settleFor(msgQuery); {
		case err != nil:
			return err
		case o == skipped:
			return nil
		}
	}

	delete(s.portals, "")
	s.fed = false
	if len(statements) > 0 {
		return s.script(statements, interpret)
	}

	// A simple Query drops the unnamed statement, also when it fails.
	s.kept.segment++
	s.tally.statement(nil)
	s.exchange.push(entry{kind: kindQuery, done: s.freeing(nil)})
	return s.forward()
}

// script runs the statements of a Query through the extended protocol, as one implicit transaction: what the client
// sees is what a simple Query shows. The last reply is ReadyForQuery, so that the client's next message finds nothing
// outstanding, and PostgreSQL has nothing to send behind it. interpret is called for each statement when its turn
// comes.
func (s *session) script(statements []Statement, interpret func(Statement) (Statement, error)) error {
	for i, st := range statements {
		st, err := interpret(st)
		if errors.Is(err, errTold) {
			return s.end()
		} else if err != nil {
			if err = s.raise(err, ""); err != nil {
				return err
			}
			return s.end()
		}

		final := i == len(statements)-1
		switch ok, err := s.step(st, final); {
		case err != nil:
			return err
		case !ok:
			return s.end() // the unnamed portal ends with the transaction
		}
	}

	// What is left of the script is the unnamed portal, which the next message is not to find.
	s.exchange.push(entry{kind: kindClose, hidden: true})
	if err := s.send(&pgproto3.Close{ObjectType: objectPortal}); err != nil {
		return err
	}
	return s.end()
}

// asItIs leaves a statement to which the engine has given its meaning already.
func asItIs(st Statement) (Statement, error) { return st, nil }

// step runs one statement of a script, and reports whether the next may follow. The engine answers a statement only
// after the server has parsed it, and has run all those before it: a statement that cannot run costs nothing. What the
// engine remembers costs nothing anyway, and is bound without waiting.
func (s *session) step(st Statement, final bool) (bool, error) {
	var bound Bound
	known := false
	if st.ClientParams() == 0 {
		bound, known = s.recall(st, nil, nil)
	}

	scrub, place := errorRules(st)
	s.exchange.push(entry{kind: kindParse, hidden: true, scrub: scrub, place: place,
		done: s.leaving()})
	if err := s.send(&pgproto3.Parse{Query: st.Text(), ParameterOIDs: st.ParamTypes()}); err != nil {
		return false, err
	}

	// The guest has to have taken the statement before anything is asked about it.
	if !known {
		if ok, err := s.succeeded(); !ok {
			return false, err
		}
		if st.ClientParams() > 0 {
			return false, s.raise(sqlstate.New(sqlstate.UndefinedParameter, "there is no parameter $1"), "")
		}
		var err error
		bound, err = s.compute(st, nil, nil)
		if errors.Is(err, errTold) {
			return false, nil
		} else if err != nil {
			return false, s.raise(err, "")
		}
	}

	// What is bound may come with a text of its own, as that of COPY and EXECUTE.
	s.tally.statement(st)
	scrub = scrub || bound.Text != ""
	if bound.Text != "" {
		s.exchange.push(entry{kind: kindParse, hidden: true, scrub: true, done: s.leaving()})
		if err := s.send(&pgproto3.Parse{Query: bound.Text, ParameterOIDs: bound.ParamTypes}); err != nil {
			return false, err
		}
	}

	s.exchange.push(entry{kind: kindBind, hidden: true, scrub: scrub, place: place, before: notices(bound.Notices)})
	s.exchange.push(entry{kind: kindDescribePortal, quiet: true, scrub: scrub, place: place, params: -1})
	s.exchange.push(entry{kind: kindExecute, final: final, scrub: scrub, place: place, tag: st.Tag()})
	err := s.send(combined(&pgproto3.Bind{}, bound.Values), &pgproto3.Describe{ObjectType: objectPortal},
		&pgproto3.Execute{})
	if err != nil {
		return false, err
	}

	// An ordinary statement may be a copy from the client, which has to be followed. Any other is none, and if it fails
	// the Parse of the next one says so.
	if !st.Ordinary() {
		return true, nil
	}
	return s.succeeded()
}

// succeeded waits for everything sent so far, and lets the client send what a copy reads.
func (s *session) succeeded() (bool, error) {
	o, err := s.settle()
	if err == nil && o == copying {
		if err = s.follow(); err == nil {
			o, err = s.settle()
		}
	}
	return err == nil && o == settled, err
}

// relayed returns the statement that stands for all that a Query holds, or nil if there is none.
func relayed(statements []Statement) Statement {
	if len(statements) == 1 {
		if r, ok := statements[0].(Relayer); ok && r.Relayed() {
			return statements[0]
		}
	}
	return nil
}

// relayQuery sends the guest a Query in the place of the client's.
func (s *session) relayQuery(st Statement) error {
	var bound Bound
	if !silent(st) {
		// The engine may ask what the client wants to hear, behind all that was sent before.
		if o, err := s.settleFor(msgQuery); err != nil || o == skipped {
			return err
		}
		var err error
		if bound, err = s.bindQuery(st); errors.Is(err, errTold) {
			return s.end()
		} else if err != nil {
			return s.raiseQuery(err)
		}
	}

	// From here on it is a simple Query like any other, which drops the unnamed statement and portal.
	s.tally.statement(st)
	delete(s.portals, "")
	s.fed = false
	s.kept.segment++
	scrub, place := errorRules(st)
	s.exchange.push(entry{kind: kindQuery, scrub: scrub, place: place, before: notices(bound.Notices),
		done: s.freeing(nil)})
	return s.send(&pgproto3.Query{String: st.Text()})
}

// bindQuery lets the engine bind a statement that a Query is replaced by.
func (s *session) bindQuery(st Statement) (Bound, error) {
	ctx, rested := s.working()
	defer rested()
	bound, err := st.Bind(ctx, Binding{Ask: s.askBefore})
	return bound, s.canceled(ctx, err)
}
