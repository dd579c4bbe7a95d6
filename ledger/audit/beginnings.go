package audit

import (
	"errors"
	"strings"
)

// beginnings are the epochs and periods that the tables have, to be found again in the chain, and how far the chain has
// come.
type beginnings struct {
	open map[beginning]Entry
	now  map[string]reached // by dataset
}

// beginning identifies an epoch, or a period; a label alone is a beginning as well.
type beginning struct {
	event   Event
	dataset string
	number  int64
	label   string
}

// reached is where a dataset stands at one place of the chain.
type reached struct {
	epoch, period int64
	clocked       bool // period 0 has an entry, or is over
}

func (e Entry) beginning() beginning {
	if e.Event == NewEpoch {
		return beginning{e.Event, e.Dataset, e.Epoch, e.Label}
	}
	return beginning{e.Event, e.Dataset, e.Period, ""}
}

func newBeginnings(began []Entry) beginnings {
	b := beginnings{map[beginning]Entry{}, map[string]reached{}}
	for _, e := range began {
		b.open[e.beginning()] = e
	}
	return b
}

// told reports, without reading a link as JSON, that it may be of one of the events: a quote inside of a text would have
// a backslash before it.
func told(l Link, events ...Event) bool {
	for _, e := range events {
		if strings.Contains(l.Text, `"event":"`+string(e)+`"`) {
			return true
		}
	}
	return false
}

// settle takes an epoch or a period of the chain from those that are open, if it is what the tables say, and comes next.
func (b beginnings) settle(e Entry, l Link) error {
	told, ok := b.open[e.beginning()]
	delete(b.open, e.beginning())
	at := b.now[e.Dataset]
	switch {
	case !ok || !told.is(e.Number, l):
		return errors.New("the epoch or period is missing or was changed")
	case e.Event == NewEpoch && (e.Epoch < at.epoch || e.Epoch > at.epoch+1),
		e.Event == NewPeriod && e.Period != at.period+1 && (e.Period != 0 || at.clocked):
		return errors.New("an epoch or a period is out of turn")
	case e.Event == NewEpoch:
		at.epoch = e.Epoch
	default:
		at.period, at.clocked = e.Period, true
	}
	b.now[e.Dataset] = at
	return nil
}

// during reports a payment that was not booked in the epoch and period that had begun last.
func (b beginnings) during(e Entry) error {
	if at := b.now[e.Dataset]; e.Epoch != at.epoch || e.Period != at.period {
		return errors.New("a charge is not of the epoch and period that it was booked in")
	}
	return nil
}
