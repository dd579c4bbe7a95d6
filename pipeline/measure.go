package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"

	"fugu/ledger"
	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/sensitivity"
	"fugu/sqlstate"
	"fugu/upstream"
)

// measured is all that is known about a question before any protected row is read: F's layout, how far the secrets move
// it, and the noise that this takes.
type measured struct {
	questions   []upstream.Question
	index       []int // cut, cell, aggregate in order: the component of F, -1 where the model has none
	width       int   // components of F
	start       []*big.Rat
	shifts      []sensitivity.Shift
	inherent    []float64  // the largest sd of F's components under the model, over the secrets
	labels      []label    // of each component
	bounds      [][]string // of each cut: what one row may contribute, for people
	calibration mechanism.Calibration
}

// label says what a component of F is.
type label struct{ column, group string }

// measure derives F's model and noise from the reference; the cache makes it one scan for each question.
func (q *question) measure(ctx context.Context) (*measured, error) {
	if m, ok := q.snapshot.measured.get(q.key); ok {
		return m, nil
	}
	m := &measured{}
	var parts [][]sensitivity.Shift
	var widths []int
	var components []mechanism.Component
	for _, c := range q.cuts {
		t := q.snapshot.find(c.Table.Schema, c.Table.Name)
		ask := upstream.Question{Cut: c, SQL: c.Statistics(), Component: make([][]int, len(c.Cells))}
		for cell := range ask.Component {
			ask.Component[cell] = make([]int, len(c.Aggregates))
			for a := range c.Aggregates {
				ask.Component[cell][a] = -1
			}
		}
		var bounds []string
		if len(c.Aggregates) > 0 {
			moments, err := model.Measure(ctx, q.database, c, t.totals)
			if err != nil {
				return nil, err
			}
			limits := moments.Limits()
			ask.Args, ask.Types = c.Arguments(limits)
			bounds = describe(c, limits)
			shifts, lattice, err := t.shifts(moments)
			if err != nil {
				return nil, err
			}
			parts, widths = append(parts, shifts), append(widths, len(moments.Components))
			for k, comp := range moments.Components {
				ask.Component[comp.Cell][comp.Aggregate] = m.width + k
				agg := c.Aggregates[comp.Aggregate]
				inherent := t.inherent(moments, k)
				// Error counts against what sampling alone makes of the component: so a sum of incomes and an average of
				// ages, a large group and a small one, weigh alike.
				unit := math.Hypot(inherent, lattice[k])
				components = append(components, mechanism.Component{Lattice: lattice[k], Unit: unit, Integer: agg.Integer})
				m.start = append(m.start, moments.Typical(k))
				m.labels = append(m.labels, label{agg.Label, c.GroupKey(c.Cells[comp.Cell])})
				m.inherent = append(m.inherent, inherent)
			}
			m.width += len(moments.Components)
		}
		m.questions, m.bounds = append(m.questions, ask), append(m.bounds, bounds)
		for _, row := range ask.Component {
			m.index = append(m.index, row...)
		}
	}
	if m.width > 0 {
		if !q.policy.Accepts(policy.Translation) {
			return nil, sqlstate.New(sqlstate.ModelUnfit, "the policy of dataset %s accepts no assumption under which a mechanism of this version is private", q.policy.Dataset).
				WithHint("The owner of the policy can accept it: assume: [translation].")
		}
		m.shifts = sensitivity.Stack(parts, widths)
		var err error
		m.calibration, err = mechanism.Calibrate(q.kind, mechanism.Request{Shifts: m.shifts, Components: components, Budget: q.budget})
		if err != nil {
			return nil, err
		}
	}
	q.snapshot.measured.add(q.key, m, weight(m))
	return m, nil
}

// describe says within which bounds each row's contribution to a cut is taken.
func describe(c *planner.Bound, limits []planner.Limit) []string {
	var out []string
	for i, t := range c.Terms {
		if !t.Sum {
			continue
		}
		source := "seen in the reference"
		if t.Low != "" {
			source = "declared by the policy"
		}
		what := t.Label
		if c.Joined() {
			what += " of one row of " + c.Table.String()
		}
		low, _ := limits[i].Low.Float64()
		high, _ := limits[i].High.Float64()
		out = append(out, fmt.Sprintf("%s in [%s, %s], as %s", what, short(low), short(high), source))
	}
	return out
}

// shifts says how far each secret of the table moves the components, and bounds their lattice steps.
func (t *protected) shifts(m *model.Moments) ([]sensitivity.Shift, []float64, error) {
	var out []sensitivity.Shift
	lattice := make([]float64, len(m.Components))
	for i, sec := range t.table.Secrets {
		span := t.spans[i]
		s, err := sensitivity.Between(sec.Name, span, m.Slope(i, span.From), m.Slope(i, span.To), m.Resolution(i, span.From, span.To))
		if err != nil {
			return nil, nil, sqlstate.New(sqlstate.ModelUnfit, "the reference of %s cannot support the statement at every value of secret %s", t.table, sec.Name).
				WithHint("Select more rows in WHERE, or group by fewer columns.").Because(err)
		}
		out = append(out, s)
		for k, step := range m.LatticeSteps(i, span.From, span.To) {
			lattice[k] = math.Max(lattice[k], step)
		}
	}
	return out, lattice, nil
}

// inherent is the largest standard deviation of a component under the model: what sampling alone makes of it.
func (t *protected) inherent(m *model.Moments, k int) float64 {
	v := 0.0
	for i, span := range t.spans {
		v = math.Max(v, math.Max(m.Covariance(i, span.From, k, k), m.Covariance(i, span.To, k, k)))
	}
	return math.Sqrt(v)
}

// encode makes the bytes that the ledger keeps.
func (m *measured) encode(r mechanism.Release) ([]byte, error) {
	s := stored{Index: m.index}
	if m.width > 0 {
		var err error
		if s.Release, err = r.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(s)
}

// cells describes each released value: its noise, an interval that holds the value without noise at the confidence, and
// the secret that it tells most about.
func (q *question) cells(m *measured, values []string, confidence float64) []ledger.Cell {
	binding := m.binding(float64(q.budget.Delta))
	out := make([]ledger.Cell, m.width)
	for k := range out {
		v, _ := new(big.Rat).SetString(values[k])
		x, _ := v.Float64()
		h := m.calibration.Noise.HalfWidth(k, confidence)
		out[k] = ledger.Cell{Column: m.labels[k].column, GroupKey: m.labels[k].group, Value: values[k], SD: m.calibration.SD[k],
			Lower: x - h, Upper: x + h, Secret: binding}
	}
	return out
}

// binding is the secret that the release costs most.
func (m *measured) binding(delta float64) string {
	name, most := "", -1.0
	for _, s := range m.shifts {
		if e := m.calibration.Losses[s.Secret].EpsilonAt(delta); e > most {
			name, most = s.Secret, e
		}
	}
	return name
}
