package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// What stands in the column begun.
const (
	chargedWith = 0 // the answer came with its charge
	pending     = 1 // charged, and there is no answer yet
	answered    = 2 // charged ahead, and answered since
)

// Outcome is what came of a question that was charged ahead.
type Outcome struct {
	Key     Key
	Charged Answer // what Charge returned
	Dataset string
	Epoch   int64 // the data that were read
	User    string
	Scopes  []string // who is told: they have been charged, besides everybody
	Answer  []byte
	Failed  bool // the statistics statement failed, and that is the answer
	Cells   []Cell
}

// ErrAbandoned is the error of an outcome whose question was given up meanwhile: asked again, it is charged again.
var ErrAbandoned = errors.New("the question was given up meanwhile")

// whyAbandoned is the reason that the chain gives.
const whyAbandoned = "no answer came of it"

// Give implements Ledger.
func (l *store) Give(ctx context.Context, o Outcome) (a Answer, err error) {
	if err = o.check(); err == nil {
		err = l.book(ctx, Charge{Key: o.Key, Dataset: o.Dataset, Epoch: o.Epoch, User: o.User}, func(ctx context.Context, b *booking) (booked bool, err error) {
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
	epoch, err := b.read.epoch(ctx, b.Dataset)
	if err != nil {
		return Answer{}, false, err
	}
	if epoch.Number != b.Epoch {
		return Answer{}, false, &Stale{Dataset: b.Dataset}
	}
	s, ok, err := b.read.byKey(ctx, b.Key)
	switch {
	case err != nil:
		return Answer{}, false, err
	case !ok:
		return Answer{}, false, ErrAbandoned
	case s.dataset != b.Dataset || s.epoch != b.Epoch:
		return Answer{}, false, fmt.Errorf("the key belongs to an answer of dataset %q in its epoch %d", s.dataset, s.epoch)
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
	case s.begun == pending && s.ID != o.Charged.ID:
		return Answer{}, false, ErrAbandoned
	case s.begun != pending:
		return s.Answer, false, nil
	}
	s.Bytes, s.Failed, s.Cells, s.Pending, s.Fresh, s.begun = o.Answer, o.Failed, o.Cells, false, true, answered
	if err := b.fill(ctx, &s); err != nil {
		return Answer{}, false, err
	}
	e := Entry{At: now(), Event: Answered, Dataset: s.dataset, Epoch: s.epoch, User: o.User, Answer: s.ID, Key: s.key, Failed: s.Failed, Content: s.content}
	return s.Answer, true, b.append(ctx, e)
}

// fill writes an answer into the row of its charge.
func (b *booking) fill(ctx context.Context, s *stored) error {
	cells, err := list(s.Cells)
	if err != nil {
		return err
	}
	bytes := s.Bytes
	if bytes == nil {
		bytes = []byte{} // nil would be NULL
	}
	failed := 0
	if s.Failed {
		failed = 1
	}
	s.content = b.seal.content(bytes, cells)
	bytes, cells, sealed, err := b.seal.closed(bytes, cells, s.key)
	if err != nil {
		return err
	}
	_, err = b.write.fill.ExecContext(ctx, failed, cells, bytes, sealed, s.ID)
	return err
}

// Abandon implements Ledger. It is what compacting does to an answer: the charge stays, and the key is free for another.
func (l *store) Abandon(ctx context.Context, key Key, id int64, user string) error {
	err := l.alter(ctx, func(ctx context.Context, tx *sql.Tx) error {
		s, err := l.seal.scan(tx.QueryRowContext(ctx, answerColumns+`WHERE key = $1`, string(key)))
		if errors.Is(err, sql.ErrNoRows) || err == nil && (s.ID != id || s.begun != pending) {
			return nil // it was answered or given up by another
		}
		if err != nil {
			return err
		}
		d := dropped{answer: s.ID, key: string(s.key), content: s.content}
		return l.drop(ctx, tx, []dropped{d}, Entry{Event: Abandoned, Dataset: s.dataset, Epoch: s.epoch, User: user, Reason: whyAbandoned,
			Dropped: &Dropped{Before: s.At, Answers: 1, Digest: digestOf([]dropped{d})}})
	})
	if err != nil {
		return fmt.Errorf("giving a question up: %w", err)
	}
	return nil
}

// outcome returns what the chain says of an answer that was charged ahead, as the tables have it.
func (s stored) outcome(e Entry) Entry {
	return Entry{At: e.At, Event: Answered, Dataset: s.dataset, Epoch: s.epoch, User: e.User, Answer: s.ID, Key: s.key, Failed: s.Failed, Content: s.content}
}

// answer takes what was charged ahead and answered from what is open: behind its payment, and once.
func (p *ledgered) answer(e Entry, l Link) error {
	s := p.byID[e.Answer]
	switch {
	case s == nil || s.begun != answered || p.answered[e.Answer] || p.open[payment{e.Answer, Everybody}] != nil:
		return errors.New("an answer is missing, was not charged ahead, or comes twice")
	case !s.outcome(e).is(e.Number, l):
		return errors.New("the answer was changed")
	}
	p.answered[e.Answer] = true
	return nil
}

// unanswered counts the answers that were charged ahead and have one of which the chain does not tell.
func (p *ledgered) unanswered() (n int) {
	for _, s := range p.answers {
		if s.begun == answered && !p.answered[s.ID] {
			n++
		}
	}
	return n
}
