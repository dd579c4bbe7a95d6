package twin

import "math"

// Loss is the ε at which, with this δ, everything that is published of a table with these counts is indistinguishable
// from what is published of one with the other counts, for an analyst who knows so many rows of one class, whichever is
// worst: the joint law of Ñ and of how many of the known rows are in the twin. It is rounded up by lossStep at most;
// +Inf says that no ε will do.
func (d *Design) Loss(knownRows int64, counts, other []int64, delta float64) float64 {
	if knownRows == 0 {
		return d.loss(0, 0, counts, other, delta)
	}
	worst := 0.
	for c := range d.Classes {
		worst = math.Max(worst, d.loss(knownRows, c, counts, other, delta))
	}
	return worst
}

const (
	lossStep = 1. / 1024
	maxLoss  = 64
)

// losses is the law of the logarithm of the ratio of two probabilities, in steps, under each of the two.
type losses struct {
	first, second [2*maxLoss/lossStep + 1]float64
}

// add adds an outcome with logarithms of its probabilities.
func (l *losses) add(p, q float64) {
	bin := func(loss float64) int {
		return int(math.Ceil((math.Min(math.Max(loss, -maxLoss), maxLoss) + maxLoss) / lossStep))
	}
	l.first[bin(p-q)] += math.Exp(p)
	l.second[bin(q-p)] += math.Exp(q)
}

// epsilon is the least ε, in steps, for which Σ (p - e^ε q)₊ ≤ δ, both ways.
func (l *losses) epsilon(delta float64) float64 {
	worst := 0.
	for _, law := range []*[2*maxLoss/lossStep + 1]float64{&l.first, &l.second} {
		if law[len(law)-1] > delta {
			return math.Inf(1) // what only one of the two can bring forth
		}
		// From above: Σ p (1-e^(ε-L)) over the losses L beyond ε.
		mass, scaled := 0., 0.
		for i := len(law) - 1; i >= maxLoss/lossStep; i-- {
			loss := float64(i)*lossStep - maxLoss
			if mass-math.Exp(loss)*scaled > delta {
				worst = math.Max(worst, loss+lossStep)
				break
			}
			mass += law[i]
			scaled += law[i] * math.Exp(-loss)
		}
	}
	return worst
}

func (d *Design) loss(knownRows int64, class int, counts, other []int64, delta float64) float64 {
	var out losses
	last := int64(-1)
	var seen, seenOther []float64
	law, lawOther := hypergeometric(counts[class], knownRows), hypergeometric(other[class], knownRows)
	d.noise.pairwise(class, counts, other, func(noisy []int64, p, q float64) {
		if m := d.take(noisy)[class]; m != last {
			last = m
			seen, seenOther = law(min(m, counts[class])), lawOther(min(m, other[class]))
		}
		for h := range seen {
			if p, q := p+seen[h], q+seenOther[h]; p > -80 || q > -80 {
				out.add(math.Max(p, -1e3), math.Max(q, -1e3))
			}
		}
	})
	return out.epsilon(delta)
}

// CountError is the root mean square error, relative to its size, of the count of a group with so many rows of each
// class, by noise and sampling, in a table with these counts.
func (d *Design) CountError(counts, group []int64) float64 {
	total, rows := 0., int64(0)
	shifts := make([]float64, len(d.cells)) // by cell: each has noise of its own
	first := 0
	for c, e := range d.Expect(counts) {
		if d.Classes[c].Cell != d.Classes[first].Cell {
			first = c
		}
		f := float64(group[c]) / math.Max(1, float64(counts[c]))
		// Sampling has the variance of the half at f = 1/2, and is proportional to f(1-f).
		total += 4 * f * (1 - f) * e.Sampling * e.Sampling
		shifts[d.Classes[c].Cell] += f * e.Noise * sign(c-first)
		rows += group[c]
	}
	for _, shift := range shifts {
		total += shift * shift
	}
	return math.Sqrt(total) / float64(max(1, rows))
}

// sign is that of the noise of a class beside that of its cell's first, of which it takes the rows.
func sign(c int) float64 {
	if c == 0 {
		return 1
	}
	return -1
}

// Expect is what comes of a table with these counts, a class each.
func (d *Design) Expect(counts []int64) []Expected { return d.noise.expect(counts, d.take) }

// Error is what New makes least: the root mean square error of the counts of one half of each class, in tables whose
// counts are the listed ones, or spread over the policy's range, as a share of the table.
func (d *Design) Error() float64 {
	total := 0.
	for _, counts := range d.tables {
		for _, e := range d.Expect(counts) {
			total += e.Noise*e.Noise/4 + e.Sampling*e.Sampling
		}
	}
	return math.Sqrt(total/float64(len(d.tables))) / float64(d.Rows)
}

// Tables are the counts of tables of which Error is the mean: public examples of what the policy speaks of.
func (d *Design) Tables() [][]int64 { return d.tables }
