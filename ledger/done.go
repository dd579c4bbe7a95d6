package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// done is what operators did to a ledger, as its tables have it, to be found again in the audit chain: whoever can write
// to the database could put a period there, and spend a budget twice.
type done struct {
	compacted map[int64]dropped   // by answer
	drops     map[int64][]dropped // by entry, in order of the answers
	begun     beginnings
	resets    map[string]int64 // by dataset: the period that has to begin next in the chain
}

func readDone(ctx context.Context, tx *sql.Tx) (*done, error) {
	d := &done{compacted: map[int64]dropped{}, drops: map[int64][]dropped{}, resets: map[string]int64{}}
	err := rows(ctx, tx, `SELECT answer, key, content, entry FROM compacted ORDER BY answer`, func(row scanner) error {
		var x dropped
		err := row.Scan(&x.answer, &x.key, &x.content, &x.entry)
		d.compacted[x.answer], d.drops[x.entry] = x, append(d.drops[x.entry], x)
		return err
	})
	if err == nil {
		d.begun, err = readBeginnings(ctx, tx)
	}
	if err != nil {
		return nil, fmt.Errorf("verifying: %w", err)
	}
	return d, nil
}

// told reports, without reading a link as JSON, that it may be of something done: a quote inside of a text would have a
// backslash before it.
func (d *done) told(l Link) bool {
	return d.begun.told(l) || strings.Contains(l.Text, `"event":"`+string(Reset)+`"`) || strings.Contains(l.Text, `"event":"`+string(Compacted)+`"`) ||
		strings.Contains(l.Text, `"event":"`+string(Abandoned)+`"`)
}

// settle takes what an entry tells from what is to be found.
func (d *done) settle(e Entry, l Link) error {
	next, reset := d.resets[e.Dataset]
	switch e.Event {
	case Reset:
		if reset || e.Period != d.begun.now[e.Dataset].period+1 {
			return errors.New("a reset is out of turn")
		}
		d.resets[e.Dataset] = e.Period
	case NewEpoch:
		return d.begun.settle(e, l)
	case NewPeriod:
		if reset != (e.Reason == causeReset) || reset && next != e.Period {
			return errors.New("a period begins for a reset that nobody made, or for none")
		}
		delete(d.resets, e.Dataset)
		return d.begun.settle(e, l)
	case Compacted, Abandoned:
		xs := d.drops[e.Number]
		if e.Dropped == nil || int64(len(xs)) != e.Dropped.Answers || digestOf(xs) != e.Dropped.Digest {
			return errors.New("what was compacted is missing or was changed")
		}
		delete(d.drops, e.Number)
	}
	return nil
}

// rest says that there is something of which the chain did not tell, or that the chain tells of too much.
func (d *done) rest() error {
	if n := len(d.resets) + len(d.drops) + len(d.begun.open); n > 0 {
		return fmt.Errorf("it is damaged: %d epochs, periods, resets or compactions are not in the audit chain", n)
	}
	return nil
}

// restore gives an answer without content the key and the digest that it had.
func (d *done) restore(s *stored, l seal) error {
	x, ok := d.compacted[s.ID]
	if !ok {
		return nil
	}
	if s.key != x.nobody() || s.content != l.content(emptied, "[]") {
		return fmt.Errorf("it is damaged: answer %d has a content, though it was compacted", s.ID)
	}
	s.key, s.content = Key(x.key), x.content
	return nil
}
