package pipeline

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"fugu/dataset"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
)

// maxGiven is how many answers, the newest, others are computed from.
const maxGiven = 1000

// kept is what an answer is of, beside its values, so that others can be computed from it. Nothing of it depends on protected
// rows.
type kept struct {
	Policy     string // its fingerprint
	Assumption string // that the answer rests on
	Law        mechanism.Law
	Layers     []keptLayer
}

// keptLayer are the components of one grouping set, by row function and cell; -1 where the model has none.
type keptLayer struct {
	planner.Layer
	Values map[string][]int

	most map[string]float64 // by row function: what one row can add
	of   *dataset.Protected
}

// layers describes a cut of which f is the model, and offset its first component; whole reports whether that is all there
// is of it: everything that is asked for is a sum over rows.
func (q *question) layers(ctx context.Context, c *planner.Bound, f modelled, offset int) (out []keptLayer, whole bool, err error) {
	if q.policy.Privacy.Error == (privacy.Tolerance{}) || f.root == nil {
		return nil, false, nil
	}
	layers, err := c.Layers(ctx, q.database)
	whole = len(layers) > 0
	for _, l := range layers {
		k := keptLayer{Layer: l, Values: map[string][]int{}, most: map[string]float64{}, of: f.root}
		for agg := range c.Aggregates {
			name, most, ok := c.Row(agg, f.limits)
			if whole = whole && ok; !ok {
				continue
			}
			components := make([]int, len(c.Cells))
			for i := range components {
				components[i] = -1
			}
			for i, comp := range f.components {
				if comp.Aggregate == agg {
					components[comp.Cell] = offset + i
				}
			}
			k.Values[name], k.most[name] = components, most
		}
		out = append(out, k)
	}
	return out, whole, err
}

// keep is what an answer is kept with; nil: nothing can be computed from it.
func (m *measured) keep(p *policy.Policy) *kept {
	if len(m.layers) == 0 || m.given {
		return nil
	}
	return &kept{p.Fingerprint, m.calibration.Assumption, m.calibration.Noise.Law(), m.layers}
}

// past are the answers that others can be computed from, as far as this process has read them.
type past struct {
	mu sync.Mutex
	of map[string]*pastAnswers // by dataset
}

type pastAnswers struct {
	last  int64
	given []given // newest first
}

type given struct {
	ledger.Given
	kept
	release mechanism.Release
}

// read returns the answers of a dataset, with those that the ledger has beside.
func (p *past) read(ctx context.Context, l ledger.Ledger, dataset string) ([]given, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[string]*pastAnswers{}
	}
	known := p.of[dataset]
	if known == nil {
		known = &pastAnswers{}
		p.of[dataset] = known
	}
	more, err := l.Given(ctx, dataset, known.last, maxGiven)
	if err != nil {
		return nil, ledgerError(err)
	}
	if len(more) > 0 {
		known.last = more[0].ID
	}
	var fresh []given
	for _, g := range more {
		if x, ok := readGiven(g); ok {
			fresh = append(fresh, x)
		}
	}
	known.given = slices.Concat(fresh, known.given)
	known.given = slices.Clip(known.given[:min(len(known.given), maxGiven)])
	return known.given, nil
}

// readGiven takes in an answer; false: nothing can be computed from it.
func readGiven(g ledger.Given) (given, bool) {
	var s stored
	if json.Unmarshal(g.Bytes, &s) != nil || s.Of == nil {
		return given{}, false
	}
	out := given{Given: g, kept: *s.Of}
	out.Bytes = nil
	if out.release.UnmarshalBinary(s.Release) != nil || out.Law.Check(out.release.Len()) != nil {
		return given{}, false
	}
	for _, l := range out.Layers {
		for _, components := range l.Values {
			for _, cell := range l.Cells {
				if cell < 0 || cell >= len(components) {
					return given{}, false
				}
			}
			if slices.ContainsFunc(components, func(k int) bool { return k < -1 || k >= out.release.Len() }) {
				return given{}, false
			}
		}
		if len(l.Manner) != len(l.Axes) {
			return given{}, false
		}
	}
	return out, true
}
