package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fugu/internal/hook"
	"fugu/privacy"
)

// bookings are the statements that write.
type bookings struct {
	answer, charge, total, entry *sql.Stmt
}

func (b *bookings) prepare(ctx context.Context, db *sql.DB) error {
	return prepareAll(ctx, db, map[**sql.Stmt]string{
		&b.answer: `INSERT INTO answers (key, dataset, scope, at, epsilon, delta, mechanism, assumption, failed, cells, bytes, certificates, sealed)
		  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING id`,
		&b.charge: `INSERT INTO charges (answer, scope, secret, "user", at, pure, kappa2, delta) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		&b.total: `INSERT INTO totals (dataset, scope, secret, pure, kappa2, delta, releases) VALUES ($1, $2, $3, $4, $5, $6, 1)
		  ON CONFLICT (dataset, scope, secret) DO UPDATE
		  SET pure = excluded.pure, kappa2 = excluded.kappa2, delta = excluded.delta, releases = totals.releases + 1`,
		&b.entry: insertEntry,
	})
}

// Charge implements Ledger.
func (l *store) Charge(ctx context.Context, c Charge) (Answer, error) {
	a, err := l.charge(ctx, c)
	if err != nil {
		return Answer{}, fmt.Errorf("charging: %w", err)
	}
	return a, nil
}

func (l *store) charge(ctx context.Context, c Charge) (Answer, error) {
	if l.write == nil {
		return Answer{}, errors.New("the ledger is open for reading only")
	}
	if err := c.check(); err != nil {
		return Answer{}, err
	}
	ctx, tx, end, err := l.begin(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer end()
	b := booking{Charge: c, seal: l.seal, read: l.onWrite.in(tx), write: bookings{tx.Stmt(l.bookings.answer), tx.Stmt(l.bookings.charge), tx.Stmt(l.bookings.total), tx.Stmt(l.bookings.entry)}}
	a, paid, err := b.book(ctx)
	if err != nil || paid {
		return a, err
	}
	if err := tx.Commit(); err != nil {
		return Answer{}, err
	}
	return a, nil
}

// booking is a charge inside its transaction.
type booking struct {
	Charge
	seal  seal
	read  *reading
	write bookings
}

// book writes what is missing. paid: nothing is, and there is nothing to commit.
func (b *booking) book(ctx context.Context) (a Answer, paid bool, err error) {
	s, ok, err := b.read.byKey(ctx, b.Key)
	if err != nil {
		return Answer{}, false, err
	}
	if ok && s.dataset != b.Dataset {
		return Answer{}, false, fmt.Errorf("the key belongs to an answer of dataset %q", s.dataset)
	}
	if ok {
		if s.Losses, err = b.read.charged(ctx, s.ID, b.Scope); err != nil || s.Losses != nil {
			return s.Answer, true, err
		}
		// What it costs is what the answer that was drawn tells, whatever this charge says.
		if s.Losses, err = b.read.charged(ctx, s.ID, s.scope); err != nil {
			return Answer{}, false, err
		}
	} else {
		s.Losses = b.Losses
	}
	totals, err := b.afford(ctx, s.Losses)
	if err != nil {
		return Answer{}, false, err
	}
	now := hook.Now().UTC().Truncate(time.Microsecond)
	event := Joined
	if !ok {
		event = Release
		if s, err = b.store(ctx, now); err != nil {
			return Answer{}, false, err
		}
	}
	for _, secret := range names(s.Losses) {
		loss, total := s.Losses[secret], totals[secret]
		if _, err := b.write.charge.ExecContext(ctx, s.ID, b.Scope, secret, b.User, now.UnixMicro(), loss.Pure, loss.Kappa2, loss.Delta); err != nil {
			return Answer{}, false, err
		}
		if _, err := b.write.total.ExecContext(ctx, b.Dataset, b.Scope, secret, total.Pure, total.Kappa2, total.Delta); err != nil {
			return Answer{}, false, err
		}
	}
	return s.Answer, false, b.append(ctx, s.entry(event, b.Scope, b.User, s.Losses, now))
}

// afford returns the totals after the losses, or says that they are too much for a secret.
func (b *booking) afford(ctx context.Context, losses map[string]privacy.Loss) (map[string]privacy.Loss, error) {
	totals := make(map[string]privacy.Loss, len(losses))
	for _, secret := range names(losses) {
		var spent privacy.Loss
		err := b.read.total.QueryRowContext(ctx, b.Dataset, b.Scope, secret).Scan(&spent.Pure, &spent.Kappa2, &spent.Delta)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		totals[secret] = plus(spent, losses[secret])
		if !totals[secret].Within(b.Limit) && !hook.Overdraft {
			return nil, &Exhausted{Dataset: b.Dataset, Scope: b.Scope, Secret: secret, Limit: b.Limit, Spent: spent, Wanted: losses[secret]}
		}
	}
	return totals, nil
}

// store inserts the answer.
func (b *booking) store(ctx context.Context, now time.Time) (stored, error) {
	s := stored{key: b.Key, dataset: b.Dataset, scope: b.Scope, Answer: Answer{Bytes: b.Answer, Failed: b.Failed, Mechanism: b.Mechanism, Assumption: b.Assumption,
		Requested: b.Requested, Losses: b.Losses, Cells: b.Cells, Certificates: b.Certificates, At: now, Fresh: true}}
	cells, err := list(b.Cells)
	if err != nil {
		return stored{}, err
	}
	certificates, err := list(b.Certificates)
	if err != nil {
		return stored{}, err
	}
	bytes := b.Answer
	if bytes == nil {
		bytes = []byte{} // nil would be NULL
	}
	failed := 0
	if b.Failed {
		failed = 1
	}
	s.content = b.seal.content(bytes, cells)
	bytes, cells, sealed, err := b.seal.closed(bytes, cells, b.Key)
	if err != nil {
		return stored{}, err
	}
	err = b.write.answer.QueryRowContext(ctx, string(b.Key), b.Dataset, b.Scope, now.UnixMicro(), float64(b.Requested.Epsilon),
		float64(b.Requested.Delta), b.Mechanism, b.Assumption, failed, cells, bytes, certificates, sealed).Scan(&s.ID)
	return s, err
}

// list writes a list as JSON.
func list[T any](v []T) (string, error) {
	if len(v) == 0 {
		return "[]", nil
	}
	b, err := json.Marshal(v)
	return string(b), err
}
