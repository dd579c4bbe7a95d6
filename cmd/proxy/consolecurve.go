package main

import (
	"context"
	"errors"
	"slices"

	"fugu/admin/console"
	"fugu/explain"
	"fugu/ledger"
	previewing "fugu/preview"
	"fugu/privacy"
)

// curveEpsilons are the ε at which the console prices a statement, besides those of the policies.
var curveEpsilons = []privacy.Epsilon{0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10}

// curve prices a statement about one room's database.
func (k *keeperPages) curve(ctx context.Context, r *room, statement string) (console.Curve, error) {
	d, err := k.desk(r)
	if err != nil {
		return console.Curve{}, err
	}
	epsilons := slices.Clone(curveEpsilons)
	for _, p := range r.policies {
		if p.Privacy.Epsilon > 0 {
			epsilons = append(epsilons, p.Privacy.Epsilon)
		}
	}
	slices.Sort(epsilons)
	xs, err := d.Explain(ctx, statement, slices.Compact(epsilons))
	if free, ok := errors.AsType[*previewing.Free](err); ok {
		return k.free(ctx, r, free)
	}
	if err != nil {
		return console.Curve{}, err
	}

	// The rule of the chart is the policy's own ε.
	c := console.Curve{Dataset: xs[0].Dataset, Components: xs[0].Components}
	if p := k.policyOf(c.Dataset); p != nil {
		c.At = float64(p.Privacy.Epsilon)
	}
	for _, n := range xs[0].Noise {
		c.Columns = append(c.Columns, console.Column{Name: n.Column, Sampling: n.Inherent})
	}
	for _, x := range xs {
		c.Points = append(c.Points, pointOf(x))
		if x.Epsilon == c.At {
			c.Refused = x.Refused
		}
	}
	return c, nil
}

// free is the curve of what twins answer: none, with how far their counts are off.
func (k *keeperPages) free(ctx context.Context, r *room, asked *previewing.Free) (c console.Curve, err error) {
	twins, err := k.Twins(ctx)
	if err != nil {
		return c, err
	}
	for _, t := range twins {
		p := k.policyOf(t.Dataset)
		if p != nil && p.Database == r.database && slices.Contains(asked.Tables, t.Table) {
			c.Dataset, c.Free = t.Dataset, append(c.Free, t)
		}
	}
	return c, nil
}

// pointOf is what an answer would be at one ε.
func pointOf(x explain.Explanation) console.CurvePoint {
	p := console.CurvePoint{Epsilon: x.Epsilon, Mechanism: x.Mechanism}
	for _, n := range x.Noise {
		p.SD, p.Within = append(p.SD, n.SDMax), append(p.Within, n.HalfWidth)
	}
	for _, c := range x.Cost {
		if c.Scope != ledger.Everybody {
			continue
		}
		price := console.Price{Secret: c.Secret, Epsilon: c.Cost}
		if x.Stored || x.Past != "" {
			price.Epsilon = 0
		}
		p.Prices = append(p.Prices, price)
	}
	return p
}
