package pipeline

import (
	"context"
	"errors"

	"fugu/ledger"
	"fugu/ledger/audit"
	"fugu/quote"
)

// book charges the question at its price, ahead of its answer; where others were charged meanwhile that the price does
// not count with, at a new one.
func (q *question) book(ctx context.Context, c ledger.Charge, m *quote.Quote, p price) (ledger.Answer, error) {
	if p.spread != nil {
		p.spread.account.booking.Lock()
		defer p.spread.account.booking.Unlock()
	}
	for {
		c.Losses, c.After, c.Certificates, c.Ahead, c.Answer = p.losses, p.after, certificates(m, p), true,
			m.NoiseDigest()
		if m.Joint != nil {
			c.Terms = m.Joint.Bytes
		}
		if p.spread != nil {
			c.Terms = m.Spreads.Bytes
		}
		a, err := q.charge(ctx, c)
		if err == nil {
			err = p.charged(a)
		}
		if !errors.Is(err, ledger.ErrOvertaken) {
			return a, err
		}
		before := p.after
		if p, err = q.price(ctx, m); err != nil {
			return ledger.Answer{}, err
		}
		if p.after != nil && before != nil && *p.after == *before { // the ledger has less than it had
			return ledger.Answer{}, ledgerError(ledger.ErrOvertaken)
		}
	}
}

// certificates are those of the calibration, as the ledger keeps them.
func certificates(m *quote.Quote, p price) []audit.Certificate {
	var out []audit.Certificate
	for _, x := range m.Calibration.Certificates {
		out = append(out, audit.Certificate{Secret: x.Secret, Mechanism: string(x.Mechanism),
			Assumptions: x.Assumptions, Pair: x.Pair, Epsilon: x.Epsilon, Delta: x.Delta,
			Estimation: x.Estimation, Together: p.reached[x.Secret]})
	}
	return out
}
