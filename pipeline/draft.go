package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"

	"fugu/dataset"
	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/sensitivity"
	"fugu/upstream"
)

// draft is what is known of a request while its cuts are gone through. Lists have an entry for each cut with components,
// or for each component.
type draft struct {
	*measured
	request    *request
	parts      []part
	components []mechanism.Component
	blocks     valueBlocks
	off        displaced // how far F moves with the rows that the policy lets its model be off by
	normal     bool      // a model rests on F being normal together with what is public
	// wide: what is known of how the covariances of second moments and of regression bend is too wide to certify noise
	// by. A declared law says its covariances itself.
	wide bool
}

// part is one cut: its model, and the units of its components.
type part struct {
	cut   *planner.Bound
	model modelled
	units []float64
}

// measure derives F's model and noise from the reference, and what the answer brings into the accounts of its dataset.
// rest is called between the steps of the search for noise.
func (r *request) measure(ctx context.Context, rest func()) (*measured, error) {
	d, err := r.derive(ctx, rest)
	if err != nil {
		return nil, err
	}
	if d.width > 0 {
		d.spreads, err = r.spreads(ctx, d.parts, d.measured)
	}
	return d.measured, err
}

// derive is measure without the account of covariances, of which fugu fit prepares nothing.
func (r *request) derive(ctx context.Context, rest func()) (*draft, error) {
	weights := r.policy.Privacy.Weights
	d := &draft{measured: &measured{sumsOnly: true}, request: r,
		blocks: valueBlocks{apart: weights == policy.SamplingWeights, known: map[[3]int]int{}}}
	for at, c := range r.cuts {
		if err := r.unaccounted(c); err != nil {
			return nil, err
		}
		if err := d.cut(ctx, at, c); err != nil {
			return nil, err
		}
	}
	if d.width == 0 {
		return d, nil
	}
	if err := d.calibrate(ctx, rest); err != nil {
		return nil, err
	}
	var err error
	if r.policy.Privacy.Composition == policy.Jointly {
		d.calibration.Assumption = jointAssumption
		d.joint, err = r.jointly(ctx, d.parts, d.measured)
	}
	return d, err
}

// cut takes a cut of the request's in: where its values stand in F, and what is modelled of them.
func (d *draft) cut(ctx context.Context, at int, c *planner.Bound) error {
	ask := upstream.Question{Cut: c, SQL: c.Statistics(), Component: make([][]int, len(c.Cells))}
	for cell := range ask.Component {
		ask.Component[cell] = slices.Repeat([]int{-1}, len(c.Aggregates))
	}
	var f modelled
	var bounds []string
	if len(c.Aggregates) > 0 {
		var err error
		if f, err = d.request.model(ctx, c); err != nil {
			return err
		}
		ask.Args, ask.Types = c.Arguments(f.limits)
		bounds = append(f.describe(c), f.apart...)
		if err := d.add(ctx, at, c, f, ask.Component); err != nil {
			return err
		}
	}
	d.questions, d.bounds, d.sources = append(d.questions, ask), append(d.bounds, bounds), append(d.sources, f.source)

	for cell, row := range ask.Component {
		for a, k := range row {
			if v, ok := f.exact[model.Component{Cell: cell, Aggregate: a}]; ok && !v.Null {
				k = -2 - len(d.public)
				d.public = append(d.public, v.Text)
			}
			d.index = append(d.index, k)
		}
	}
	return nil
}

// add appends the components of a cut's model to F, and writes down in places, by cell and aggregate, which they are.
func (d *draft) add(ctx context.Context, at int, c *planner.Bound, f modelled, places [][]int) error {
	p := d.request.policy.Privacy
	units := f.units(p.Weights, d.request.budget.Epsilon)
	if w := p.Within; w != nil && w.Rows > 0 {
		moved, err := f.reach(c, units, w.Rows, d.request.unlikely())
		if err != nil {
			return err
		}
		d.off.add(moved)
	}
	for k, comp := range f.components {
		places[comp.Cell][comp.Aggregate] = d.width + k
		agg := c.Aggregates[comp.Aggregate]
		d.components = append(d.components, mechanism.Component{Lattice: f.lattice[k], Unit: units[k], Integer: agg.Integer,
			Block: d.blocks.number(at, c.Cells[comp.Cell].Set, comp.Aggregate)})
		d.integer = append(d.integer, agg.Integer)
		d.labels = append(d.labels, dataset.Label{Column: agg.Label, Group: c.GroupKey(c.Cells[comp.Cell])})
	}
	d.start, d.inherent = append(d.start, f.typical...), append(d.inherent, f.inherent...)
	d.expected = append(d.expected, f.expected...)

	// Public totals are of components, which stand behind those of the cuts before.
	for _, sum := range f.sums {
		shifted := mechanism.Sum{Total: sum.Total}
		for _, k := range sum.Components {
			shifted.Components = append(shifted.Components, d.width+k)
		}
		d.sums = append(d.sums, shifted)
	}
	d.given, d.normal = d.given || f.given, d.normal || f.normal
	if len(f.components) > 0 { // what is constant has no secret to hide
		d.parts = append(d.parts, part{c, f, units})
		d.wide = d.wide || sampled(c) && f.source != fromPolicy ||
			f.moments != nil && slices.ContainsFunc(c.Aggregates, func(a planner.Aggregate) bool { return a.Second() || a.Arguments == 2 && !a.Linear() })
	}
	layers, whole, err := d.request.layers(ctx, c, f, d.width)
	if err != nil {
		return err
	}
	d.layers, d.sumsOnly = append(d.layers, layers...), d.sumsOnly && whole
	d.width += len(f.components)
	return nil
}

// calibrate looks for the noise that hides the secrets in all of F.
func (d *draft) calibrate(ctx context.Context, rest func()) error {
	var shifts [][]sensitivity.Shift
	var widths []int
	var models []modelled
	for _, p := range d.parts {
		shifts, widths, models = append(shifts, p.model.shifts), append(widths, len(p.model.components)), append(models, p.model)
	}
	d.shifts = sensitivity.Stack(shifts, widths)
	var families []sensitivity.Family
	var err error
	if d.network, d.quilts, err = d.request.quilts(d.parts); err != nil {
		return err
	}
	if !d.wide && d.network == nil {
		if families, err = d.request.families(ctx, models); err != nil {
			return err
		}
	}
	p := d.request.policy.Privacy
	d.calibration, err = d.request.calibrate(ctx, mechanism.Request{Shifts: d.shifts, Families: families, Quilts: d.quilts,
		Components: d.components, Budget: d.request.budget, Relaxed: d.request.relaxed(d.off),
		Absolute: p.Weights == policy.TotalWeights, Joint: p.Composition == policy.Jointly, Between: rest})
	if err != nil {
		return err
	}
	if a := d.calibration.Assumption; d.normal && !strings.Contains(a, string(policy.Gaussian)) {
		d.calibration.Assumption = a + ", " + string(policy.Gaussian)
	}
	return nil
}

// calibrate looks for the noise, for as long as a statement may take.
func (r *request) calibrate(ctx context.Context, asked mechanism.Request) (mechanism.Calibration, error) {
	if r.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, r.timeout)
		defer stop()
	}
	c, err := mechanism.Calibrate(ctx, r.kind, asked)
	if errors.Is(err, context.DeadlineExceeded) {
		return c, tookTooLong(ctx, len(asked.Components))
	}
	return c, err
}
