package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"fugu/ledger/audit"
)

// ErrAbandoned is the error of an outcome whose question was given up meanwhile: asked again, it is charged again.
var ErrAbandoned = errors.New("the question was given up meanwhile")

// whyAbandoned is the reason that the chain gives.
const whyAbandoned = "no answer came of it"

// Give implements Ledger.
func (l *store) Give(ctx context.Context, o Outcome) (a Answer, err error) {
	if err = o.check(); err == nil {
		c := Charge{Key: o.Key, Dataset: o.Dataset, Epoch: o.Epoch, User: o.User}
		err = l.book(ctx, c, func(ctx context.Context, b *booking) (booked bool, err error) {
			a, booked, err = b.give(ctx, o)
			return booked, err
		})
	}
	if err != nil {
		return Answer{}, fmt.Errorf("storing an answer: %w", err)
	}
	return a, nil
}

// check refuses an outcome that could not have come with a charge.
func (o Outcome) check() error {
	if err := o.Key.check(); err != nil {
		return err
	}
	switch {
	case o.Failed && (len(o.Answer) > 0 || len(o.Cells) > 0):
		return errors.New("a failure with an answer")
	case !o.Failed && len(o.Answer) == 0:
		return errors.New("an answer without bytes")
	}
	return checkCells(o.Cells)
}

// give writes the outcome where there is none, and returns the one that there is where another came first.
func (b *booking) give(ctx context.Context, o Outcome) (a Answer, booked bool, err error) {
	s, ok, err := b.current(ctx)
	switch {
	case err != nil:
		return Answer{}, false, err
	case !ok:
		return Answer{}, false, ErrAbandoned
	}
	for _, scope := range append([]string{Everybody}, o.Scopes...) {
		if s.Losses, err = b.read.charged(ctx, s.ID, scope); err != nil {
			return Answer{}, false, err
		} else if s.Losses == nil {
			return Answer{}, false, fmt.Errorf("answer %d was not paid for by all who are to be told", s.ID)
		}
	}

	// What is told must have been paid for as it was drawn: not by another charge for the same question.
	switch {
	case s.phase == audit.Pending && s.ID != o.Charged.ID:
		return Answer{}, false, ErrAbandoned
	case s.phase != audit.Pending:
		return s.Answer, false, nil
	}
	s.Bytes, s.Failed, s.Cells, s.Pending, s.Fresh, s.phase = o.Answer, o.Failed, o.Cells, false, true, audit.Afterwards
	if err := b.fill(ctx, &s); err != nil {
		return Answer{}, false, err
	}
	told := s.audited()
	_, err = b.append(ctx, told.Outcome(o.User, now()))
	return s.Answer, true, err
}

// fill writes an answer into the row of its charge.
func (b *booking) fill(ctx context.Context, s *stored) error {
	c, err := b.closed(&s.Answer, s.key)
	if err != nil {
		return err
	}
	s.content = c.content
	_, err = b.write.fill.ExecContext(ctx, c.failed, c.cells, c.bytes, c.sealed, s.ID)
	return err
}

// Abandon implements Ledger. It is what compacting does to an answer: the charge stays, and the key is free for
// another.
func (l *store) Abandon(ctx context.Context, key Key, id int64, user string) error {
	err := l.alter(ctx, func(ctx context.Context, tx *sql.Tx) error {
		s, err := l.seal.scan(tx.QueryRowContext(ctx, answerColumns+`WHERE key = $1`, string(key)))
		if errors.Is(err, sql.ErrNoRows) || err == nil && (s.ID != id || s.phase != audit.Pending) {
			return nil // it was answered or given up by another
		}
		if err != nil {
			return err
		}
		drops := []audit.Drop{s.dropped()}
		return l.drop(ctx, tx, drops, audit.Entry{Event: audit.Abandoned, Dataset: s.dataset, Epoch: s.epoch,
			User:   user,
			Reason: whyAbandoned, Dropped: &audit.Dropped{Before: s.At, Answers: 1, Digest: audit.Digest(drops)}})
	})
	if err != nil {
		return fmt.Errorf("giving a question up: %w", err)
	}
	return nil
}
