package audit

import (
	"errors"
	"fmt"
)

// Done is what a ledger has besides answers and their payments: epochs, periods, resets, promises and contents that
// were dropped, as its tables have them, to be found again in the chain. It is checked whenever a ledger is opened,
// and is quick: links of answers are not read.
type Done struct {
	drops     map[int64]Drop   // by answer
	told      map[int64][]Drop // by entry, in order of the answers
	beginning beginnings
	promised  map[int64]Entry  // by their numbers
	resets    map[string]int64 // by dataset: the period that has to begin next in the chain
}

// NewDone takes the entries of the epochs and periods of the tables, those of the promises with their numbers, and the
// drops in the order of their answers.
func NewDone(began, promised []Entry, drops []Drop) *Done {
	d := &Done{drops: map[int64]Drop{}, told: map[int64][]Drop{}, beginning: newBeginnings(began),
		promised: map[int64]Entry{}, resets: map[string]int64{}}
	for _, e := range promised {
		d.promised[e.Number] = e
	}
	for _, x := range drops {
		d.drops[x.Answer], d.told[x.Entry] = x, append(d.told[x.Entry], x)
	}
	return d
}

// Take takes what a link tells from what is to be found. What others tell, those of answers, is not looked at.
func (d *Done) Take(number int64, l Link) error {
	if !told(l, NewEpoch, NewPeriod, Promised, Reset, Compacted, Abandoned) {
		return nil
	}
	e, err := l.Entry()
	if err == nil {
		err = d.settle(e, l)
	}
	return damaged(number, err)
}

// damaged says of which entry an error is.
func damaged(number int64, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("it is damaged: entry %d of the audit chain: %w", number, err)
}

func (d *Done) settle(e Entry, l Link) error {
	next, reset := d.resets[e.Dataset]
	switch e.Event {
	case Reset:
		if reset || e.Period != d.beginning.now[e.Dataset].period+1 {
			return errors.New("a reset is out of turn")
		}
		d.resets[e.Dataset] = e.Period
	case NewEpoch:
		return d.beginning.settle(e, l)
	case NewPeriod:
		if reset != (e.Reason == ByReset) || reset && next != e.Period {
			return errors.New("a period begins for a reset that nobody made, or for none")
		}
		delete(d.resets, e.Dataset)
		return d.beginning.settle(e, l)
	case Promised:
		kept, ok := d.promised[e.Number]
		if delete(d.promised, e.Number); !ok || !kept.is(e.Number, l) {
			return errors.New("a promise is missing or was changed")
		}
		if e.Period != d.beginning.now[e.Dataset].period {
			return errors.New("a promise is not of the period that it was made in")
		}
	case Compacted, Abandoned:
		xs := d.told[e.Number]
		if e.Dropped == nil || int64(len(xs)) != e.Dropped.Answers || Digest(xs) != e.Dropped.Digest {
			return errors.New("what was compacted is missing or was changed")
		}
		delete(d.told, e.Number)
	}
	return nil
}

// Rest says that there is something of which the chain did not tell, or that the chain tells of too much.
func (d *Done) Rest() error {
	if n := len(d.resets) + len(d.told) + len(d.beginning.open) + len(d.promised); n > 0 {
		return fmt.Errorf("it is damaged: %d epochs, periods, promises, resets or compactions are not in the audit "+
			"chain", n)
	}
	return nil
}

// Restore gives an answer without content the key and the digest that it had; empty is the digest of no content.
func (d *Done) Restore(a *Answer, empty string) error {
	x, ok := d.drops[a.ID]
	if !ok {
		return nil
	}
	if a.Key != x.Nobody() || a.Content != empty {
		return fmt.Errorf("it is damaged: answer %d has a content, though it was compacted", a.ID)
	}
	a.Key, a.Content = x.Key, x.Content
	return nil
}
