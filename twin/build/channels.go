package build

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"fugu/ledger"
	"fugu/parser"
	"fugu/policy"
	"fugu/twin"
	"fugu/twin/columns"
)

// kept is a law that columns were shown by, as the ledger has it: for as long as the policy says the same of the
// column, whatever becomes of the reference.
type kept struct {
	Words string // what the policy says of the column, and of which reference
	Law   columns.Law
}

// settleColumns has each column shown by the law that it was shown by before, if the policy still says the same of it,
// and keeps the others. Two draws for one value of one row tell more than either, and more than the sum of what each
// tells: so there is one, for ever. Only where the owner declares the rows to be drawn independently, and a key that is
// met again is another row's, are they drawn anew; and by another law, of which the warnings tell.
func (j *job) settleColumns(ctx context.Context, d Draw) (warnings []string, err error) {
	j.released = nil
	table := j.family.root.Qualified()

	// A law is kept under what the policy says of the column, in its own words.
	for i, c := range j.family.root.Twin.Columns {
		words, err := json.Marshal([]any{c.Obfuscate, c.Transport, j.family.root.Reference})
		if err != nil {
			return nil, err
		}
		law, nth, err := j.books.column(ctx, table, d.Series, kept{string(words), j.laws[i]})
		if err != nil {
			return nil, fmt.Errorf("the law by which column %s is shown: %w", parser.QuoteIdent(c.Name), err)
		}

		if nth > 1 {
			warnings = append(warnings, fmt.Sprintf("column %s of the same rows was shown by another law before: who "+
				"has both twins is told more of a row than either promises", parser.QuoteIdent(c.Name)))
		}

		// The outcome of the secret that a column hides is one for all rows of a class.
		s := released{Law: law, use: fmt.Sprintf("column by law %d of series %d", nth, d.Series)}
		for _, class := range j.design.Classes {
			outcome := 0
			if c.Transport != nil {
				outcome = class.Outcomes[slices.IndexFunc(j.spec.Secrets,
					func(x twin.Secret) bool { return x.Name == c.Transport.Hide })]
			}
			s.outcomes = append(s.outcomes, outcome)
		}
		if s.tells, err = law.Distribution(); err != nil {
			return nil, err
		}
		j.released = append(j.released, s)
	}
	return warnings, nil
}

// column returns the law that a column of a series of rows is shown by, and the how manieth of them it is: the one that
// is kept under the same words, or the one that is given, which then is.
func (b books) column(ctx context.Context, table policy.QualifiedName, series int, law kept) (columns.Law, int, error) {
	for nth := 1; ; nth++ {
		key := entryKey(ledger.Ordering, table.Schema, table.Name, "column", law.Law.Column, series, nth)
		a, ok, err := b.ledger.Find(ctx, key)
		if err == nil && !ok {
			var text []byte
			if text, err = json.Marshal(law); err != nil {
				return columns.Law{}, 0, err
			}
			a, err = b.keep(ctx, table, key, text)
		}
		if err != nil {
			return columns.Law{}, 0, err
		}

		// What is kept stands, whatever has become of the reference since.
		var stands kept
		if err := json.Unmarshal(a.Bytes, &stands); err != nil {
			return columns.Law{}, 0, fmt.Errorf("it is damaged in the ledger: %w", err)
		}
		if err := stands.Law.Check(); err != nil {
			return columns.Law{}, 0, fmt.Errorf("it is damaged in the ledger: %w", err)
		}

		if stands.Words == law.Words {
			return stands.Law, nth, nil
		}
	}
}

// enterColumns says by which channels the columns of the root's twin are shown, and of no others.
func (j *job) enterColumns(ctx context.Context) error {
	root := j.family.root

	// Columns that the policy lists no longer go with the twin that showed them.
	if err := forgetColumns(ctx, j.at.tx, root.Qualified()); err != nil {
		return err
	}

	for _, s := range j.released {
		promise, err := json.Marshal(s.promise())
		if err != nil {
			return err
		}
		matrix, err := json.Marshal(s.entries())
		if err != nil {
			return err
		}

		if _, err := j.at.tx.Exec(ctx, `INSERT INTO `+channelsTable+` VALUES ($1, $2, $3, $4::jsonb, $5::jsonb)`,
			root.Schema, root.Name, s.Column, string(promise), string(matrix)); err != nil {
			return fmt.Errorf("entering how column %s is shown: %w", parser.QuoteIdent(s.Column), err)
		}
	}
	return nil
}
