package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/privacy"
	"fugu/quote"
	"fugu/reuse"
)

// fromPast answers the question from what was answered before, if that is within the error that was asked for. It costs
// nothing: what it returns is a function of answers that have been paid for, by everybody and by all shares of whoever asks.
// Whether it answers, and how, depends on the statements, on their noise and on the reference: on no protected row, nor on
// any value that was released.
func (q *question) fromPast(ctx context.Context, c ledger.Charge) (a ledger.Answer, ok bool, err error) {
	if q.error == (privacy.Tolerance{}) || hook.NoStored {
		return a, false, nil
	}
	c.Key = q.derivedKey()
	if a, ok, err = q.engine.ledger.Find(ctx, c.Key, scopes(q.shares)...); err != nil {
		return a, false, ledgerError(err)
	} else if ok {
		return a, true, nil
	}
	m, err := q.measure(ctx)
	if err != nil {
		return a, false, nil // the fresh answer says what is wrong
	}
	p, err := q.estimate(ctx, m)
	if err != nil || p == nil {
		return a, false, err
	}
	release, past, err := p.Combine(m.Integer)
	if err != nil {
		return a, false, err
	}
	s := quote.Stored{Index: m.Index, Public: m.Public, Past: past}
	if s.Release, err = release.MarshalBinary(); err != nil {
		return a, false, err
	}
	if c.Answer, err = s.Encode(); err != nil {
		return a, false, err
	}
	c.Mechanism, c.Assumption, c.Losses = ledger.Derived, p.Assumption(), map[string]privacy.Loss{}
	for secret := range q.request.Nominal() {
		c.Losses[secret] = privacy.Loss{}
	}
	c.Cells = q.cells(m, s.Past, release.Values(), defaultConfidence)
	if a, err = q.engine.ledger.Charge(context.WithoutCancel(ctx), c); err != nil {
		return ledger.Answer{}, false, ledgerError(err)
	}
	return a, true, nil
}

// derivedKey is that of an answer from the past: of the error that was asked for, and of whose answers it may be made.
func (q *question) derivedKey() ledger.Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "from past %s %s %q", q.key, q.error, scopes(q.shares)))
	return ledger.Key(hex.EncodeToString(sum[:]))
}

// estimate looks for an answer from the past; nil: there is none within the error that was asked for.
func (q *question) estimate(ctx context.Context, m *quote.Quote) (*reuse.Estimates, error) {
	r := q.request
	return q.engine.past.Estimate(ctx, shareBook{q}, reuse.Asked{
		Quote: m, Policy: r.Policy, Epoch: q.standing.Epoch, Within: q.error, Database: r.Database})
}

// shareBook is the ledger as a question's shares see it.
type shareBook struct{ q *question }

// Given implements reuse.Book.
func (b shareBook) Given(ctx context.Context, dataset string, after int64, most int) ([]ledger.Given, error) {
	given, err := b.q.engine.ledger.Given(ctx, dataset, after, most)
	if err != nil {
		return nil, ledgerError(err)
	}
	return given, nil
}

// Paid implements reuse.Book: where there are no shares, everybody has paid for everything.
func (b shareBook) Paid(ctx context.Context, key ledger.Key) (bool, error) {
	if len(b.q.shares) == 0 {
		return true, nil
	}
	_, paid, err := b.q.engine.ledger.Find(ctx, key, scopes(b.q.shares)...)
	if err != nil {
		return false, ledgerError(err)
	}
	return paid, nil
}

// explainPast says for people what an answer from the past is made of; empty: there is none.
func (q *question) explainPast(ctx context.Context, m *quote.Quote) (string, error) {
	if q.error == (privacy.Tolerance{}) {
		return "", nil
	}
	if a, ok, err := q.engine.ledger.Find(ctx, q.derivedKey(), scopes(q.shares)...); err != nil {
		return "", ledgerError(err)
	} else if ok {
		return fmt.Sprintf("given before as answer %d, from answers %s", a.ID, derivedFrom(a)), nil
	}
	p, err := q.estimate(ctx, m)
	if err != nil || p == nil {
		return "", err
	}
	least, most := p.Errors()
	return fmt.Sprintf("from answers %s, error (sd) %s to %s, within the %s asked for", list(p.From()), quote.Short(least), quote.Short(most), q.error), nil
}

// derivedFrom lists the answers that an answer was computed from; empty: it was drawn.
func derivedFrom(a ledger.Answer) string {
	var s quote.Stored
	if a.Mechanism != ledger.Derived || json.Unmarshal(a.Bytes, &s) != nil || s.Past == nil {
		return ""
	}
	return list(s.Past.From)
}

func list(ids []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]")
}
