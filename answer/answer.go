// Package answer is the corridor from a question about protected rows to its answer: found among those that were given,
// computed from them, or charged, read, and told with noise on a point of a grid of times. What it returns is made from
// a ledger.Answer only, that is, from a Release that was charged. It knows no session, no text and no protocol.
package answer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"fugu/account"
	"fugu/internal/hook"
	"fugu/internal/trace"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/upstream"
)

// Answer goes the whole way from the question to its answer. No protected row is seen before the charge, and what comes
// behind it tells no more than was charged. If another client is being answered the same, it waits for that and looks
// again.
func (q *Question) Answer(ctx context.Context) (ledger.Answer, error) {
	if hook.NoStored {
		q.Key = q.freshKey() // what is asked anew is of the same model
	}
	for range maxPasses {
		a, done, err := q.attempt(ctx)
		if done || err != nil {
			return a, err
		}
	}
	return ledger.Answer{}, sqlstate.New(sqlstate.SerializationFailure, "others ask the same, and cancel, again and "+
		"again").WithHint("Ask again.")
}

// maxPasses is how often a statement that meets others' on its way begins anew.
const maxPasses = 100

// attempt makes one pass. done says that the answer is there; without an error it is otherwise worth another pass.
func (q *Question) attempt(ctx context.Context) (a ledger.Answer, done bool, err error) {
	if err := account.Current(q.Request.Policy, q.standing); err != nil {
		return ledger.Answer{}, false, err
	}
	found, ok, err := q.desk.Ledger.Find(ctx, q.Key, q.Scopes()...)
	if err != nil {
		return ledger.Answer{}, false, account.Error(err)
	} else if ok {
		return found, true, failed(found)
	}

	// An answer that is pending has been paid for. For any other there may be a cheaper way than to charge for it.
	charge := q.wanted()
	if !found.Pending {
		if a, ok, err := q.answerFromPast(ctx, charge); ok || err != nil {
			return a, ok, err
		}
		if err := q.checkLimit(ctx); err != nil {
			return ledger.Answer{}, false, err
		}
		if a, joined, err := q.join(ctx, charge); joined || err != nil {
			return a, joined, err
		}
	}

	m, err := q.Measure(ctx)
	if sqlstate.Is(err, sqlstate.StatisticsFailed) && !found.Pending {
		// The reference's rows fail already. It costs the same as when only the protected ones do: what a statement
		// costs must not tell which of them it was.
		charge.Losses = q.Request.Nominal()
		a, err = q.fail(ctx, charge, err)
		return a, true, err
	} else if err != nil {
		return ledger.Answer{}, false, err
	}

	// Without a component there is nothing to hide: group keys alone, averages of which the model knows nothing, and
	// what the policy makes public.
	if m.Width == 0 {
		bytes, err := m.Encode(mechanism.Release{}, nil)
		return ledger.Answer{Bytes: bytes}, true, err
	}

	charge.Mechanism, charge.Assumption = string(m.Calibration.Kind), m.Calibration.Assumption
	if !found.Pending {
		if found, done, err = q.pay(ctx, charge, m); done || err != nil || !found.Pending {
			return found, done, err
		}
	}
	return q.scan(ctx, charge, found, m)
}

// wanted returns the charge that the ledger is asked for, without its price.
func (q *Question) wanted() ledger.Charge {
	p := q.Request.Policy
	return ledger.Charge{Key: q.Key, Dataset: p.Dataset, Epoch: q.standing.Epoch, User: q.asked.User,
		Statement: q.asked.Statement, Requested: q.Request.Budget,
		Limit: account.Total(p.Privacy.Budget), Shares: q.shares, Renew: p.Privacy.Budget.Renew}
}

// pay charges the question at its price. If the answer that it returns is pending, it was charged and is still to be
// read; done says that it is there already. Otherwise it is worth another pass.
func (q *Question) pay(ctx context.Context, charge ledger.Charge,
	m *quote.Quote) (a ledger.Answer, done bool, err error) {
	p, err := q.Price(ctx, m)
	if err != nil {
		return ledger.Answer{}, false, err
	}

	charge.Losses = p.Losses
	if err := account.Covered(ctx, q.desk.Ledger, charge, q.standing); err != nil {
		// What has used the budget up may have been this very question, asked by another at the same moment.
		if a, ok, _ := q.desk.Ledger.Find(ctx, q.Key, q.Scopes()...); ok {
			return a, true, failed(a)
		} else if a.Pending {
			return ledger.Answer{}, false, nil
		}
		return ledger.Answer{}, false, err
	}

	if hook.ChargeLate || hook.FreeFailures {
		a, err = q.chargeLate(ctx, charge, m, p)
		return a, true, err
	}
	a, err = q.books().Book(ctx, charge, q.priced(m), p, q.charge)
	return a, err != nil || !a.Pending, err
}

// join charges shares for an answer that others were told before, at the price of that answer; no row is read for it.
func (q *Question) join(ctx context.Context, c ledger.Charge) (a ledger.Answer, joined bool, err error) {
	if len(c.Shares) == 0 { // an answer that is everybody's would have been found already
		return ledger.Answer{}, false, nil
	}
	a, ok, err := q.desk.Ledger.Find(ctx, c.Key)
	if err != nil {
		return ledger.Answer{}, false, account.Error(err)
	}
	if !ok {
		return ledger.Answer{}, false, nil
	}

	c.Losses, c.Mechanism, c.Assumption, c.Answer, c.Failed = a.Losses, a.Mechanism, a.Assumption, a.Bytes, a.Failed
	a, err = q.charge(ctx, c)
	return a, true, err
}

// charge makes the answer durable together with its cost; an answer that was stored meanwhile takes its place.
func (q *Question) charge(ctx context.Context, c ledger.Charge) (a ledger.Answer, err error) {
	ctx, span := trace.Begin(ctx, trace.Charge)
	defer span.End(&err)
	if hook.NoCharge {
		c.Losses = make(map[string]privacy.Loss)
		for _, sec := range q.Request.Policy.Secrets {
			c.Losses[sec.Name] = privacy.Loss{}
		}
	}
	a, err = q.books().Charge(context.WithoutCancel(ctx), q.Request, c)
	if err != nil {
		return ledger.Answer{}, err
	}
	hook.Point("after the charge")
	q.paid = true
	return a, failed(a)
}

// fail charges a statement that failed on its rows. The failure is stored as its answer, unless it may pass: then every
// try is charged, under a key that will not be asked for again.
func (q *Question) fail(ctx context.Context, c ledger.Charge, cause error) (ledger.Answer, error) {
	c.Failed, c.Certificates = true, nil
	if hook.FreeFailures {
		return ledger.Answer{}, cause
	}
	if errors.Is(cause, upstream.ErrInterrupted) {
		c.Key = q.freshKey()
	}
	a, err := q.charge(ctx, c)
	if sqlstate.Is(err, sqlstate.StatisticsFailed) {
		err = cause
	}
	return a, err
}

// freshKey returns a key that will not be asked for again.
func (q *Question) freshKey() ledger.Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", q.Key, q.asked.User, time.Now().UnixNano()))
	return ledger.Key(hex.EncodeToString(sum[:]))
}

// failed returns the error that a stored answer stands for, if it is a failure.
func failed(a ledger.Answer) error {
	if a.Failed {
		return upstream.ErrStatistics
	}
	return nil
}
