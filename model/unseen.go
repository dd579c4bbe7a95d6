package model

import (
	"cmp"
	"math"

	"fugu/sensitivity"
)

// unseen is what one reference row more in a class would change a component's slope by, at most: rest wherever the row
// is, as the class's other rows then count for less, and own besides where it is in the component's cell.
type unseen struct{ own, rest float64 }

// unseen of a class with N_c rows, of mean m_c, whose slopes depend on that mean through the functional f: a row h
// moves the mean by (h - m_c)/(N_c + 1), and h is 0 in the cells that the row is not in.
func (c *classes) unseen(m *Moments, k Component, at mixture) []unseen {
	out := make([]unseen, len(at.p))
	for j, f := range c.influences(m, k, at) {
		mean := 0.0
		for _, w := range f.functional {
			mean += w.weight * c.mean[j][w.term]
		}
		out[j] = unseenOf(f.most, math.Abs(mean), m.oneSided(k))
		out[j].own, out[j].rest = out[j].own/c.Size[j], out[j].rest/c.Size[j]
	}
	return out
}

// unseenOf bounds |f·h - f·m| by own + rest, and |f·m| by rest, where |f·h| ≤ most and |f·m| = mean. If f·h has one
// sign whatever the row is, no row is farther from the mean than most.
func unseenOf(most, mean float64, oneSided bool) unseen {
	if oneSided {
		return unseen{own: math.Max(0, most-mean), rest: mean}
	}
	return unseen{own: most, rest: mean}
}

// oneSided reports whether a component is a sum of terms that all have one sign.
func (m *Moments) oneSided(k Component) bool {
	return m.total(k) >= 0 && m.extent(k) <= m.largestIn(k, m.aggregate(k).Terms[0])
}

// unseen is what one reference row more of each class would change the slope of each component by, at x.
func (p *Path) unseen(x float64) [][]unseen {
	out := make([][]unseen, len(p.c.Size))
	at := p.c.mixture(p.shares(x), p.along)
	for _, k := range p.m.Components {
		var of []unseen
		if p.beta != nil {
			of = []unseen{p.regressed(k, x).unseen}
		} else {
			of = p.c.unseen(p.m, k, at)
		}
		for j := range out {
			out[j] = append(out[j], of[j])
		}
	}
	return out
}

// widen makes a hold for b as well.
func widen(a, b [][]unseen) {
	for j := range a {
		for k := range a[j] {
			a[j][k].own, a[j][k].rest = math.Max(a[j][k].own, b[j][k].own), math.Max(a[j][k].rest, b[j][k].rest)
		}
	}
}

// disjoint says what rows of each class that the reference does not show may change together: what they change wherever
// they are is a bound for each component by itself, beside, and the rest is in one cell of each layer for each row.
// signs are those of the classes' Unseen, if any: of a component that is oneWay, what a row adds in its cell and what
// the class's other rows lose are then of opposite signs, too. An average beside it changes nothing in that.
//
// A reference of N rows cannot tell a condition that holds for one row in N from one that never holds: that is the one
// row. It is one in all cells of a layer, as they split one condition, that of having been seen in none of them. But
// where many cells are hardly seen it is more: the share of all rows that is in cells not seen is, on average, that of
// the cells seen once [Good 1953, "The population frequencies of species and the estimation of population parameters",
// section 2]. So there are as many rows more as cells that were seen once, but no more than cells that were not seen,
// as each of these has a row at most. Where a statement may have been chosen to be misjudged, each of them stands for
// many (see chosen): all in one cell is the worst. All of these rows are in cells that were not seen, or one of them is
// in another cell. Cells no more than the rows are a box; so they are where cells may overlap.
func (m *Moments) disjoint(c *classes, of [][]unseen, signs []int) (beside []float64, rows []sensitivity.Unseen) {
	var moved [2][]float64 // what may move each component one way and what may move it the other
	for i := range moved {
		moved[i] = make([]float64, len(m.Components))
	}
	for class, each := range of {
		way, back := 0, 1 // of a row, and of the rest, which counts for less
		if signs != nil && signs[class] < 0 {
			way, back = back, way
		}

		var layers []sensitivity.Unseen
		shared := m.shared(c, class)
		more, never := m.hardlySeen(c, class, shared)
		for k, comp := range m.Components {
			i, many := shared[k], c.more[m.text(comp)][class]
			if i == len(layers) {
				layers = append(layers, sensitivity.Unseen{Rows: max(1, more[i])})
				if signs != nil {
					layers[i].Sign = signs[class]
				}
			}

			u := &layers[i]
			if !m.oneWay(comp) {
				u.Sign = 0
			}
			moved[back][k] += float64(u.Rows) * many * each[k].rest
			u.At, u.Cell, u.Size = append(u.At, k), append(u.Cell, comp.Cell), append(u.Size, many*each[k].own)
			u.Shown = append(u.Shown, !never[[2]int{i, comp.Cell}])
		}

		// What is in fewer cells than there are rows is a box.
		for _, u := range layers {
			if u.Rows < u.Cells() {
				rows = append(rows, u)
				continue
			}
			for i, k := range u.At {
				moved[way][k] += u.Size[i]
			}
		}
	}

	beside = moved[0]
	for k, v := range moved[1] {
		if signs == nil || !m.oneWay(m.Components[k]) {
			beside[k] += v
		} else {
			beside[k] = math.Max(beside[k], v) // at most: they are opposite
		}
	}
	return beside, rows
}

// shared numbers the sets of components that have their unseen rows of a class in common, and returns each component's.
func (m *Moments) shared(c *classes, class int) []int {
	out := make([]int, len(m.Components))
	index := map[[2]int]int{}
	for k, comp := range m.Components {
		// What is misjudged by its own text may be so by rows of its own, in other cells than those of other texts.
		// All else has the one row in common.
		text := m.text(comp)
		if c.more[text][class] == 1 {
			text = -1
		}
		out[k] = ordinal(index, [2]int{m.cut.Layer(comp.Cell), text})
	}
	return out
}

// hardlySeen counts, in each set of components, the cells of which a class has a single row, and those of which it has
// none. It returns the lesser number, and says of which cells of a set, {set, cell}, there is none. Every set looks at
// its own terms, as a statement for it alone would: what a FILTER leaves out of one aggregate is still in the others.
//
// A single row is all there is of a term h exactly if (Σh)² = Σh² > 0, up to rounding. Where terms of a set differ, it
// counts if any of them says so: one that is 0 in some rows makes the numbers larger.
func (m *Moments) hardlySeen(c *classes, class int, set []int) (more map[int]int, never map[[2]int]bool) {
	once := map[[2]int]bool{}
	never = map[[2]int]bool{}
	for k, comp := range m.Components {
		here := [2]int{set[k], comp.Cell}
		for _, t := range m.aggregate(comp).Terms {
			at := comp.Cell*m.terms + t
			sum, square := c.mean[class][at]*c.Size[class], c.second[class][at*m.terms+t]*c.Size[class]
			if square <= 0 {
				never[here] = true
			} else if sum*sum <= square*(1+1e-6) {
				once[here] = true
			}
		}
	}

	// Cells that are hardly seen are as many as both counts say: the lesser is taken.
	more, none := map[int]int{}, map[int]int{}
	for here := range once {
		more[here[0]]++
	}
	for here := range never {
		none[here[0]]++
	}
	for i, n := range more {
		more[i] = min(n, none[i])
	}
	return more, never
}

// signs are the signs of the classes' unseen rows along a path: of classes whose shares grow and shrink, rows more of
// one kind move components that are oneWay in opposite ways. nil: nothing is known.
func (p *Path) signs() []int {
	if p.beta != nil {
		return nil
	}
	out := make([]int, len(p.along))
	for c, v := range p.along {
		out[c] = cmp.Compare(v, 0)
	}
	return out
}

// oneWay reports whether rows more of one class move a component one way, whatever rows they are: it is a sum of terms
// of one sign. What an average moves by may have either.
func (m *Moments) oneWay(k Component) bool { return m.total(k) >= 0 && m.oneSided(k) }
