package ledger

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"fugu/ledger/audit"
	"fugu/privacy"
)

// booking is a charge inside its transaction.
type booking struct {
	Charge
	seal  seal
	read  *reading
	write writing
	clock func(context.Context) (time.Time, error)
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
	booked, err := f(ctx, &booking{Charge: c, seal: l.seal, read: l.onWrite.in(tx), write: l.writing.in(tx),
		clock: func(ctx context.Context) (time.Time, error) { return l.clock(ctx, tx) }})
	if err != nil || !booked {
		return err
	}
	return tx.Commit()
}

// append writes an entry behind the last, and returns its number.
func (b *booking) append(ctx context.Context, e audit.Entry) (number int64, err error) {
	last, before, err := scanLast(b.read.head.QueryRowContext(ctx))
	if err != nil {
		return 0, err
	}
	e.Number = last + 1
	l, err := b.seal.chain.Follow(before, e)
	if err != nil {
		return 0, err
	}
	_, err = b.write.entry.ExecContext(ctx, e.Number, l.Text, l.Hash)
	return e.Number, err
}

// spent is the loss of a scope in a period so far.
func (b *booking) spent(ctx context.Context, period int64, scope, secret string) (spent privacy.Loss, err error) {
	row := b.read.total.QueryRowContext(ctx, b.Dataset, period, scope, secret)
	err = row.Scan(&spent.Pure, &spent.Kappa2, &spent.Delta)
	if errors.Is(err, sql.ErrNoRows) {
		return privacy.Loss{}, nil
	}
	return spent, err
}

// payment is what a scope pays for an answer.
type payment struct {
	scope          string
	period         int64
	losses, totals map[string]privacy.Loss // by secret: what is paid, and the totals after it
}

// pay writes the charges of a scope for an answer, and its totals after them, which one that is free leaves as they
// are.
func (b *booking) pay(ctx context.Context, a audit.Answer, p payment, now time.Time) error {
	for _, secret := range names(p.losses) {
		loss, total := p.losses[secret], p.totals[secret]
		_, err := b.write.charge.ExecContext(ctx, a.ID, p.scope, secret, b.User, now.UnixMicro(),
			loss.Pure, loss.Kappa2, loss.Delta, p.period)
		if err != nil {
			return err
		}

		// What costs nothing is listed among the charges, and is no part of a total.
		if b.free() {
			continue
		}
		_, err = b.write.total.ExecContext(ctx, b.Dataset, p.period, p.scope, secret,
			total.Pure, total.Kappa2, total.Delta)
		if err != nil {
			return err
		}
	}

	e := a.Payment(p.scope, b.User, p.period, p.losses, now)
	e.Statement, e.Reason = b.Statement, b.Reason
	_, err := b.append(ctx, e)
	return err
}

// columns are the columns of table answers that say what was given.
type columns struct {
	failed, sealed int
	bytes          []byte
	cells          string
	content        string // digest, which no column has
}

// closed returns the columns of what was given.
func (b *booking) closed(a *Answer, key Key) (c columns, err error) {
	if c.cells, err = list(a.Cells); err != nil {
		return columns{}, err
	}
	if c.bytes = a.Bytes; c.bytes == nil {
		c.bytes = []byte{} // nil would be NULL
	}
	if a.Failed {
		c.failed = 1
	}
	c.content = b.seal.content(c.bytes, c.cells)
	c.bytes, c.cells, c.sealed, err = b.seal.closed(c.bytes, c.cells, key)
	return c, err
}
