package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/sensitivity"
	"fugu/sqlstate"
	"fugu/twin/margin"
	"fugu/upstream"
)

// published are the public statistics of one table: what the policy says, and nothing that any row says.
type published struct {
	names  []string
	cuts   []*planner.Bound
	values [][]string // of each cut: its components in the order of components()
}

// loadPublic plans the public statistics of the policies, and refuses those that tell a secret.
func (s *Snapshot) loadPublic(ctx context.Context, reader *upstream.Reader) error {
	e := &Engine{reader: reader}
	e.snapshot.Store(s)
	for _, p := range s.policies {
		// A twin counts what is known of its table when it is built: here it is only read, so that a mistake shows early.
		for _, t := range p.Tables {
			if t.Answers != policy.FromTwin || t.Link != nil {
				continue
			}
			if _, err := margin.Of(p, t.Qualified()); err != nil {
				return err
			}
		}
		for _, pub := range p.Public {
			if ours, err := margin.OfTwin(p, pub); err != nil {
				return err
			} else if ours {
				continue
			}
			if err := s.publish(ctx, e, p, pub); err != nil {
				return fmt.Errorf("%s:%d:%d: public statistic %s: %w", p.Source, pub.At.Line, pub.At.Column, pub.Name, err)
			}
		}
	}
	for _, t := range s.tables {
		if t.public == nil || t.table.Reference == "" {
			continue
		}
		known, err := t.known(ctx, reader)
		for i := 0; err == nil && i < len(t.psi); i++ {
			err = known.Check(i, t.psi[i])
		}
		if err != nil {
			return fmt.Errorf("%s: public statistics of %s: %w", t.policy.Source, t.table, err)
		}
	}
	return nil
}

func (s *Snapshot) publish(ctx context.Context, e *Engine, p *policy.Policy, pub policy.Public) error {
	c, err := e.single(ctx, p, pub.Statement.SQL)
	if err != nil {
		return err
	}
	t := s.find(c.Table.Schema, c.Table.Name)
	for _, a := range c.Aggregates {
		if a.Name != "count" && a.Name != "sum" || !c.Simple() {
			return errors.New("only counts and sums over one table, without grouping sets, can be public")
		}
	}
	if !p.Accepts(policy.Translation) || !p.Accepts(policy.Gaussian) {
		return errors.New("what is known given public statistics rests on both assumptions: write assume: [translation, gaussian]")
	}
	for i, sec := range t.table.Secrets {
		if !t.psi[i].Conditional(sec) {
			return fmt.Errorf("secret %s is no proportion of the table's own rows, and nothing else has a model given public statistics", sec.Name)
		}
	}
	_, names := components(c)
	given := make([]string, len(pub.Values))
	for i, v := range pub.Values {
		given[i] = v.Component
	}
	order, err := match(names, given)
	if err != nil {
		return err
	}
	values := make([]string, len(names))
	for i, o := range order {
		values[i] = pub.Values[o].Value
		if x, _ := new(big.Rat).SetString(values[i]); c.Aggregates[i%len(c.Aggregates)].Integer && !x.IsInt() {
			return fmt.Errorf("%s is a whole number, not %s", names[i], values[i])
		}
	}
	if t.public == nil {
		t.public = &published{}
	}
	t.public.names, t.public.cuts, t.public.values = append(t.public.names, pub.Name), append(t.public.cuts, c), append(t.public.values, values)
	return nil
}

// known is the model of a table's public statistics.
func (t *protected) known(ctx context.Context, ref planner.Querier) (*model.Public, error) {
	var moments []*model.Moments
	var values []float64
	for i, c := range t.public.cuts {
		m, err := model.Measure(ctx, ref, c, t.totals)
		if err != nil {
			return nil, err
		}
		if len(m.Components) != len(t.public.values[i]) {
			return nil, fmt.Errorf("the model of public statistic %s has %d components, not %d", t.public.names[i], len(m.Components), len(t.public.values[i]))
		}
		moments = append(moments, m)
		for _, v := range t.public.values[i] {
			x, _ := new(big.Rat).SetString(v)
			f, _ := x.Float64()
			values = append(values, f)
		}
	}
	return model.NewPublic(ctx, ref, moments, values)
}

// exact are the components of a cut that are public themselves, with their values.
func (p *published) exact(c *planner.Bound) map[model.Component]planner.Value {
	out := map[model.Component]planner.Value{}
	for i, z := range p.cuts {
		keys, ok := c.SameRows(z)
		if !ok || len(keys) != len(c.Keys) {
			continue
		}
		for j, values := range p.components(i) {
			for cell := range c.Cells {
				for a := range c.Aggregates {
					if c.SameAggregate(a, z, values.Aggregate) && project(c.Cells[cell], keys, z.Cells[values.Cell]) {
						out[model.Component{Cell: cell, Aggregate: a}] = planner.Value{Text: p.values[i][j]}
					}
				}
			}
		}
	}
	return out
}

func (p *published) components(i int) []model.Component {
	list, _ := components(p.cuts[i])
	return list
}

// project reports whether a cell has, at the places keys, the values of another one.
func project(cell planner.Cell, keys []int, other planner.Cell) bool {
	for i, k := range keys {
		if cell.Keys[k] != other.Keys[i] {
			return false
		}
	}
	return true
}

// sums are the public totals of a cut's components: those of the public statistic that divides them finest, by aggregate.
// That the cells which a key's public domain gives are all that there are is what the policy says of it.
func (p *published) sums(c *planner.Bound, list []model.Component) []mechanism.Sum {
	var out []mechanism.Sum
	for a := range c.Aggregates {
		best := -1
		var places []int
		var aggregate int
		for i, z := range p.cuts {
			keys, ok := c.SameRows(z)
			if !ok || len(keys) >= len(c.Keys) || best >= 0 && len(z.Cells) <= len(p.cuts[best].Cells) {
				continue
			}
			for b := range z.Aggregates {
				if c.SameAggregate(a, z, b) {
					best, places, aggregate = i, keys, b
				}
			}
		}
		if best < 0 {
			continue
		}
		z := p.cuts[best]
		for cell := range z.Cells {
			total, _ := new(big.Rat).SetString(p.values[best][cell*len(z.Aggregates)+aggregate])
			sum := mechanism.Sum{Total: total}
			for k, comp := range list {
				if comp.Aggregate == a && project(c.Cells[comp.Cell], places, z.Cells[cell]) {
					sum.Components = append(sum.Components, k)
				}
			}
			if len(sum.Components) > 0 {
				out = append(out, sum)
			}
		}
	}
	return out
}

// given conditions a cut's model on what is public of its table.
func (r *request) given(ctx context.Context, t *protected, c *planner.Bound, moments *model.Moments, out *modelled) error {
	out.source += ", given what is public"
	out.given, out.normal = true, true
	maps.Copy(out.exact, t.public.exact(c))
	moments.Components = slices.DeleteFunc(moments.Components, func(k model.Component) bool { _, ok := out.exact[k]; return ok })
	out.components, out.shifts, out.typical = moments.Components, nil, nil
	n := len(moments.Components)
	out.inherent, out.lattice, out.expected = make([]float64, n), make([]float64, n), moments.Reference()
	for k := range n {
		out.typical = append(out.typical, moments.Typical(k))
	}
	if n == 0 {
		out.families = func(context.Context) ([]sensitivity.Family, error) { return nil, nil }
		return nil
	}
	out.sums = t.public.sums(c, moments.Components)
	known, err := t.known(ctx, r.reference)
	if err != nil {
		return err
	}
	g, err := moments.Given(ctx, r.reference, known)
	if errors.Is(err, model.ErrPublic) {
		return sqlstate.New(sqlstate.ModelUnfit, "statistics of %s are public, and the statement has no model given them", t.table).
			WithHint("Ask for counts, sums and averages over the table alone, without grouping sets.")
	} else if err != nil {
		return err
	}
	out.families = func(context.Context) (out []sensitivity.Family, err error) {
		for i, psi := range t.psi {
			f, err := g.Families(i, psi)
			if err != nil {
				return nil, err
			}
			out = append(out, f...)
		}
		return out, nil
	}
	for i, psi := range t.psi {
		s, sd, err := g.Shifts(i, psi, t.policy.Privacy.Estimation)
		if err != nil {
			return t.unsupported(psi.Name, err)
		}
		out.shifts = append(out.shifts, s...)
		for k, step := range moments.LatticeSteps(i, psi) {
			out.lattice[k] = max(out.lattice[k], step)
			out.inherent[k] = max(out.inherent[k], sd[k])
		}
	}
	return nil
}

// unsupported is the error of a statement that the reference cannot speak of.
func (t *protected) unsupported(secret string, cause error) error {
	return sqlstate.New(sqlstate.ModelUnfit, "the reference of %s cannot support the statement at every value of secret %s", t.table, secret).
		WithHint("Select more rows in WHERE, or group by fewer columns.").Because(cause)
}
