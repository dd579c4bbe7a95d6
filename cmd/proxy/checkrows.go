package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"fugu/dataset"
	"fugu/explain"
	fitting "fugu/fit"
	"fugu/internal/doubt"
	"fugu/internal/finding"
	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	previewing "fugu/preview"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/upstream"
)

// throughReader is a reader as who doubts asks it.
func throughReader(reader *upstream.Reader) doubt.Ask {
	return func(ctx context.Context, sql string, params [][]byte) ([][]planner.Value, error) {
		return reader.Query(ctx, sql, params, nil)
	}
}

// checkRows warns of tables that their references are not like: by columns that tell the two apart, or because they
// have rows in common. It says so to the owner alone, and serve does not look.
func (h *house) checkRows(ctx context.Context, f *findings, p *policy.Policy) error {
	ask := throughReader(h.room(p.Database).reader)
	for _, t := range p.Tables {
		if !noisy(t) || t.Reference.Name == "" || t.Drawn == policy.FromReference {
			continue
		}

		// The policy takes the reference for rows of the same law. What tells them apart speaks against that.
		own, reference := dataset.Quoted(t.Qualified()), dataset.Quoted(t.Reference)
		apart, err := doubt.Apart(ctx, ask, own, reference)
		if err != nil {
			return err
		}
		for _, d := range apart {
			f.doubted(f.in(p, t.At), t, d)
		}

		// Rows that stand in both are known to whoever knows the reference.
		common, err := doubt.Overlap(ctx, ask, own, reference)
		if sqlstate.Is(err, sqlstate.QueryCanceled) && ctx.Err() == nil {
			f.add(finding.Note, f.in(p, t.At), fmt.Sprintf("whether rows of %s stand in its reference as well was not "+
				"found out within limits.statement_timeout", t.Qualified()), "who may read the reference knows the "+
				"rows that stand in both", "raise limits.statement_timeout for this check, or make an index on the "+
				"key of both")
			continue
		} else if err != nil {
			return err
		}
		for _, d := range common {
			f.doubted(f.in(p, policy.Position(t.ReferenceAt)), t, d)
		}
	}
	return nil
}

// doubted warns of what may break what answers about a table rest on.
func (f *findings) doubted(at place, t policy.Table, d doubt.Doubt) {
	f.add(finding.Warning, at, fmt.Sprintf("table %s: %s", t.Qualified(), d.What), d.Why, d.Fix)
}

// forecast says what the statements of a policy's fit list would have for noise, and how many such statements what is
// left of the budget answers. Like a preview it charges nothing.
func (h *house) forecast(ctx context.Context, f *findings, p *policy.Policy) error {
	if err := h.ended(ctx, f, p); err != nil {
		return err
	}
	broken, late, err := h.uncharged(ctx, p)
	if err != nil {
		return fmt.Errorf("reading the accounts of dataset %s: %w", p.Dataset, err)
	}
	for _, b := range broken {
		f.add(finding.Error, f.in(p, placeOf(p, b)), b.Error(), "the totals have no more than what those answers were "+
			"to hide, so whatever has to be charged for table "+b.Table.String()+" is refused", b.Mend())
	}
	for _, what := range late {
		f.add(finding.Warning, f.under(p, "secrets"), what,
			"its budget says that more is left of it than there is, and nothing bounds what all answers tell of it",
			unchargedHint)
	}
	if !slices.ContainsFunc(p.Tables, noisy) {
		return nil
	}

	statements := p.Fit
	if len(statements) == 0 {
		statements = typical(p)
	}

	// A statement that cannot be foreseen is a finding; the others are foreseen all the same.
	r := h.room(p.Database)
	previews, err := previewing.New(r.snapshot.Snapshot, r.reader, h.ledger)
	if err != nil {
		return err
	}
	for _, s := range statements {
		xs, err := previews.Explain(ctx, s.SQL, []privacy.Epsilon{p.Privacy.Epsilon})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			f.add(finding.Warning, f.in(p, s.At), "no forecast of "+fitting.Brief(s.SQL)+": "+err.Error(),
				"an analyst who asks this gets the same error", cmp.Or(described(err, place{}).Fix,
					"change the statement under fit, or take it out"))
			continue
		}
		f.add(finding.Note, f.in(p, s.At), foretold(s.SQL, xs[0]), "that is what analysts will see, before anything "+
			"is spent", "nothing, if that will do; else another epsilon, a larger reference, or answers: twin (fugu "+
			"preview compares them)")
	}
	return nil
}

// typical are statements about the secrets themselves, which have the most noise.
func typical(p *policy.Policy) (out []policy.Statement) {
	for _, s := range p.Secrets {
		sql := askFor(s)
		if s.Categories != "" {
			column := parser.QuoteIdent(s.Categories)
			sql = fmt.Sprintf("SELECT %s, count(*) FROM %s GROUP BY %[1]s", column, s.Table)
		}
		if t, ok := p.Table(s.Table); ok && noisy(t) && sql != "" {
			out = append(out, policy.Statement{SQL: sql, At: s.At})
		}
	}
	return out
}

// foretold is a forecast in words.
func foretold(sql string, x explain.Explanation) string {
	text := fmt.Sprintf("forecast of %s at epsilon %s:", fitting.Brief(sql), short(x.Epsilon))
	for i, n := range x.Noise {
		if i > 0 {
			text += ","
		}
		sd := short(n.SDMin)
		if short(n.SDMax) != sd {
			sd += " to " + short(n.SDMax)
		}
		text += fmt.Sprintf(" the noise of %s has a standard deviation of %s", n.Column, sd)
		if n.Error >= 0 {
			text += fmt.Sprintf(" (%s%% of what is expected)", short(math.Round(1000*n.Error)/10))
		}
	}

	if x.Refused != "" {
		return text + "; it would be refused: " + x.Refused
	}

	// The secret of which least is left, beside what it costs, says how many more there can be.
	least := math.Inf(1)
	for _, c := range x.Cost {
		if c.Cost > 0 {
			least = min(least, c.Left/c.Cost)
		}
	}

	if x.Stored || x.Past != "" || math.IsInf(least, 1) {
		return text + "; it costs nothing"
	}
	return text + fmt.Sprintf("; the budget has room for about %.0f like it", math.Floor(max(0, least)+1e-9))
}

// ended warns where the policy is another than that of the last answer in the ledger: what is stored ends when it is
// served, and is asked and charged anew. Of answers of before that say nothing of their policy there is nothing to say.
func (h *house) ended(ctx context.Context, f *findings, p *policy.Policy) error {
	given, err := h.ledger.Given(ctx, p.Dataset, 0, 1)
	if err != nil {
		return fmt.Errorf("reading the last answer of dataset %s: %w", p.Dataset, err)
	}
	if len(given) == 0 {
		return nil
	}
	var last quote.Stored
	if json.Unmarshal(given[0].Bytes, &last) != nil || last.Policy == "" || last.Policy == p.Fingerprint {
		return nil
	}
	f.add(finding.Warning, f.under(p, "dataset"), fmt.Sprintf("dataset %s: the stored answers end with this policy: "+
		"the last one was given under another", p.Dataset),
		"who asks again is charged again, for an answer with new noise; what was spent stays spent",
		"bring that policy back if this is not meant; comments, names of analysts and the order of keys end nothing")
	return nil
}
