package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// done is what operators did to a ledger, as its tables have it, to be found again in the audit chain: whoever can write
// to the database could put a reset there, and spend a budget twice.
type done struct {
	resets    map[int64]reset     // by entry
	eras      map[string][]reset  // by dataset, in order
	compacted map[int64]dropped   // by answer
	drops     map[int64][]dropped // by entry, in order of the answers
}

type reset struct {
	entry, charge int64
	dataset       string
}

func readDone(ctx context.Context, tx *sql.Tx) (*done, error) {
	d := &done{map[int64]reset{}, map[string][]reset{}, map[int64]dropped{}, map[int64][]dropped{}}
	err := rows(ctx, tx, `SELECT entry, dataset, charge FROM resets ORDER BY entry`, func(row scanner) error {
		var r reset
		err := row.Scan(&r.entry, &r.dataset, &r.charge)
		d.resets[r.entry], d.eras[r.dataset] = r, append(d.eras[r.dataset], r)
		return err
	})
	if err == nil {
		err = rows(ctx, tx, `SELECT answer, key, content, entry FROM compacted ORDER BY answer`, func(row scanner) error {
			var x dropped
			err := row.Scan(&x.answer, &x.key, &x.content, &x.entry)
			d.compacted[x.answer], d.drops[x.entry] = x, append(d.drops[x.entry], x)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("verifying: %w", err)
	}
	return d, nil
}

// era returns the entry of the last reset of a dataset before a charge, 0 if there is none.
func (d *done) era(dataset string, charge int64) (entry int64) {
	for _, r := range d.eras[dataset] {
		if r.charge >= charge {
			break
		}
		entry = r.entry
	}
	return entry
}

// told reports, without reading a link as JSON, that it may be of something done: a quote inside of a text would have a
// backslash before it.
func (d *done) told(l Link) bool {
	return strings.Contains(l.Text, `"event":"`+string(Reset)+`"`) || strings.Contains(l.Text, `"event":"`+string(Compacted)+`"`)
}

// settle takes what an entry tells from what is to be found.
func (d *done) settle(e Entry) error {
	switch e.Event {
	case Reset:
		r, ok := d.resets[e.Number]
		if !ok || r.dataset != e.Dataset || r.charge != e.Charges {
			return errors.New("the reset is missing or was changed")
		}
		delete(d.resets, e.Number)
	case Compacted:
		xs := d.drops[e.Number]
		if e.Dropped == nil || int64(len(xs)) != e.Dropped.Answers || digestOf(xs) != e.Dropped.Digest {
			return errors.New("what was compacted is missing or was changed")
		}
		delete(d.drops, e.Number)
	}
	return nil
}

// rest says that there is something of which the chain did not tell.
func (d *done) rest() error {
	if len(d.resets)+len(d.drops) > 0 {
		return fmt.Errorf("it is damaged: %d resets and compactions are not in the audit chain", len(d.resets)+len(d.drops))
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
