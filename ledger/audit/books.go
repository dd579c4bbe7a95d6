package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"

	"fugu/privacy"
)

// Books are all that the tables say, answers and their payments too, to be found again in the chain.
type Books struct {
	done     *Done
	answers  []Answer
	charges  []Charge
	byID     map[int64]*Answer
	open     map[payment]*Entry
	answered map[int64]bool // of those charged ahead: the chain told of their answers
}

// payment is a scope that paid for an answer.
type payment struct {
	answer int64
	scope  string
}

// everybody is the scope that pays for each answer.
const everybody = ""

// NewBooks takes the answers, which have been Restored, and the charges, both in the order of their ids. A charge that
// is for none of the answers is an error.
func NewBooks(done *Done, answers []Answer, charges []Charge) (*Books, error) {
	b := &Books{done: done, answers: answers, charges: charges, byID: map[int64]*Answer{}, open: map[payment]*Entry{},
		answered: map[int64]bool{}}
	for i, a := range answers {
		b.byID[a.ID] = &answers[i]
	}
	for _, c := range charges {
		a := b.byID[c.Answer]
		if a == nil {
			return nil, fmt.Errorf("it is damaged: charge %d is for no answer", c.ID)
		}
		id := payment{c.Answer, c.Scope}
		if b.open[id] == nil {
			e := a.Payment(c.Scope, c.User, c.Period, map[string]privacy.Loss{}, time.UnixMicro(c.At).UTC())
			b.open[id] = &e
		}
		b.open[id].Losses[c.Secret] = c.Loss
	}
	return b, nil
}

// Take takes what a link tells from what is to be found.
func (b *Books) Take(number int64, l Link) error {
	e, err := l.Entry()
	if err != nil || e.Number != number {
		return fmt.Errorf("it is damaged: entry %d of the audit chain cannot be read", number)
	}

	// An event of another version is not passed over: nobody knows what it would have changed.
	switch e.Event {
	case Begin:
		err = b.before(e.Before)
	case Release, Joined:
		if err = b.done.beginning.during(e); err == nil {
			err = b.settle(e, l)
		}
	case Answered:
		err = b.answer(e, l)
	case NewEpoch, NewPeriod, Promised, Reset, Compacted, Abandoned:
		err = b.done.settle(e, l)
	case Refused, Lost: // they are in the chain alone
	default:
		err = fmt.Errorf("it tells of %q, which this fugu does not know", e.Event)
	}
	return damaged(number, err)
}

// Rest says that there is something of which the chain did not tell.
func (b *Books) Rest() error {
	if err := b.done.Rest(); err != nil {
		return err
	}
	if len(b.open) > 0 {
		return fmt.Errorf("it is damaged: %d charges are not in the audit chain", len(b.open))
	}
	unanswered := 0
	for _, a := range b.answers {
		if a.Phase == Afterwards && !b.answered[a.ID] {
			unanswered++
		}
	}
	if unanswered > 0 {
		return fmt.Errorf("it is damaged: %d answers are not in the audit chain", unanswered)
	}
	return nil
}

// settle takes the payment of an entry from those that are open, if it is what the tables say.
func (b *Books) settle(e Entry, l Link) error {
	id := payment{e.Answer, e.Scope}
	told := b.open[id]
	if told == nil {
		return errors.New("the answer or its charge is missing")
	}
	delete(b.open, id)
	told.Statement, told.Reason = e.Statement, e.Reason // of which the chain alone knows
	if !told.is(e.Number, l) {
		return errors.New("the answer or its charge was changed")
	}
	return nil
}

// answer takes what was charged ahead and answered from what is open: behind its payment, and once.
func (b *Books) answer(e Entry, l Link) error {
	a := b.byID[e.Answer]
	switch {
	case a == nil || a.Phase != Afterwards || b.answered[e.Answer] || b.open[payment{e.Answer, everybody}] != nil:
		return errors.New("an answer is missing, was not charged ahead, or comes twice")
	case !a.Outcome(e.User, e.At).is(e.Number, l):
		return errors.New("the answer was changed")
	}
	b.answered[e.Answer] = true
	return nil
}

// Begin returns the first entry of a chain: it tells of all that the books have.
func (b *Books) Begin(at time.Time) Entry {
	before := b.digest(math.MaxInt64, math.MaxInt64)
	return Entry{At: at, Event: Begin, Before: &before}
}

// before settles what is older than the chain.
func (b *Books) before(old *Before) error {
	if old == nil || b.digest(old.Answers, old.Charges) != *old {
		return errors.New("what was booked before it was changed")
	}
	for _, c := range b.charges {
		if c.ID <= old.Charges {
			delete(b.open, payment{c.Answer, c.Scope})
		}
	}
	return nil
}

// digest tells of the answers and charges up to two ids.
func (b *Books) digest(answer, charge int64) Before {
	var before Before
	old := true
	h := sha256.New()
	// The form is part of the chain: another order or spelling would be another digest.
	for _, a := range b.answers {
		if a.ID <= answer {
			before.Answers = a.ID
			fmt.Fprintf(h, "%d %s %q %q %s\n", a.ID, a.Key, a.Dataset, a.Scope, a.Content)
			old = old && a.Epoch == 0
		}
	}
	for _, c := range b.charges {
		if c.ID <= charge {
			before.Charges = c.ID
			fmt.Fprintf(h, "%d %d %q %q %q %d %v %v %v\n", c.ID, c.Answer, c.Scope, c.Secret, c.User, c.At,
				c.Loss.Pure, c.Loss.Kappa2, c.Loss.Delta)
			old = old && c.Period == 0
		}
	}

	if !old { // of before there were epochs and periods
		return Before{}
	}
	before.Digest = hex.EncodeToString(h.Sum(nil))
	return before
}
