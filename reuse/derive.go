package reuse

import (
	"maps"
	"math"
	"slices"

	"fugu/mechanism"
	"fugu/planner"
	"fugu/quote"
	"fugu/reuse/blue"
)

// maxGrid bounds the combinations of public values by which cells are compared.
const maxGrid = 1 << 12

// source is a layer of an answer that was given, for one row function.
type source struct {
	answer     int // in the list of those given
	layer      *quote.Layer
	components []int // by cell
}

// derivation computes one grouping set of a question, for one row function, from what was given.
type derivation struct {
	of      *quote.Layer
	name    string
	given   []given
	sources []source
	outside func(column string) (float64, error)
}

// Derived is an estimate of one component.
type Derived struct {
	mechanism.Estimate
	Outside float64 // what rows without public values may add to its error, as a root mean square
}

// SD is the error: the root of the mean square.
func (d Derived) SD() float64 { return math.Hypot(d.Error.SD(), d.Outside) }

// grid is the combinations of the public values of some axes.
type grid struct {
	axes   []string
	points [][]planner.Value
}

// extend adds axes to a grid; false: it would be too large.
func (g grid) extend(t *planner.Table, axes []string) (grid, bool) {
	out := grid{slices.Clone(g.axes), g.points}
	for _, a := range axes {
		if slices.Contains(out.axes, a) {
			continue
		}
		domain := t.Domains[a]
		if len(domain)*len(out.points) > maxGrid {
			return g, false
		}
		var next [][]planner.Value
		for _, p := range out.points {
			for _, v := range domain {
				next = append(next, append(slices.Clip(p), v))
			}
		}
		out.axes, out.points = append(out.axes, a), next
	}
	return out, true
}

// cells returns the cell of a layer that each point is in, -1 for none.
func (g grid) cells(l *quote.Layer) []int {
	at := make([]int, len(l.Axes))
	for i, a := range l.Axes {
		at[i] = slices.Index(g.axes, a)
	}
	out := make([]int, len(g.points))
	values := make([]planner.Value, len(at))
	for p, point := range g.points {
		for i, k := range at {
			values[i] = point[k]
		}
		cell, ok := l.Cells[planner.Point(values)]
		if !ok {
			cell = -1
		}
		out[p] = cell
	}
	return out
}

// solve returns the best estimates that there are, one for each cell that has points: from all sources together, or
// from one that is enough; nil where they do not determine all of the cells.
func (d *derivation) solve() (best map[int]Derived, err error) {
	sets := [][]source{d.sources}
	for i := range d.sources {
		sets = append(sets, d.sources[i:i+1])
	}

	// The smallest total variance wins; all cells then have the same sources.
	least := math.Inf(1)
	for _, set := range sets {
		found, err := d.estimate(set)
		if err != nil {
			return nil, err
		}
		total := 0.0
		for _, cell := range slices.Sorted(maps.Keys(found)) { // sums of one order round alike each time
			total += found[cell].SD() * found[cell].SD()
		}
		if found != nil && total < least {
			best, least = found, total
		}
	}
	return best, nil
}

// estimate makes the estimates of these sources, as many of them as there is room for.
func (d *derivation) estimate(sources []source) (map[int]Derived, error) {
	t := d.of.Root.Table
	g, ok := grid{points: [][]planner.Value{nil}}.extend(t, d.of.Axes)
	if !ok {
		return nil, nil
	}
	var used []source
	total := 0
	for _, s := range sources {
		larger, ok := g.extend(t, s.layer.Axes)
		if n := total + len(s.components); ok && (n <= blue.MaxValues || len(sources) == 1) {
			g, total, used = larger, n, append(used, s)
		}
	}

	if len(used) == 0 {
		return nil, nil
	}
	list, parts := values(g, used)
	design, classOf := blue.NewDesign(len(list), parts, len(g.points))
	weigh, err := d.bestWeights(design, used, list)
	if err != nil {
		return nil, nil // of so many values, or of noise that is nearly one, nothing is estimated
	}

	// Either all cells are estimated or none: an answer is whole.
	own := g.cells(d.of)
	out := map[int]Derived{}
	for cell, k := range d.of.Values[d.name] {
		if k < 0 || !slices.Contains(own, cell) {
			continue
		}
		classes, ok := blue.Classes(classOf, func(p int) bool { return own[p] == cell })
		if !ok {
			return nil, nil
		}
		w, err := weigh(classes)
		if err != nil {
			return nil, nil
		}

		var e Derived
		reach := make([]float64, len(used)) // of each source, its greatest weight
		for n, v := range list {
			if w[n] != 0 {
				reach[v.source] = math.Max(reach[v.source], math.Abs(w[n]))
				share := mechanism.Share{Release: used[v.source].answer, Component: v.component, Weight: w[n]}
				e.Of = append(e.Of, share)
			}
		}

		e.Error = d.mixture(e.Of)
		if e.Outside, err = d.boundOutside(g.axes, used, reach); err != nil {
			return nil, err
		}
		out[cell] = e
	}
	return out, nil
}

// value is a component of a source.
type value struct{ source, component int }

// values numbers the values of all sources, and says which of them each point is in, source by source.
func values(g grid, used []source) (list []value, parts []blue.Partition) {
	for i, s := range used {
		number := make([]int, len(s.components))
		for cell, k := range s.components {
			if number[cell] = -1; k >= 0 {
				number[cell] = len(list)
				list = append(list, value{i, k})
			}
		}
		part := blue.Partition(g.cells(s.layer))
		for p, cell := range part {
			if cell >= 0 {
				part[p] = number[cell]
			}
		}
		parts = append(parts, part)
	}
	return list, parts
}

// weigher finds the weight of each value in an estimate of the sum over classes.
type weigher func(classes []int) ([]float64, error)

// bestWeights returns what finds the weights of the best estimate of a sum over classes. Of one source alone each class
// is one value, and there is nothing to choose.
func (d *derivation) bestWeights(design blue.Design, used []source, list []value) (weigher, error) {
	if len(used) == 1 {
		return func(classes []int) ([]float64, error) {
			w := make([]float64, len(list))
			for _, c := range classes {
				w[design.Classes[c][0]] = 1
			}
			return w, nil
		}, nil
	}

	// Answers have independent noise, and only within one it may be shared.
	e, err := blue.New(design, func(k, l int) float64 {
		a, b := used[list[k].source].answer, used[list[l].source].answer
		if a != b {
			return 0
		}
		return d.given[a].Law.Covariance(list[k].component, list[l].component)
	})
	if err != nil {
		return nil, err
	}
	return e.Weights, nil
}

// mixture is the law of the noise of a weighted sum.
func (d *derivation) mixture(shares []mechanism.Share) (out mechanism.Mixture) {
	weights := map[int][]float64{}
	for _, s := range shares {
		if weights[s.Release] == nil {
			weights[s.Release] = make([]float64, len(d.given[s.Release].Law.Own))
		}
		weights[s.Release][s.Component] += s.Weight
	}
	for i := range d.given {
		if weights[i] != nil {
			out.Add(d.given[i].Law, weights[i])
		}
	}
	return out
}

// boundOutside bounds what rows may add to the error whose value on an axis is not public. They are treated as some
// public value is where the cell and all that it is made of ask the same about the axis, and nothing about it with
// others. Elsewhere the cell may have them or not, and so each source by its weight; grouped by the axis itself they do
// not.
func (d *derivation) boundOutside(axes []string, used []source, reach []float64) (float64, error) {
	total := 0.0
	for _, a := range axes {
		own := d.of.MannerOf(a)
		same, by := own != planner.Mixed, 0.0
		if own != planner.Grouped {
			by = 1
		}
		for i, s := range used {
			if reach[i] == 0 {
				continue
			}
			m := s.layer.MannerOf(a)
			same = same && m == own
			if m != planner.Grouped {
				by += reach[i]
			}
		}

		// No row can add more than its greatest contribution.
		if same {
			continue
		}
		rows, err := d.outside(a)
		if err != nil {
			return 0, err
		}
		total += by * rows * d.of.Most[d.name]
	}
	return total, nil
}
