package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"fugu/ledger"
	"fugu/mechanism"
	"fugu/parser"
	"fugu/planner"
	"fugu/sensitivity"
	"fugu/sqlstate"
	"fugu/wire"
)

// Explanation is what EXPLAIN (PRIVACY) says of a statement: how it would be answered, and what that would cost.
type Explanation struct {
	Dataset    string            `json:"dataset"`
	Cuts       []ExplainedCut    `json:"cuts"`
	Secrets    []ExplainedSecret `json:"secrets"`
	Quilts     []ExplainedQuilt  `json:"quilts,omitempty"` // of secrets that are parameters
	Components int               `json:"components"`       // the length of F
	Mechanism  string            `json:"mechanism"`
	Chosen     string            `json:"chosen_by"` // the setting that chose it: auto, or its own name
	Assumption string            `json:"assumption"`
	Noise      []ExplainedNoise  `json:"noise"`
	Epsilon    float64           `json:"epsilon"`
	Delta      float64           `json:"delta"`
	Stored     bool              `json:"stored"`         // the answer is stored already, and costs nothing
	Past       string            `json:"past,omitempty"` // what it would be computed from, at no cost; empty: it would be drawn
	Cost       []ExplainedCost   `json:"cost"`
	Above      string            `json:"above"` // the statement that the guest runs on the noisy values

	Refused string `json:"refused,omitempty"` // why it would be refused for its noise; empty: it would not
	Warning string `json:"warning,omitempty"` // what is said of its noise when it is charged; empty: nothing

	Twins []ExplainedTwin `json:"twins,omitempty"` // that the statement reads

	// Relaxed is how far the policy lets the model be from the truth; empty: not at all.
	Relaxed string `json:"relaxed,omitempty"`

	// Together is what the joint account says of the statement and all answers before it; empty: there is no such account.
	Together string `json:"together,omitempty"`

	// Covariances say what all answers tell by covariances that differ under a secret's values, this statement's with them.
	Covariances []string `json:"covariances,omitempty"`

	Certificates []mechanism.Certificate `json:"certificates"` // of each secret: what this answer by itself guarantees

	Calibration mechanism.Calibration `json:"-"` // the noise itself
	Leaves      time.Duration         `json:"-"` // after which the answer leaves at the earliest, behind the first reading of a row
	Values      []ExplainedValue      `json:"-"` // each value that gets noise, in the order of the calibration's components
}

// ExplainedCut is one cut.
type ExplainedCut struct {
	Table      string   `json:"table"`
	Keys       []string `json:"keys"`
	Cells      int      `json:"cells"`
	Aggregates []string `json:"aggregates"`
	Model      string   `json:"model"`  // where f_θ is from: reference, prepared (of the reference, by fugu fit) or declared
	Public     int      `json:"public"` // values that the policy makes public: exact, and free
	Below      string   `json:"below"`  // the statistics statement
	Bounds     []string `json:"bounds"` // what one row may contribute; more is taken for the bound
}

// ExplainedSecret is how far a secret moves F.
type ExplainedSecret struct {
	Secret string  `json:"secret"`
	Norm1  float64 `json:"delta_e1"`
	Norm2  float64 `json:"delta_e2"`
	Along  float64 `json:"along"`  // length of the common direction
	Beside float64 `json:"beside"` // what leaves it
}

// widen makes e hold for another shift of the secret too.
func (e *ExplainedSecret) widen(o ExplainedSecret) {
	e.Norm1, e.Norm2 = math.Max(e.Norm1, o.Norm1), math.Max(e.Norm2, o.Norm2)
	e.Along, e.Beside = math.Max(e.Along, o.Along), math.Max(e.Beside, o.Beside)
}

// ExplainedNoise is the noise of one column: over its cells, the least and greatest standard deviation.
type ExplainedNoise struct {
	Column     string  `json:"column"`
	Components int     `json:"components"`
	SDMin      float64 `json:"noise_sd_min"`
	SDMax      float64 `json:"noise_sd_max"`
	HalfWidth  float64 `json:"interval_max"`    // half the width of the 95% interval around a released value
	Inherent   float64 `json:"sampling_sd_max"` // what F itself varies by under the model
	Error      float64 `json:"relative_error"`  // the noise as a share of the values expected, over all cells; -1: they are 0
}

// ExplainedCost is what a statement takes from one secret's budget, in ε at the δ of the dataset or share.
type ExplainedCost struct {
	Scope  string  `json:"scope,omitempty"` // empty: everybody's budget
	Secret string  `json:"secret"`
	Cost   float64 `json:"epsilon"`
	Left   float64 `json:"epsilon_left"` // before the statement
}

const readsNothing = "The statement reads no protected table."

// Explain derives the explanation; it reads no protected row and spends nothing.
func (q *question) Explain(ctx context.Context) (Explanation, error) {
	var x Explanation
	if q.policy == nil {
		x.Above = readsNothing
		return x, nil
	}
	m, err := q.measure(ctx)
	if err != nil {
		return x, err
	}
	_, x.Stored, err = q.engine.ledger.Find(ctx, q.key, scopes(q.shares)...)
	if err != nil {
		return x, ledgerError(err)
	}
	if !x.Stored {
		if x.Past, err = q.explainPast(ctx, m); err != nil {
			return x, err
		}
	}
	x.Dataset, x.Components = q.policy.Dataset, m.width
	x.Calibration, x.Certificates, x.Leaves = m.calibration, m.calibration.Certificates, q.first()
	x.Mechanism, x.Chosen, x.Assumption = string(m.calibration.Kind), string(q.kind), m.calibration.Assumption
	x.Epsilon, x.Delta = float64(q.budget.Epsilon), float64(q.budget.Delta)
	x.Above = q.plan.Above
	if w := q.policy.Privacy.Within; w != nil && m.width > 0 {
		x.Relaxed = w.String()
	}
	index := m.index
	for i, c := range q.cuts {
		e := ExplainedCut{Table: c.Table.String(), Cells: len(c.Cells), Model: m.sources[i], Below: c.Statistics(), Bounds: m.bounds[i]}
		here := len(c.Cells) * len(c.Aggregates)
		for _, k := range index[:here] {
			if k <= -2 {
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
		x.Cuts = append(x.Cuts, e)
	}
	for _, s := range m.shifts {
		along := sensitivity.Shift{Along: s.Along, Beside: make([]float64, len(s.Along))}
		e := ExplainedSecret{s.Secret, s.Norm1(nil), s.Norm2(nil), along.Norm2(nil), s.Aside().Norm2(nil)}
		if n := len(x.Secrets); n > 0 && x.Secrets[n-1].Secret == s.Secret {
			x.Secrets[n-1].widen(e)
		} else {
			x.Secrets = append(x.Secrets, e)
		}
	}
	if m.network != nil {
		x.Quilts = explainQuilts(m.network, m.quilts)
	}
	x.Noise = m.noise()
	if err := q.worthless(ctx, m); err != nil {
		e := sqlstate.As(err)
		x.Refused = e.Message + " (" + e.Hint + ")"
	} else if q.limit == 0 {
		x.Warning = m.warning()
	}
	for k, l := range m.labels {
		x.Values = append(x.Values, ExplainedValue{l.Column, l.Group, m.calibration.SD[k], m.expected[k], m.inherent[k]})
	}
	accounts, err := Accounts(ctx, q.engine.ledger, q.policy, q.session.user)
	if err != nil {
		return x, err
	}
	paid := map[string]bool{}
	for _, scope := range append([]string{ledger.Everybody}, scopes(q.shares)...) {
		if _, paid[scope], err = q.engine.ledger.Find(ctx, q.key, scope); err != nil {
			return x, ledgerError(err)
		}
	}
	losses := m.calibration.Losses
	if m.joint == nil && m.width > 0 {
		if losses, x.Covariances, err = q.explainSpread(ctx, m, x.Stored || x.Past != ""); err != nil {
			return x, err
		}
	}
	if m.joint != nil && !x.Stored && x.Past == "" {
		p, err := q.price(ctx, m)
		switch {
		case sqlstate.Is(err, sqlstate.BudgetExhausted):
			losses = nil
			x.Together = err.Error()
		case err != nil:
			return x, err
		default:
			losses = p.losses
			secret, delta := p.dearest()
			x.Together = fmt.Sprintf("with all answers before, delta %s at epsilon %s for secret %s", short(delta), short(float64(q.policy.Privacy.Budget.Epsilon)), secret)
		}
	}
	for _, a := range accounts {
		cost := ExplainedCost{Secret: a.Secret, Scope: a.Scope, Left: a.Left}
		if loss, ok := losses[a.Secret]; ok && !paid[a.Scope] && x.Past == "" {
			cost.Cost = math.Max(0, loss.Plus(a.loss).SpentAt(a.Delta, a.loss.Releases())-a.Spent)
		}
		x.Cost = append(x.Cost, cost)
	}
	return x, nil
}

func (m *measured) noise() []ExplainedNoise {
	var out []ExplainedNoise
	for k, l := range m.labels {
		i := slices.IndexFunc(out, func(n ExplainedNoise) bool { return n.Column == l.Column })
		if i < 0 {
			i = len(out)
			out = append(out, ExplainedNoise{Column: l.Column, SDMin: math.Inf(1)})
		}
		n := &out[i]
		n.Components++
		n.SDMin, n.SDMax = math.Min(n.SDMin, m.calibration.SD[k]), math.Max(n.SDMax, m.calibration.SD[k])
		n.HalfWidth = math.Max(n.HalfWidth, m.calibration.Noise.HalfWidth(k, defaultConfidence))
		n.Inherent = math.Max(n.Inherent, m.inherent[k])
	}
	for i, e := range m.errors() {
		if out[i].Error = e.share; math.IsInf(e.share, 1) {
			out[i].Error = -1
		}
	}
	return out
}

// Lines writes the explanation for people.
func (x Explanation) Lines() []string {
	if x.Dataset == "" {
		return append([]string{x.Above}, x.twinLines()...)
	}
	lines := []string{fmt.Sprintf("Answer from dataset %s: %d noisy values", x.Dataset, x.Components)}
	add := func(format string, args ...any) { lines = append(lines, "  "+fmt.Sprintf(format, args...)) }
	for i, c := range x.Cuts {
		by := ""
		if len(c.Keys) > 0 {
			by = fmt.Sprintf(" by %s (%d public combinations)", strings.Join(c.Keys, ", "), c.Cells)
		}
		add("Cut %d: %s of %s%s", i+1, strings.Join(c.Aggregates, ", "), c.Table, by)
		if c.Model != "" {
			add("  Model: %s", c.Model)
		}
		if c.Public > 0 {
			add("  Public: %d values, exact and free", c.Public)
		}
		add("  Below: %s", c.Below)
		for _, b := range c.Bounds {
			add("  Bounded: %s", b)
		}
	}
	add("Above: %s", x.Above)
	for _, s := range x.Secrets {
		add("Secret %s: moves F by at most %s (L1), %s (L2)", s.Secret, short(s.Norm1), short(s.Norm2))
	}
	for _, s := range x.Quilts {
		add("Parameter %s", s)
	}
	if x.Components > 0 {
		add("Mechanism: %s (%s), %s", x.Mechanism, x.Chosen, rests(x.Assumption))
	}
	if x.Relaxed != "" {
		add("Relaxed: %s", x.Relaxed)
	}
	for _, c := range x.Certificates {
		add("%s", certificateLine(c))
	}
	if x.Together != "" {
		add("Joint account: %s", x.Together)
	}
	for _, c := range x.Covariances {
		add("Covariances: %s", c)
	}
	for _, n := range x.Noise {
		sd := short(n.SDMin)
		if short(n.SDMax) != sd {
			sd += " to " + short(n.SDMax)
		}
		add("Noise of %s: sd %s, 95%% within ±%s (sampling alone: sd up to %s)", n.Column, sd, short(n.HalfWidth), short(n.Inherent))
	}
	if x.Refused != "" {
		add("Refused: %s", x.Refused)
	}
	if x.Warning != "" {
		add("Warning: %s", x.Warning)
	}
	if x.Past != "" {
		add("Past: %s", x.Past)
	}
	add("Asked: epsilon %s, delta %s", short(x.Epsilon), short(x.Delta))
	for _, c := range x.Cost {
		what := short(c.Cost)
		if x.Stored {
			what = "0 (the answer is stored)"
		} else if x.Past != "" {
			what = "0 (the answer is computed from past ones)"
		}
		of := ""
		if c.Scope != ledger.Everybody {
			of = " of the share " + c.Scope
		}
		add("Cost for secret %s: epsilon %s of the %s left%s", c.Secret, what, short(c.Left), of)
	}
	return append(lines, x.twinLines()...)
}

// rests says what a guarantee rests on.
func rests(assumption string) string {
	switch assumption {
	case mechanism.Coupling:
		return "resting on coupled datasets alone"
	case mechanism.Coupling + ", " + mechanism.RelaxedModel:
		return "resting on coupled datasets alone, relaxed"
	}
	return "assuming " + assumption
}

func certificateLine(c mechanism.Certificate) string {
	line := fmt.Sprintf("Certificate for secret %s (%s): delta %s at epsilon %s", c.Secret, strings.Join(c.Assumptions, ", "), short(c.Delta), short(c.Epsilon))
	if c.Pair != [2]float64{} {
		line += ", hardest pair " + pair(c.Pair)
	}
	switch {
	case c.Estimation > 0:
		line += "; epsilon " + short(c.Estimation) + " if the reference is off by two standard errors"
	case c.Estimation < 0:
		line += "; no epsilon if the reference is off by two standard errors"
	}
	return line
}

// explain answers EXPLAIN (PRIVACY).
func (q *question) explain(ctx context.Context, b wire.Binding, format parser.Explain) (wire.Bound, error) {
	x, err := q.Explain(ctx)
	if err == nil && len(q.twins) > 0 {
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
			parts = append(parts, fmt.Sprintf("%s noise sd %s", c.Column, short(c.SD)))
		}
	}
	cost := "stored answer, no cost"
	if ids := derivedFrom(a); ids != "" {
		cost = "from answers " + ids + ", no cost"
	}
	if q.paid {
		var most float64
		for _, l := range a.Losses {
			most = math.Max(most, l.EpsilonAt(float64(q.budget.Delta)))
		}
		cost = fmt.Sprintf("epsilon %s, delta %s", short(most), short(float64(q.budget.Delta)))
	}
	n := wire.Notice{Message: fmt.Sprintf("fugu: %s; %s, %s; %s", strings.Join(parts, ", "), a.Mechanism, rests(a.Assumption), cost)}
	if accounts, err := Accounts(ctx, q.engine.ledger, q.policy, q.session.user); err == nil {
		least := slices.MinFunc(accounts, func(a, b Account) int { return cmp.Compare(a.Left, b.Left) })
		n.Detail = fmt.Sprintf("epsilon %s of %s left", short(least.Left), short(least.Total))
	}
	return n
}
