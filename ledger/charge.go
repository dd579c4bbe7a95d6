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
	answer, fill, charge, total, entry, epoch, period, terms *sql.Stmt
}

func (b *bookings) prepare(ctx context.Context, db preparer) error {
	return prepareAll(ctx, db, map[**sql.Stmt]string{
		&b.answer: `INSERT INTO answers (key, dataset, scope, at, epsilon, delta, mechanism, assumption, failed, cells, bytes, certificates, sealed, epoch, begun)
		  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING id`,
		&b.fill:   `UPDATE answers SET failed = $1, cells = $2, bytes = $3, sealed = $4, begun = 2 WHERE id = $5`,
		&b.charge: `INSERT INTO charges (answer, scope, secret, "user", at, pure, kappa2, delta, period) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		&b.total: `INSERT INTO totals (dataset, period, scope, secret, pure, kappa2, delta, releases) VALUES ($1, $2, $3, $4, $5, $6, $7, 1)
		  ON CONFLICT (dataset, period, scope, secret) DO UPDATE
		  SET pure = excluded.pure, kappa2 = excluded.kappa2, delta = excluded.delta, releases = totals.releases + 1`,
		&b.entry:  insertEntry,
		&b.epoch:  `INSERT INTO epochs (dataset, number, label, independent, "user", reason, at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		&b.period: `INSERT INTO periods (dataset, number, began, at, cause) VALUES ($1, $2, $3, $4, $5)`,
		&b.terms:  `INSERT INTO terms (answer, bytes, sealed) VALUES ($1, $2, $3)`,
	})
}

// in returns the statements inside a transaction.
func (b *bookings) in(tx *sql.Tx) bookings {
	return bookings{tx.Stmt(b.answer), tx.Stmt(b.fill), tx.Stmt(b.charge), tx.Stmt(b.total), tx.Stmt(b.entry), tx.Stmt(b.epoch), tx.Stmt(b.period), tx.Stmt(b.terms)}
}

// Charge implements Ledger.
func (l *store) Charge(ctx context.Context, c Charge) (a Answer, err error) {
	if err = c.check(); err == nil {
		err = l.book(ctx, c, func(ctx context.Context, b *booking) (booked bool, err error) {
			var paid bool
			a, paid, err = b.book(ctx)
			return !paid, err
		})
	}
	if err != nil {
		return Answer{}, fmt.Errorf("charging: %w", err)
	}
	return a, nil
}

// book calls f with a booking in a transaction that is the only one that writes, and commits what f booked.
func (l *store) book(ctx context.Context, c Charge, f func(context.Context, *booking) (booked bool, err error)) error {
	if l.write == nil {
		return errReadOnly
	}
	ctx, tx, end, err := l.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	booked, err := f(ctx, &booking{Charge: c, seal: l.seal, read: l.onWrite.in(tx), write: l.bookings.in(tx),
		clock: func(ctx context.Context) (time.Time, error) { return l.clock(ctx, tx) }})
	if err != nil || !booked {
		return err
	}
	return tx.Commit()
}

// booking is a charge inside its transaction.
type booking struct {
	Charge
	seal  seal
	read  *reading
	write bookings
	clock func(context.Context) (time.Time, error)
}

// book writes what is missing. paid: nothing is, and there is nothing to commit.
func (b *booking) book(ctx context.Context) (a Answer, paid bool, err error) {
	epoch, err := b.read.epoch(ctx, b.Dataset)
	if err != nil {
		return Answer{}, false, err
	}
	if epoch.Number != b.Epoch {
		return Answer{}, false, &Stale{Dataset: b.Dataset}
	}
	s, ok, err := b.read.byKey(ctx, b.Key)
	if err != nil {
		return Answer{}, false, err
	}
	if ok && (s.dataset != b.Dataset || s.epoch != b.Epoch) {
		return Answer{}, false, fmt.Errorf("the key belongs to an answer of dataset %q in its epoch %d", s.dataset, s.epoch)
	}
	pay := b.limits()
	if !ok {
		if err := b.counted(ctx); err != nil {
			return Answer{}, false, err
		}
		s.Losses = b.Losses
	} else if pay, err = b.unpaid(ctx, &s); err != nil || len(pay) == 0 {
		return s.Answer, true, err
	} else if s.Mechanism == Derived {
		return Answer{}, false, fmt.Errorf("answer %d was derived for others", s.ID)
	}
	period, err := b.period(ctx)
	if err != nil {
		return Answer{}, false, err
	}
	totals := make([]map[string]privacy.Loss, len(pay))
	for i, x := range pay {
		if b.free() {
			continue
		}
		if totals[i], err = b.afford(ctx, period, x, s.Losses); err != nil {
			return Answer{}, false, err
		}
	}
	now := now()
	if !ok {
		if s, err = b.store(ctx, now); err != nil {
			return Answer{}, false, err
		}
	}
	for i, x := range pay {
		if err := b.pay(ctx, s, x.Scope, period, totals[i], now); err != nil {
			return Answer{}, false, err
		}
	}
	return s.Answer, false, nil
}

// unpaid returns the limits of the scopes that have not paid for the answer. What it costs them is what everybody paid:
// what the answer that was drawn tells, whatever this charge says.
func (b *booking) unpaid(ctx context.Context, s *stored) (pay []Share, err error) {
	if s.Losses, err = b.read.charged(ctx, s.ID, Everybody); err != nil {
		return nil, err
	}
	if s.Losses == nil {
		return nil, fmt.Errorf("it is damaged: answer %d was not paid for", s.ID)
	}
	for _, x := range b.Shares {
		if losses, err := b.read.charged(ctx, s.ID, x.Scope); err != nil {
			return nil, err
		} else if losses == nil {
			pay = append(pay, x)
		}
	}
	return pay, nil
}

// afford returns the totals of a scope after the losses, or says that they are too much for a secret.
func (b *booking) afford(ctx context.Context, period int64, x Share, losses map[string]privacy.Loss) (map[string]privacy.Loss, error) {
	totals := make(map[string]privacy.Loss, len(losses))
	for _, secret := range names(losses) {
		spent, err := b.spent(ctx, period, x.Scope, secret)
		if err != nil {
			return nil, err
		}
		totals[secret] = plus(spent, losses[secret])
		if !totals[secret].Allowed(x.Limit, spent.Releases()) && !hook.Overdraft && !(hook.Apart && x.Scope == Everybody) {
			return nil, &Exhausted{Dataset: b.Dataset, Scope: x.Scope, Secret: secret, Limit: x.Limit, Spent: spent, Wanted: losses[secret]}
		}
	}
	return totals, nil
}

// spent is the loss of a scope in a period so far.
func (b *booking) spent(ctx context.Context, period int64, scope, secret string) (spent privacy.Loss, err error) {
	err = b.read.total.QueryRowContext(ctx, b.Dataset, period, scope, secret).Scan(&spent.Pure, &spent.Kappa2, &spent.Delta)
	if errors.Is(err, sql.ErrNoRows) {
		return privacy.Loss{}, nil
	}
	return spent, err
}

// pay writes the charges of a scope for an answer, and its totals after them, which one that is free leaves as they are.
func (b *booking) pay(ctx context.Context, s stored, scope string, period int64, totals map[string]privacy.Loss, now time.Time) error {
	for _, secret := range names(s.Losses) {
		loss, total := s.Losses[secret], totals[secret]
		if _, err := b.write.charge.ExecContext(ctx, s.ID, scope, secret, b.User, now.UnixMicro(), loss.Pure, loss.Kappa2, loss.Delta, period); err != nil {
			return err
		}
		if b.free() {
			continue
		}
		if _, err := b.write.total.ExecContext(ctx, b.Dataset, period, scope, secret, total.Pure, total.Kappa2, total.Delta); err != nil {
			return err
		}
	}
	event := Joined
	if scope == s.scope {
		event = Release
	}
	e := s.entry(event, period, scope, b.User, s.Losses, now)
	e.Statement, e.Reason = b.Statement, b.Reason
	return b.append(ctx, e)
}

// store inserts the answer.
func (b *booking) store(ctx context.Context, now time.Time) (stored, error) {
	s := stored{key: b.Key, dataset: b.Dataset, scope: Everybody, epoch: b.Epoch, Answer: Answer{Bytes: b.Answer, Failed: b.Failed, Mechanism: b.Mechanism, Assumption: b.Assumption,
		Requested: b.Requested, Losses: b.Losses, Cells: b.Cells, Certificates: b.Certificates, At: now, Pending: b.Ahead, Fresh: true}}
	if b.Ahead {
		s.begun = pending
	}
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
	if err := b.write.answer.QueryRowContext(ctx, string(b.Key), b.Dataset, Everybody, now.UnixMicro(), float64(b.Requested.Epsilon),
		float64(b.Requested.Delta), b.Mechanism, b.Assumption, failed, cells, bytes, certificates, sealed, b.Epoch, s.begun).Scan(&s.ID); err != nil {
		return stored{}, err
	}
	return s, b.storeTerms(ctx, &s)
}

// list writes a list as JSON.
func list[T any](v []T) (string, error) {
	if len(v) == 0 {
		return "[]", nil
	}
	b, err := json.Marshal(v)
	return string(b), err
}
