// Package fit prepares the models of statements from the references, keeps them in a file for the proxy, and reports
// how well the references support them: fugu fit. It reads no protected row, and knows no session and no ledger.
package fit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fugu/dataset"
	"fugu/mechanism"
	"fugu/model/fitted"
	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/upstream"
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

	// What was asked before, in this run or in one that did not end, is not asked again.
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

// Work is what is to be prepared for one policy.
type Work struct {
	Dataset    *dataset.Snapshot
	Reader     *upstream.Reader // of its database
	Policy     *policy.Policy
	Dir        string   // where what is prepared goes
	Statements []string // beside the standard ones and those that the policy lists
	Progress   Progress
}

// Run prepares the models of a policy's statements: a standard set, those that the policy lists, and more. What is
// prepared stands in the directory when it returns without an error, and holds while policy and references stay as they
// are. A fit that is interrupted goes on where it stopped.
//
// It reads references only. A statement that cannot be prepared is a finding of the report, not an error.
func Run(ctx context.Context, w Work) (Report, error) {
	p := w.Policy
	out := Report{Dataset: p.Dataset, File: dataset.ModelFile(w.Dir, p.Dataset), Secrets: fittedSecrets(w.Dataset, p)}
	head, err := dataset.Header(ctx, p, w.Reader)
	if err != nil {
		return out, err
	}
	b, err := fitted.Create(out.File, head)
	if err != nil {
		return out, err
	}
	defer func() { _ = b.Close() }()
	rec := &recorder{Querier: w.Reader, builder: b}
	if out.Statements, err = w.prepare(ctx, rec); err != nil {
		return out, err
	}

	// What was read of references that changed meanwhile is of no one state of them.
	after, err := dataset.Header(ctx, p, w.Reader)
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
	out.Hash, out.Parts, out.Asked, out.Kept, out.References = a.Hash, a.Parts(), rec.asked, rec.kept, head.References
	return out, nil
}

// prepare has the references asked all that the models of the statements need, each statement once.
func (w Work) prepare(ctx context.Context, rec *recorder) (out []Statement, err error) {
	statements := slices.Concat(standard(w.Dataset, w.Policy), statementTexts(w.Policy.Fit), w.Statements)
	searches := quote.NewSearches()
	for i, sql := range statements {
		w.Progress(i, len(statements), sql)
		if slices.Contains(statements[:i], sql) {
			continue
		}
		st, err := w.statement(ctx, searches, rec, sql)
		if err != nil && (ctx.Err() != nil || !isFinding(err)) {
			return out, fmt.Errorf("preparing %s: %w", sql, err)
		} else if err != nil {
			x := sqlstate.As(err)
			st.Findings = append(st.Findings, Finding{Code: string(x.Code), Message: x.Message, Hint: x.Hint})
		}
		out = append(out, st)
	}
	w.Progress(len(statements), len(statements), "")
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

// standard lists what most people ask first of the tables on which a policy's secrets live: how many rows, in all and
// by each public group key, and of each number its count, sum and average.
func standard(s *dataset.Snapshot, p *policy.Policy) []string {
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
				out = append(out, "SELECT count("+n+"), sum("+n+"), avg("+n+")"+from, "SELECT count("+n+")"+from,
					"SELECT sum("+n+")"+from)
			}
		}
	}
	return out
}

// statement prepares one statement, and describes how well it is modelled.
func (w Work) statement(ctx context.Context, searches *quote.Searches, rec *recorder, sql string) (Statement, error) {
	out := Statement{Statement: sql}
	asked, err := w.Dataset.Ask(ctx, w.Reader, w.Policy, sql)
	if err != nil {
		return out, err
	}
	rec.statement = sql
	p := w.Policy.Privacy
	r := &quote.Request{Dataset: w.Dataset, Policy: w.Policy, Cuts: asked.Cuts,
		Budget: privacy.Budget{Epsilon: p.Epsilon, Delta: p.Delta}, Mechanism: mechanism.Kind(p.Mechanism),
		Database: w.Reader, Reference: rec, Timeout: w.Reader.Timeout()}
	if err := searches.Run(ctx, "", r.Values(), r.Prepare); err != nil {
		return out, err
	}
	err = assess(ctx, r, &out)
	return out, err
}
