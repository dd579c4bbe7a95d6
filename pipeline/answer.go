package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/parser"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sqlstate"
	"fugu/upstream"
	"fugu/wire"
)

// Bind answers the statement for one binding of its parameters: with arrays that stand in the place of protected
// tables.
func (s *statement) Bind(ctx context.Context, b wire.Binding) (wire.Bound, error) {
	defer s.session.engine.searches.Serve()()
	ask, told := b.Ask, false
	b.Ask = func(ctx context.Context, sql string) ([][]string, error) {
		rows, err := ask(ctx, sql)
		told = told || err != nil // by the server, to the client
		return rows, err
	}
	s.found = nil
	bound, err := s.bind(ctx, b)
	if err == nil && len(s.twins) > 0 {
		bound.Notices = append(s.introduce(), bound.Notices...)
	}
	if err != nil && !told {
		s.refused(ctx, err)
	}
	return bound, err
}

func (s *statement) bind(ctx context.Context, b wire.Binding) (wire.Bound, error) {
	switch {
	case s.plain != nil:
		return wire.Bound{Notices: []wire.Notice{{
			Message: fmt.Sprintf("these are rows of %s, not of %s", s.plain.Reference, s.plain.Table),
			Hint:    "Rows of a protected table are not shown; the policy offers its reference instead."}}}, nil
	case s.execute != nil:
		return s.run(ctx, b)
	case (s.plan != nil && !s.prepare || s.masked || len(s.twins) > 0) && !s.session.engine.serves(s.snapshot) &&
		!hook.StaleStatements:
		return wire.Bound{}, sqlstate.New(sqlstate.FeatureNotSupported, "the policy has changed since the statement "+
			"was prepared").WithHint("Prepare it again.")
	case s.plan == nil || s.prepare:
		return wire.Bound{}, nil
	}
	return s.respond(ctx, b, s.plan.Explain)
}

// respond answers the statement, or explains how it would.
func (s *statement) respond(ctx context.Context, b wire.Binding, explain parser.Explain) (wire.Bound, error) {
	if s.noData && explain == parser.NoExplain {
		return wire.Bound{Values: empty(s.plan)}, nil
	}
	if s.probe != "" {
		if _, err := b.Ask(ctx, s.probe); err != nil {
			return wire.Bound{}, err
		}
	}
	if err := s.meansWhatItSays(ctx, b); err != nil {
		return wire.Bound{}, err
	}
	set := settings{confidence: defaultConfidence}
	if s.session.touched {
		var err error
		if set, err = readSettings(ctx, b.Ask); err != nil {
			return wire.Bound{}, err
		}
	}
	tables := s.plan.Ordinary()
	if len(tables) == 0 {
		return s.bindOn(ctx, b, explain, set, s.session.engine.reader, nil)
	}
	if err := s.mayRead(ctx, b, tables); err != nil {
		return wire.Bound{}, err
	}
	var bound wire.Bound
	err := s.session.engine.reader.InSnapshot(ctx, locked(tables), s.snapshot.ProtectedTables(),
		func(snap *upstream.Snapshot) (err error) {
			bound, err = s.bindOn(ctx, b, explain, set, snap, snap.Contents)
			return err
		})
	return bound, err
}

// bindOn answers or explains the statement on db.
func (s *statement) bindOn(ctx context.Context, b wire.Binding, explain parser.Explain, set settings, db database,
	contents []string) (wire.Bound, error) {
	if s.policy == nil { // nothing below is protected by noise
		return s.bindFree(ctx, b, explain)
	}
	q, err := s.question(ctx, b, set, db, contents)
	if err != nil {
		return wire.Bound{}, err
	}
	if explain != parser.NoExplain {
		return q.explain(ctx, b, explain)
	}
	free, err := s.free(ctx, b)
	if err != nil {
		return wire.Bound{}, err
	}
	a, err := q.answer(ctx)
	if err != nil {
		return wire.Bound{}, err
	}
	var bound wire.Bound
	if bound.Values, err = q.arrays(a); err != nil {
		return wire.Bound{}, err
	}
	if err := q.record(ctx, a); err != nil {
		return wire.Bound{}, err
	}
	bound.Notices = q.warning(ctx)
	if set.notices {
		bound.Notices = append(bound.Notices, q.notice(ctx, a))
	}
	bound.Values = append(bound.Values, free...)
	return s.inlined(bound)
}

// bindFree answers or explains a statement that costs nothing.
func (s *statement) bindFree(ctx context.Context, b wire.Binding, explain parser.Explain) (wire.Bound, error) {
	if explain != parser.NoExplain {
		x := Explanation{Above: readsNothing}
		if len(s.twins) > 0 {
			if err := x.addTwins(ctx, s, b); err != nil {
				return wire.Bound{}, err
			}
		}
		return x.bound(explain)
	}
	free, err := s.free(ctx, b)
	if err != nil {
		return wire.Bound{}, err
	}
	return s.inlined(wire.Bound{Values: free})
}

// inlined writes the values into the text of a statement that takes no parameters.
func (s *statement) inlined(bound wire.Bound) (_ wire.Bound, err error) {
	if s.probe != "" {
		bound.Text, err = parser.Inline(s.plan.SQL, s.plan.ClientParams+1, bound.Values)
		bound.Values = nil
	}
	return bound, err
}

// answer is the corridor. Nothing before Charge has seen a protected row, and what comes behind it is no more than was
// charged. Where another is answering the same, it waits for that and looks again.
func (q *question) answer(ctx context.Context) (ledger.Answer, error) {
	if hook.NoStored {
		q.key = q.once() // what is asked anew is of the same model
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

// attempt is one pass through the corridor. done: the answer is there; otherwise it is worth another pass.
func (q *question) attempt(ctx context.Context) (a ledger.Answer, done bool, err error) {
	if err := current(q.request.Policy, q.standing); err != nil {
		return ledger.Answer{}, false, err
	}
	found, ok, err := q.engine.ledger.Find(ctx, q.key, scopes(q.shares)...)
	if err != nil {
		return ledger.Answer{}, false, ledgerError(err)
	} else if ok {
		return found, true, failed(found)
	}
	charge := q.wanted()
	if !found.Pending { // otherwise it has been paid for
		if a, ok, err := q.fromPast(ctx, charge); ok || err != nil {
			return a, ok, err
		}
		if err := q.unlimited(ctx); err != nil {
			return ledger.Answer{}, false, err
		}
		if a, joined, err := q.join(ctx, charge); joined || err != nil {
			return a, joined, err
		}
	}

	m, err := q.measure(ctx)
	if sqlstate.Is(err, sqlstate.StatisticsFailed) && !found.Pending {
		// The reference's rows fail already. It costs the same as when only the protected ones do: what a statement
		// costs must not tell which of them it was.
		charge.Losses = q.request.Nominal()
		a, err = q.fail(ctx, charge, err)
		return a, true, err
	} else if err != nil {
		return ledger.Answer{}, false, err
	}
	// group keys alone, averages of which the model knows nothing, what the policy makes public: all of it is public
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

// wanted is what is asked of the ledger for an answer, but for the price.
func (q *question) wanted() ledger.Charge {
	p := q.request.Policy
	return ledger.Charge{Key: q.key, Dataset: p.Dataset, Epoch: q.standing.Epoch, User: q.statement.session.user,
		Statement: q.statement.fingerprint, Requested: q.request.Budget,
		Limit: total(p.Privacy.Budget), Shares: q.shares, Renew: p.Privacy.Budget.Renew}
}

// pay charges the question at its price. The answer that it returns is charged and still to be found, if it is pending;
// done says that it is there already. Otherwise it is worth another pass.
func (q *question) pay(ctx context.Context, charge ledger.Charge,
	m *quote.Quote) (a ledger.Answer, done bool, err error) {
	p, err := q.price(ctx, m)
	if err != nil {
		return ledger.Answer{}, false, err
	}
	charge.Losses = p.losses
	if err := q.covered(ctx, charge); err != nil {
		// What has used the budget up may have been this very question, asked by another at the same moment.
		if a, ok, _ := q.engine.ledger.Find(ctx, q.key, scopes(q.shares)...); ok {
			return a, true, failed(a)
		} else if a.Pending {
			return ledger.Answer{}, false, nil
		}
		return ledger.Answer{}, false, err
	}
	if hook.ChargeLate || hook.FreeFailures {
		a, err = q.late(ctx, charge, m, p)
		return a, true, err
	}
	a, err = q.book(ctx, charge, m, p)
	return a, err != nil || !a.Pending, err
}

// join charges shares for an answer that others were told before, at the price of that answer; no row is read for it.
func (q *question) join(ctx context.Context, c ledger.Charge) (a ledger.Answer, joined bool, err error) {
	if len(c.Shares) == 0 { // everybody has not paid
		return ledger.Answer{}, false, nil
	}
	a, ok, err := q.engine.ledger.Find(ctx, c.Key)
	if err != nil {
		return ledger.Answer{}, false, ledgerError(err)
	}
	if !ok {
		return ledger.Answer{}, false, nil
	}
	c.Losses, c.Mechanism, c.Assumption, c.Answer, c.Failed = a.Losses, a.Mechanism, a.Assumption, a.Bytes, a.Failed
	a, err = q.charge(ctx, c)
	return a, true, err
}

// charge makes the answer durable together with its cost; an answer that was stored meanwhile takes its place.
func (q *question) charge(ctx context.Context, c ledger.Charge) (ledger.Answer, error) {
	if hook.NoCharge {
		c.Losses = make(map[string]privacy.Loss)
		for _, sec := range q.request.Policy.Secrets {
			c.Losses[sec.Name] = privacy.Loss{}
		}
	}
	a, err := q.engine.ledger.Charge(context.WithoutCancel(ctx), c)
	if err != nil {
		return ledger.Answer{}, ledgerError(err)
	}
	hook.Point("after the charge")
	q.paid = true
	return a, failed(a)
}

// fail charges a statement that failed on its rows. The failure is stored as its answer, unless it may pass: then every
// try is charged, under a key that will not be asked for again.
func (q *question) fail(ctx context.Context, c ledger.Charge, cause error) (ledger.Answer, error) {
	c.Failed, c.Certificates = true, nil
	if hook.FreeFailures {
		return ledger.Answer{}, cause
	}
	if errors.Is(cause, upstream.ErrInterrupted) {
		c.Key = q.once()
	}
	a, err := q.charge(ctx, c)
	if sqlstate.Is(err, sqlstate.StatisticsFailed) {
		err = cause
	}
	return a, err
}

// once is a key that will not be asked for again.
func (q *question) once() ledger.Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", q.key, q.statement.session.user, time.Now().UnixNano()))
	return ledger.Key(hex.EncodeToString(sum[:]))
}

// covered refuses a statement that the budget or a share does not cover before any protected row is read.
func (q *question) covered(ctx context.Context, c ledger.Charge) error {
	for _, x := range append([]ledger.Share{{Scope: ledger.Everybody, Limit: c.Limit}}, c.Shares...) {
		accounts, err := spent(ctx, q.engine.ledger, c.Dataset, x.Scope, q.standing)
		if err != nil {
			return err
		}
		for secret, loss := range c.Losses {
			var spent privacy.Loss
			for _, a := range accounts {
				if a.Secret == secret {
					spent = a.Loss
				}
			}
			if !spent.Plus(loss).Allowed(x.Limit, spent.Releases()) && !(hook.Apart && x.Scope == ledger.Everybody) {
				return ledgerError(&ledger.Exhausted{Dataset: c.Dataset, Scope: x.Scope, Secret: secret,
					Limit: x.Limit, Spent: spent, Wanted: loss})
			}
		}
	}
	return nil
}

// failed is the error of a stored failure.
func failed(a ledger.Answer) error {
	if a.Failed {
		return upstream.ErrStatistics
	}
	return nil
}

func ledgerError(err error) error {
	var x *ledger.Exhausted
	if errors.As(err, &x) {
		return sqlstate.New(sqlstate.BudgetExhausted, "%s", x.Error()).
			WithHint("Answers already given stay free; a smaller fugu.epsilon costs less. SELECT * FROM fugu.budget " +
				"shows what is left.")
	}
	var stale *ledger.Stale
	if errors.As(err, &stale) {
		return sqlstate.New(sqlstate.SerializationFailure, "%s", stale.Error()).WithHint("Ask again: the answer " +
			"will be about the data that there are now.")
	}
	return sqlstate.New(sqlstate.CannotConnectNow, "the privacy ledger is not available, so nothing can be answered").
		Because(err)
}
