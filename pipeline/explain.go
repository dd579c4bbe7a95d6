package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"fugu/dataset"
	"fugu/ledger"
	"fugu/parser"
	"fugu/planner"
	"fugu/privacy"
	"fugu/quote"
	"fugu/sensitivity"
	"fugu/sqlstate"
	"fugu/wire"
)

const readsNothing = "The statement reads no protected table."

// Explain derives the explanation; it reads no protected row and spends nothing.
func (q *question) Explain(ctx context.Context) (Explanation, error) {
	m, err := q.measure(ctx)
	if err != nil {
		return Explanation{}, err
	}
	x := explainQuote(q.request, m)
	x.Above, x.Leaves = q.statement.plan.Above, q.first()
	if err := q.worthless(ctx, m); err != nil {
		e := sqlstate.As(err)
		x.Refused = e.Message + " (" + e.Hint + ")"
	} else if q.limit == 0 {
		x.Warning = m.Warning()
	}

	// An answer that is there, or follows from others, costs nothing.
	_, x.Stored, err = q.engine.ledger.Find(ctx, q.key, scopes(q.shares)...)
	if err != nil {
		return x, ledgerError(err)
	}
	if !x.Stored {
		if x.Past, err = q.explainPast(ctx, m); err != nil {
			return x, err
		}
	}
	return x, q.explainCost(ctx, m, &x)
}

// explainQuote says what is asked, how far the secrets move it, and the noise that hides that.
func explainQuote(r *quote.Request, m *quote.Quote) Explanation {
	x := Explanation{Dataset: r.Policy.Dataset, Components: m.Width,
		Calibration: m.Calibration, Certificates: m.Calibration.Certificates,
		Mechanism: string(m.Calibration.Kind), Chosen: string(r.Mechanism), Assumption: m.Calibration.Assumption,
		Epsilon: float64(r.Budget.Epsilon), Delta: float64(r.Budget.Delta), Cuts: explainCuts(r, m),
		Noise: explainNoise(m)}
	if w := r.Policy.Privacy.Within; w != nil && m.Width > 0 {
		x.Relaxed = w.String()
	}
	for _, s := range m.Shifts {
		along := sensitivity.Shift{Along: s.Along, Beside: make([]float64, len(s.Along))}
		e := ExplainedSecret{s.Secret, s.Norm1(nil), s.Norm2(nil), along.Norm2(nil), s.Aside().Norm2(nil)}
		if n := len(x.Secrets); n > 0 && x.Secrets[n-1].Secret == s.Secret {
			x.Secrets[n-1].widen(e)
		} else {
			x.Secrets = append(x.Secrets, e)
		}
	}
	if m.Network != nil {
		x.Quilts = explainQuilts(m.Network, m.Quilts)
	}
	for k, l := range m.Labels {
		x.Values = append(x.Values, ExplainedValue{l.Column, l.Group, m.Calibration.SD[k], m.Expected[k],
			m.Inherent[k]})
	}
	return x
}

// explainCuts says what is asked below the cuts.
func explainCuts(r *quote.Request, m *quote.Quote) (out []ExplainedCut) {
	index := m.Index
	for i, c := range r.Cuts {
		e := ExplainedCut{Table: c.Table.String(), Cells: len(c.Cells), Model: m.Sources[i], Below: c.Statistics(),
			Bounds: m.Bounds[i]}
		here := len(c.Cells) * len(c.Aggregates)
		for _, k := range index[:here] {
			if _, ok := k.Public(); ok {
				e.Public++
			}
		}
		index = index[here:]
		for _, k := range c.Keys {
			e.Keys = append(e.Keys, k.Label)
		}
		for _, a := range c.Aggregates {
			e.Aggregates = append(e.Aggregates, a.Label)
		}
		out = append(out, e)
	}
	return out
}

// explainCost says what the statement takes from the budget and from shares.
func (q *question) explainCost(ctx context.Context, m *quote.Quote, x *Explanation) error {
	accounts, err := Accounts(ctx, q.engine.ledger, q.request.Policy, q.statement.session.user)
	if err != nil {
		return err
	}
	paid := map[string]bool{}
	for _, scope := range append([]string{ledger.Everybody}, scopes(q.shares)...) {
		if _, paid[scope], err = q.engine.ledger.Find(ctx, q.key, scope); err != nil {
			return ledgerError(err)
		}
	}
	losses, err := q.explainLosses(ctx, m, x)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		cost := ExplainedCost{Secret: a.Secret, Scope: a.Scope, Left: a.Left}
		if loss, ok := losses[a.Secret]; ok && !paid[a.Scope] && x.Past == "" {
			cost.Cost = math.Max(0, loss.Plus(a.loss).SpentAt(a.Delta, a.loss.Releases())-a.Spent)
		}
		x.Cost = append(x.Cost, cost)
	}
	return nil
}

// explainLosses returns what the statement would be charged, and says what the account of its dataset has to do with
// it.
func (q *question) explainLosses(ctx context.Context, m *quote.Quote,
	x *Explanation) (losses map[string]privacy.Loss, err error) {
	free := x.Stored || x.Past != ""
	switch {
	case m.Joint == nil && m.Width > 0:
		losses, x.Covariances, err = q.explainSpread(ctx, m, free)
		return losses, err
	case m.Joint == nil || free:
		return m.Calibration.Losses, nil
	}
	p, err := q.price(ctx, m)
	if sqlstate.Is(err, sqlstate.BudgetExhausted) {
		x.Together = err.Error()
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	secret, delta := p.dearest()
	x.Together = fmt.Sprintf("with all answers before, delta %s at epsilon %s for secret %s", quote.Short(delta),
		quote.Short(float64(q.request.Policy.Privacy.Budget.Epsilon)), secret)
	return p.losses, nil
}

// explainNoise says of each column how much noise it has.
func explainNoise(m *quote.Quote) []ExplainedNoise {
	var out []ExplainedNoise
	for k, l := range m.Labels {
		i := slices.IndexFunc(out, func(n ExplainedNoise) bool { return n.Column == l.Column })
		if i < 0 {
			i = len(out)
			out = append(out, ExplainedNoise{Column: l.Column, SDMin: math.Inf(1)})
		}
		n := &out[i]
		n.Components++
		n.SDMin, n.SDMax = math.Min(n.SDMin, m.Calibration.SD[k]), math.Max(n.SDMax, m.Calibration.SD[k])
		n.HalfWidth = math.Max(n.HalfWidth, m.Calibration.Noise.HalfWidth(k, defaultConfidence))
		n.Inherent = math.Max(n.Inherent, m.Inherent[k])
	}
	for i, e := range m.Errors() {
		if out[i].Error = e.Share; math.IsInf(e.Share, 1) {
			out[i].Error = -1
		}
	}
	return out
}

// explain answers EXPLAIN (PRIVACY).
func (q *question) explain(ctx context.Context, b wire.Binding, format parser.Explain) (wire.Bound, error) {
	x, err := q.Explain(ctx)
	if err == nil && len(q.statement.twins) > 0 {
		err = x.addTwins(ctx, q.statement, b)
	}
	if err != nil {
		return wire.Bound{}, err
	}
	return x.bound(format)
}

func (x Explanation) bound(format parser.Explain) (wire.Bound, error) {
	var column []planner.Value
	if format == parser.ExplainJSON {
		b, err := json.MarshalIndent([]Explanation{x}, "", "  ")
		if err != nil {
			return wire.Bound{}, fmt.Errorf("writing the explanation: %w", err)
		}
		column = []planner.Value{text(string(b))}
	} else {
		for _, l := range x.Lines() {
			column = append(column, text(l))
		}
	}
	return wire.Bound{Values: [][]byte{planner.Array(column)}}, nil
}

// notice says what was released, for SET fugu.notices = on.
func (q *question) notice(ctx context.Context, a ledger.Answer) wire.Notice {
	var parts []string
	seen := map[string]bool{}
	for _, c := range a.Cells {
		if !seen[c.Column] {
			seen[c.Column] = true
			parts = append(parts, fmt.Sprintf("%s noise sd %s", c.Column, quote.Short(c.SD)))
		}
	}
	cost := "stored answer, no cost"
	if ids := derivedFrom(a); ids != "" {
		cost = "from answers " + ids + ", no cost"
	}
	if q.paid {
		var most float64
		for _, l := range a.Losses {
			most = math.Max(most, l.EpsilonAt(float64(q.request.Budget.Delta)))
		}
		cost = fmt.Sprintf("epsilon %s, delta %s", quote.Short(most), quote.Short(float64(q.request.Budget.Delta)))
	}
	n := wire.Notice{Message: fmt.Sprintf("fugu: %s; %s, %s; %s", strings.Join(parts, ", "), a.Mechanism,
		rests(a.Assumption), cost)}
	if accounts, err := Accounts(ctx, q.engine.ledger, q.request.Policy, q.statement.session.user); err == nil {
		least := slices.MinFunc(accounts, func(a, b Account) int { return cmp.Compare(a.Left, b.Left) })
		n.Detail = fmt.Sprintf("epsilon %s of %s left", quote.Short(least.Left), quote.Short(least.Total))
	}
	return n
}

// explainQuilts says how secret parameters are hidden.
func explainQuilts(n *dataset.Network, quilts []sensitivity.Quilt) []ExplainedQuilt {
	var out []ExplainedQuilt
	for _, q := range quilts {
		out = append(out, ExplainedQuilt{q.Attribute, n.Names(q.Near), n.Names(q.Quilt), q.Influence, q.Width})
	}
	return out
}
