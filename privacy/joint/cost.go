package joint

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"fugu/privacy"
)

// Cost is what all releases of an account tell together about a secret.
type Cost struct {
	// Kappa2 is the squared size of a Gaussian shift that is at least theirs, adaptively, under translation.
	Kappa2 float64
	// G bounds Σ (2 sinh(y/2))² over the coordinates in which the covariances under the two values differ by a factor
	// of e^y, times the square of the share of the noise, or of it and the randomness of the rows, that is set aside
	// for it.
	G float64
	// Slope bounds how far each factor is from 1, times the same share.
	Slope float64
	// Bend bounds Slope by the values of the secret alone, whatever is released: |D| ≤ Bend·Sigma0. +Inf where they
	// give no bound.
	Bend float64
}

// setAside is the share of the normal noise of each component that is for what Release.Rounding bounds.
const setAside = 1. / (1 << 22)

// wrong is by what part κ² may be too small for floating point: a solve is the exact one of a matrix whose entries are
// off by a few units in the last place, and S is at least `least` times the identity. Rounding errors are as good as
// independent, so that the norm of what is off grows with the size and not with its square [Higham & Mary 2019].
func wrong(size int, least float64) float64 { return 1e-9 + 8*float64(size)*0x1p-52/least }

// tolerable is the part beyond which an account is refused.
const tolerable = .01

// newCost puts the parts of a pair together, rounded up.
func newCost(kappa, least float64, size int, aside, rounding, bend float64, d differences) Cost {
	c := Cost{Bend: bend}
	if size == 0 {
		return c
	}
	up := 1 + wrong(size, least)
	k := kappa*math.Sqrt(up/(1-setAside)) + math.Sqrt(aside/(1-setAside))
	c.Kappa2 = k*k + rounding/setAside
	for end, square := range d.square {
		sums := d.rows[end]
		if w := d.whited[end]; w != nil {
			square, sums = w.square, w.sums
		}
		c.G = math.Max(c.G, square*up)
		for _, v := range sums {
			c.Slope = math.Max(c.Slope, v*up)
		}
	}
	return c
}

func (c Cost) max(d Cost) Cost {
	return Cost{math.Max(c.Kappa2, d.Kappa2), math.Max(c.G, d.G), math.Max(c.Slope, d.Slope), math.Max(c.Bend, d.Bend)}
}

// shares are the shares of the noise that are tried for what differs in the covariances.
var shares = []float64{1e-4, 3e-4, 1e-3, 3e-3, .01, .02, .05, .1, .15, .2, .3, .4, .5, .7, .9, .99}

// Delta returns a δ for which all releases together, if their statements were fixed beforehand, are
// (ε,δ)-indistinguishable with the covariances as they are under both values. Besides the account's there may be
// Laplace noise that hides movements by so many of its scales, and a probability that one of these bounds does not
// hold.
//
// It assumes that the rows' sums are jointly normal, and not that they are translated. 1 says nothing.
func (c Cost) Delta(epsilon float64, laplace []float64, failure float64) (float64, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) || !(failure >= 0 && failure <= 1) {
		return 1, errors.New("joint: a certificate for an ε that is not positive and finite, or a probability that " +
			"is none")
	}
	for _, a := range laplace {
		if !(a >= 0) || math.IsInf(a, 1) {
			return 1, errors.New("joint: a Laplace shift that is negative or not finite")
		}
	}

	if !(c.Kappa2 >= 0 && c.G >= 0 && c.Slope >= 0) {
		return 1, errors.New("joint: a cost that is negative or not a number")
	}

	// A share of the noise is set aside for what differs in the covariances. Any share gives a bound: the least is
	// taken.
	best := 1.0
	if c.Kappa2 == 0 && c.G == 0 && floats.Sum(laplace) <= epsilon {
		best = 0
	} else if c.G == 0 {
		best = tail(epsilon, c.Kappa2, laplace, 0, 0)
	} else {
		for _, tau := range shares {
			u, most := c.G/(tau*tau), c.Slope/tau
			most = math.Min(most*most/(1+most), u)
			best = math.Min(best, tail(epsilon, c.Kappa2/(1-tau), laplace, u, most))
		}
	}
	return math.Min(1, best+failure), nil
}

// tail bounds δ(ε) of a product of a Gaussian shift, Laplace noise, and coordinates N(0,e^y) against N(0,1) of which
// u = (2 sinh(y/2))² is at most most and all together add up to total. For every s > 0, L the sum of the other parts'
// losses,
//
//	δ(ε) = E δ(ε-L;κ) ≤ e^(-sε) E e^(sL) · sup_x δ(x;κ) e^(sx),
//
// the coordinates' part by coordinatesMoment.
func tail(epsilon, kappa2 float64, laplace []float64, total, most float64) float64 {
	kappa := math.Sqrt(kappa2)
	value := func(ln float64) float64 {
		s := math.Exp(ln)
		k := coordinatesMoment(s, total, most) - s*epsilon
		for _, a := range laplace {
			k += laplaceMoment(s, a)
		}
		if math.IsInf(k, 1) {
			return k
		}
		return k + gaussianMoment(s, kappa)
	}

	// Every s is a bound. The best one is looked for on a coarse grid first, and then around the best of that.
	best := math.Inf(1)
	at := 0.0
	for ln := -8.0; ln <= 20; ln++ {
		if v := value(ln); v < best {
			best, at = v, ln
		}
	}

	for step := .5; step > 1e-3; step /= 2 {
		for _, ln := range []float64{at - step, at + step} {
			if v := value(ln); v < best {
				best, at = v, ln
			}
		}
	}
	return math.Min(1, math.Exp(best)*(1+1e-9))
}

// coordinatesMoment bounds ln E e^(sL) of the coordinates in tail; +Inf where it has no bound. That of N(0,e^y) against
// N(0,1) is f(y) = -sy/2 - ½ln(1-s(e^y-1)), and f(-y) ≤ f(y) for y ≥ 0. f'/u' = s(1+s)/2 · e^y/(1+e^y) / (1-s(e^y-1))
// grows with y, so f/u does, and the sum is at most total/most times f at most.
func coordinatesMoment(s, total, most float64) float64 {
	if most == 0 {
		return 0
	}
	r := math.Sqrt(most) * (math.Sqrt(most) + math.Sqrt(4+most)) / 2 // e^y - 1
	if !(s*r < 1) {
		return math.Inf(1)
	}
	return -(s*math.Log1p(r) + math.Log1p(-s*r)) / 2 * (total / most) * (1 + 1e-9)
}

// laplaceMoment is ln E e^(sL) of Laplace noise that hides a shift by a of its scales [Mironov 2017, Table II].
func laplaceMoment(s, a float64) float64 {
	return s*a + math.Log((1+s+s*math.Exp(-(1+2*s)*a))/(1+2*s))
}

// gaussianMoment bounds sup_x ln δ(x;κ) + sx from above. ln δ(x;κ) is concave: of the concave functions ln(1-e^-z)₊ and
// the normal density, δ is the convolution [Prékopa 1973].
func gaussianMoment(s, kappa float64) float64 {
	if kappa == 0 {
		return s*math.Log(s/(1+s)) - math.Log1p(s)
	}
	f := func(x float64) float64 { return logDelta(x, kappa) + s*x }

	// It grows with x where even the normal tail falls more slowly than sx grows, and does not beyond.
	lo, hi := -1.0, 1.0
	for f(lo) > f(lo/2) && lo > -1e12 {
		lo *= 2
	}
	for f(hi) > f(hi/2) && hi < 1e12 {
		hi *= 2
	}
	// Of two points in golden section one stays when the other's side is cut off.
	const golden = 0.6180339887498949
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := f(a), f(b)
	for range 300 {
		if hi-lo <= 1e-7/s {
			break
		}
		if fa < fb {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = f(b)
		} else {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = f(a)
		}
	}
	return logDelta(lo, kappa) + s*hi
}

// logDelta is an upper bound on ln δ(x;κ), near it.
func logDelta(x, kappa float64) float64 {
	a := privacy.LogPhi(kappa/2 - x/kappa)
	b := x + privacy.LogPhi(-kappa/2-x/kappa)
	const rounding = 1e-6 // of the second term, by LogPhi
	return a + math.Log(math.Min(1, -math.Expm1(math.Min(b-a, 0))+rounding))
}
