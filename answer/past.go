package answer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"fugu/account"
	"fugu/explain"
	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/privacy"
	"fugu/quote"
	"fugu/reuse"
)

// answerFromPast answers the question from what was answered before, if that is within the error that was asked for. It
// costs nothing: what it returns is a function of answers that have been paid for, by everybody and by all shares of
// whoever asks. Whether it answers, and how, depends on the statements, on their noise and on the reference: on no
// protected row, nor on any value that was released.
func (q *Question) answerFromPast(ctx context.Context, c ledger.Charge) (a ledger.Answer, ok bool, err error) {
	if q.asked.Error == (privacy.Tolerance{}) || hook.NoStored {
		return a, false, nil
	}
	c.Key = q.derivedKey()
	if a, ok, err = q.desk.Ledger.Find(ctx, c.Key, q.Scopes()...); err != nil {
		return a, false, account.Error(err)
	} else if ok {
		return a, true, nil
	}

	m, err := q.Measure(ctx)
	if err != nil {
		return a, false, nil // the fresh answer says what is wrong
	}
	p, err := q.FromPast(ctx, m)
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

	// It is booked like any other, and costs nothing: it is made of what has been told.
	c.Mechanism, c.Assumption, c.Losses = ledger.Derived, p.Assumption(), map[string]privacy.Loss{}
	for secret := range q.Request.Nominal() {
		c.Losses[secret] = privacy.Loss{}
	}
	c.Cells = q.cells(m, s.Past, release.Values(), explain.Confidence)
	if a, err = q.desk.Ledger.Charge(context.WithoutCancel(ctx), c); err != nil {
		return ledger.Answer{}, false, account.Error(err)
	}
	return a, true, nil
}

// derivedKey returns the key of an answer from the past. It depends on how far that may be off, and on whose answers it
// may be made of.
func (q *Question) derivedKey() ledger.Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "from past %s %s %q", q.Key, q.asked.Error, q.Scopes()))
	return ledger.Key(hex.EncodeToString(sum[:]))
}

// FromPast looks for an answer from the past, and returns nil if none is within the error that was asked for.
func (q *Question) FromPast(ctx context.Context, m *quote.Quote) (*reuse.Estimates, error) {
	r := q.Request
	return q.desk.past.Estimate(ctx, shareBook{q}, reuse.Wanted{
		Quote: m, Policy: r.Policy, Epoch: q.standing.Epoch, Within: q.asked.Error, Database: r.Database})
}

// shareBook is the ledger as a question's shares see it.
type shareBook struct{ q *Question }

// Given implements reuse.Book.
func (b shareBook) Given(ctx context.Context, dataset string, after int64, most int) ([]ledger.Given, error) {
	given, err := b.q.desk.Ledger.Given(ctx, dataset, after, most)
	if err != nil {
		return nil, account.Error(err)
	}
	return given, nil
}

// Paid implements reuse.Book: where there are no shares, everybody has paid for everything.
func (b shareBook) Paid(ctx context.Context, key ledger.Key) (bool, error) {
	if len(b.q.shares) == 0 {
		return true, nil
	}
	_, paid, err := b.q.desk.Ledger.Find(ctx, key, account.Scopes(b.q.shares)...)
	if err != nil {
		return false, account.Error(err)
	}
	return paid, nil
}

// explainPast says for people what an answer from the past is made of; empty: there is none.
func (q *Question) explainPast(ctx context.Context, m *quote.Quote) (string, error) {
	if q.asked.Error == (privacy.Tolerance{}) {
		return "", nil
	}
	if a, ok, err := q.desk.Ledger.Find(ctx, q.derivedKey(), q.Scopes()...); err != nil {
		return "", account.Error(err)
	} else if ok {
		return fmt.Sprintf("given before as answer %d, from answers %s", a.ID, From(a)), nil
	}
	p, err := q.FromPast(ctx, m)
	if err != nil || p == nil {
		return "", err
	}
	least, most := p.Errors()
	return fmt.Sprintf("from answers %s, error (sd) %s to %s, within the %s asked for", list(p.From()),
		quote.Short(least), quote.Short(most), q.asked.Error), nil
}

// From lists the answers that an answer was computed from; empty: it was drawn.
func From(a ledger.Answer) string {
	var s quote.Stored
	if a.Mechanism != ledger.Derived || json.Unmarshal(a.Bytes, &s) != nil || s.Past == nil {
		return ""
	}
	return list(s.Past.From)
}

func list(ids []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]")
}
