package fit

import (
	"context"
	"fmt"
	"math"

	"fugu/dataset"
	"fugu/mechanism"
	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/upstream"
)

// Unpromised is the chance, over the reference, for which Misled says what becomes of a policy that promises none.
const Unpromised privacy.Delta = 1e-6

// Misled says, for each table with secrets and a reference, what becomes of ε if the reference is not the truth, and
// what it would cost to promise that: of one statement that the policy foresees, which it names. It reads references
// alone.
func Misled(ctx context.Context, s *dataset.Snapshot, reader *upstream.Reader, p *policy.Policy) ([]string, error) {
	delta := p.Privacy.Estimation.Delta
	if delta == 0 {
		delta = Unpromised
	}

	// Only where ε is counted by a reference that was drawn apart from the table can the reference mislead.
	var out []string
	for _, t := range s.Tables {
		if t.Policy != p || t.Table.Link != nil || t.Table.Reference == "" || len(t.Table.Secrets) == 0 ||
			t.Network != nil || t.Config.Drawn == policy.FromReference {
			continue
		}
		sql := foreseen(t)
		if sql == "" {
			continue
		}

		// What nobody can work out is said, and is no failure of fugu fit.
		of, err := misled(ctx, s, reader, p, sql, delta)
		what := sqlstate.As(err)
		switch {
		case err != nil && (ctx.Err() != nil || !isFinding(err)):
			return nil, fmt.Errorf("what %s could be misled by: %w", t.Table, err)
		case err != nil:
			out = append(out, fmt.Sprintf("what becomes of epsilon if the reference of %s misleads is not known: %s",
				t.Table, what.Message))
		default:
			out = append(out, told(p, t, sql, of, delta)...)
		}
	}
	return out, nil
}

// foreseen is a statement that moves with the secrets of a table: counts by the public key with the fewest values, or
// of a secret's own property.
func foreseen(t *dataset.Protected) string {
	from := " FROM " + dataset.Quoted(t.Config.Qualified())
	key, fewest := "", math.MaxInt
	for _, d := range t.Config.GroupBy {
		if n := len(t.Table.Domains[d.Column]); n > 1 && n < fewest {
			key, fewest = parser.QuoteIdent(d.Column), n
		}
	}
	if key != "" {
		return "SELECT " + key + ", count(*)" + from + " GROUP BY " + key
	}
	for _, secret := range t.Policy.Secrets {
		if secret.Table == t.Config.Qualified() && secret.Proportion != "" {
			return "SELECT count(*)" + from + " WHERE " + secret.Proportion
		}
	}
	return ""
}

// misled asks the references about one statement.
func misled(ctx context.Context, s *dataset.Snapshot, reader *upstream.Reader, p *policy.Policy, sql string,
	delta privacy.Delta) (out quote.Misled, err error) {
	asked, err := s.Ask(ctx, reader, p, sql)
	if err != nil {
		return out, err
	}
	var db planner.Querier = reader
	r := &quote.Request{Dataset: s, Policy: p, Cuts: asked.Cuts,
		Budget:    privacy.Budget{Epsilon: p.Privacy.Epsilon, Delta: p.Privacy.Delta},
		Mechanism: mechanism.Kind(p.Privacy.Mechanism), Database: db, Reference: db, Timeout: reader.Timeout()}
	return r.Misled(ctx, delta)
}

// told says for people what was found: of a policy that promises nothing what becomes of it, and of one that does what
// that costs.
func told(p *policy.Policy, t *dataset.Protected, sql string, of quote.Misled, delta privacy.Delta) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	promised := p.Privacy.Estimation.Delta > 0
	asked, statement := quote.Short(float64(p.Privacy.Epsilon)), Brief(sql)
	for _, secret := range t.Table.Secrets {
		e, ok := of.Epsilon[secret.Name]
		becomes := "epsilon " + quote.Short(e)
		if math.IsInf(e, 1) {
			becomes = "no epsilon"
		}
		switch {
		case !ok:
		case promised:
			add("secret %s: without estimation.delta the noise of %s would have %s in place of %s where the reference "+
				"misleads", secret.Name, statement, becomes, asked)
		default:
			add("secret %s takes the reference of %s for the truth: for every law that it may have been drawn from, "+
				"but for a chance of %v, the noise of %s has %s in place of %s", secret.Name, t.Table, float64(delta),
				statement, becomes, asked)
		}
	}

	// What it costs to be safe from that is the same for all secrets.
	noise := quote.Short(of.Noise) + " times the noise"
	if promised {
		add("estimation.delta %v takes %s there, and is reserved once of budget.delta for each secret", float64(delta),
			noise)
	} else {
		add("privacy.estimation: {delta: %v} would promise it, with %s there; a twin needs no reference",
			float64(delta), noise)
	}
	return out
}
