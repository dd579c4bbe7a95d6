package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/explain"
	"fugu/meaning"
	"fugu/parser"
	"fugu/sqlstate"
	"fugu/wire"
)

// found is a protected statement that a PREPARE in SQL has left on the guest.
type found struct {
	*statement
	types []string // of its parameters, as SQL
}

// find looks a prepared statement up: the server knows whether the name exists, and keeps the client's text. It is nil
// for an ordinary statement; exists says whether there is one.
func (s *session) find(ctx context.Context, ask meaning.Ask, name string) (f *found, exists bool, err error) {
	rows, err := ask(ctx, `SELECT CASE WHEN i > 1 THEN NULL ELSE p.statement END, pg_catalog.format_type(t, NULL)
	  FROM pg_catalog.pg_prepared_statements AS p
	    LEFT JOIN pg_catalog.unnest(p.parameter_types) WITH ORDINALITY AS u(t, i) ON true
	  WHERE p.name OPERATOR(pg_catalog.=) `+parser.QuoteLiteral(name)+" ORDER BY i")
	if err != nil || len(rows) == 0 {
		return nil, false, err
	}
	original, ok := parser.Original(rows[0][0])
	if !ok {
		return nil, true, nil
	}

	// A text of ours: its plan is found or made again, also behind a reload.
	snap := s.engine.snapshot.Load()
	var types []string
	for _, r := range rows {
		if r[1] != "" {
			types = append(types, r[1])
		}
	}

	t, err := s.reopen(ctx, snap, original, len(types))
	if err != nil {
		return nil, true, err
	}
	return &found{&statement{template: &t, session: s, snapshot: snap}, types[:t.plan.ClientParams]}, true, nil
}

// reopen plans the text of a PREPARE again, or finds it in the cache. params is the number of the guest's parameters.
func (s *session) reopen(ctx context.Context, snap *Snapshot, text string, params int) (template, error) {
	ts, err := s.planning(snap).templates(ctx, text, nil)
	if err != nil {
		return template{}, sqlstate.As(err).At(0) // its position is in another text
	}
	if len(ts) != 1 || !ts[0].prepare || len(ts[0].plan.ParamTypes) != params {
		return template{}, sqlstate.New(sqlstate.FeatureNotSupported, "the policy or its tables have changed since "+
			"the statement was prepared").
			WithHint("DEALLOCATE it, and prepare it again.")
	}
	return ts[0], s.checkAllowed(&ts[0])
}

// run answers EXECUTE: it is the prepared statement, bound to the values of the arguments.
func (s *statement) run(ctx context.Context, b wire.Binding) (wire.Bound, error) {
	x := s.execute
	f, exists, err := s.session.find(ctx, b.Ask, x.Name)

	// What is not protected is the guest's affair, and so are its mistakes; those of a protected statement are told
	// before anything is spent.
	switch {
	case err != nil:
		return wire.Bound{}, err
	case s.explain != parser.NoExplain && !exists:
		return wire.Bound{}, sqlstate.New(sqlstate.InvalidSQLStatementName, "prepared statement \"%s\" does not exist",
			x.Name)
	case s.explain != parser.NoExplain && f == nil:
		return explained(explain.Explanation{Above: explain.ReadsNothing}, s.explain)
	case f == nil:
		return wire.Bound{}, nil
	case x.Explained:
		return wire.Bound{}, sqlstate.New(sqlstate.NotAnswerable, "the plan of a statement on protected data cannot "+
			"be shown").
			WithHint("EXPLAIN (PRIVACY) EXECUTE shows how the statement would be answered, and spends nothing.").
			At(x.Position)
	case x.Args() != len(f.types):
		return wire.Bound{}, sqlstate.New(sqlstate.SyntaxError, "wrong number of parameters for prepared statement "+
			"\"%s\"", x.Name).
			WithDetail("Expected %d parameters but got %d.", len(f.types), x.Args())
	}

	// The arguments are the server's to evaluate, as the types that PREPARE has.
	text, err := x.Around(f.plan.SQL)
	if err != nil {
		return wire.Bound{}, err
	}
	values, err := arguments(ctx, b.Ask, x, f.types)
	if err != nil {
		return wire.Bound{}, err
	}

	// From here on it is the prepared statement, as if it had been bound by the protocol.
	s.found = f.statement
	f.noData = s.noData
	bound, err := f.respond(ctx, wire.Binding{Values: values, Ask: b.Ask}, s.explain)
	if err != nil || s.explain != parser.NoExplain {
		return bound, err
	}

	// The client's text becomes one that takes the arrays as parameters.
	bound.Text, bound.ParamTypes = text, f.plan.ParamTypes
	bound.Values = slices.Concat(values, bound.Values)
	return bound, nil
}

// arguments lets the server evaluate the arguments of EXECUTE, and returns their text forms.
func arguments(ctx context.Context, ask meaning.Ask, x *parser.Execute, types []string) ([][]byte, error) {
	if len(types) == 0 {
		return nil, nil
	}
	query, err := x.Values(types)
	if err != nil {
		return nil, err
	}

	rows, err := ask(ctx, query)
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 || len(rows[0]) != len(types) {
		return nil, fmt.Errorf("reading the arguments of EXECUTE: %d rows", len(rows))
	}

	// A prefix tells an empty text from NULL, which is left nil.
	out := make([][]byte, len(types))
	for i, v := range rows[0] {
		if v, ok := strings.CutPrefix(v, "="); ok {
			out[i] = []byte(v)
		}
	}
	return out, nil
}
