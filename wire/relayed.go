package wire

import (
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"
)

// silent reports whether Bind has nothing to say of a statement: the client's messages about it then go to the guest as
// they are, like those about an ordinary one, and the guest has all of the words.
func silent(st Statement) bool {
	r, ok := st.(Relayer)
	return ok && r.Silent()
}

// bindSilent passes on the Bind that was read last.
func (s *session) bindSilent(name string, st Statement) error {
	p := portal{tag: st.Tag()}
	p.scrub, p.place = voiced(st)
	s.opened(name, p)
	s.exchange.push(entry{kind: kindBind, scrub: p.scrub, place: p.place})
	return s.forward()
}

// relayed is the statement that stands for all that a Query holds, nil where there is none.
func relayed(statements []Statement) Statement {
	if len(statements) == 1 {
		if r, ok := statements[0].(Relayer); ok && r.Relayed() {
			return statements[0]
		}
	}
	return nil
}

// requery sends the guest a Query in the place of the client's.
func (s *session) requery(st Statement) error {
	ctx, stop := s.working()
	defer stop()
	bound, err := st.Bind(ctx, Binding{Ask: s.ask})
	switch err := s.canceled(ctx, err); {
	case errors.Is(err, errTold):
		return s.end()
	case err != nil:
		return s.raiseQuery(err)
	}
	delete(s.portals, "")
	s.fed = false
	s.kept.segment++
	scrub, place := voiced(st)
	s.exchange.push(entry{kind: kindQuery, scrub: scrub, place: place, before: notices(bound.Notices),
		done: s.freeing(nil)})
	return s.send(&pgproto3.Query{String: st.Text()})
}
