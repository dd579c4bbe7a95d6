package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"

	"fugu/dataset"
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

// measure returns what is known of the question, which the cache makes one scan of the reference for each.
func (q *question) measure(ctx context.Context) (*measured, error) {
	return q.engine.searches.measure(ctx, q.statement.snapshot.measured, q.statement.session.user, q.request)
}

// measure looks for the noise of a request where there is room, unless that is remembered.
func (s *searches) measure(ctx context.Context, known *cache[ledger.Key, *measured], user string, r *request) (*measured, error) {
	if m, ok := known.get(r.key); ok {
		return m, nil
	}
	var m *measured
	err := s.run(ctx, user, r.values(), func(ctx context.Context, rest func()) (err error) {
		// Others may have looked for the same meanwhile.
		var found bool
		if m, found = known.get(r.key); found {
			return nil
		}
		if m, err = r.measure(ctx, rest); err == nil {
			known.add(r.key, m, weight(m))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
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
		binding = m.binding(float64(q.request.budget.Delta))
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
