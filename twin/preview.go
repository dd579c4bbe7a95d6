package twin

import "math"

// Loss is the ε at which, with this δ, everything that is published of a table with these counts is indistinguishable from
// what is published of one with the other counts, for an analyst who knows so many rows of one class, whichever is worst:
// the joint law of Ñ and of how many of the known rows are in the twin. It is rounded up by lossStep at most; +Inf says
// that no ε will do.
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
	d.noise.pairwise(class, counts, other, func(noisy []int64, p, q float64) {
		if m := d.take(noisy)[class]; m != last {
			last = m
			seen, seenOther = hypergeometric(counts[class], min(m, counts[class]), knownRows), hypergeometric(other[class], min(m, other[class]), knownRows)
		}
		for h := range seen {
			if p, q := p+seen[h], q+seenOther[h]; p > -80 || q > -80 {
				out.add(math.Max(p, -1e3), math.Max(q, -1e3))
			}
		}
	})
	return out.epsilon(delta)
}
