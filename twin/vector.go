package twin

import (
	"fmt"
	"math"
	"slices"

	"fugu/mechanism"
)

// vector is K for any number of classes: Ñ is the vector of counts nearest to N + e, and in each cell e has Σ e_c = 0
// and a probability proportional to x^h(e), x = e^(-ε/k), where h(e) = ‖e‖₁/2 is how many rows e moves. Where nothing
// is public, the table is the only cell.
//
// A pair differs by the classes of at most k rows, each of which stays in its cell, however they divide over the cells
// and over the other classes: h is a norm, so that the weights of all cells together change by the factor x^-k = e^ε at
// most, and the normaliser does not depend on N. What comes after e is added, clamping too, tells nothing more.
//
// Untruncated it is ε-hiding, but e has no bounds, so that a class is known to have no more rows than its range says.
// Truncated to e_c ≤ A it is (ε,δ)-hiding, A being that of truncation, and a class has Ñ_c - A rows or more: what is
// nearest is looked for so that no count is raised but to the least of its class.
type vector struct {
	rate
	move    int64 // k
	most    int64 // A; -1: untruncated
	cells   []Cell
	classes []Class // those of a cell are neighbours, as many in each
	totals  []total
}

// newVector is noise at a price: truncated where there is a delta for it, and otherwise without bounds.
func newVector(d domain, epsilon, delta float64) (*vector, error) {
	r, err := newRate(epsilon, 2*d.move)
	if err != nil {
		return nil, err
	}
	v := &vector{rate: r, move: d.move, most: -1, cells: d.cells, classes: d.classes, totals: d.totals}
	if delta == 0 {
		return v, nil
	}
	if v.most, err = truncation(r.epsilon()/float64(d.move), v.group(), d.move, delta); err != nil {
		return nil, err
	}
	for _, c := range d.cells {
		if v.most < c.Rows {
			return v, nil
		}
	}
	return nil, fmt.Errorf("noise is truncated at %d rows, and no cell has more", v.most)
}

// group is how many classes a cell has.
func (v *vector) group() int { return len(v.classes) / len(v.cells) }

// part is the classes of a cell, from one to before another.
func (v *vector) part(cell int) (from, to int) { return cell * v.group(), (cell + 1) * v.group() }

func (v *vector) String() string {
	out := fmt.Sprintf("noise on %d classes", len(v.classes))
	if len(v.cells) > 1 {
		out += fmt.Sprintf(" in %d public cells", len(v.cells))
	}
	out += fmt.Sprintf(", e^(-1/%.4g) for each row moved", float64(v.move)/v.epsilon())
	if v.most >= 0 {
		out += fmt.Sprintf(", truncated at %d more", v.most)
	}
	return out
}

func (v *vector) draws() int { return 1000 * len(v.classes) }

// draw draws all entries of a cell's e but the last as independent discrete Laplace noise, Pr(e_c) ∝ x^(|e_c|/2),
// accepts with the last one's factor x^(|e_last|/2), and draws again what is beyond the truncation.
func (v *vector) draw(i *mechanism.Integers, counts []int64) []int64 {
	scale := 2 * uint64(v.move) * v.den
	var out []int64
	for cell := range v.cells {
		from, to := v.part(cell)
		raw := make([]int64, to-from)
		// The entries of e add up to 0, so that the last one is what the others leave.
		for done := false; !done; {
			if i.Err() != nil {
				return nil
			}
			last, most := int64(0), int64(math.MinInt64)
			for c := range len(raw) - 1 {
				e := i.Laplace(scale, v.num)
				raw[c], last, most = counts[from+c]+e, last-e, max(most, e)
			}

			raw[len(raw)-1] = counts[to-1] + last
			done = i.Yes(uint64(abs(last)), v.num, scale) && (v.most < 0 || max(most, last) <= v.most)
		}
		out = append(out, v.nearest(cell, raw)...)
	}
	return out
}

// nearest is the vector of a cell that is nearest to raw within the bounds of its classes; where noise is truncated,
// within their lower bounds alone, so that every count is raw's, or less, or the least of its class.
func (v *vector) nearest(cell int, raw []int64) []int64 {
	from, to := v.part(cell)
	classes, rows := v.classes[from:to], v.cells[cell].Rows
	if v.most < 0 {
		return nearest(classes, rows, raw)
	}
	open := slices.Clone(classes)
	for c := range open {
		open[c].Most = rows
	}
	return nearest(open, rows, raw)
}

func (v *vector) least(noisy []int64) []int64 {
	out := make([]int64, len(v.classes))
	for c, class := range v.classes {
		out[c] = class.Least
		if v.most >= 0 {
			out[c] = max(out[c], noisy[c]-v.most)
		}
	}
	return out
}

func (v *vector) covers(counts []int64) bool {
	for c, class := range v.classes {
		if counts[c] < class.Least || counts[c] > class.Most {
			return false
		}
	}
	return !slices.ContainsFunc(v.totals, func(t total) bool { return !t.covers(v.classes, counts) })
}

// within is the table within the bounds that is nearest to these counts.
func (v *vector) within(counts []int64) (out []int64) {
	for cell := range v.cells {
		from, to := v.part(cell)
		out = append(out, v.nearest(cell, counts[from:to])...)
	}
	return out
}

// expect takes noise without bounds, as continuous noise has its variance: sizes do not depend on it. Where it is
// truncated they do, and it goes through quantiles of an entry of e, of all classes at a time: each class has its own
// law.
func (v *vector) expect(counts []int64, sizes func(noisy []int64) []int64) []Expected {
	var sum sums
	if v.most >= 0 {
		// A count has no more rows than the least of all other classes in its cell leave.
		left := make([]int64, len(v.cells)) // what the least of all classes leaves
		for i, c := range v.cells {
			left[i] = c.Rows
		}
		for _, class := range v.classes {
			left[class.Cell] -= class.Least
		}
		for q := range quantiles {
			y := v.quantile((float64(q) + .5) / (2 * quantiles))
			for _, y := range []int64{-y, y} {
				noisy := make([]int64, len(counts))
				for c, class := range v.classes {
					noisy[c] = min(max(counts[c]+y, class.Least), class.Least+left[class.Cell])
				}
				sum.add(counts, noisy, sizes(noisy), 1./(2*quantiles))
			}
		}

		return sum.expected()
	}

	noisy := v.within(counts)
	sum.add(counts, noisy, sizes(noisy), 1)
	out := sum.expected()
	for c, spread := range v.spread(noisy) {
		out[c].Noise = spread
	}
	return out
}

// spread is that of noise without bounds, whatever Ñ is; but clamped noise is no further off than the range is wide.
func (v *vector) spread([]int64) []float64 {
	out := make([]float64, len(v.classes))
	for c, class := range v.classes {
		out[c] = math.Min(float64(class.Most-class.Least), deviation(v.group())*float64(v.move)/v.epsilon())
	}
	return out
}

// deviation is the standard deviation of an entry of e, in units of k/ε: √2 for two classes. e is the difference of the
// rows that come and those that go, and h follows a gamma law of the dimension, among which the rows divide as in a
// simplex.
func deviation(classes int) float64 {
	d := float64(classes - 1)
	// With p classes that gain, h ~ Gamma(d), split evenly on the simplex of p: E e² = E h²·2/(p(p+1)); by symmetry the
	// share of p is C(d+1,p)·C(d-1,p-1), up to a factor.
	total, sum := 0., 0.
	for p := 1.; p <= d; p++ {
		lg := func(x float64) float64 { y, _ := math.Lgamma(x + 1); return y }
		ways := math.Exp(lg(d+1) - lg(p) - lg(d+1-p) + lg(d-1) - lg(p-1) - lg(d-p))
		gain, lose := p/(d+1)*2/(p*(p+1)), (d+1-p)/(d+1)*2/((d+1-p)*(d+2-p))
		total += ways
		sum += ways * (gain + lose)
	}
	return math.Sqrt(sum / total * d * (d + 1))
}

// quantile is the least y that an entry of e is above with this probability at most, which is below a half.
func (v *vector) quantile(beyond float64) int64 {
	rate := v.epsilon() / float64(v.move)
	low, high := int64(0), v.most
	for low < high {
		if mid := low + (high-low)/2; tail(rate, v.group(), max(mid, int64(v.group()-2))) <= beyond {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// pairwise takes for Ñ an answer that tells a pair apart as well as any ε-hiding one does: randomised response. Sizes
// do not depend on Ñ, if noise is untruncated. If it is truncated, that of a class depends on its own count, so that at
// each count of the class the rest of Ñ is such an answer: given a count the two probabilities have a ratio between
// e^-ε and e^ε on average, which the two ends have as well, and no law of ratios with that average tells more.
func (v *vector) pairwise(class int, counts, other []int64, each func(noisy []int64, p, q float64)) {
	loss := float64(moved(counts, other)) * v.epsilon() / float64(v.move)
	noisy := v.within(counts)

	if v.most < 0 {
		yes, no := -math.Log1p(math.Exp(-loss)), -math.Log1p(math.Exp(loss))
		each(noisy, yes, no)
		each(noisy, no, yes)
		return
	}

	for _, y := range v.marginal(counts[class], other[class]) {
		noisy[class] = max(y.count, v.classes[class].Least)
		if y.p == 0 || y.q == 0 {
			each(noisy, math.Log(y.p), math.Log(y.q))
			continue
		}
		// p = a + b and q = a·e^loss + b·e^-loss.
		up, down := math.Exp(loss), math.Exp(-loss)
		a := math.Max(0, (y.q-y.p*down)/(up-down))
		b := math.Max(0, y.p-a)
		each(noisy, math.Log(a), math.Log(a)+loss)
		each(noisy, math.Log(b), math.Log(b)-loss)
	}
}

// block is some counts of a class, up to one, with their probability in two tables.
type block struct {
	count int64
	p, q  float64
}

// marginal is the law of a class's count, before clamping, in two tables that have so many rows of it, in blocks. What
// is cut off of the other classes changes it by δ or so.
func (v *vector) marginal(count, other int64) (out []block) {
	rate, step := v.epsilon()/float64(v.move), max(1, v.move/64)
	above := func(y int64) float64 { // Pr(e ≥ y)
		m := int64(v.group() - 2)
		switch {
		case y > v.most:
			return 0
		case y > m:
			return tail(rate, v.group(), y-1)
		case y <= -m:
			return 1 - tail(rate, v.group(), -y)
		}

		// Near 0 the formula of tail does not hold, and the law is nearly even.
		beyond := tail(rate, v.group(), m)
		return 1 - beyond + float64(y+m)/float64(2*m+1)*(2*beyond-1)
	}

	reach := 2 * v.most
	for from := min(count, other) - reach; from <= max(count, other)+v.most; from += step {
		b := block{count: from + step - 1}
		b.p = above(from-count) - above(from+step-count)
		b.q = above(from-other) - above(from+step-other)
		if b.p > 0 || b.q > 0 {
			out = append(out, b)
		}
	}
	return out
}
