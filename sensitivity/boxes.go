package sensitivity

import (
	"errors"
	"fmt"
	"math"

	"fugu/privacy"
)

// Release is what a noise does for one secret: how it hides the movement of F's mean, and what Gaussian noise it adds.
//
// F is N(μ_x, Σ_x). For a pair p, q of values let μ_p-μ_q = Σ_i a_i·d_i + (a·Along + r), |a_i|, |a| ≤ 1, r = s + Σ_j
// u_j with |s_k| ≤ Beside_k and u_j in the j-th Unseen, where Laplace noise of scale t_i along d_i hides a_i·d_i. A
// part T of the Gaussian covariance is set aside to hide a·Along + r: released is then a function of independent parts,
// and dominated by the Experiment
//
//	[Laplace: 1/t_i]  ×  [Gaussian shift, κ² = (a·Along+r)ᵀT⁻¹(a·Along+r)]  ×  [N(0, Σ_p+N-T) against N(0, Σ_q+N-T)]
//
// whatever T is: the noise of one scale or direction may be added up afterwards.
type Release struct {
	Laplace  []float64  // 1/t_i: |shift|/scale of independent Laplace noises
	Along    []float64  // of the mean's movement, what Gaussian noise hides; nil: nothing
	Beside   []float64  // likewise; nil: nothing
	Unseen   [][]Unseen // likewise, one of these lists; nil: nothing
	Gaussian Covariance // N, of all Gaussian noise, in blocks like the family's
	Floor    []float64  // variances of Gaussian noise of single components: N - diag(Floor) is positive semidefinite
	Enough   float64    // a bound on δ below this one need not be tighter
	Extra    privacy.Loss
	// Extra is what it costs to take the noise for this ideal: Pr ≤ e^(Pure) (Pr of the ideal) + Delta, and likewise
	// the other way round, both times together. Pure comes off ε and, as a factor, off δ. Kappa2 must be 0.
}

// Certificate is a proven statement on one secret: every pair of the family's span is (Epsilon,Delta)-indistinguishable
// in both orders, and Pair (first against second) is where the bound is largest.
type Certificate struct {
	Epsilon, Delta float64
	Pair           [2]float64
}

// ErrUncertified says that a bound exceeds the budget: more noise may help.
var ErrUncertified = errors.New("the distributions of F differ by more than the budget allows")

const (
	coarse = 4    // boxes start this many times finer than Within
	finest = 32   // and are split until they are this many times finer,
	margin = 1.02 // but not where the bound is at most so many times what some pair needs
)

// search is one certification.
type search struct {
	family  Family
	release Release
	share   share
	inside  bool      // the Gaussian pair has the movement Along inside
	frame   *pencil   // of release, share and span; nil: to be built
	ground  *ground   // of release and the last box; nil: none yet
	besides *setAside // of release; nil: not asked for yet
	memory  *memory
	span    [2]float64 // where the frame's matrices are
	kappa2  float64    // what share.beside hides
	slopes  []slope    // of the experiment, for share.bend
	epsilon float64
	delta   float64
	c       float64 // the saddle point at the binding box
	reached float64
	pair    [2]float64
	goal    float64 // a bound that needs no smaller boxes
	ln      float64 // what Chernoff gives at the pair, its logarithm
}

// Certify bounds δ at the budget's ε over all pairs of the family's span, in both orders. It returns ErrUncertified, or
// an error that wraps it, where that is more than the budget's δ.
//
// For affine covariances the covariances of all values in a box [a,b] are diagonal in one basis, and each diagonal
// entry is monotone. So for p, q in the box, a ≤ q < p ≤ b, every coordinate of the pair is, after scaling, N(0,ρ)
// against N(0,1) with ρ between 1 and the ratio ρ' of the box's ends; it is the pair of the ends put through x ↦ βx +
// N(0,1-β²), β² = (ρ-1)/(ρ'-1) ≤ 1. Hence the ends (b,a) dominate every (p,q) with q < p, and (a,b) every (q,p). Boxes
// longer than Within cover the continuum of pairs, and the bound over the boxes is one over all pairs.
//
// For covariances that are Bent, that argument holds for the straight line between the ends of the box. The rest, R_x
// with |R_x| ≤ diag(ρ), goes to a part T = diag(t) of the noise that is set aside: N(0,T+R_p) against N(0,T+R_q). Its
// variances' ratios are eigenvalues between those of diag((t+ρ)/(t-ρ)) and their inverses [Weyl's monotonicity], hence
// it is dominated by two coordinates for each k with y_k = ln((t_k+ρ_k)/(t_k-ρ_k)).
//
// Where Along is how the family's mean moves, the movement stays inside the Gaussian pair: see straight.
func Certify(f Family, r Release, b privacy.Budget) (Certificate, error) {
	s, err := newSearch(f, r, b)
	if err != nil {
		return Certificate{}, err
	}
	if err := s.tune(); err != nil {
		return Certificate{}, err
	}
	return s.cover()
}

// newSearch checks what is to be certified, and starts a search of which the shares are first guesses.
func newSearch(f Family, r Release, b privacy.Budget) (*search, error) {
	if !Known(f) {
		return nil, ErrNotAffine
	}
	if r.Extra.Kappa2 != 0 || !r.Extra.Valid() {
		return nil, errors.New("certify: extra losses that are Gaussian or not finite")
	}
	sp := f.Span()
	if !(sp.From < sp.To && sp.Within > 0 && finite(sp.From) && finite(sp.To)) {
		return nil, fmt.Errorf("certify: no pairs in %+v", sp)
	}

	memory := remembered(f)
	if err := r.fits(f.Covariance(sp.From).Len()); err != nil {
		return nil, fmt.Errorf("certify: %w", err)
	}
	if err := memory.positive(f, r.Gaussian); err != nil {
		return nil, err
	}

	// What the extra losses cost comes off the budget first; the rest is for the experiment.
	s := &search{family: f, release: r, memory: memory}
	s.epsilon = float64(b.Epsilon) - r.Extra.Pure
	s.delta = (float64(b.Delta) - r.Extra.Delta) * math.Exp(-r.Extra.Pure)
	if !(s.epsilon > 0 && s.delta > 0) {
		return nil, ErrUncertified
	}

	if err := s.guessShares(); err != nil {
		return nil, fmt.Errorf("certify: %w", err)
	}
	return s, nil
}

// fits refuses a release of other than m components.
func (r Release) fits(m int) error {
	if r.Gaussian.Len() != m || len(r.Floor) != m || r.Along != nil && len(r.Along) != m ||
		r.Beside != nil && len(r.Beside) != m {
		return fmt.Errorf("noise, floor or movement do not have the %d components of F", m)
	}
	for _, list := range r.Unseen {
		for _, u := range list {
			if err := u.Check(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// positive refuses a family that has no covariance, but for rounding, at one end of its span. All in between are
// mixtures of the two, and mixtures of two covariances are covariances.
func (m *memory) positive(f Family, noise Covariance) error {
	for _, x := range []float64{f.Span().From, f.Span().To} {
		c := f.Covariance(x)
		zero := Covariance{Blocks: c.Plus(-1, c).Blocks}

		// F's variances with the noise's are what its entries may have been rounded from.
		all := Covariance{Blocks: c.Plus(1, noise).Blocks}.Diagonal()
		p, err := newPencil(c.WithDiagonal(1e-6, all), zero.WithDiagonal(1, all), nil, m.order)
		if err != nil {
			return fmt.Errorf("certify: %w", err)
		}
		m.order = p.elimination
		if _, _, ok := p.logDet(1, 0); !ok {
			return fmt.Errorf("certify: F: %w", errNotPositive)
		}
	}
	return nil
}

// lefts returns the range of the smaller value of a pair, and the end of the box for those between q0 and q1.
func (s *search) lefts() (from, to float64) {
	sp := s.family.Span()
	return sp.From, math.Max(sp.From, sp.To-sp.Within)
}

func (s *search) right(q1 float64) float64 {
	sp := s.family.Span()
	return math.Min(sp.To, q1+sp.Within)
}

// pairOf returns the pair that the experiment of the box [a,b] compares: first against second.
func (e *Experiment) pairOf(a, b float64) [2]float64 {
	if e.swapped {
		return [2]float64{a, b}
	}
	return [2]float64{b, a}
}

// cover verifies every pair.
func (s *search) cover() (Certificate, error) {
	if !(s.reached <= s.delta) {
		return Certificate{}, ErrUncertified
	}
	s.goal = math.Min(math.Max(margin*s.reached, s.release.Enough), s.delta)
	s.ln += math.Log(s.goal / s.reached) // about what Chernoff gives where the goal is reached

	// Boxes beside one another, whose smaller values cover [from,to].
	from, to := s.lefts()
	n := max(1, int(math.Ceil(coarse*(to-from)/s.family.Span().Within)))
	for i := range n {
		q0, q1 := from+(to-from)*float64(i)/float64(n), from+(to-from)*float64(i+1)/float64(n)
		if i == n-1 {
			q1 = to
		}
		if err := s.verify(q0, q1); err != nil {
			return Certificate{}, err
		}
		if !(s.reached <= s.delta) {
			return Certificate{}, ErrUncertified
		}
	}

	// The extra losses come on top.
	extra := s.release.Extra
	delta := s.reached*math.Exp(extra.Pure) + extra.Delta
	return Certificate{Epsilon: s.epsilon + extra.Pure, Delta: delta, Pair: s.pair}, nil
}

// verify bounds δ over the pairs whose smaller value is between q0 and q1: by Chernoff where that is enough, by the
// integral, or by halves.
func (s *search) verify(q0, q1 float64) error {
	b := s.right(q1)
	e, err := s.ends(q0, b)
	if err != nil {
		return err
	}
	for _, x := range []*Experiment{e, e.Swapped()} {
		// Chernoff's bound is cheap, and often enough.
		small := (q1-q0)*finest <= s.family.Span().Within
		ln := chernoff(s.c, x.cgf(s.c), s.epsilon)
		switch {
		case math.Exp(ln) <= s.reached:
			continue
		case math.Exp(ln) <= s.release.Enough:
			s.reached, s.pair = math.Exp(ln), x.pairOf(q0, b)
			continue
		case !small && ln > s.ln: // the integral is likely to be too large as well
			return s.halves(q0, q1)
		}

		// The integral to the last digit only where a first look cannot tell.
		d, _ := x.delta(s.epsilon, s.c, rough)
		if d.High > s.goal && d.Low <= s.goal {
			d, _ = x.delta(s.epsilon, s.c, truncated)
		}
		switch {
		case d.High <= s.reached:
		case d.High > s.goal && !small:
			return s.halves(q0, q1)
		default:
			s.reached, s.pair = d.High, x.pairOf(q0, b)
		}
	}
	return nil
}

func (s *search) halves(q0, q1 float64) error {
	middle := q0 + (q1-q0)/2
	if err := s.verify(q0, middle); err != nil || !(s.reached <= s.delta) {
		return err
	}
	return s.verify(middle, q1)
}
