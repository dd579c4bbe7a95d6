// Package preview explains a statement at several ε before anybody asks it: fugu preview. It knows no session and no
// protocol, reads no protected row, and spends nothing.
package preview

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/answer"
	"fugu/dataset"
	"fugu/explain"
	"fugu/ledger"
	"fugu/meaning"
	"fugu/mechanism"
	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/upstream"
)

// Desk is where the statements about one database are previewed. It is safe for concurrent use.
type Desk struct {
	desk   *answer.Desk
	loaded *dataset.Snapshot
	known  *answer.Known
}

// New returns a desk over what is loaded of the policies, whose ledger says what earlier answers bring to the next one.
func New(loaded *dataset.Snapshot, reader *upstream.Reader, l ledger.Ledger) (*Desk, error) {
	known, err := answer.Learn(loaded, loaded.Policies)
	if err != nil {
		return nil, err
	}
	return &Desk{&answer.Desk{Ledger: l, Reader: reader, Searches: quote.NewSearches()}, loaded, known}, nil
}

// Share has previews search for noise in a room that others search in, too, so that all of them together keep its
// limits; before the first Explain.
func (d *Desk) Share(searches *quote.Searches) { d.desk.Searches = searches }

// Explain says of the first statement in a text that aggregates protected rows what EXPLAIN (PRIVACY) would say at each
// ε, beyond the policy's, too. The statement has no parameters.
func (d *Desk) Explain(ctx context.Context, sql string,
	epsilons []privacy.Epsilon) (out []explain.Explanation, err error) {
	err = d.ask(ctx, sql, nil, func(q *answer.Question) (err error) {
		out, err = explainEach(ctx, q, epsilons)
		return err
	})
	return out, err
}

// explainEach explains a question at each ε.
func explainEach(ctx context.Context, q *answer.Question,
	epsilons []privacy.Epsilon) (out []explain.Explanation, err error) {
	for _, epsilon := range epsilons {
		at, err := q.At(epsilon)
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

// ask takes in once what a text asks, and hands it on.
func (d *Desk) ask(ctx context.Context, sql string, params []string, then func(*answer.Question) error) error {
	p, plan, err := d.plan(ctx, sql)
	if err != nil {
		return err
	}
	take := func(a answer.Asked) error {
		q, err := d.desk.Question(ctx, d.known, a)
		if err != nil {
			return err
		}
		return then(q)
	}

	// Ordinary tables are held, as when the statement is asked in earnest.
	tables := plan.Ordinary()
	if len(tables) == 0 {
		return take(asked(p, plan, params, d.desk.Reader))
	}
	return d.desk.Reader.InSnapshot(ctx, meaning.Locked(tables), d.loaded.ProtectedTables(),
		func(db *upstream.Snapshot) error {
			a := asked(p, plan, params, db)
			a.Contents = db.Contents
			return take(a)
		})
}

// errNone says that a text asks nothing about protected rows.
var errNone = sqlstate.New(sqlstate.NotAnswerable, "the statement aggregates no protected table").
	WithHint("Give a SELECT with count, sum or avg over a protected table.")

// plan finds the statement that is meant, and plans it.
func (d *Desk) plan(ctx context.Context, sql string) (*policy.Policy, *planner.Plan, error) {
	// Whatever else is wrong with a text that names nothing protected, it is no such statement.
	if !d.loaded.Names(sql) && !d.loaded.Shadows().Mentions(sql) {
		return nil, nil, errNone
	}
	statements, err := parser.Parse(sql, d.loaded.Catalog(ctx, d.desk.Reader, nil))
	if err != nil {
		return nil, nil, err
	}

	var free Free
	for _, st := range statements {
		free.note(st)
		if st.Plain != nil {
			if _, err := d.loaded.Listed(st.Plain); err != nil {
				return nil, nil, err
			}
			continue
		}
		p, err := d.loaded.PolicyOf(st)
		if err != nil {
			return nil, nil, err
		}
		if p == nil {
			continue
		}

		// The types that it declares are asked for in a session.
		if st.Prepare != nil {
			return nil, nil, sqlstate.New(sqlstate.NotAnswerable, "PREPARE asks nothing of a protected table").
				WithHint("Give the statement that it prepares, and the values of its parameters.")
		}
		plan, err := planner.New(ctx, st, d.loaded, d.desk.Reader, nil)
		return p, plan, err
	}
	if len(free.Tables) > 0 {
		return nil, nil, &free
	}
	return nil, nil, errNone
}

// asked is what a session with no settings of its own would ask of db.
func asked(p *policy.Policy, plan *planner.Plan, params []string, db answer.Database) answer.Asked {
	types := pgtype.NewMap()
	text := func(n int, oid uint32) ([]byte, error) {
		if n > len(params) {
			return nil, quote.NoParameter(n)
		}
		return quote.Text(types, n, oid, pgtype.TextFormatCode, []byte(params[n-1]))
	}
	return answer.Asked{Policy: p, Above: plan.Above, Database: db, Confidence: explain.Confidence,
		Budget:    privacy.Budget{Epsilon: p.Privacy.Epsilon, Delta: p.Privacy.Delta},
		Mechanism: mechanism.Kind(p.Privacy.Mechanism), Error: p.Privacy.Error, Limit: p.Privacy.MaxError,
		Bind: func(ctx context.Context) ([]*planner.Bound, error) { return quote.Bind(ctx, plan, db, text) }}
}
