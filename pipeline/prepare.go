package pipeline

import (
	"context"
	"strconv"
	"strings"

	"fugu/parser"
	"fugu/planner"
	"fugu/sqlstate"
)

// empty is a value without rows for each array of the plan.
func empty(p *planner.Plan) [][]byte {
	out := make([][]byte, len(p.ParamTypes)-p.ClientParams)
	for i := range out {
		out[i] = planner.Array(nil)
	}
	return out
}

// planPrepare plans the statement that PREPARE encloses, and the PREPARE that the guest runs. A type that is neither
// declared nor known from below a cut is left to the server, as the manual says of unknown (PREPARE).
func (p planning) planPrepare(ctx context.Context, st *parser.Statement, t template) (template, error) {
	declared, err := p.declared(ctx, st.Prepare, max(st.Params, len(st.Prepare.Types)))
	if err != nil {
		return t, err
	}

	t.prepare, t.params = true, len(t.types)
	if t.plan, err = planner.New(ctx, st, p.Snapshot, p.reader, declared); err != nil {
		return t, err
	}

	// What the client declared stays as it wrote it: int4 and integer are shown as they are in the catalog.
	types, err := p.typeNames(ctx, t.plan.ParamTypes[:t.plan.ClientParams])
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
func (p planning) declared(ctx context.Context, st *parser.Prepare, n int) ([]uint32, error) {
	out := make([]uint32, n)
	if len(st.Types) == 0 {
		return out, nil
	}
	d, err := p.reader.Describe(ctx, "SELECT NULL::"+strings.Join(st.Types, ", NULL::"), nil)
	if err != nil {
		return nil, sqlstate.As(err).At(st.Position)
	}
	for i, oid := range d.ResultTypes {
		if !unknown(st.Types[i]) {
			out[i] = oid
		}
	}
	return out, nil
}

func unknown(typ string) bool { return strings.TrimPrefix(typ, `"pg_catalog".`) == `"unknown"` }

// typeNames writes types as SQL, unknown for 0.
func (p planning) typeNames(ctx context.Context, oids []uint32) ([]string, error) {
	out := make([]string, len(oids))
	if len(oids) == 0 {
		return out, nil
	}
	column := make([]planner.Value, len(oids))
	for i, oid := range oids {
		column[i] = planner.Value{Text: strconv.FormatUint(uint64(oid), 10)}
	}
	rows, err := p.reader.Query(ctx, "SELECT CASE o WHEN 0 THEN 'unknown' ELSE format_type(o, NULL) END FROM "+
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
