package ledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"fugu/ledger/audit"
)

// Promised implements Ledger.
func (l *store) Promised(ctx context.Context, dataset string, renew time.Duration) (out Promised, err error) {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	err = l.again(ctx, func() error {
		p, err := l.onRead.period(ctx, dataset)
		if err != nil {
			return err
		}
		now, err := l.clock(ctx, l.read)
		if err != nil {
			return err
		}
		if out = (Promised{Period: p.number, Newest: p.promise}); p.due(renew, now) {
			out = Promised{Period: p.number + 1}
		}

		// One that is newer than the period was looked at has the charge be overtaken, and is read then.
		return each(ctx, l.onRead.promises, func(row scanner) error {
			p, err := l.seal.scanPromise(row)
			if p.Dataset == dataset {
				out.Tables = append(out.Tables, p)
			} else {
				out.Others = append(out.Others, p)
			}
			return err
		}, dataset)
	})
	if err != nil {
		return Promised{}, fmt.Errorf("reading what was promised: %w", err)
	}
	return out, nil
}

// compared refuses a charge in a period that was not compared with the newest promise there. Answers that cost nothing
// tell nothing new, and what twins have told is compared draw by draw.
func (b *booking) compared(p period) error {
	switch {
	case b.free() || b.Mechanism == Twin || b.Promised == nil && p.promise == 0:
		return nil
	case b.Promised == nil:
		return errors.New("it promises nothing, and answers of its period do")
	case *b.Promised != p.promise:
		return ErrPromised
	}
	return nil
}

// promise writes the promises that a charge adds, each under the number of the entry that tells of it.
func (b *booking) promise(ctx context.Context, p period, now time.Time) error {
	for _, x := range b.Promises {
		x.Dataset, x.Period, x.At = b.Dataset, p.number, now
		entry, err := b.append(ctx, x.entry(b.seal))
		if err != nil {
			return err
		}
		bytes, sealed := b.seal.closedPromise(x.Text, entry)
		_, err = b.write.promise.ExecContext(ctx, entry, b.Dataset, p.number, x.Table, now.UnixMicro(), bytes, sealed)
		if err != nil {
			return err
		}
	}
	return nil
}

// entry tells of a promise.
func (p Promise) entry(s seal) audit.Entry {
	return audit.Entry{Number: p.Entry, At: p.At, Event: audit.Promised, Dataset: p.Dataset, Period: p.Period,
		Table: p.Table, Content: s.content(p.Text, "promise")}
}

// scanPromise reads promiseColumns.
func (s seal) scanPromise(row scanner) (p Promise, err error) {
	var at int64
	var sealed int
	if err := row.Scan(&p.Entry, &p.Dataset, &p.Period, &p.Table, &at, &p.Text, &sealed); err != nil {
		return Promise{}, err
	}
	p.At = time.UnixMicro(at).UTC()
	if sealed != 0 {
		if p.Text, err = s.open(p.Text, "promise", promiseKey(p.Entry)); err != nil {
			return Promise{}, fmt.Errorf("the promise of entry %d: %w", p.Entry, err)
		}
	}
	return p, nil
}

func (s seal) closedPromise(text []byte, entry int64) (column []byte, sealed int) {
	if s.aead == nil {
		return text, 0
	}
	return s.close(text, "promise", promiseKey(entry)), 1
}

// promiseKey stands for a promise where an answer has its key, so that one cannot be sealed text of another.
func promiseKey(entry int64) Key { return Key(strconv.FormatInt(entry, 10)) }
