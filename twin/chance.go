package twin

import (
	"errors"
	"fmt"
	"math"

	"fugu/policy"
)

// chances is what of δ covers that rows follow a distribution only by chance: each of some events may have the
// probability each, and all of them together all.
type chances struct{ each, all float64 }

// chances gives half of δ to the events that the counts of a secret about a distribution leave their bounds, under
// either value of a pair, or move further between the two than they should. The other half is K's.
//
// On all other outcomes of the coupled counts (N,N') they are such as K hides, so that P(S) ≤ e^ε P'(S) + δ_K + all.
func (s Spec) chances() chances {
	events := 0
	for _, secret := range s.Secrets {
		if secret.About == policy.AboutDistribution {
			events += 1 + 4*secret.Outcomes()
		}
	}
	if events == 0 {
		return chances{}
	}
	return chances{each: s.Delta / 2 / float64(events), all: s.Delta / 2}
}

// least is a number of rows below which a binomial number, of n rows with probability p each, is with probability
// chance at most: Pr(X ≤ an) ≤ exp(-n·KL(a‖p)) for a < p [Chernoff; Hoeffding 1963].
func (s Spec) least(p, chance float64) int64 {
	p = min(1, p-rounding)
	n := float64(s.Rows)
	if !(p > 0) || !(chance > 0) {
		return 0
	}
	lo, hi := int64(0), int64(math.Floor(n*p)) // X < 0 never
	for lo < hi {
		mid := lo + (hi-lo+1)/2
		if a := float64(mid-1) / n; a < p && n*divergence(a, p) >= -math.Log(chance)+1e-9 {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// divergence is KL(a‖p) of two coins.
func divergence(a, p float64) float64 {
	out := 0.
	if a > 0 {
		out += a * math.Log(a/p)
	}
	if a < 1 {
		out += (1 - a) * math.Log((1-a)/(1-p))
	}
	return out
}

// possible reports bounds that no table is within, or a δ that leaves no room for chance.
func (d domain) possible(s Spec) error {
	least, most := make([]int64, len(d.cells)), make([]int64, len(d.cells))
	for _, c := range d.classes {
		if c.Least > c.Most {
			return fmt.Errorf("class %s: at least %d rows and at most %d are in it; widen the range of its secret",
				c.Name, c.Least, c.Most)
		}
		least[c.Cell], most[c.Cell] = least[c.Cell]+c.Least, most[c.Cell]+c.Most
	}

	// What is public of a cell has to be within what its classes can have.
	for i, c := range d.cells {
		if least[i] <= c.Rows && c.Rows <= most[i] {
			continue
		}
		of := "table"
		if s.Public != nil {
			of = "cell " + s.Public.name(c)
		}
		return fmt.Errorf("the classes have %d to %d rows together, and the %s %d; widen the ranges of the secrets, "+
			"or lower smallest", least[i], most[i], of, c.Rows)
	}

	// Without a δ nothing could be given up of what chance makes improbable.
	for _, secret := range s.Secrets {
		if secret.About == policy.AboutDistribution && s.Delta == 0 {
			return errors.New("a secret about a distribution needs a delta above 0: by chance the rows can be as any " +
				"value has them; write about: dataset, or a delta")
		}
	}
	return nil
}
