package quote

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

// draft is a quote in the making. Its lists have an entry for each cut with components, or for each component.
type draft struct {
	*Quote
	request    *Request
	parts      []part
	components []mechanism.Component
	blocks     valueBlocks
	off        displaced // how far F moves with the rows that the policy lets its model be off by
	normal     bool      // a model rests on F being normal together with what is public

	// wide: no family certifies the noise, since too little is known of how covariances bend. That is so of second
	// moments, of regression and of what is sampled. A declared law says its covariances itself.
	wide bool
}

// measure derives F's model and noise from the reference, and what the answer brings into the accounts of its dataset.
// rest is called between the steps of the search for noise.
func (r *Request) measure(ctx context.Context, rest func()) (*Quote, error) {
	d, err := r.derive(ctx, rest)
	if err != nil {
		return nil, err
	}
	if d.Width > 0 {
		d.Spreads, err = r.spreads(ctx, d.parts, d.Quote)
	}
	return d.Quote, err
}

// Prepare asks the references what a quote needs to know of them, but for the accounts of covariances.
func (r *Request) Prepare(ctx context.Context, rest func()) error {
	_, err := r.derive(ctx, rest)
	return err
}

// derive does the work of measure, but for the account of covariances.
func (r *Request) derive(ctx context.Context, rest func()) (*draft, error) {
	weights := r.Policy.Privacy.Weights
	d := &draft{Quote: &Quote{SumsOnly: true, policy: r.Policy.Fingerprint,
		declares: r.Policy.Coupled()}, request: r,
		blocks: valueBlocks{several: weights == policy.SamplingWeights, known: map[[3]int]int{}}}

	for at, c := range r.Cuts {
		if err := r.unaccounted(c); err != nil {
			return nil, err
		}
		if err := d.addCut(ctx, at, c); err != nil {
			return nil, err
		}
	}

	// F may consist of constants alone, and these tell nothing.
	if d.Width == 0 {
		return d, nil
	}
	if err := d.calibrate(ctx, rest); err != nil {
		return nil, err
	}

	var err error
	if r.Policy.Privacy.Composition == policy.Jointly {
		d.Calibration.Assumption = JointAssumption
		d.Joint, err = r.jointly(ctx, d.parts, d.Quote)
	}
	return d, err
}

// addCut adds a cut of the request: where its values stand in F, and how they are modelled.
func (d *draft) addCut(ctx context.Context, at int, c *planner.Bound) error {
	sql, err := c.Reading()
	if err != nil {
		return err
	}
	ask := upstream.Question{Cut: c, SQL: sql, Component: make([][]int, len(c.Cells))}
	for cell := range ask.Component {
		ask.Component[cell] = slices.Repeat([]int{-1}, len(c.Aggregates))
	}

	// A cut that only lists groups asks for no value, and needs no model.
	var f Model
	var bounds []string
	if len(c.Aggregates) > 0 {
		if f, err = d.request.Model(ctx, c); err != nil {
			return err
		}
		ask.Args, ask.Types = c.Arguments(f.limits)
		bounds = append(f.describe(c), f.coupling...)
		if err := d.addComponents(ctx, at, c, f, ask.Component); err != nil {
			return err
		}
	}
	d.Questions, d.Bounds, d.Sources = append(d.Questions, ask), append(d.Bounds, bounds), append(d.Sources, f.source)

	// A value that everybody knows is told as it is, and takes no noise.
	for cell, row := range ask.Component {
		for a, k := range row {
			where := nowhere
			if k >= 0 {
				where = componentAt(k)
			}
			if v, ok := f.Exact[model.Component{Cell: cell, Aggregate: a}]; ok && !v.Null {
				where = publicAt(len(d.Public))
				d.Public = append(d.Public, v.Text)
			}
			d.Index = append(d.Index, where)
		}
	}
	return nil
}

// addComponents appends the components of a cut's model to F, and writes down in places, by cell and aggregate, which
// they are.
func (d *draft) addComponents(ctx context.Context, at int, c *planner.Bound, f Model, places [][]int) error {
	p := d.request.Policy.Privacy
	units := f.units(p.Weights, d.request.Budget.Epsilon)
	if w := p.Within; w != nil && w.Rows > 0 {
		moved, err := f.reach(c, units, w.Rows, d.request.unlikely())
		if err != nil {
			return err
		}
		d.off.add(moved)
	}

	for k, comp := range f.Components {
		places[comp.Cell][comp.Aggregate] = d.Width + k
		agg := c.Aggregates[comp.Aggregate]
		d.components = append(d.components, mechanism.Component{Lattice: f.Lattice[k], Unit: units[k],
			Integer: agg.Integer, Block: d.blocks.number(at, c.Cells[comp.Cell].Set, comp.Aggregate)})
		d.Integer = append(d.Integer, agg.Integer)
		d.Labels = append(d.Labels, dataset.Label{Column: agg.Label, Group: c.GroupKey(c.Cells[comp.Cell])})
		if d.request.Policy.Estimates != policy.NoEstimates {
			d.Vectors = append(d.Vectors, vectorName(c.Vector(comp.Cell, comp.Aggregate, f.limits)))
		}
	}
	d.Start, d.Inherent = append(d.Start, f.typical...), append(d.Inherent, f.Inherent...)
	d.Expected = append(d.Expected, f.expected...)

	// Public totals are of components, which stand behind those of the cuts before.
	for _, sum := range f.sums {
		shifted := mechanism.Sum{Total: sum.Total}
		for _, k := range sum.Components {
			shifted.Components = append(shifted.Components, d.Width+k)
		}
		d.Sums = append(d.Sums, shifted)
	}

	d.given, d.normal = d.given || f.given, d.normal || f.normal
	if len(f.Components) > 0 { // what is constant has no secret to hide
		d.parts = append(d.parts, part{c, f, units})
		d.wide = d.wide || hasSampled(c) && f.source != fromPolicy ||
			f.moments != nil && slices.ContainsFunc(c.Aggregates,
				func(a planner.Aggregate) bool { return a.Second() || a.Arguments == 2 && !a.Linear() })
	}

	// Later answers may be computed from the layers of this one.
	layers, whole, err := d.request.layers(ctx, c, f, d.Width)
	if err != nil {
		return err
	}
	d.Layers, d.SumsOnly = append(d.Layers, layers...), d.SumsOnly && whole
	d.Width += len(f.Components)
	return nil
}

// calibrate finds the noise that hides the secrets in all of F.
func (d *draft) calibrate(ctx context.Context, rest func()) error {
	// F is one vector over all cuts.
	var shifts [][]sensitivity.Shift
	var widths []int
	var models []Model
	for _, p := range d.parts {
		shifts, widths, models = append(shifts, p.model.Shifts), append(widths, len(p.model.Components)),
			append(models, p.model)
	}
	d.Shifts = sensitivity.Stack(shifts, widths)

	// Distributions certify noise; the secrets of a network have quilts in their place.
	var families []sensitivity.Family
	var err error
	if d.Network, d.Quilts, err = d.request.quilts(d.parts); err != nil {
		return err
	}
	if !d.wide && d.Network == nil {
		if families, err = d.request.families(ctx, models); err != nil {
			return err
		}
		if families, err = d.request.shaped(ctx, d.parts, families); err != nil {
			return err
		}
	}

	// How close samples are is measured in units of their own statement; beside others, the shift says as much.
	var close []sensitivity.Close
	if len(models) == 1 {
		close = models[0].samples
	}

	p := d.request.Policy.Privacy
	d.Calibration, err = d.request.search(ctx, mechanism.Request{Shifts: d.Shifts, Families: families, Close: close,
		Quilts: d.Quilts, Components: d.components, Sums: d.Sums, Budget: d.request.Budget,
		Relaxed:  d.request.relaxed(d.off),
		Absolute: p.Weights == policy.TotalWeights, Joint: p.Composition == policy.Jointly, Between: rest})
	if err != nil {
		return err
	}

	// A model given what is public assumes that F is normal, whatever the mechanism needs.
	if a := d.Calibration.Assumption; d.normal && !strings.Contains(a, string(policy.Gaussian)) {
		d.Calibration.Assumption = a + ", " + string(policy.Gaussian)
	}
	if p.Estimation.Delta > 0 && d.Estimated() {
		d.Calibration.Assumption += ", " + SampledReference
	}
	return nil
}

// search looks for the noise, for as long as a statement may take.
func (r *Request) search(ctx context.Context, asked mechanism.Request) (mechanism.Calibration, error) {
	if r.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, r.Timeout)
		defer stop()
	}
	c, err := mechanism.Calibrate(ctx, r.Mechanism, asked)
	if errors.Is(err, context.DeadlineExceeded) {
		return c, tookTooLong(ctx, len(asked.Components))
	}
	return c, err
}

// valueBlocks numbers the blocks of F. A block is the values of one aggregate in one grouping set, which is what a
// statement for them alone would ask. Under weights that say what a value's error counts, all of F is one block.
type valueBlocks struct {
	several bool           // there is more than one
	known   map[[3]int]int // numbers by cut, grouping set and aggregate
}

// number returns the number of a block.
func (b valueBlocks) number(cut, set, aggregate int) int {
	if !b.several {
		return 0
	}
	of := [3]int{cut, set, aggregate}
	if _, ok := b.known[of]; !ok {
		b.known[of] = len(b.known)
	}
	return b.known[of]
}
