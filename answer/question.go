package answer

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"fugu/account"
	"fugu/dataset"
	"fugu/internal/trace"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/quote"
	"fugu/reuse"
	"fugu/upstream"
)

// Desk is where the questions about one database are answered. It is safe for concurrent use once its fields are set,
// which are not changed after the first question.
type Desk struct {
	Ledger   ledger.Ledger
	Reader   *upstream.Reader
	Searches *quote.Searches // for noise, which share the processors
	Grid     time.Duration   // before which no answer of protected rows leaves; 0: answers leave when they are there

	covariances account.Covariances
	past        reuse.Past
	places      places
}

// Known is what has been worked out of a snapshot of policies since it was loaded, and goes with it.
type Known struct {
	loaded *dataset.Snapshot
	quotes *quote.Memory
	joint  map[*policy.Policy]*account.Joint // of policies that have a joint account
}

// Learn begins with a snapshot of which nothing has been worked out yet. An error says that a policy cannot have the
// joint account that it asks for.
func Learn(loaded *dataset.Snapshot, policies []*policy.Policy) (*Known, error) {
	k := &Known{loaded: loaded, quotes: quote.NewMemory(), joint: map[*policy.Policy]*account.Joint{}}
	for _, p := range policies {
		if p.Privacy.Composition != policy.Jointly {
			continue
		}
		var err error
		if k.joint[p], err = account.NewJoint(loaded, p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Source, err)
		}
	}
	return k, nil
}

// Joint is the joint account of a policy; nil: it has none.
func (k *Known) Joint(p *policy.Policy) *account.Joint { return k.joint[p] }

// Database is where a question's cuts are measured and asked: the reader, or one snapshot of the database.
type Database interface {
	planner.Querier
	Statistics(ctx context.Context, questions []upstream.Question, start []*big.Rat, done upstream.Done) error
}

// Asked is what a client asks, who it is, and what the answer may cost and be like.
type Asked struct {
	User      string
	Statement string // its fingerprint, for the audit
	Above     string // the statement that the guest runs on the answer, for people
	Policy    *policy.Policy
	Budget    privacy.Budget
	Mechanism mechanism.Kind
	Error     privacy.Tolerance // an answer from the past may be off by so much; the zero value: noise is drawn afresh
	Limit     privacy.Worth     // more noise than this is refused before it is charged; 0: no limit

	Confidence float64 // of the intervals that are told

	Database Database
	Contents []string // tells what the ordinary tables hold that the cuts read

	// Bind returns the cuts, with the values of their parameters.
	Bind func(context.Context) ([]*planner.Bound, error)
}

// Question is what one binding of a statement asks of protected rows: a request, and who pays for its answer.
type Question struct {
	Request *quote.Request
	Key     ledger.Key // of the answer

	desk     *Desk
	known    *Known
	asked    Asked
	shares   []ledger.Share
	standing ledger.Standing // of the dataset, before anything was read
	paid     bool            // the answer was charged for now, and not found
}

// Question takes in what is asked. It reads no protected row.
func (d *Desk) Question(ctx context.Context, known *Known, a Asked) (_ *Question, err error) {
	q := &Question{desk: d, known: known, asked: a, shares: account.Shares(a.Policy.Privacy.Budget, a.User)}
	if q.standing, err = account.Stands(ctx, d.Ledger, a.Policy); err != nil {
		return nil, err
	}
	q.Request = &quote.Request{Dataset: known.loaded, Policy: a.Policy, Budget: a.Budget, Mechanism: a.Mechanism,
		Database: a.Database, Reference: known.loaded.Fitted[a.Policy].Over(a.Database), Timeout: d.Reader.Timeout()}
	if q.Request.Cuts, err = a.Bind(ctx); err != nil {
		return nil, err
	}
	return q, q.identify()
}

// identify gives the question the key of its answer.
func (q *Question) identify() error {
	if err := q.Request.Identify(q.standing.Epoch, q.asked.Contents); err != nil {
		return err
	}
	q.Key = ledger.Key(q.Request.Key)
	return nil
}

// At is the same question at another ε, also beyond the policy's: a preview is how an owner chooses it.
func (q *Question) At(epsilon privacy.Epsilon) (*Question, error) {
	other, request := *q, *q.Request
	request.Budget.Epsilon = epsilon
	other.Request = &request
	return &other, other.identify()
}

// Epoch returns the epoch of the data that the question is about.
func (q *Question) Epoch() int64 { return q.standing.Epoch }

// Current refuses a question about data of another epoch than the ledger's.
func (q *Question) Current() error { return account.Current(q.Request.Policy, q.standing) }

// Scopes names the shares that pay for the answer, besides everybody's.
func (q *Question) Scopes() []string { return account.Scopes(q.shares) }

// books are those that the question's answer is booked in.
func (q *Question) books() account.Books {
	return account.Books{Ledger: q.desk.Ledger, Joint: q.known.joint, Covariances: &q.desk.covariances}
}

// Price is what the answer costs beside all that were given.
func (q *Question) Price(ctx context.Context, m *quote.Quote) (_ account.Price, err error) {
	ctx, span := trace.Begin(ctx, trace.Price)
	defer span.End(&err)
	return q.books().Price(ctx, q.priced(m))
}

// priced returns what the books need to know to price the answer.
func (q *Question) priced(m *quote.Quote) account.Asked {
	return account.Asked{Request: q.Request, Quote: m, Standing: q.standing}
}

// Measure returns what is known of the question.
func (q *Question) Measure(ctx context.Context) (_ *quote.Quote, err error) {
	ctx, span := trace.Begin(ctx, trace.Quote)
	defer span.End(&err)
	return q.quote(ctx, q.Request)
}

// quote returns what is known of a request, the question's or one like it. What is not remembered is read from the
// reference, which may be as large as the table, and costs no budget.
func (q *Question) quote(ctx context.Context, r *quote.Request) (*quote.Quote, error) {
	if known, ok := q.known.quotes.Known(r); ok {
		return known, nil
	}
	ctx, leave, err := q.desk.Place(ctx, q.asked.User)
	if err != nil {
		return nil, err
	}
	defer leave()
	return q.known.quotes.Quote(ctx, q.desk.Searches, q.asked.User, r)
}

// cells describes each released value: its noise, an interval that holds the value without noise at the confidence, and
// the secret that it tells most about. A value that was computed from past answers has their error, and tells nothing
// new; past is nil for any other.
func (q *Question) cells(m *quote.Quote, past *quote.Past, values []string, confidence float64) []ledger.Cell {
	binding := ""
	if past == nil {
		binding = m.Binding(float64(q.Request.Budget.Delta))
	}

	// Each value has the error by which it was released, or by which it was computed.
	out := make([]ledger.Cell, m.Width)
	for k := range out {
		v, _ := new(big.Rat).SetString(values[k])
		x, _ := v.Float64()
		h, sd := 0.0, m.Calibration.SD[k]
		if past == nil {
			h = m.Calibration.Noise.HalfWidth(k, confidence)
		} else {
			h, sd = past.Errors[k].HalfWidth(confidence), past.Errors[k].SD()
		}
		out[k] = ledger.Cell{Column: m.Labels[k].Column, GroupKey: m.Labels[k].Group, Value: values[k], SD: sd,
			Lower: x - h, Upper: x + h, Secret: binding}
	}
	return out
}
