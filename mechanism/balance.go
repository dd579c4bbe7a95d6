package mechanism

import (
	"math"
	"slices"

	"fugu/sensitivity"
)

// balanced returns the request with the unit of each component multiplied by the root of the error that its block would
// have alone. What several blocks share is ε, and each is then weighed against what it would have without the others:
// together their errors are about as many times that as there are blocks (docs/theory/calibration.md). What is worked
// out here guides the search, and nothing is proven by it.
func (r Request) balanced(between func() error) (Request, error) {
	blocks := r.blocks()
	if len(blocks) < 2 || r.Absolute || len(r.Quilts) > 0 {
		return r, nil
	}
	out := r
	if r.Relaxed != nil && r.Relaxed.Reach == nil { // that is in the units as they were given
		relaxed := *r.Relaxed
		relaxed.Reach = r.units()
		out.Relaxed = &relaxed
	}

	// A block that nothing answers by itself gives no unit to compare by.
	out.Components = slices.Clone(r.Components)
	out.alone = make([]float64, len(r.Components))
	for _, at := range blocks {
		least, floor := r.part(between, at).byItself()
		if err := between(); err != nil { // the search was cut short
			return r, err
		}
		if !(least > 0 && least < magnitude) { // no mechanism that is compared answers it
			return r, nil
		}
		for i, k := range at {
			out.Components[k].Unit *= math.Sqrt(least)
			out.alone[k] = floor[i]
		}
	}
	return out, nil
}

// byItself returns the least error that the mechanisms of Auto would have, about, and the floor of directional or,
// without one, what noise there is; an error of +Inf where there is none.
func (r Request) byItself() (least float64, floor []float64) {
	least = math.Inf(1)

	// A mechanism that cannot be designed for this request is no candidate for its start.
	for _, m := range designs {
		if !m.auto {
			continue
		}
		d, err := m.design(r)
		if err != nil {
			continue
		}
		n := d(1)

		// Directional noise wins whatever its error: balancing begins from it where it is there.
		if e := r.error(n); n.valid() && (e < least || m.kind == Directional) {
			least = math.Min(least, e)
			floor = make([]float64, len(r.Components))
			for k, c := range n.cells {
				floor[k] = math.Ldexp(float64(c.laplace+c.sigma), c.exponent)
			}
		}
	}
	return least, floor
}

// blocks returns the components of each block, in the order of their first.
func (r Request) blocks() (out [][]int) {
	for k, i := range r.blockOf() {
		if i == len(out) {
			out = append(out, nil)
		}
		out[i] = append(out[i], k)
	}
	return out
}

// part is the request for some of the components alone.
func (r Request) part(between func() error, at []int) Request {
	out := Request{Budget: r.Budget, Joint: r.Joint, promised: r.Budget}
	for _, s := range r.Shifts {
		out.Shifts = append(out.Shifts, s.Part(at))
	}
	for _, f := range r.Families {
		out.Families = append(out.Families, sensitivity.Remember(sensitivity.Part(f, at), between))
	}
	for _, k := range at {
		c := r.Components[k]
		c.Block = 0
		out.Components = append(out.Components, c)
	}
	return out
}
