package joint

import (
	"math"

	"fugu/privacy"
)

// Outside is the cost with components that are not in the stack. With whitening in any order that has the stack first,
// their rows of W = L⁻¹DL⁻ᵀ are at most Bend·√(λ/(1+λ)) long, λ what varies of a component in units of its noise
// (docs/accounting.md, Theorem 4). beside is Σ λ/(1+λ) of those components, and all that of every component, those in
// the stack among them.
func (c Cost) Outside(beside, all float64) Cost {
	c.Slope = math.Min(c.Slope, c.Bend)
	if c.Bend == 0 || all == 0 {
		return c
	}
	square := c.Bend * c.Bend
	g, slope := c.G, c.Slope
	if beside > 0 {
		g, slope = g+2*square*beside, c.Bend
	}
	if loose := square * all; loose < g {
		g, slope = loose, c.Bend
	}
	c.G, c.Slope = g, slope
	return c
}

// Weight is Σ λ/(1+λ) of the sums that a component is made of, of which the secret changes the rows alone: addends are
// how far each moves the component by its standard deviation, at most. Noise of the given variance in the component is
// told as noise of each, in proportion to the addends, for which Σ λ is least. In noise that is not normal, of variance
// 0, λ may be anything; so it may of an addend of +Inf.
func Weight(addends []float64, variance float64) (total float64) {
	all := 0.0
	for _, sd := range addends {
		all += sd
	}
	for _, sd := range addends {
		switch lambda := sd * all / variance; {
		case sd == 0:
		case lambda < math.Inf(1):
			total += lambda / (1 + lambda)
		default:
			total++
		}
	}
	return total
}

// Beside is what stands beside an account's normal parts: noise that is not normal, and what may fail.
type Beside struct {
	// Pure is Σ a of pure losses a, Squares Σ a². E e^(sL) of a pure loss of a is at most e^(sa), and at most
	// e^(s(1+s)a²/2) [Bun & Steinke 2016, Proposition 3.3].
	Pure, Squares float64
	// Close: each density, under either value, is within a factor of e^±Close of the one that everything else speaks
	// of.
	Close float64
	// Delta is the probability that a bound does not hold.
	Delta float64
}

// Plus returns what stands beside both.
func (b Beside) Plus(c Beside) Beside {
	return Beside{b.Pure + c.Pure, b.Squares + c.Squares, b.Close + c.Close, b.Delta + c.Delta}
}

// Epsilon returns an ε for which all releases together, if their statements were fixed beforehand, are
// (ε,δ)-indistinguishable with the covariances as they are under both values: the inverse of the bound in Delta, with
// pure losses by their squares where that is less. +Inf says nothing.
func (c Cost) Epsilon(delta float64, b Beside) float64 {
	left := (delta - b.Delta) * math.Exp(-b.Close) * (1 - 1e-9)
	if !(left > 0) || !(c.Kappa2 >= 0 && c.G >= 0 && c.Slope >= 0) || math.IsInf(c.Kappa2+c.G+b.Pure, 1) {
		return math.Inf(1)
	}
	best := math.Inf(1)
	if c.G == 0 {
		best = privacy.Loss{Pure: b.Pure, Kappa2: c.Kappa2}.EpsilonAt(left)
	}
	rough, s, tau := c.roughly(left, b)
	if math.IsInf(rough, 1) {
		return best + 2*b.Close
	}
	best = math.Min(best, rough)

	// The normal part exactly, near where the rough bound is least: each s and τ by itself is a bound.
	for _, factor := range []float64{.7, .85, 1, 1.2, 1.45} {
		if k := c.besideNormal(s*factor, tau, b); !math.IsInf(k, 1) {
			k += gaussianMoment(s*factor, math.Sqrt(c.Kappa2/(1-tau)))
			best = math.Min(best, (k-math.Log(left))/(s*factor))
		}
	}
	return math.Max(0, best) + 2*b.Close
}

// roughly is Epsilon with sup_x δ(x;κ)e^(sx) ≤ E e^(sL)·s^s/(1+s)^(1+s), and the s and τ where it is least.
func (c Cost) roughly(delta float64, b Beside) (least, s, tau float64) {
	least = math.Inf(1)
	taus := shares
	if c.G == 0 {
		taus = []float64{0}
	}
	ln := math.Log(delta)
	for _, t := range taus {
		value := func(x float64) float64 {
			return (c.besideNormal(x, t, b) + x*(1+x)*c.Kappa2/(2*(1-t)) + x*math.Log(x) - (1+x)*math.Log1p(x) - ln) / x
		}

		// Every s is a bound. The best one is looked for on a coarse grid first, and then around the best of that.
		best, at := math.Inf(1), 0.0
		for ln := -8.0; ln <= 16; ln++ {
			if v := value(math.Exp(ln)); v < best {
				best, at = v, ln
			}
		}
		for step := .5; step >= .25 && best < math.Inf(1); step /= 2 {
			for _, ln := range []float64{at - step, at + step} {
				if v := value(math.Exp(ln)); v < best {
					best, at = v, ln
				}
			}
		}
		if best < least {
			least, s, tau = best, math.Exp(at), t
		}
	}
	return least, s, tau
}

// besideNormal bounds ln E e^(sL) of all but the Gaussian shift, τ the share of the noise that is for unequal
// covariances.
func (c Cost) besideNormal(s, tau float64, b Beside) float64 {
	k := math.Min(s*b.Pure, s*(1+s)*b.Squares/2)
	if c.G == 0 {
		return k
	}
	total, most := c.G/(tau*tau), c.Slope/tau
	return k + coordinatesMoment(s, total, math.Min(most*most/(1+most), total))
}
