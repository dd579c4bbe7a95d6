package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"fugu/ledger/audit"
)

// ErrOvertaken is the error of a Charge whose losses do not count with the newest answers. Nothing was booked.
var ErrOvertaken = errors.New("another answer was charged meanwhile")

// History implements Ledger.
func (l *store) History(ctx context.Context, dataset string, after int64) ([]Past, error) {
	var out []Past
	err := l.again(ctx, func() error {
		out = nil
		return each(ctx, l.onRead.history, func(row scanner) error {
			var p Past
			var key Key
			var terms []byte
			var sealed sql.NullInt64
			if err := row.Scan(&p.ID, &key, &p.Epoch, &p.Failed, &p.Period, &terms, &sealed); err != nil {
				return err
			}
			if sealed.Valid {
				var err error
				if p.Terms, err = l.seal.openedTerms(terms, int(sealed.Int64), key); err != nil {
					return fmt.Errorf("answer %d: %w", p.ID, err)
				}
			}
			out = append(out, p)
			return nil
		}, dataset, after)
	})

	// An answer of which no terms are kept is told by its losses and how many values it has.
	for i := range out {
		if err == nil && out[i].Terms == nil {
			err = l.again(ctx, func() error { return l.onRead.bare(ctx, &out[i]) })
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was released: %w", err)
	}
	return out, nil
}

// bare reads what is known of an answer without terms.
func (r *reading) bare(ctx context.Context, p *Past) error {
	s, err := r.seal.scan(r.byID.QueryRowContext(ctx, p.ID))
	if err != nil {
		return err
	}
	p.Values = len(s.Cells)
	p.Losses, err = r.charged(ctx, p.ID, Everybody)
	return err
}

// counted refuses a charge that does not count with all answers of its dataset.
func (b *booking) counted(ctx context.Context) error {
	if b.After == nil {
		return nil
	}
	var newest int64
	if err := b.read.newest.QueryRowContext(ctx, b.Dataset).Scan(&newest); err != nil {
		return err
	}
	if newest != *b.After {
		return ErrOvertaken
	}
	return nil
}

// storeTerms inserts the charge's terms beside its answer.
func (b *booking) storeTerms(ctx context.Context, s *stored) error {
	if b.Terms == nil {
		return nil
	}
	terms, sealed := b.seal.closedTerms(b.Terms, b.Key)
	s.terms = b.seal.termsDigest(b.Terms)
	_, err := b.write.terms.ExecContext(ctx, s.ID, terms, sealed)
	return err
}

// loadTerms gives answers the digests of their terms.
func (s seal) loadTerms(ctx context.Context, tx *sql.Tx, answers []audit.Answer) error {
	byID := make(map[int64]*audit.Answer, len(answers))
	for i, a := range answers {
		byID[a.ID] = &answers[i]
	}

	return rows(ctx, tx, `SELECT answer, bytes, sealed FROM terms ORDER BY answer`, func(row scanner) error {
		var id int64
		var terms []byte
		var sealed int
		if err := row.Scan(&id, &terms, &sealed); err != nil {
			return err
		}
		a := byID[id]
		if a == nil {
			return fmt.Errorf("it is damaged: there are terms of no answer %d", id)
		}

		// Terms are sealed with the key of their answer, so that they cannot be another's.
		plain, err := s.openedTerms(terms, sealed, Key(a.Key))
		if err != nil {
			return fmt.Errorf("answer %d: %w", id, err)
		}
		a.Terms = s.termsDigest(plain)
		return nil
	})
}

func (s seal) closedTerms(terms []byte, of Key) (column []byte, sealed int) {
	if s.aead == nil {
		return terms, 0
	}
	return s.close(terms, "terms", of), 1
}

func (s seal) openedTerms(column []byte, sealed int, of Key) ([]byte, error) {
	if sealed == 0 {
		return column, nil
	}
	return s.open(column, "terms", of)
}

func (s seal) termsDigest(terms []byte) string { return s.content(terms, "terms") }
