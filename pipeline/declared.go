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

	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/sensitivity"
	"fugu/smooth"
	"fugu/upstream"
)

// declared is a declared model, laid out as its cut is.
type declared struct {
	name       string
	components []model.Component
	laws       []policy.Law // of table.Secrets, in order; vectors in the order of components
}

// cutKey identifies what a cut asks for, however it was spelled.
func cutKey(c *planner.Bound) (string, error) {
	text, err := json.Marshal(describeCut(c))
	return string(text), err
}

// askedCut is all that a cut asks for.
type askedCut struct {
	Statistics string
	Aggregates []askedAggregate
	Cells      []planner.Cell
	Totals     any
}

type askedAggregate struct {
	Name  string
	Terms []int  // their places among the sums of Statistics
	Type  string // above: a sum of integers is released as a whole number

	Domain []planner.Value `json:",omitempty"` // the values that count, where they are public
}

func describeCut(c *planner.Bound) askedCut {
	out := askedCut{Statistics: c.Statistics(), Cells: c.Cells}
	for _, a := range c.Aggregates {
		asked := askedAggregate{Name: a.Name, Terms: a.Terms, Type: a.Type}
		if a.Sampled != nil {
			asked.Domain = a.Sampled.Domain
		}
		out.Aggregates = append(out.Aggregates, asked)
	}
	return out
}

// components lists the components of a cut's F with their names, as if every cell could be modelled.
func components(c *planner.Bound) (list []model.Component, names []string) {
	for cell := range c.Cells {
		for a, agg := range c.Aggregates {
			list = append(list, model.Component{Cell: cell, Aggregate: a})
			names = append(names, label{agg.Label, c.GroupKey(c.Cells[cell])}.String())
		}
	}
	return list, names
}

// loadDeclared plans the statements whose models the policies declare.
func (s *Snapshot) loadDeclared(ctx context.Context, reader *upstream.Reader) error {
	e := &Engine{reader: reader}
	e.snapshot.Store(s)
	for _, p := range s.policies {
		for _, d := range p.Declared {
			if err := s.declare(ctx, e, p, d); err != nil {
				return fmt.Errorf("%s:%d:%d: declared model %s: %w", p.Source, d.At.Line, d.At.Column, d.Name, err)
			}
		}
	}
	return nil
}

// single is the one cut of a statement that a policy speaks of.
func (e *Engine) single(ctx context.Context, p *policy.Policy, sql string) (*planner.Bound, error) {
	r, err := e.ask(ctx, p, sql)
	if err != nil {
		return nil, err
	}
	if len(r.cuts) != 1 || len(r.cuts[0].Aggregates) == 0 {
		return nil, fmt.Errorf("the statement has %d SELECTs that aggregate protected rows; write one, with an aggregate", len(r.cuts))
	}
	return r.cuts[0], nil
}

func (s *Snapshot) declare(ctx context.Context, e *Engine, p *policy.Policy, d policy.Declared) error {
	c, err := e.single(ctx, p, d.Statement.SQL)
	if err != nil {
		return err
	}
	out := &declared{name: d.Name}
	if !p.Accepts(policy.Translation) {
		return errors.New("a declared model says how the distribution shifts, and nothing of coupled datasets: write assume: [translation]")
	}
	list, names := components(c)
	given := d.Components
	if given == nil && len(names) == 1 {
		given = names
	}
	order, err := match(names, given)
	if err != nil {
		return err
	}
	out.components = list
	for _, sec := range c.Table.Secrets {
		i := slices.IndexFunc(d.Laws, func(l policy.Law) bool { return l.Secret == sec.Name })
		if i < 0 {
			return fmt.Errorf("it does not say how secret %s of %s moves the statement", sec.Name, c.Table)
		}
		out.laws = append(out.laws, arranged(d.Laws[i], order))
	}
	if len(d.Laws) > len(out.laws) {
		return fmt.Errorf("it speaks of %d secrets, and %s has %d", len(d.Laws), c.Table, len(out.laws))
	}
	key, err := cutKey(c)
	if err != nil {
		return err
	}
	if other := s.declared[key]; other != nil {
		return fmt.Errorf("the model %s is of the same statement", other.name)
	}
	s.declared[key] = out
	return nil
}

// match finds for each name its place among those given, each of which must be a name.
func match(names, given []string) ([]int, error) {
	order := make([]int, len(names))
	for i, n := range names {
		order[i] = slices.Index(given, n)
	}
	if len(given) != len(names) || slices.Contains(order, -1) {
		return nil, fmt.Errorf("its components are not those of the statement, which are: %s", strings.Join(names, "; "))
	}
	return order, nil
}

// arranged is a law with its vectors in another order.
func arranged(l policy.Law, order []int) policy.Law {
	out := policy.Law{Secret: l.Secret, Values: l.Values, At: l.At}
	pick := func(v []float64) []float64 {
		w := make([]float64, len(order))
		for i, o := range order {
			w[i] = v[o]
		}
		return w
	}
	for i := range l.Values {
		out.Means = append(out.Means, pick(l.Means[i]))
		var rows [][]float64
		for _, o := range order {
			rows = append(rows, pick(l.Covariances[i][o]))
		}
		out.Covariances = append(out.Covariances, rows)
	}
	return out
}

// declaredFor is the declared model of a cut, nil if there is none.
func (s *Snapshot) declaredFor(c *planner.Bound) (*declared, error) {
	if len(s.declared) == 0 || len(c.Aggregates) == 0 {
		return nil, nil
	}
	key, err := cutKey(c)
	return s.declared[key], err
}

// declared is the model of a cut as the policy declares it. Only the bounds of rows and the steps of lattices, of which
// the policy says nothing, are the reference's, if there is one.
func (r *request) declared(ctx context.Context, c *planner.Bound, d *declared) (modelled, error) {
	t := r.dataset.find(c.Table.Schema, c.Table.Name)
	n := len(d.components)
	out := modelled{source: fromPolicy, components: d.components, inherent: make([]float64, n), expected: make([]float64, n), lattice: make([]float64, n)}
	for i, l := range d.laws {
		for _, span := range t.psi[i].Spans {
			s, err := lawShift(l, span)
			if err != nil {
				return out, err
			}
			out.shifts = append(out.shifts, s)
		}
		for v := range l.Values {
			for k := range n {
				out.inherent[k] = math.Max(out.inherent[k], math.Sqrt(l.Covariances[v][k][k]))
				out.expected[k] += l.Means[v][k] / float64(len(l.Values)*len(d.laws))
			}
		}
	}
	for k, comp := range d.components {
		x := new(big.Rat)
		agg := c.Aggregates[comp.Aggregate]
		if !agg.Extensive {
			x.SetFloat64(out.expected[k])
		}
		out.typical = append(out.typical, x)
		switch {
		case agg.Linear() && agg.Sums[0] == smooth.N:
			out.lattice[k] = 1
		case out.inherent[k] > 0:
			out.lattice[k] = out.inherent[k]
		default:
			out.lattice[k] = 1
		}
	}
	out.families = func(context.Context) (out []sensitivity.Family, err error) {
		for i, l := range d.laws {
			for _, span := range t.psi[i].Spans {
				out = append(out, lawFamily{l, span})
			}
		}
		return out, nil
	}
	if t.table.Reference == "" {
		out.limits = unlimited(c)
		return out, nil
	}
	moments, err := model.Measure(ctx, r.reference, c, t.totals)
	if err != nil {
		return out, err
	}
	out.limits = moments.Limits()
	steps := make([]float64, len(moments.Components))
	for i, psi := range t.psi {
		for k, step := range moments.LatticeSteps(i, psi) {
			steps[k] = math.Max(steps[k], step)
		}
	}
	for k, comp := range d.components {
		if i := slices.Index(moments.Components, comp); i >= 0 {
			out.lattice[k] = steps[i]
		}
	}
	return out, nil
}

// unlimited are bounds that hold for every value of a base's type but the far ends of numeric; what the policy says of a
// column counts.
func unlimited(c *planner.Bound) []planner.Limit {
	out := make([]planner.Limit, len(c.Bases))
	for i, t := range c.Bases {
		bits := uint(62 * max(1, t.Degree()))
		low, high := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(-1), bits)), new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), bits))
		if t.Low != "" {
			low.SetString(t.Low)
			high.SetString(t.High)
		}
		out[i] = planner.Limit{Low: low, High: high}
	}
	return out
}

// lawShift is how far a secret moves F under its declared law over one of its spans: between the two values of a pair at the
// distance w the difference of means is w/Within of Along. What is declared for finitely many values has spans of one pair.
func lawShift(l policy.Law, span sensitivity.Span) (sensitivity.Shift, error) {
	f := lawFamily{l, span}
	from, to := f.Mean(span.From), f.Mean(span.To)
	slope := make([]float64, len(from))
	for k := range slope {
		slope[k] = (to[k] - from[k]) / (span.To - span.From)
	}
	return sensitivity.Between(l.Secret, span, slope, slope, make([]float64, len(slope)))
}

func nearest(values []float64, x float64) int {
	i := 0
	for j, v := range values {
		if math.Abs(v-x) < math.Abs(values[i]-x) {
			i = j
		}
	}
	return i
}

// lawFamily is f_θ along a declared law, over one of the secret's spans.
type lawFamily struct {
	law  policy.Law
	span sensitivity.Span
}

// Secret implements sensitivity.Family.
func (f lawFamily) Secret() string { return f.law.Secret }

// Span implements sensitivity.Family.
func (f lawFamily) Span() sensitivity.Span { return f.span }

// Affine implements sensitivity.Family.
func (f lawFamily) Affine() bool { return f.law.Affine() }

// weights says what share each of two declared values has in what is interpolated at x.
func (f lawFamily) weights(x float64) (i, j int, share float64) {
	if !f.law.Affine() {
		i := nearest(f.law.Values, x)
		return i, i, 0
	}
	return 0, 1, (x - f.law.Values[0]) / (f.law.Values[1] - f.law.Values[0])
}

// Mean implements sensitivity.Family.
func (f lawFamily) Mean(x float64) []float64 {
	i, j, share := f.weights(x)
	out := make([]float64, len(f.law.Means[i]))
	for k := range out {
		out[k] = (1-share)*f.law.Means[i][k] + share*f.law.Means[j][k]
	}
	return out
}

// Covariance implements sensitivity.Family.
func (f lawFamily) Covariance(x float64) sensitivity.Covariance {
	i, j, share := f.weights(x)
	b := sensitivity.Block{Size: len(f.law.Means[i])}
	for k := range b.Size {
		for l := range b.Size {
			b.Entries = append(b.Entries, (1-share)*f.law.Covariances[i][k][l]+share*f.law.Covariances[j][k][l])
		}
	}
	return sensitivity.Covariance{Blocks: []sensitivity.Block{b}}
}
