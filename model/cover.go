package model

import (
	"math"
	"strconv"

	"fugu/channel"
	"fugu/internal/hook"
	"fugu/planner"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// Cover has movements hold for every law that the reference's rows may have been drawn from, whatever statement is
// asked for, but for a chance of delta over the reference, 0 < delta < 1: one chance for all statements together.
//
// The reference's N rows of a class are drawn independently from the class's law, and Ê are their means. A statement of
// L nats (planner.Bound.Spelled) has a share e^-L of delta. With t = L - ln delta, and what tells the class and the
// kind of the bound from others, it holds but for e^-t, for all texts at once, that
//
//	Σ_k |E h_k - Ê h_k| ≤ β max|h|, β = √(2/N (ln(2^A - 2) + t))     of disjoint cells, A of them with that of no row
//	|E h - Ê h| ≤ √(2 V (t + ln 4)/N) + 7R (t + ln 4)/(3(N - 1))      V their variance, R between the extremes of h
//	kl(Ê h ‖ E h) ≤ (t + ln 2)/N                                      for h between 0 and 1
//
// The first is the radius of Grosse et al. (equation 37, after Weissman et al. 2003); that it holds of sums as of
// counts is its proof with signs in place of sets. The others are those of Maurer & Pontil (2009, theorem 4) and
// Hoeffding (1963, theorem 1). docs/theory/estimation.md has the proofs.
//
// It takes the place of all other allowances for what a reference does not show. What is not bounded is refused
// (PV004): functions of second moments, secret means, and models given public statistics.
func (m *Moments) Cover(delta float64) { m.cover = delta }

func notCovered(what string) error {
	return sqlstate.New(sqlstate.ModelUnfit, "%s is not answered: how far the reference is off is not bounded for it, "+
		"and the policy promises that", what).
		WithHint("Ask for counts, sums and averages; or the owner of the policy can leave out " +
			"privacy.estimation.delta.")
}

// mix bounds Σ p_c v_c over the shares p of some vectors.
type mix func(v []float64) (low, high float64)

// direction is one in which shares move, and what they are there, piece by piece.
type direction struct {
	along  []float64
	pieces []mix
}

// piecesOfPath is in how many pieces slopes of averages are bounded along a path.
const piecesOfPath = 32

// pieces cuts a path up. What is linear in the shares is between what it is at the ends of a piece.
func (p *Path) pieces() (out []mix) {
	width := (p.span.To - p.span.From) / piecesOfPath
	for i := range piecesOfPath {
		from, to := p.shares(p.span.From+float64(i)*width), p.shares(p.span.From+float64(i+1)*width)
		out = append(out, func(v []float64) (low, high float64) {
			a, b := dot(from, v), dot(to, v)
			return math.Min(a, b), math.Max(a, b)
		})
	}
	return out
}

// covering makes a movement of slopes that lie between two bounds as the reference has them, so that it holds for every
// law within the radius: a sum's cells together where that is less, and each by itself otherwise.
func (m *Moments) covering(c *classes, name string, span sensitivity.Span, low, high, deviation []float64,
	l direction) (movement, error) {
	off := make([]float64, len(m.Components))                  // of each slope
	v := movement{widened: make([]float64, len(m.Components))} // of averages on coupled datasets nothing is estimated
	groups, index := [][]int{}, map[[2]int]int{}               // the sums of one aggregate in disjoint cells
	for k, comp := range m.Components {
		if m.total(comp) >= 0 {
			g := ordinal(index, [2]int{m.cut.Layer(comp.Cell), comp.Aggregate})
			if g == len(groups) {
				groups = append(groups, nil)
			}
			groups[g] = append(groups[g], k)
			continue
		}
		if _, _, ok := m.quotient(comp); !ok {
			return v, notCovered(m.aggregate(comp).Label)
		}
		off[k] = m.averageOff(c, comp, l, low[k], high[k], m.widest(comp)/span.Within)
	}

	// Rows that change class move the sums of all cells of a class together: one ball holds that, unless each by itself
	// is less.
	var unseen []sensitivity.Unseen
	for _, group := range groups {
		for class, along := range l.along {
			n := m.rows() * math.Abs(along)
			if n == 0 {
				continue
			}
			each, ball := m.sumsOff(c, class, group)
			if ball != nil {
				scale(ball.Size, n*span.Within)
				unseen = append(unseen, *ball)
				continue
			}
			for i, k := range group {
				off[k] += n * each[i]
			}
		}
	}

	// Standard errors go along for those who ask what the estimate itself is worth.
	var err error
	if v.Shift, err = sensitivity.Between(name, span, low, high, off); err != nil {
		return v, err
	}
	v.Error, v.Unseen = deviation, unseen
	scale(v.Error, span.Within)
	return v, nil
}

// sumsOff bounds how far the class means of sums in disjoint cells are off: each, or, where all of them together are
// off by less, in a ball. Then they are Rows cells that are off by Size each: Σ|e_k| ≤ B and |e_k| ≤ b, r ≤ B/b.
func (m *Moments) sumsOff(c *classes, class int, group []int) (each []float64, ball *sensitivity.Unseen) {
	var sum, squares, widest, most float64
	for _, k := range group {
		comp := m.Components[k]
		b := m.meanOff(c, class, comp)
		each = append(each, b)
		sum, squares, widest = sum+b, squares+b*b, math.Max(widest, b)
		most = math.Max(most, m.largestIn(comp, m.aggregate(comp).Terms[0]))
	}

	// Who drew the reference did not know the cells, if they are those of its own values: then there is no ball.
	first := m.Components[group[0]]
	if !m.cut.Foreseen(m.cut.Cells[first.Cell].Set) {
		return each, nil
	}
	together := most * channel.Radius(len(group)+1, int64(c.Size[class]), math.Exp(-m.odds(c, first)))
	rows := max(1, int(math.Min(together/widest, float64(len(group)))))
	if size := together / float64(rows); rows < len(group) && together*size*math.Sqrt(float64(rows)) <
		sum*math.Sqrt(squares) {
		ball = &sensitivity.Unseen{Rows: rows}
		for _, k := range group {
			ball.At, ball.Cell = append(ball.At, k), append(ball.Cell, m.Components[k].Cell)
			ball.Size = append(ball.Size, size)
		}
	}
	return each, ball
}

// boundKinds are how many bounds there are of one text and class: of the cells together, of one cell's sum two, of an
// average's number, of its mean two, and of a variance.
const boundKinds = 7

// odds are the nats of the chance that a bound of a component's text does not hold: t.
func (m *Moments) odds(c *classes, k Component) float64 {
	if hook.UnpaidTexts {
		return -math.Log(m.cover)
	}
	set := m.cut.Cells[k.Cell].Set
	nats := m.cut.Spelled(set, k.Aggregate) + math.Log(boundKinds*float64(len(c.Size))) - math.Log(m.cover)

	// Where the reference says what a row may add, that was not known before it was drawn.
	for _, t := range m.aggregate(k).Terms {
		for _, base := range m.cut.Terms[t].Factors {
			if x := m.cut.Bases[base]; !x.Indicator && x.Low == "" {
				e := m.within(base, m.limitSet(k))
				nats += spelled(e.min) + spelled(e.max)
			}
		}
	}
	return nats
}

// spelled is how many nats a number takes, as it is written shortest.
func spelled(x float64) float64 { return planner.Digits(strconv.FormatFloat(x, 'g', -1, 64)) }

// drawing are the rows of a class that a bound is of, as it has them: their number, and the mean and the variance of a
// quantity of theirs that lies between two values.
type drawing struct {
	n, mean, variance float64
	least, most       float64
}

// off bounds how far the mean of the law that rows were drawn from is from theirs, but for a chance of e^-t for each of
// two bounds. So many of the rows were picked to say what is asked about, and the others are the sample: the mean of
// these is no farther from that of all than the picked ones make it.
func (d drawing) off(t float64, picked int) float64 {
	extent, j := d.most-d.least, float64(picked)
	n := d.n - j
	if !(n >= 2) || !(extent > 0) {
		return math.Max(0, extent)
	}

	// Maurer & Pontil's bound. Without some rows, the sum of squares is no larger.
	either := t + math.Log(4)
	variance := math.Max(0, d.variance) * d.n / (n - 1)
	off := math.Sqrt(2*variance*either/n) + 7*extent*either/(3*(n-1)) + extent*j/d.n

	// Hoeffding's, of which either end moves with the mean.
	p, moved := math.Min(1, math.Max(0, (d.mean-d.least)/extent)), j/d.n
	above := farthest(math.Min(1, p+moved), 1, n, t+math.Ln2) - p
	below := p - farthest(math.Max(0, p-moved), 0, n, t+math.Ln2)
	return math.Min(math.Min(off, extent), extent*math.Max(above, below))
}

// farthest returns the mean q, from p towards an end that is 0 or 1, up to which n·kl(p‖q) ≤ t: so far may the mean of
// the law of values between 0 and 1 be off that of n of them. It is found by bisection that ends outside.
func farthest(p, end, n, t float64) float64 {
	inside := p
	for range 60 {
		q, kl := (inside+end)/2, 0.0
		if p > 0 {
			kl += p * math.Log(p/q)
		}
		if p < 1 {
			kl += (1 - p) * math.Log((1-p)/(1-q))
		}
		if n*kl > t {
			end = q
		} else {
			inside = q
		}
	}
	return end
}

// named is t of a component's own cell, and how many rows are picked to name it.
func (m *Moments) named(c *classes, k Component) (t float64, picked int) {
	nats, picked := m.cut.Named(k.Cell, m.size)
	return m.odds(c, k) + nats, picked
}

// meanOff bounds how far the class mean of a sum's term is off.
func (m *Moments) meanOff(c *classes, class int, k Component) float64 {
	f := []weighted{{m.total(k), 1}}
	least, most := m.reach(k)
	t, picked := m.named(c, k)
	return drawing{c.Size[class], value(f, c.mean[class]), c.variance(class, m.terms, f), least, most}.off(t, picked)
}

// varianceMost bounds the variance of a functional of one row [ibid., theorem 10].
func (c *classes) varianceMost(m *Moments, class int, f []weighted, extent, t float64, picked int) float64 {
	all := c.Size[class]
	n := all - float64(picked)
	if !(n >= 2) {
		return extent * extent / 4
	}
	sd := math.Sqrt(math.Max(0, c.variance(class, m.terms, f))*all/(n-1)) + extent*math.Sqrt(2*t/(n-1))
	return math.Min(sd*sd, extent*extent/4)
}

// covered are what Scatter asks for of a sum whose law is within the radius: Σ Var and Σ E h² of the rows drawn anew.
func (r replacement) covered(m *Moments, k Component, extent float64) (variance, second float64) {
	f := []weighted{{m.total(k), 1}}
	t, picked := m.named(r.c, k)
	of := func(class int) (variance, second float64) {
		variance = r.c.varianceMost(m, class, f, extent, t, picked)
		mean := math.Abs(value(f, r.c.mean[class])) + m.meanOff(r.c, class, k)
		return variance, variance + mean*mean
	}

	// Each is the worst over laws by itself, which no single law need be.
	variance = r.total(func(class int) float64 { v, _ := of(class); return v })
	second = r.total(func(class int) float64 { _, s := of(class); return s })
	if r.independent { // as farthest has it, with means as far apart as they may be
		low, high := math.Inf(1), math.Inf(-1)
		for class := range r.c.Size {
			mean, off := value(f, r.c.mean[class]), m.meanOff(r.c, class, k)
			low, high = math.Min(low, mean-off), math.Max(high, mean+off)
		}
		variance += (sumOf(r.rows) + r.any) / 2 * (high - low) * (high - low)
	}
	return variance, second
}
