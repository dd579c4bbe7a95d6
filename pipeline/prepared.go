package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/parser"
	"fugu/planner"
	"fugu/sqlstate"
	"fugu/wire"
)

// empty is a value without rows for each array of the plan.
func empty(p *planner.Plan) [][]byte {
	out := make([][]byte, len(p.ParamTypes)-p.ClientParams)
	for i := range out {
		out[i] = planner.Array(nil)
	}
	return out
}

type ask = func(context.Context, string) ([][]string, error)

// planPrepare plans the statement that PREPARE encloses, and the PREPARE that the guest runs. A type that is neither
// declared nor known from below a cut is left to the server, as the manual says of unknown (PREPARE).
func (s *session) planPrepare(ctx context.Context, snap *Snapshot, st *parser.Statement, t template) (template, error) {
	declared, err := s.declared(ctx, st.Prepare, max(st.Params, len(st.Prepare.Types)))
	if err != nil {
		return t, err
	}
	t.prepare, t.params = true, len(t.types)
	if t.plan, err = planner.New(ctx, st, snap, s.engine.reader, declared); err != nil {
		return t, err
	}
	types, err := s.typeNames(ctx, t.plan.ParamTypes[:t.plan.ClientParams])
	if err != nil {
		return t, err
	}
	for i, declared := range st.Prepare.Types {
		if !unknown(declared) {
			types[i] = declared
		}
	}
	t.text = st.Prepare.SQL(types, t.plan.SQL, st.Text)
	return t, nil
}

// declared returns the OIDs of the types that PREPARE declares, 0 for the rest of n.
func (s *session) declared(ctx context.Context, p *parser.Prepare, n int) ([]uint32, error) {
	out := make([]uint32, n)
	if len(p.Types) == 0 {
		return out, nil
	}
	d, err := s.engine.reader.Describe(ctx, "SELECT NULL::"+strings.Join(p.Types, ", NULL::"), nil)
	if err != nil {
		return nil, sqlstate.As(err).At(p.Position)
	}
	for i, oid := range d.ResultTypes {
		if !unknown(p.Types[i]) {
			out[i] = oid
		}
	}
	return out, nil
}

func unknown(typ string) bool { return strings.TrimPrefix(typ, `"pg_catalog".`) == `"unknown"` }

// typeNames writes types as SQL, unknown for 0.
func (s *session) typeNames(ctx context.Context, oids []uint32) ([]string, error) {
	out := make([]string, len(oids))
	if len(oids) == 0 {
		return out, nil
	}
	column := make([]planner.Value, len(oids))
	for i, oid := range oids {
		column[i] = integer(int64(oid))
	}
	rows, err := s.engine.reader.Query(ctx, "SELECT CASE o WHEN 0 THEN 'unknown' ELSE format_type(o, NULL) END FROM "+
		"unnest($1::oid[]) WITH ORDINALITY AS u(o, i) ORDER BY i",
		[][]byte{planner.Array(column)}, nil)
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		out[i] = r[0].Text
	}
	return out, nil
}

// found is a protected statement that a PREPARE in SQL has left on the guest.
type found struct {
	*statement
	types []string // of its parameters, as SQL
}

// find looks a prepared statement up: the server knows whether the name exists, and keeps the client's text. It is nil
// for an ordinary statement; exists says whether there is one.
func (s *session) find(ctx context.Context, ask ask, name string) (f *found, exists bool, err error) {
	rows, err := ask(ctx, `SELECT CASE WHEN i > 1 THEN NULL ELSE p.statement END, pg_catalog.format_type(t, NULL)
	  FROM pg_catalog.pg_prepared_statements AS p LEFT JOIN pg_catalog.unnest(p.parameter_types) WITH ORDINALITY AS u(t, i) ON true
	  WHERE p.name OPERATOR(pg_catalog.=) `+parser.QuoteLiteral(name)+" ORDER BY i")
	if err != nil || len(rows) == 0 {
		return nil, false, err
	}
	original, ok := parser.Original(rows[0][0])
	if !ok {
		return nil, true, nil
	}
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
	return &found{&statement{template: t, session: s, snapshot: snap}, types[:t.plan.ClientParams]}, true, nil
}

// reopen plans the text of a PREPARE again, or finds it in the cache. params is the number of the guest's parameters.
func (s *session) reopen(ctx context.Context, snap *Snapshot, text string, params int) (template, error) {
	ts, err := s.templates(ctx, snap, text, nil)
	if err != nil {
		return template{}, sqlstate.As(err).At(0) // its position is in another text
	}
	if len(ts) != 1 || !ts[0].prepare || len(ts[0].plan.ParamTypes) != params {
		return template{}, sqlstate.New(sqlstate.FeatureNotSupported, "the policy has changed since the statement "+
			"was prepared").
			WithHint("DEALLOCATE it, and prepare it again.")
	}
	return ts[0], s.allowed(ts[0])
}

// run answers EXECUTE: it is the prepared statement, bound to the values of the arguments.
func (s *statement) run(ctx context.Context, b wire.Binding) (wire.Bound, error) {
	x := s.execute
	f, exists, err := s.session.find(ctx, b.Ask, x.Name)
	switch {
	case err != nil:
		return wire.Bound{}, err
	case s.explain != parser.NoExplain && !exists:
		return wire.Bound{}, sqlstate.New(sqlstate.InvalidSQLStatementName, "prepared statement \"%s\" does not exist",
			x.Name)
	case s.explain != parser.NoExplain && f == nil:
		return Explanation{Above: readsNothing}.bound(s.explain)
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
	text, err := x.Around(f.plan.SQL)
	if err != nil {
		return wire.Bound{}, err
	}
	values, err := arguments(ctx, b.Ask, x, f.types)
	if err != nil {
		return wire.Bound{}, err
	}
	s.found = f.statement
	f.noData = s.noData
	bound, err := f.respond(ctx, wire.Binding{Values: values, Ask: b.Ask}, s.explain)
	if err != nil || s.explain != parser.NoExplain {
		return bound, err
	}
	bound.Text, bound.ParamTypes = text, f.plan.ParamTypes
	bound.Values = slices.Concat(values, bound.Values)
	return bound, nil
}

// arguments lets the server evaluate the arguments of EXECUTE, and returns their text forms.
func arguments(ctx context.Context, ask ask, x *parser.Execute, types []string) ([][]byte, error) {
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
	out := make([][]byte, len(types))
	for i, v := range rows[0] {
		if v, ok := strings.CutPrefix(v, "="); ok {
			out[i] = []byte(v)
		}
	}
	return out, nil
}

// planCopy plans COPY (...) TO STDOUT, which takes no parameters. Its text as it is parsed has no values in it; and
// since the server does not look at the query before COPY runs, a probe makes it do so before the answer is paid for.
func (t *template) planCopy() error {
	first := t.plan.ClientParams + 1 // behind those that the client has declared types of: it can use none
	query, err := parser.Enclosed(t.plan.SQL)
	if err != nil {
		return err
	}
	if query, err = parser.Inline(query, first, empty(t.plan)); err != nil {
		return err
	}
	t.probe = "EXPLAIN " + query
	t.text, err = parser.Inline(t.plan.SQL, first, empty(t.plan))
	return err
}
