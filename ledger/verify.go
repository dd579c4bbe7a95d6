package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"fugu/privacy"
)

const (
	insertEntry = `INSERT INTO audit (number, entry, hash) VALUES ($1, $2, $3)`
	allEntries  = `SELECT number, entry, hash FROM audit ORDER BY number`
	oldAnswers  = answerColumns + `ORDER BY id`
	oldCharges  = chargeColumns + `ORDER BY id`

	chargeColumns = `SELECT id, answer, scope, secret, "user", at, pure, kappa2, delta, period FROM charges `
)

// booked is a charge as a row.
type booked struct {
	id, answer          int64
	scope, secret, user string
	at                  int64 // microseconds since 1970
	loss                privacy.Loss
	period              int64
}

func (b *booked) scan(row scanner) error {
	return row.Scan(&b.id, &b.answer, &b.scope, &b.secret, &b.user, &b.at, &b.loss.Pure, &b.loss.Kappa2, &b.loss.Delta, &b.period)
}

// rows calls f with each row of a query in a transaction.
func rows(ctx context.Context, tx *sql.Tx, query string, f func(scanner) error, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// snapshot is a transaction that sees one state of the ledger, so that others may be charging meanwhile.
func (l *store) snapshot(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := l.read.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if err := l.unhurried(ctx, tx); err != nil {
		return err
	}
	return f(tx)
}

// unhurried lets the statements of a transaction take as long as the ledger is large, where a server would end them.
func (l *store) unhurried(ctx context.Context, tx *sql.Tx) error {
	if l.alone == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, withoutTimeout)
	return err
}

const withoutTimeout = `SET LOCAL statement_timeout = 0`

// verify adds all charges up again, in the order in which they were booked, and compares with the running totals, bit for
// bit; and follows the audit chain, in which every epoch and period must be.
func (l *store) verify(ctx context.Context) error {
	return l.snapshot(ctx, func(tx *sql.Tx) error {
		d, err := readDone(ctx, tx)
		if err != nil {
			return err
		}
		if err := verifyTotals(ctx, tx); err != nil {
			return err
		}
		_, err = l.seal.chain.verify(ctx, tx, func(number int64, l Link) error {
			if !d.told(l) {
				return nil
			}
			e, err := l.Entry()
			if err == nil {
				err = d.settle(e, l)
			}
			if err != nil {
				return fmt.Errorf("it is damaged: entry %d of the audit chain: %w", number, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return d.rest()
	})
}

func verifyTotals(ctx context.Context, tx *sql.Tx) error {
	var unpaid int64
	err := tx.QueryRowContext(ctx, `SELECT id FROM answers a WHERE NOT EXISTS (SELECT 1 FROM charges c WHERE c.answer = a.id AND c.scope = '') LIMIT 1`).Scan(&unpaid)
	switch {
	case err == nil:
		return fmt.Errorf("it is damaged: answer %d was not paid for", unpaid)
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("verifying: %w", err)
	}
	type account struct {
		dataset, scope, secret string
		period                 int64
	}
	type sum struct {
		privacy.Loss
		releases int
	}
	collect := func(query string, visit func(account, sum)) error {
		err := rows(ctx, tx, query, func(row scanner) error {
			var a account
			var s sum
			err := row.Scan(&a.dataset, &a.scope, &a.secret, &s.Pure, &s.Kappa2, &s.Delta, &s.releases, &a.period)
			visit(a, s)
			return err
		})
		if err != nil {
			return fmt.Errorf("verifying: %w", err)
		}
		return nil
	}
	booked, totals := map[account]sum{}, map[account]sum{}
	err = errors.Join(
		collect(`SELECT a.dataset, c.scope, c.secret, c.pure, c.kappa2, c.delta, 1, c.period FROM charges c JOIN answers a ON a.id = c.answer
		  WHERE NOT (a.mechanism IN `+gratis+` AND c.pure = 0 AND c.kappa2 = 0 AND c.delta = 0) ORDER BY c.id`,
			func(a account, s sum) { booked[a] = sum{plus(booked[a].Loss, s.Loss), booked[a].releases + 1} }),
		collect(`SELECT dataset, scope, secret, pure, kappa2, delta, releases, period FROM totals`, func(a account, s sum) { totals[a] = s }))
	if err != nil {
		return err
	}
	for a, s := range totals {
		if booked[a] != s {
			return fmt.Errorf("it is damaged: the total of dataset %q, scope %q, secret %q is not the sum of its charges", a.dataset, a.scope, a.secret)
		}
		delete(booked, a)
	}
	for a := range booked {
		return fmt.Errorf("it is damaged: dataset %q, scope %q, secret %q has charges and no total", a.dataset, a.scope, a.secret)
	}
	return nil
}

// verify follows the chain from its beginning and calls visit, if it is not nil, with each link. It returns the last.
func (c chain) verify(ctx context.Context, tx *sql.Tx, visit func(number int64, l Link) error) (last Link, err error) {
	next := int64(0)
	err = rows(ctx, tx, allEntries, func(row scanner) error {
		var number int64
		var l Link
		if err := row.Scan(&number, &l.Text, &l.Hash); err != nil {
			return err
		}
		switch {
		case number != next:
			return fmt.Errorf("it is damaged: entry %d of the audit chain is missing", next)
		case c.hash(last.Hash, l.Text) != l.Hash && number == 0:
			return errors.New("the audit chain does not begin as it should: it is damaged, or the ledger was written with another key")
		case c.hash(last.Hash, l.Text) != l.Hash:
			return fmt.Errorf("it is damaged: entry %d of the audit chain does not follow from the one before", number)
		}
		next, last = number+1, l
		if visit == nil {
			return nil
		}
		return visit(number, l)
	})
	switch {
	case err != nil:
		return Link{}, fmt.Errorf("verifying: %w", err)
	case next == 0:
		return Link{}, errors.New("it is damaged: the audit chain is missing")
	}
	return last, nil
}

// Audit implements Ledger.
func (l *store) Audit(ctx context.Context, visit func(Link) error) (head Link, err error) {
	err = l.snapshot(ctx, func(tx *sql.Tx) error {
		head, err = l.seal.audit(ctx, tx, visit)
		return err
	})
	return head, err
}

// audit is Audit of the state that a transaction sees.
func (l seal) audit(ctx context.Context, tx *sql.Tx, visit func(Link) error) (head Link, err error) {
	d, err := readDone(ctx, tx)
	if err != nil {
		return Link{}, err
	}
	if err := verifyTotals(ctx, tx); err != nil {
		return Link{}, err
	}
	paid, err := l.payments(ctx, tx, d)
	if err != nil {
		return Link{}, err
	}
	head, err = l.chain.verify(ctx, tx, func(number int64, l Link) error {
		e, err := l.Entry()
		if err != nil || e.Number != number {
			return fmt.Errorf("it is damaged: entry %d of the audit chain cannot be read", number)
		}
		switch e.Event {
		case Begin:
			err = paid.before(e.Before)
		case Release, Joined:
			if err = d.begun.during(e); err == nil {
				err = paid.settle(e, l)
			}
		case Answered:
			err = paid.answer(e, l)
		case NewEpoch, NewPeriod, Reset, Compacted, Abandoned:
			err = d.settle(e, l)
		case Refused, Lost: // they are in the chain alone
		default:
			err = fmt.Errorf("it tells of %q, which this fugu does not know", e.Event)
		}
		if err != nil {
			return fmt.Errorf("it is damaged: entry %d of the audit chain: %w", number, err)
		}
		if visit == nil {
			return nil
		}
		return visit(l)
	})
	if err == nil {
		err = d.rest()
	}
	if err == nil && len(paid.open) > 0 {
		err = fmt.Errorf("it is damaged: %d charges are not in the audit chain", len(paid.open))
	}
	if n := paid.unanswered(); err == nil && n > 0 {
		err = fmt.Errorf("it is damaged: %d answers are not in the audit chain", n)
	}
	return head, err
}

// ledgered is what the tables say, to be found again in the chain.
type ledgered struct {
	answers []stored
	charges []booked
	byID    map[int64]*stored
	open    map[payment]*Entry

	answered map[int64]bool // of those charged ahead: the chain told of their answers
}

// payment is a scope that paid for an answer.
type payment struct {
	answer int64
	scope  string
}

func (l seal) payments(ctx context.Context, tx *sql.Tx, d *done) (*ledgered, error) {
	p := &ledgered{byID: map[int64]*stored{}, open: map[payment]*Entry{}, answered: map[int64]bool{}}
	err := rows(ctx, tx, oldAnswers, func(row scanner) error {
		s, err := l.scan(row)
		s.Bytes, s.Cells = nil, nil
		if err == nil {
			err = d.restore(&s, l)
		}
		p.answers = append(p.answers, s)
		return err
	})
	if err == nil {
		err = rows(ctx, tx, oldCharges, func(row scanner) error {
			var b booked
			err := b.scan(row)
			p.charges = append(p.charges, b)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("verifying: %w", err)
	}
	for i, s := range p.answers {
		p.byID[s.ID] = &p.answers[i]
	}
	if err := l.loadTerms(ctx, tx, p.byID); err != nil {
		return nil, fmt.Errorf("verifying: %w", err)
	}
	for _, b := range p.charges {
		s := p.byID[b.answer]
		if s == nil {
			return nil, fmt.Errorf("it is damaged: charge %d is for no answer", b.id)
		}
		id := payment{b.answer, b.scope}
		if p.open[id] == nil {
			event := Joined
			if b.scope == s.scope {
				event = Release
			}
			e := s.entry(event, b.period, b.scope, b.user, map[string]privacy.Loss{}, time.UnixMicro(b.at).UTC())
			p.open[id] = &e
		}
		p.open[id].Losses[b.secret] = b.loss
	}
	return p, nil
}

// digest tells of the answers and charges up to two ids.
func (p *ledgered) digest(answer, charge int64) Before {
	var b Before
	old := true
	h := sha256.New()
	for _, s := range p.answers {
		if s.ID <= answer {
			b.Answers = s.ID
			fmt.Fprintf(h, "%d %s %q %q %s\n", s.ID, s.key, s.dataset, s.scope, s.content)
			old = old && s.epoch == 0
		}
	}
	for _, x := range p.charges {
		if x.id <= charge {
			b.Charges = x.id
			fmt.Fprintf(h, "%d %d %q %q %q %d %v %v %v\n", x.id, x.answer, x.scope, x.secret, x.user, x.at, x.loss.Pure, x.loss.Kappa2, x.loss.Delta)
			old = old && x.period == 0
		}
	}
	if !old { // of before there were epochs and periods
		return Before{}
	}
	b.Digest = hex.EncodeToString(h.Sum(nil))
	return b
}

// before settles what is older than the chain.
func (p *ledgered) before(b *Before) error {
	if b == nil || p.digest(b.Answers, b.Charges) != *b {
		return errors.New("what was booked before it was changed")
	}
	for _, x := range p.charges {
		if x.id <= b.Charges {
			delete(p.open, payment{x.answer, x.scope})
		}
	}
	return nil
}

// settle takes the payment of an entry from those that are open, if it is what the tables say.
func (p *ledgered) settle(e Entry, l Link) error {
	id := payment{e.Answer, e.Scope}
	told := p.open[id]
	if told == nil {
		return errors.New("the answer or its charge is missing")
	}
	delete(p.open, id)
	told.Statement, told.Reason = e.Statement, e.Reason // of which the chain alone knows
	if !told.is(e.Number, l) {
		return errors.New("the answer or its charge was changed")
	}
	return nil
}

// is reports whether the entry, as the tables have it, is what the link of that number says.
func (e Entry) is(number int64, l Link) bool {
	e.Number = number
	same, err := chain{}.follow("", e)
	return err == nil && same.Text == l.Text
}
