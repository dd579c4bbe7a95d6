package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"fugu/dataset"
	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
	"fugu/upstream"
)

// measured is all that is known about a question before any protected row is read: F's layout, how far the secrets move
// it, and the noise that this takes.
type measured struct {
	questions   []upstream.Question
	index       []int    // cut, cell, aggregate in order: the component of F, -1 where the model has none, -2-i for public[i]
	public      []string // values that everybody knows
	given       bool     // the model is one given public statistics
	sums        []mechanism.Sum
	width       int // components of F
	start       []*big.Rat
	shifts      []sensitivity.Shift
	network     *dataset.Network    // nil: no secret is a parameter
	quilts      []sensitivity.Quilt // of its secrets, in place of shifts
	inherent    []float64           // the largest sd of F's components under the model, over the secrets
	expected    []float64           // of each component: its mean under the model, which is public
	labels      []dataset.Label     // of each component
	integer     []bool              // likewise: whether its values are whole
	bounds      [][]string          // of each cut: what one row may contribute, for people
	sources     []string            // of each cut: where its model is from
	calibration mechanism.Calibration
	joint       *jointTerms      // what it brings into a joint account; nil: there is none
	spreads     *covarianceTerms // what it brings into the account of covariances; nil: there is none
	layers      []keptLayer      // whose sums over rows it is made of, as far as they can be told
	sumsOnly    bool             // and that is all of it
}

// measure derives F's model and noise from the reference; the cache makes it one scan for each question.
func (q *question) measure(ctx context.Context) (*measured, error) {
	key := q.key
	if hook.NoStored && q.modelled != "" { // what is asked anew is of the same model
		key = q.modelled
	}
	if m, ok := q.snapshot.measured.get(key); ok {
		return m, nil
	}
	values := 0
	for _, c := range q.cuts {
		values += len(c.Cells) * len(c.Aggregates)
	}
	var m *measured
	err := q.engine.searches.run(ctx, q.session.user, values, func(ctx context.Context, rest func()) (err error) {
		// Others may have looked for the same meanwhile.
		var found bool
		if m, found = q.snapshot.measured.get(key); found {
			return nil
		}
		if m, err = q.derive(ctx, rest); err == nil {
			q.snapshot.measured.add(key, m, weight(m))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// derive is measure without a memory, and without a limit; rest is called between the steps of the search.
func (q *question) derive(ctx context.Context, rest func()) (*measured, error) {
	m := &measured{sumsOnly: true}
	var parts [][]sensitivity.Shift
	var widths []int
	var components []mechanism.Component
	var models []modelled // those with components
	var asked []part      // likewise
	normal, wide := false, false
	blocks := valueBlocks{apart: q.policy.Privacy.Weights == policy.SamplingWeights, known: map[[3]int]int{}}
	var off displaced // how far F moves with the rows that the policy lets its model be off by
	for at, c := range q.cuts {
		if err := q.unaccounted(c); err != nil {
			return nil, err
		}
		ask := upstream.Question{Cut: c, SQL: c.Statistics(), Component: make([][]int, len(c.Cells))}
		for cell := range ask.Component {
			ask.Component[cell] = make([]int, len(c.Aggregates))
			for a := range c.Aggregates {
				ask.Component[cell][a] = -1
			}
		}
		var bounds []string
		var source string
		var exact map[model.Component]planner.Value
		if len(c.Aggregates) > 0 {
			f, err := q.model(ctx, c)
			if err != nil {
				return nil, err
			}
			ask.Args, ask.Types = c.Arguments(f.limits)
			bounds = append(f.describe(c), f.apart...)
			units := f.units(q.policy.Privacy.Weights, q.budget.Epsilon)
			if w := q.policy.Privacy.Within; w != nil && w.Rows > 0 {
				moved, err := f.reach(c, units, w.Rows, q.unlikely())
				if err != nil {
					return nil, err
				}
				off.add(moved)
			}
			if len(f.components) > 0 { // what is constant has no secret to hide
				parts, widths = append(parts, f.shifts), append(widths, len(f.components))
			}
			for k, comp := range f.components {
				ask.Component[comp.Cell][comp.Aggregate] = m.width + k
				agg := c.Aggregates[comp.Aggregate]
				components = append(components, mechanism.Component{Lattice: f.lattice[k], Unit: units[k], Integer: agg.Integer, Block: blocks.number(at, c.Cells[comp.Cell].Set, comp.Aggregate)})
				m.integer = append(m.integer, agg.Integer)
				m.labels = append(m.labels, dataset.Label{Column: agg.Label, Group: c.GroupKey(c.Cells[comp.Cell])})
			}
			m.start, m.inherent = append(m.start, f.typical...), append(m.inherent, f.inherent...)
			m.expected = append(m.expected, f.expected...)
			for _, sum := range f.sums {
				shifted := mechanism.Sum{Total: sum.Total}
				for _, k := range sum.Components {
					shifted.Components = append(shifted.Components, m.width+k)
				}
				m.sums = append(m.sums, shifted)
			}
			source, exact = f.source, f.exact
			m.given = m.given || f.given
			normal = normal || f.normal
			if len(f.components) > 0 {
				models, asked = append(models, f), append(asked, part{c, f, units})
				// What is known of how the covariances of second moments and of regression bend is too wide to certify noise by. A
				// declared law says its covariances itself.
				wide = wide || sampled(c) && f.source != fromPolicy || f.moments != nil && slices.ContainsFunc(c.Aggregates, func(a planner.Aggregate) bool { return a.Second() || a.Arguments == 2 && !a.Linear() })
			}
			layers, whole, err := q.layers(ctx, c, f, m.width)
			if err != nil {
				return nil, err
			}
			m.layers, m.sumsOnly = append(m.layers, layers...), m.sumsOnly && whole
			m.width += len(f.components)
		}
		m.questions, m.bounds, m.sources = append(m.questions, ask), append(m.bounds, bounds), append(m.sources, source)
		for cell, row := range ask.Component {
			for a, k := range row {
				if v, ok := exact[model.Component{Cell: cell, Aggregate: a}]; ok && !v.Null {
					k = -2 - len(m.public)
					m.public = append(m.public, v.Text)
				}
				m.index = append(m.index, k)
			}
		}
	}
	if m.width > 0 {
		m.shifts = sensitivity.Stack(parts, widths)
		var families []sensitivity.Family
		var err error
		if m.network, m.quilts, err = q.quilts(asked); err != nil {
			return nil, err
		}
		if !wide && m.network == nil {
			if families, err = q.families(ctx, models); err != nil {
				return nil, err
			}
		}
		m.calibration, err = q.calibrate(ctx, mechanism.Request{Shifts: m.shifts, Families: families, Quilts: m.quilts, Components: components, Budget: q.budget, Relaxed: q.relaxed(off),
			Absolute: q.policy.Privacy.Weights == policy.TotalWeights, Joint: q.policy.Privacy.Composition == policy.Jointly,
			Between: rest})
		if err != nil {
			return nil, err
		}
		if a := m.calibration.Assumption; normal && !strings.Contains(a, string(policy.Gaussian)) {
			m.calibration.Assumption = a + ", " + string(policy.Gaussian)
		}
		if q.policy.Privacy.Composition == policy.Jointly {
			m.calibration.Assumption = jointAssumption
			if m.joint, err = q.jointly(ctx, asked, m); err != nil {
				return nil, err
			}
		}
		if m.spreads, err = q.spreads(ctx, asked, m); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// calibrate looks for the noise, for as long as a statement may take.
func (q *question) calibrate(ctx context.Context, r mechanism.Request) (mechanism.Calibration, error) {
	if limit := q.engine.reader.Timeout(); limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	c, err := mechanism.Calibrate(ctx, q.kind, r)
	if errors.Is(err, context.DeadlineExceeded) {
		return c, tookTooLong(ctx, len(r.Components))
	}
	return c, err
}

// describe says within which bounds each row's contribution to a cut is taken.
func (m *modelled) describe(c *planner.Bound) []string {
	var out []string
	for i, t := range c.Bases {
		if t.Indicator {
			continue
		}
		source := "seen in the reference"
		switch {
		case t.Low != "":
			source = "declared by the policy"
		case c.Table.Reference == "":
			source = "whole numbers of 63 bits are"
		}
		what := t.Label
		if c.Joined() {
			what += " of one row of " + c.Table.String()
		}
		low, _ := m.limits[i].Low.Float64()
		high, _ := m.limits[i].High.Float64()
		out = append(out, fmt.Sprintf("%s in [%s, %s], as %s", what, short(low), short(high), source))
	}
	return out
}

// chance is the share of a statement's δ that bounds on coupled datasets may fail with, twice where averages are asked for.
const chance = 1.0 / 64

// shiftsOf says how far each secret of the table moves the components, and bounds their lattice steps: under the assumption
// that the distribution of F shifts, or, where the policy does not accept it, for coupled datasets.
func shiftsOf(t *dataset.Protected, m *model.Moments, b privacy.Budget) ([]sensitivity.Shift, []float64, error) {
	var out []sensitivity.Shift
	lattice := make([]float64, len(m.Components))
	for i, psi := range t.Psi {
		var s []sensitivity.Shift
		var err error
		switch width := t.Policy.Privacy.Estimation; {
		case t.Policy.Accepts(policy.Translation):
			s, err = m.Shifts(i, psi, width)
		case b.Delta > 0:
			s, err = m.Coupled(i, psi, width, chance*float64(b.Delta))
		default:
			err = sqlstate.New(sqlstate.ModelUnfit, "without an assumption on how statistics are distributed nothing is private at delta 0").
				WithHint("Set fugu.delta above 0; or the owner of the policy can accept an assumption: assume: [translation].")
		}
		if sqlstate.Is(err, sqlstate.ModelUnfit) {
			return nil, nil, err
		}
		if err != nil {
			return nil, nil, unsupported(t, psi.Name, err)
		}
		out = append(out, s...)
		for k, step := range m.LatticeSteps(i, psi) {
			lattice[k] = math.Max(lattice[k], step)
		}
	}
	return out, lattice, nil
}

// inherent is the largest standard deviation of each component under the model: what sampling alone makes of it.
func inherent(t *dataset.Protected, m *model.Moments) []float64 {
	out := make([]float64, len(m.Components))
	for i, psi := range t.Psi {
		for k, v := range m.Variances(i, psi) {
			out[k] = math.Max(out[k], math.Sqrt(v))
		}
	}
	return out
}

// stored is what the ledger keeps as an answer: the release, and where in it each cut's cells are.
type stored struct {
	Index   []int    // cut, cell, aggregate in order: the component of the release, -1 where the model has none, -2-i for Public[i]
	Public  []string `json:",omitempty"` // values that the policy gives
	Release []byte
	Of      *kept   `json:",omitempty"` // what the release is of; nil: nobody computes others from it
	Past    *pastOf `json:",omitempty"` // what it was computed from; nil: it was drawn
}

func (s stored) encode() ([]byte, error) { return json.Marshal(s) }

// encode makes the bytes that the ledger keeps.
func (m *measured) encode(r mechanism.Release, of *kept) ([]byte, error) {
	s := stored{Index: m.index, Public: m.public, Of: of}
	if m.width > 0 {
		var err error
		if s.Release, err = r.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return s.encode()
}

// cells describes each released value: its noise, an interval that holds the value without noise at the confidence, and
// the secret that it tells most about. past: it was computed, and tells nothing more.
func (q *question) cells(m *measured, past *pastOf, values []string, confidence float64) []ledger.Cell {
	binding := ""
	if past == nil {
		binding = m.binding(float64(q.budget.Delta))
	}
	out := make([]ledger.Cell, m.width)
	for k := range out {
		v, _ := new(big.Rat).SetString(values[k])
		x, _ := v.Float64()
		h, sd := 0.0, m.calibration.SD[k]
		if past == nil {
			h = m.calibration.Noise.HalfWidth(k, confidence)
		} else {
			h, sd = past.Errors[k].halfWidth(confidence), past.Errors[k].sd()
		}
		out[k] = ledger.Cell{Column: m.labels[k].Column, GroupKey: m.labels[k].Group, Value: values[k], SD: sd,
			Lower: x - h, Upper: x + h, Secret: binding}
	}
	return out
}

// binding is the secret that the release costs most.
func (m *measured) binding(delta float64) string {
	name, most := "", -1.0
	consider := func(secret string) {
		if e := m.calibration.Losses[secret].EpsilonAt(delta); e > most {
			name, most = secret, e
		}
	}
	for _, s := range m.shifts {
		consider(s.Secret)
	}
	for _, s := range m.quilts {
		consider(s.Attribute)
	}
	return name
}
