package pipeline

import (
	"context"

	"fugu/answer"
	"fugu/explain"
	"fugu/meaning"
	"fugu/privacy"
	"fugu/sqlstate"
	"fugu/upstream"
	"fugu/wire"
)

// Preview explains the one protected statement of a text under several ε: what EXPLAIN (PRIVACY) would say, without a
// client. params are in text form. It reads no protected row and spends nothing.
func (e *Engine) Preview(ctx context.Context, sql string, params []string,
	epsilons []privacy.Epsilon) ([]explain.Explanation, error) {
	s := &session{engine: e}
	snap := e.snapshot.Load()
	templates, err := s.planning(snap).templates(ctx, sql, nil)
	if err != nil {
		return nil, err
	}

	var b wire.Binding
	for _, p := range params {
		b.Values = append(b.Values, []byte(p))
	}

	// The first statement that aggregates protected rows is the one that is meant.
	for _, t := range templates {
		if t.plan == nil || t.policy == nil {
			continue
		}
		st := &statement{template: t, session: s, snapshot: snap}
		// Ordinary tables are held, as when the statement is asked in earnest.
		tables := t.plan.Ordinary()
		if len(tables) == 0 {
			return st.preview(ctx, b, epsilons, e.desk.Reader, nil)
		}
		var out []explain.Explanation
		err := e.desk.Reader.InSnapshot(ctx, meaning.Locked(tables), snap.ProtectedTables(),
			func(db *upstream.Snapshot) (err error) {
				out, err = st.preview(ctx, b, epsilons, db, db.Contents)
				return err
			})
		return out, err
	}
	return nil, sqlstate.New(sqlstate.NotAnswerable, "the statement aggregates no protected table").
		WithHint("Give a SELECT with count, sum or avg over a protected table.")
}

func (s *statement) preview(ctx context.Context, b wire.Binding, epsilons []privacy.Epsilon, db answer.Database,
	contents []string) ([]explain.Explanation, error) {
	q, err := s.question(ctx, b, settings{confidence: defaultConfidence}, db, contents)
	if err != nil {
		return nil, err
	}
	var out []explain.Explanation
	for _, eps := range epsilons {
		at, err := q.At(eps)
		if err != nil {
			return nil, err
		}
		x, err := at.Explain(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}
