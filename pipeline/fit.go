package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/dataset"
	"fugu/model/fitted"
	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	"fugu/sqlstate"
	"fugu/wire"
)

// recorder asks the references, and keeps what they say in an artifact; what is kept already is not asked again.
type recorder struct {
	planner.Querier
	builder   *fitted.Builder
	statement string // for which it asks
	asked     int    // of the database
	kept      int    // answers that were there
}

// Query implements planner.Querier. A statement with parameters is asked and not kept.
func (r *recorder) Query(ctx context.Context, sql string, params [][]byte, types []uint32) ([][]planner.Value, error) {
	if len(params) > 0 {
		return r.Querier.Query(ctx, sql, params, types)
	}
	if rows, ok := r.builder.Rows(sql); ok {
		r.kept++
		return rows, nil
	}
	if ok, err := r.builder.Reuse(sql); err != nil {
		return nil, fmt.Errorf("keeping what was prepared: %w", err)
	} else if ok {
		return r.Query(ctx, sql, nil, nil)
	}
	rows, err := r.Querier.Query(ctx, sql, nil, nil)
	if err != nil {
		return nil, err
	}
	r.asked++
	if err := r.builder.Add(r.statement, sql, rows); err != nil {
		return nil, fmt.Errorf("keeping what was prepared: %w", err)
	}
	return rows, nil
}

// Progress is told before each statement of a fit, and once at its end.
type Progress func(done, total int, statement string)

// Fit prepares the models of a policy's statements: a standard set, those that the policy lists, and more. What is
// prepared stands in dir when it returns without an error, and holds while policy and references stay as they are. A fit
// that is interrupted goes on where it stopped.
//
// It reads references only. A statement that cannot be prepared is a finding of the report, not an error.
func (e *Engine) Fit(ctx context.Context, p *policy.Policy, dir string, more []string, progress Progress) (FitReport, error) {
	snap := e.snapshot.Load()
	out := FitReport{Dataset: p.Dataset, File: dataset.ModelFile(dir, p.Dataset)}
	head, err := dataset.Header(ctx, p, e.reader)
	if err != nil {
		return out, err
	}
	b, err := fitted.Create(out.File, head)
	if err != nil {
		return out, err
	}
	defer func() { _ = b.Close() }()
	rec := &recorder{Querier: e.reader, builder: b}
	statements := slices.Concat(snap.standard(p), statementTexts(p.Fit), more)
	out.Secrets = snap.fittedSecrets(p)
	for i, sql := range statements {
		progress(i, len(statements), sql)
		if slices.Contains(statements[:i], sql) {
			continue
		}
		st, err := e.fitStatement(ctx, p, sql, rec)
		if err != nil && (ctx.Err() != nil || !isFinding(err)) {
			return out, fmt.Errorf("preparing %s: %w", sql, err)
		} else if err != nil {
			x := sqlstate.As(err)
			st.Findings = append(st.Findings, FitFinding{Code: string(x.Code), Message: x.Message, Hint: x.Hint})
		}
		out.Statements = append(out.Statements, st)
	}
	after, err := dataset.Header(ctx, p, e.reader)
	if err != nil {
		return out, err
	}
	if err := head.Fits(after); err != nil {
		return out, fmt.Errorf("%w: it changed while it was read, so nothing is kept; run fugu fit again", err)
	}
	a, err := b.Seal()
	if err != nil {
		return out, err
	}
	progress(len(statements), len(statements), "")
	out.Hash, out.Parts, out.Asked, out.Kept, out.References = a.Hash, a.Parts(), rec.asked, rec.kept, head.References
	return out, nil
}

// isFinding tells what is wrong with a statement from what went wrong with the work.
func isFinding(err error) bool {
	switch sqlstate.As(err).Code {
	case sqlstate.InternalError, sqlstate.ConnectionFailure, sqlstate.CannotConnectNow, sqlstate.QueryCanceled:
		return false
	}
	return true
}

func statementTexts(list []policy.Statement) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.SQL)
	}
	return out
}

// numeric are the types of columns that can be summed.
var numeric = []string{"smallint", "integer", "bigint", "numeric", "real", "double precision"}

// standard lists what most people ask first of the tables on which a policy's secrets live: how many rows, in all and by
// each public group key, and of each number its count, sum and average.
func (s *Snapshot) standard(p *policy.Policy) []string {
	var out []string
	for _, t := range s.Tables {
		if t.Policy != p || t.Table.Link != nil || t.Table.Reference == "" {
			continue
		}
		from := " FROM " + dataset.Quoted(t.Config.Qualified())
		out = append(out, "SELECT count(*)"+from)
		for _, d := range t.Config.GroupBy {
			key := parser.QuoteIdent(d.Column)
			if c, ok := t.Table.Calendars[d.Column]; ok {
				key = "date_trunc('" + c.By + "', " + key + ")"
			}
			out = append(out, "SELECT "+key+", count(*)"+from+" GROUP BY "+key)
		}
		for _, c := range t.Table.Columns {
			typ, _, _ := strings.Cut(c.Type, "(")
			if slices.Contains(numeric, typ) {
				n := parser.QuoteIdent(c.Name)
				// Each by itself, too: its moments are other ones.
				out = append(out, "SELECT count("+n+"), sum("+n+"), avg("+n+")"+from, "SELECT count("+n+")"+from, "SELECT sum("+n+")"+from)
			}
		}
	}
	return out
}

// fitStatement prepares one statement, and describes how well it is modelled.
func (e *Engine) fitStatement(ctx context.Context, p *policy.Policy, sql string, rec *recorder) (FittedStatement, error) {
	out := FittedStatement{Statement: sql}
	q, err := e.ask(ctx, p, sql)
	if err != nil {
		return out, err
	}
	rec.statement, q.recorder = sql, rec
	if _, err := q.measure(ctx); err != nil {
		return out, err
	}
	return out, q.assess(ctx, &out)
}

// ask is the question that a statement without parameters and without ordinary tables asks; p may be nil: any policy.
func (e *Engine) ask(ctx context.Context, p *policy.Policy, sql string) (*question, error) {
	snap := e.snapshot.Load()
	asked, err := snap.Ask(ctx, e.reader, p, sql)
	if err != nil {
		return nil, err
	}
	t := template{plan: asked.Plan, policy: asked.Policy}
	st := &statement{template: t, session: &session{engine: e}, snapshot: snap}
	return st.question(ctx, wire.Binding{}, settings{confidence: defaultConfidence}, e.reader, nil)
}

// PolicyOf is the policy whose tables a statement aggregates.
func (e *Engine) PolicyOf(ctx context.Context, sql string) (*policy.Policy, error) {
	asked, err := e.snapshot.Load().Ask(ctx, e.reader, nil, sql)
	return asked.Policy, err
}
