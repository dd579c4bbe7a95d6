package account

import (
	"context"
	"errors"

	"fugu/ledger"
	"fugu/ledger/audit"
	"fugu/quote"
)

// Book charges for an answer before it is there, at price p. If others were charged meanwhile that this price does not
// count with, it is priced anew. charge brings the charge to the ledger.
func (b Books) Book(ctx context.Context, c ledger.Charge, q Asked, p Price,
	charge func(context.Context, ledger.Charge) (ledger.Answer, error)) (ledger.Answer, error) {
	if p.Covariances != nil {
		p.Covariances.account.booking.Lock()
		defer p.Covariances.account.booking.Unlock()
	}
	for {
		c.Losses, c.After, c.Certificates, c.Ahead, c.Answer = p.Losses, p.after, certificates(q.Quote, p), true,
			q.Quote.NoiseDigest()
		if q.Quote.Joint != nil {
			c.Terms = q.Quote.Joint.Bytes
		}
		if p.Covariances != nil {
			c.Terms = q.Quote.Spreads.Bytes
		}
		a, err := charge(ctx, c)
		if err == nil {
			err = p.count(a)
		}
		if !errors.Is(err, ledger.ErrOvertaken) {
			return a, err
		}

		// The next price counts with the answers that were booked meanwhile.
		before := p.after
		if p, err = b.Price(ctx, q); err != nil {
			return ledger.Answer{}, err
		}
		if p.after != nil && before != nil && *p.after == *before { // the ledger has less than it had
			return ledger.Answer{}, Error(ledger.ErrOvertaken)
		}
	}
}

// Now returns the charge at the price for an answer that is there already: the wrong order, which a test can ask for.
func (p Price) Now(c ledger.Charge, m *quote.Quote) ledger.Charge {
	c.Losses, c.After, c.Certificates = p.Losses, p.after, certificates(m, p)
	return c
}

// certificates are those of the calibration, as the ledger keeps them.
func certificates(m *quote.Quote, p Price) []audit.Certificate {
	var out []audit.Certificate
	for _, x := range m.Calibration.Certificates {
		out = append(out, audit.Certificate{Secret: x.Secret, Mechanism: string(x.Mechanism),
			Assumptions: x.Assumptions, Pair: x.Pair, Epsilon: x.Epsilon, Delta: x.Delta,
			Estimation: x.Estimation, Together: p.Reached[x.Secret]})
	}
	return out
}
