package sensitivity

import (
	"math"
	"math/cmplx"

	"fugu/privacy"
)

// Bounds enclose a number: Low ≤ it ≤ High.
type Bounds struct{ Low, High float64 }

// contour is a vertical line in the domain of an experiment's K, with K on it. For every c > 0 in the domain
//
//	δ(ε) = E_P[(1-e^(ε-L))₊] = 1/2πi ∫_{c-i∞}^{c+i∞} e^(K(s)-sε) / s(s+1) ds,
//
// because ∫ (1-e^(ε-L))₊ e^(sε) dε = e^(sL)/s(s+1). The trapezoid rule with step h, with a point on the real axis, is
// by Poisson's summation formula Σ_k δ(ε+2πk/h) e^(2πkc/h): never less than δ(ε), and more only by
//
//	Σ_{k<0} ≤ 1/(e^(2πc/h)-1)      since δ ≤ 1
//	Σ_{k>0} ≤ C r/(1-r)            with Chernoff's δ(x) ≤ C e^(-b(x-ε)) for a b > c, and r = e^(-2π(b-c)/h).
//
// What is left out beyond iU is at most M(U)/πU, M(U) the modulus of e^(K(s)-sε) there: of every smooth part it falls
// with U (each eigenvalue's factor does), and of Laplace parts it is at most its value on the real axis.
type contour struct {
	e      *Experiment // without its Laplace parts
	c, h   float64
	smooth []complex128 // K of the smooth parts at c + ihj, as far as they were needed
	broken bool         // K could not be evaluated at the next point
	points []point      // what delta has of them for one ε, which is all that it is asked for
	at0    float64      // that ε
}

// point is s = c + iu and the smooth parts' share of the integrand there, e^(K(s)-iuε)/s(s+1) over e^K(c), and the
// modulus of its numerator.
type point struct {
	s, g    complex128
	modulus float64
}

const (
	maxPoints = 4096
	precision = 1e-6 // to which relative error aliases are kept
	truncated = 1e-4 // and the tail
	rough     = 1e-2 // the same, for a first look
	// allowance for floating-point arithmetic, in units of the sum of moduli; K loses 9 digits at most
	rounding = 1e-6
	tiny     = 1e-30 // an error that is as good as none
)

// at returns K of the smooth parts at the j-th point.
func (l *contour) at(j int) (complex128, bool) {
	for len(l.smooth) <= j && !l.broken {
		k, ok := l.e.smooth(complex(l.c, l.h*float64(len(l.smooth))))
		if !ok {
			l.broken = true
			break
		}
		l.smooth = append(l.smooth, k)
	}
	if j < len(l.smooth) {
		return l.smooth[j], true
	}
	return 0, false
}

// delta encloses δ(ε) of the smooth parts with the given Laplace parts, but for the aliases in Low. The tail is left
// out where it is less than tolerance times the sum.
func (l *contour) delta(epsilon float64, laplace []float64, tolerance float64) Bounds {
	k0, ok := l.at(0)
	if !ok {
		return Bounds{0, 1}
	}
	if l.at0 != epsilon {
		l.points, l.at0 = nil, epsilon
	}
	base := real(k0) - l.c*epsilon

	// The Laplace parts cost one sine and cosine a point, so that a search over their shifts uses the points again.
	front := 0.0 // K of the Laplace parts at c
	parts := make([]laplacePart, len(laplace))
	for i, a := range laplace {
		front += laplaceK(l.c, a)
		parts[i] = newLaplacePart(l.c, a)
	}

	unit := l.h / math.Pi
	var sum, moduli, tail float64
	for j := 0; ; j++ {
		if j == len(l.points) && !l.more(real(k0)) {
			return Bounds{0, 1}
		}
		p := l.points[j]
		g := p.g
		for _, a := range parts {
			g *= a.ratio(p.s)
		}

		// The trapezoid rule over the whole line: the value at c counts once, each of the others for its conjugate too.
		weight := unit
		if j == 0 {
			weight /= 2
		}
		sum += weight * real(g)
		moduli += weight * math.Sqrt(real(g)*real(g)+imag(g)*imag(g))
		if j == 0 {
			continue
		}
		tail = p.modulus / (math.Pi * imag(p.s))
		if tail <= tolerance*sum || j == maxPoints {
			break
		}
	}

	scale := math.Exp(base + front)
	wrong := tail + rounding*moduli
	b := Bounds{scale * (sum - wrong), scale * (sum + wrong)}
	if math.IsNaN(b.Low) || math.IsNaN(b.High) {
		return Bounds{0, 1}
	}
	return Bounds{math.Max(0, b.Low), math.Min(1, b.High)}
}

// more adds the next point, where K at c is k0; false where K cannot be evaluated.
func (l *contour) more(k0 float64) bool {
	k, ok := l.at(len(l.points))
	if !ok {
		return false
	}
	u := l.h * float64(len(l.points))
	s := complex(l.c, u)
	g := cmplx.Exp(k-complex(k0, u*l.at0)) / (s * (s + 1))
	l.points = append(l.points, point{s, g, math.Exp(real(k) - k0)})
	return true
}

// chernoff returns the logarithm of the largest value of (1-e^(ε-L)) e^(-c(L-ε)), times e^(K(c)-cε): a bound on ln
// δ(ε).
func chernoff(c, k, epsilon float64) float64 {
	return c*math.Log(c/(1+c)) - math.Log1p(c) + k - c*epsilon
}

// saddle returns the c > 0 at which e^(K(c)-cε)/c(c+1), whose logarithm is convex, is least, to within some five
// percent, and K there; start is a guess. It is 0 where K has no domain.
func (e *Experiment) saddle(epsilon, start float64) (c, k float64) {
	value := func(ln float64) (float64, float64) {
		c := math.Exp(ln)
		k := e.cgf(c)
		return k - c*epsilon - ln - math.Log1p(c), k
	}

	step := .25
	if !(start > 0) {
		start, step = 1, 1
	}
	x := math.Log(start)

	// From a guess outside of the domain down into it, which reaches to 0.
	f, k := value(x)
	for math.IsInf(f, 1) {
		if x -= 1; x < -40 {
			return 0, 0
		}
		f, k = value(x)
	}

	// A convex function of one variable: downhill, with smaller steps where neither side is lower.
	for step > .05 {
		if g, l := value(x + step); g < f {
			x, f, k = x+step, g, l
		} else if g, l := value(x - step); g < f {
			x, f, k = x-step, g, l
		} else {
			step /= 2
		}

		if x > math.Log(largest) || x < -60 {
			break
		}
	}
	return math.Exp(x), k
}

// Delta encloses δ(ε) = sup_S P(S) - e^ε Q(S), the least δ for which P ≤ e^ε Q + δ; for ε that is not positive and
// finite it says nothing (0 to 1). High is what to rely on.
func (e *Experiment) Delta(epsilon float64) Bounds {
	b, _ := e.delta(epsilon, 0, truncated)
	return b
}

// delta also takes and returns a guess at the saddle point.
func (e *Experiment) delta(epsilon, start, tolerance float64) (Bounds, float64) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return Bounds{0, 1}, start
	}

	// Where Laplace noise is all there is, and its shifts add up to no more than ε, nothing is lost.
	pure := e.pure()
	if e.kappa2 == 0 && len(e.slopes) == 0 && (e.pair == nil || e.indifference) && pure <= epsilon {
		return Bounds{0, 0}, start
	}

	// Chernoff's bound holds in any case, and is as good as the integral where both are nothing.
	c, k := e.saddle(epsilon, start)
	if c == 0 {
		return Bounds{0, 1}, start
	}
	ln := chernoff(c, k, epsilon)
	high := math.Min(1, math.Exp(ln))
	if high < tiny {
		return Bounds{0, math.Max(high, math.SmallestNonzeroFloat64)}, c
	}

	line, alias := e.line(c, k, epsilon, ln)
	b := line.delta(epsilon, e.laplace, tolerance)
	b.Low = math.Max(0, b.Low-alias)
	b.High = math.Min(b.High, high)

	if pure > 0 && epsilon > pure && b.High-b.Low > 3*tolerance*b.High {
		// Too little Gaussian noise beside the Laplace parts for the integral to converge: they cost at most their sum.
		rest := *e
		rest.laplace = nil
		r, _ := rest.delta(epsilon-pure, 0, tolerance)
		b.High = math.Min(b.High, r.High)
	}
	return b, c
}

// line chooses the step so that aliases, which it bounds, hardly count.
func (e *Experiment) line(c, k, epsilon, ln float64) (*contour, float64) {
	smooth := *e
	smooth.laplace = nil
	want := math.Max(precision*math.Exp(ln)*.01, tiny)
	h := 2 * math.Pi * c / math.Log1p(1/want)

	// The two sides of the aliases, see contour. For the second there is a b to choose: the first that will do.
	below := func(h float64) float64 { return 1 / math.Expm1(2*math.Pi*c/h) }
	above := func(h float64) float64 {
		least := math.Inf(1)
		for _, f := range []float64{2, 1.3, 1.1, 1.03, 1.01} {
			if least <= 10*precision*math.Exp(ln) {
				break
			}
			if kb := e.cgf(f * c); !math.IsInf(kb, 1) {
				if r := math.Exp(-2 * math.Pi * (f - 1) * c / h); r < 1 {
					least = math.Min(least, math.Exp(chernoff(f*c, kb, epsilon))*r/(1-r))
				}
			}
		}

		return least
	}

	alias := below(h) + above(h)
	for i := 0; i < 6 && alias > 10*precision*math.Exp(ln); i++ {
		h /= 1.5
		alias = below(h) + above(h)
	}
	return &contour{e: &smooth, c: c, h: h}, alias
}

// EpsilonAt returns an ε with δ(ε) ≤ delta, the least to within a relative error of 1e-4; +Inf where none was found.
func (e *Experiment) EpsilonAt(delta float64) float64 {
	if !(delta >= 0) {
		return math.Inf(1)
	}

	// Each step starts from the saddle point of the one before.
	start := 0.0
	excess := func(epsilon float64) float64 {
		b, c := e.delta(epsilon, start, truncated)
		start = c
		return privacy.Excess(b.High, delta)
	}

	// An ε that is large enough, by doubling; then the least. Of 0 nothing is known.
	lo, hi := privacy.Point{At: 0, Is: privacy.Excess(1, delta)}, privacy.Point{At: 1, Is: excess(1)}
	for hi.Over() {
		if 2*hi.At > 1e6 {
			return math.Inf(1)
		}
		lo, hi = hi, privacy.Point{At: 2 * hi.At, Is: excess(2 * hi.At)}
	}
	_, hi = privacy.Narrowed(excess, lo, hi, 1e-4)
	return hi.At
}
