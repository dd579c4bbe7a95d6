package sensitivity

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"slices"
)

// Experiment is a pair of distributions (P,Q): what is known of one release under the two values of a secret pair. It
// is a product of independent parts, or something of which the release is a post-processing:
//
//	Laplace noise of scale t that hides a shift by a, for each entry |a|/t of Laplace;
//	a Gaussian shift of squared size Kappa2;
//	N(μ_p, S_p) against N(μ_q, S_q);
//	two coordinates, N(0,e^y) and N(0,e^-y) against N(0,1), for each y of slopes: what dominates a coordinate of
//	which no more is known than that the logarithm of its variances' ratio is at most y either way.
//
// Post-processing lowers no δ(ε), and neither does taking a part for one that dominates it [Dong, Roth & Su, "Gaussian
// Differential Privacy", Theorem 2.10 and section 3]. With s complex, α = 1+s and L = ln dP/dQ,
//
//	K(s) = ln E_P exp(sL)
//
// is the sum over the parts of
//
//	ln[ α/(2α-1) e^((α-1)a/t) + (α-1)/(2α-1) e^(-αa/t) ]
//	s(s+1)κ²/2
//	-½ln(1 - 4s(1+s)sinh²(y/2))
//	-½ln|αS_q+(1-α)S_p| + ½(1-α)ln|S_p| + ½α ln|S_q| + ½α(α-1) Δμᵀ(αS_q+(1-α)S_p)⁻¹Δμ
//
// [Mironov, "Rényi Differential Privacy", 2017, Table II; Gil, Alajaji & Linder, "Rényi divergence measures for
// commonly used univariate continuous distributions", 2013], where αS_q+(1-α)S_p is positive definite for α = 1 + Re s.
type Experiment struct {
	laplace      []float64
	kappa2       float64
	slopes       []slope
	pair         *pencil
	p, q         mix     // S_p and S_q by the pencil's two matrices
	detP, detQ   float64 // ln|S_p|, ln|S_q| in the pencil's coordinates
	moved        float64 // Δμ in lengths of the pencil's mean
	swapped      bool
	indifference bool // the Gaussian pair is the same twice

	between func() error // see Remember; nil: there is no search to wait with
}

// slope is e^y-1 and 1-e^-y of a y of Experiment.
type slope struct{ rise, fall float64 }

// slopeOf is that of y = ln((t+ρ)/(t-ρ)): of variances that are off by up to ρ beside noise of variance t > ρ.
func slopeOf(rho, t float64) slope { return slope{2 * rho / (t - rho), 2 * rho / (t + rho)} }

// Pair is N(Mean, P) against N(0, Q); a nil Mean is 0.
type Pair struct {
	P, Q Covariance
	Mean []float64
}

// mix is a linear combination of the two matrices of a pencil.
type mix [2]float64

func (m mix) complex() (a, b complex128) { return complex(m[0], 0), complex(m[1], 0) }

// NewExperiment checks its parts: shares |a|/t ≥ 0 of Laplace, κ² ≥ 0, and positive definite covariances. A nil pair is
// no Gaussian pair.
func NewExperiment(laplace []float64, kappa2 float64, pair *Pair) (*Experiment, error) {
	e := &Experiment{kappa2: kappa2}
	if !(kappa2 >= 0 && finite(kappa2)) {
		return nil, errors.New("experiment: a Gaussian shift that is negative or not finite")
	}
	for _, a := range laplace {
		if !(a >= 0 && finite(a)) {
			return nil, errors.New("experiment: a Laplace shift that is negative or not finite")
		}
		if a > 0 {
			e.laplace = append(e.laplace, a)
		}
	}

	if pair == nil {
		return e, nil
	}

	// Both sides of the pair have to be positive definite: the mixture with all weight on either.
	x, err := newPencil(pair.P, pair.Q, pair.Mean, nil)
	if err == nil {
		err = e.mixed(x, mix{1, 0}, mix{0, 1})
	}
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}

	if pair.Mean != nil {
		e.moved = 1
	}
	e.indifference = x.same()
	return e, nil
}

// mixed gives e the Gaussian pair whose covariances are two mixtures of a pencil's matrices.
func (e *Experiment) mixed(x *pencil, p, q mix) error {
	e.pair, e.p, e.q, e.indifference = x, p, q, p == q && e.moved == 0
	detP, _, okP := x.logDet(p.complex())
	detQ, _, okQ := x.logDet(q.complex())
	if !okP || !okQ {
		return errNotPositive
	}
	e.detP, e.detQ = real(detP), real(detQ)
	return nil
}

// same reports whether P = Q and the mean is 0.
func (x *pencil) same() bool {
	return slices.Equal(x.p, x.q) && slices.Equal(x.po, x.qo) && slices.Equal(x.wp, x.wq) &&
		!(x.mean && slices.ContainsFunc(x.u[len(x.u)-1], func(v float64) bool { return v != 0 }))
}

// Swapped returns (Q,P).
func (e *Experiment) Swapped() *Experiment {
	s := *e
	s.swapped = !s.swapped
	return &s
}

// pure is the sum of the Laplace shifts: if there is nothing else, the experiment is (pure,0)-indistinguishable.
func (e *Experiment) pure() float64 {
	total := 0.0
	for _, a := range e.laplace {
		total += a
	}
	return total
}

// smooth returns K without the Laplace parts at s, Re s > 0; ok is false outside its domain.
func (e *Experiment) smooth(s complex128) (k complex128, ok bool) {
	k = s * (s + 1) * complex(e.kappa2/2, 0)

	// Of a slope 1-4s(1+s)sinh²(y/2) has the factors α+(1-α)e^±y. All are in the right half plane.
	bent := winding{z: 1}
	for _, y := range e.slopes {
		if real(s)*y.rise >= 1 {
			return 0, false
		}
		bent.times(complex(1-real(s)*y.rise, -imag(s)*y.rise))
		bent.times(complex(1+real(s)*y.fall, imag(s)*y.fall))
	}
	if len(e.slopes) > 0 {
		k -= bent.log() / 2
	}

	if e.pair == nil || e.indifference {
		return k, true
	}
	// The determinant is what takes the time. That the search has ended is found at its next box.
	if e.between != nil {
		_ = e.between()
	}

	a := 1 + s // α
	p, q, detP, detQ := e.p, e.q, e.detP, e.detQ
	if e.swapped {
		p, q, detP, detQ = q, p, detQ, detP
	}
	det, quad, ok := e.pair.logDet(a*complex(q[0], 0)-s*complex(p[0], 0), a*complex(q[1], 0)-s*complex(p[1], 0))
	k += (-det - s*complex(detP, 0) + a*complex(detQ, 0)) / 2
	if e.moved != 0 {
		k += a * s * quad * complex(e.moved*e.moved/2, 0)
	}
	return k, ok
}

// laplaceM returns exp(K - se) of Laplace noise that hides e, for Re s > 0.
func laplaceM(s complex128, e float64) complex128 {
	d := 1 + 2*s // 2α-1
	return (1 + s + s*cmplx.Exp(-d*complex(e, 0))) / d
}

// laplacePart is Laplace noise that hides a shift a, on the line s = c + iu. There, with z = e^(iua),
//
//	e^K(s) = e^(ca) z (1+s + s e^(-(1+2c)a) z̄²)/(1+2s),
//
// which takes one sine and cosine.
type laplacePart struct{ shift, front, fall float64 }

func newLaplacePart(c, shift float64) laplacePart {
	return laplacePart{shift, 1 / real(laplaceM(complex(c, 0), shift)), math.Exp(-(1 + 2*c) * shift)}
}

// ratio returns exp(K(s)-K(c)).
func (l laplacePart) ratio(s complex128) complex128 {
	sin, cos := math.Sincos(imag(s) * l.shift)
	back := complex(l.fall*(cos*cos-sin*sin), -2*l.fall*sin*cos)
	return complex(l.front*cos, l.front*sin) * (1 + s + s*back) / (1 + 2*s)
}

// laplaceK returns K for real s.
func laplaceK(s, e float64) float64 { return s*e + math.Log(real(laplaceM(complex(s, 0), e))) }

// largest is beyond any exponent at which a tilted tail is of use.
const largest = 1e12

// cgf returns K(c) for real c > 0, +Inf outside the domain.
func (e *Experiment) cgf(c float64) float64 {
	if !(c > 0 && c < largest) {
		return math.Inf(1)
	}
	k, ok := e.smooth(complex(c, 0))
	if !ok {
		return math.Inf(1)
	}
	total := real(k)
	for _, a := range e.laplace {
		total += laplaceK(c, a)
	}
	if math.IsNaN(total) {
		return math.Inf(1)
	}
	return total
}
