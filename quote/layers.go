package quote

import (
	"context"

	"fugu/planner"
	"fugu/privacy"
)

// layers describes a cut by the sums over rows that it asks for. f is its model, and offset the place of its first
// component in F. whole reports whether such sums are all that the cut asks for.
func (r *Request) layers(ctx context.Context, c *planner.Bound, f Model,
	offset int) (out []Layer, whole bool, err error) {
	if r.Policy.Privacy.Error == (privacy.Tolerance{}) || f.root == nil {
		return nil, false, nil
	}
	layers, err := c.Layers(ctx, r.Database)
	whole = len(layers) > 0

	for _, l := range layers {
		k := Layer{Layer: l, Values: map[string][]int{}, Most: map[string]float64{}, Root: f.root}
		for agg := range c.Aggregates {
			name, most, ok := c.Row(agg, f.limits)
			if whole = whole && ok; !ok {
				continue
			}

			// A value that is a constant is no component: -1.
			components := make([]int, len(c.Cells))
			for i := range components {
				components[i] = -1
			}
			for i, comp := range f.Components {
				if comp.Aggregate == agg {
					components[comp.Cell] = offset + i
				}
			}
			k.Values[name], k.Most[name] = components, most
		}
		out = append(out, k)
	}
	return out, whole, err
}
