package dataset

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/twin/margin"
	"fugu/upstream"
)

// loadPublic plans the public statistics of the policies, and refuses those that tell a secret.
func (s *Snapshot) loadPublic(ctx context.Context, reader *upstream.Reader) error {
	for _, p := range s.Policies {
		// A twin counts what is known of its table when it is built: here it is only read, so that a mistake shows
		// early.
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
			if err := s.publish(ctx, reader, p, pub); err != nil {
				return p.Misfit(pub.At, "public statistic %s: %w", pub.Name, err)
			}
		}
	}

	// What is public must not tell which value a secret has.
	for _, t := range s.Tables {
		if t.Public == nil || t.Table.Reference == "" {
			continue
		}
		known, err := t.Known(ctx, reader)
		for i := 0; err == nil && i < len(t.Psi); i++ {
			err = known.Check(i, t.Psi[i])
		}
		if err != nil {
			return fmt.Errorf("%s: public statistics of %s: %w", t.Policy.Source, t.Table, err)
		}
	}
	return nil
}

func (s *Snapshot) publish(ctx context.Context, reader *upstream.Reader, p *policy.Policy, pub policy.Public) error {
	c, err := s.single(ctx, reader, p, pub.Statement.SQL)
	if err != nil {
		return err
	}
	t := s.Find(c.Table.Schema, c.Table.Name)

	// What is known given a statistic is worked out for sums over rows, of which the average is none.
	for _, a := range c.Aggregates {
		switch {
		case a.Name == "avg":
			return fmt.Errorf("%s cannot be public: the digits of an average tell how many rows it is over, and "+
				"nobody knows how other statistics are distributed given that: declare its sum and its count, "+
				"where everybody knows both", a.Label)
		case a.Name != "count" && a.Name != "sum" || !c.Simple():
			return errors.New("only counts and sums over one table, without grouping sets, can be public")
		}
	}
	if !p.Accepts(policy.Translation) || !p.Accepts(policy.Gaussian) {
		return errors.New("what is known given public statistics rests on both assumptions: " +
			"write assume: [translation, gaussian]")
	}

	for i, sec := range t.Table.Secrets {
		if why := unconditional(sec, t.Psi[i]); why != "" {
			return fmt.Errorf("secret %s %s, and it cannot stand beside public statistics: what they leave of a "+
				"movement with it is not bounded; leave public: out, or make it a proportion about: dataset",
				sec.Name, why)
		}
	}

	// The policy may name the values in any order.
	_, names := Components(c)
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

	if t.Public == nil {
		t.Public = &Published{}
	}
	t.Public.names, t.Public.cuts = append(t.Public.names, pub.Name), append(t.Public.cuts, c)
	t.Public.statements = append(t.Public.statements, strings.TrimSpace(pub.Statement.SQL))
	t.Public.values = append(t.Public.values, values)
	return nil
}

// unconditional says what a secret is that has no model given public statistics; empty: it has one
// (docs/theory/movement.md).
func unconditional(sec planner.Secret, psi model.Psi) string {
	switch {
	case psi.Conditional(sec):
		return ""
	case sec.Number != nil:
		return "is a mean"
	case sec.Predicate == nil:
		return "is a vector of categories, or a parameter of a network"
	case psi.Distribution:
		return "is about a distribution"
	}
	return "is of rows that are drawn from the reference"
}

// Known is the model of a table's public statistics.
func (t *Protected) Known(ctx context.Context, ref planner.Querier) (*model.Public, error) {
	var moments []*model.Moments
	var values []float64

	for i, c := range t.Public.cuts {
		m, err := model.Measure(ctx, ref, c, t.Totals)
		if err != nil {
			return nil, err
		}
		if len(m.Components) != len(t.Public.values[i]) {
			return nil, fmt.Errorf("the model of public statistic %s has %d components, not %d",
				t.Public.names[i], len(m.Components), len(t.Public.values[i]))
		}

		// A decimal of the policy counts as the float next to it, as the moments do.
		moments = append(moments, m)
		for _, v := range t.Public.values[i] {
			x, _ := new(big.Rat).SetString(v)
			f, _ := x.Float64()
			values = append(values, f)
		}
	}
	return model.NewPublic(ctx, ref, moments, values)
}

// Exact are the components of a cut that are public themselves, with their values.
func (p *Published) Exact(c *planner.Bound) map[model.Component]planner.Value {
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

func (p *Published) components(i int) []model.Component {
	list, _ := Components(p.cuts[i])
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

// Sums are the public totals of a cut's components: those of the public statistic that divides them finest, by
// aggregate. That the cells which a key's public domain gives are all that there are is what the policy says of it.
func (p *Published) Sums(c *planner.Bound, list []model.Component) []mechanism.Sum {
	var out []mechanism.Sum

	// The statistic of most cells that speaks of the same rows and aggregate divides them finest.
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
