package sensitivity

import (
	"errors"
	"fmt"
	"math"

	"fugu/privacy"
)

// Release is what a noise does for one secret: how it hides the movement of F's mean, and what Gaussian noise it adds.
//
// F is N(μ_x, Σ_x). For a pair p, q of values let μ_p-μ_q = Σ_i a_i·d_i + (a·Along + r), |a_i|, |a| ≤ 1, r = s + Σ_j u_j with
// |s_k| ≤ Beside_k and u_j in the j-th Unseen, where Laplace noise of scale t_i along d_i hides a_i·d_i. A part T of the Gaussian covariance is set aside to hide a·Along + r:
// released is then a function of independent parts, and dominated by the Experiment
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
	// Extra is what it costs to take the noise for this ideal: Pr ≤ e^(Pure) (Pr of the ideal) + Delta, and likewise the
	// other way round, both times together. Pure comes off ε and, as a factor, off δ. Kappa2 must be 0.
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
	coarse  = 4    // boxes start this many times finer than Within
	finest  = 32   // and are split until they are this many times finer,
	rounds  = 6    // in which the shares are tuned one after the other, as what is best for one depends on the others,
	settled = .05  // until that changes the logarithm of the bound by no more than this
	margin  = 1.02 // but not where the bound is at most so many times what some pair needs
)

// share says how the Gaussian noise is divided: beside is the share of Release.besides that hides Beside and Unseen; bend the share of it that
// hides how far covariances leave a straight line; along the share of what is left, inherent randomness included, that
// hides Along.
type share struct{ beside, bend, along float64 }

// search is one certification.
type search struct {
	family  Family
	release Release
	share   share
	inside  bool    // the Gaussian pair has the movement Along inside
	frame   *pencil // of release, share and span; nil: to be built
	memory  *memory
	span    [2]float64 // where the frame's matrices are
	kappa2  float64    // what share.beside hides
	slopes  []float64  // of the experiment, for share.bend
	epsilon float64
	delta   float64
	c       float64 // the saddle point at the binding box
	reached float64
	pair    [2]float64
	goal    float64 // a bound that needs no smaller boxes
	ln      float64 // what Chernoff gives at the pair, its logarithm
}

// Certify bounds δ at the budget's ε over all pairs of the family's span, in both orders. It returns ErrUncertified, or an
// error that wraps it, where that is more than the budget's δ.
//
// For affine covariances the covariances of all values in a box [a,b] are diagonal in one basis, and each diagonal entry
// is monotone. So for p, q in the box, a ≤ q < p ≤ b, every coordinate of the pair is, after scaling, N(0,ρ) against N(0,1)
// with ρ between 1 and the ratio ρ' of the box's ends; it is the pair of the ends put through x ↦ βx + N(0,1-β²),
// β² = (ρ-1)/(ρ'-1) ≤ 1. Hence the ends (b,a) dominate every (p,q) with q < p, and (a,b) every (q,p). Boxes longer than
// Within cover the continuum of pairs, and the bound over the boxes is one over all pairs.
//
// For covariances that are Bent, that argument holds for the straight line between the ends of the box. The rest, R_x with
// |R_x| ≤ diag(ρ), goes to a part T = diag(t) of the noise that is set aside: N(0,T+R_p) against N(0,T+R_q). Its variances'
// ratios are eigenvalues between those of diag((t+ρ)/(t-ρ)) and their inverses [Weyl's monotonicity], hence it is dominated by
// two coordinates for each k with y_k = ln((t_k+ρ_k)/(t_k-ρ_k)).
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
	m := f.Covariance(sp.From).Len()
	if r.Gaussian.Len() != m || len(r.Floor) != m || r.Along != nil && len(r.Along) != m || r.Beside != nil && len(r.Beside) != m {
		return nil, fmt.Errorf("certify: noise, floor or movement do not have the %d components of F", m)
	}
	memory := remembered(f)
	for _, x := range []float64{sp.From, sp.To} { // a mixture of two covariances is one
		c := f.Covariance(x)
		all := Covariance{Blocks: c.Plus(1, r.Gaussian).Blocks}.Diagonal() // what it may have been rounded from
		p, err := newPencil(c.WithDiagonal(1e-6, all), Covariance{Blocks: c.Plus(-1, c).Blocks}.WithDiagonal(1, all), nil, memory.order)
		if err != nil {
			return nil, fmt.Errorf("certify: %w", err)
		}
		memory.order = p.elimination
		if _, _, ok := p.logDet(1, 0); !ok {
			return nil, fmt.Errorf("certify: F: %w", errNotPositive)
		}
	}
	s := &search{family: f, release: r, memory: memory, epsilon: float64(b.Epsilon) - r.Extra.Pure, delta: (float64(b.Delta) - r.Extra.Delta) * math.Exp(-r.Extra.Pure)}
	if !(s.epsilon > 0 && s.delta > 0) {
		return nil, ErrUncertified
	}
	s.share = share{}
	for _, list := range r.Unseen {
		for _, u := range list {
			if err := u.Check(m); err != nil {
				return nil, fmt.Errorf("certify: %w", err)
			}
		}
	}
	if _, kappa := r.besides(); kappa != 0 { // NaN, too
		s.share.beside = .25
	}
	if !f.Affine() {
		need := 0.0
		from, to := s.lefts()
		for i := range 9 {
			a := from + (to-from)*float64(i)/8
			rho, err := bend(f, a, s.right(a+sp.Within/finest), s.scale())
			if err != nil {
				return nil, fmt.Errorf("certify: %w", err)
			}
			for k, v := range rho {
				if v > 0 {
					need = math.Max(need, v/r.Floor[k])
				}
			}
		}
		s.share.bend = math.Max(.02, math.Min(3*need, .6))
	}
	if s.moves(r.Along) {
		if s.inside = f.Affine() && s.straight(); !s.inside {
			s.share.along = .5
		}
	}
	return s, nil
}

func (s *search) moves(v []float64) bool {
	for _, x := range v {
		if x != 0 {
			return true
		}
	}
	return false
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

// tune finds the values of the secret where the bound is largest and the shares that make it small there, both by
// Chernoff bounds; neither has to be right for the result to hold.
func (s *search) tune() error {
	from, to := s.lefts()
	last := s.family.Span().Within / finest // as long as the smallest boxes, so that they hold what holds here
	var e *Experiment
	worst := math.Inf(-1)
	const points = 16
	for n := range points + 1 {
		i := n * 7 % (points + 1) // far apart, so that what is worst comes early
		a := from + (to-from)*float64(i)/points
		b := s.right(a + last)
		x, err := s.ends(a, b)
		if err != nil {
			return err
		}
		for _, y := range []*Experiment{x, x.Swapped()} {
			if e != nil && chernoff(s.c, y.cgf(s.c), s.epsilon) <= worst {
				continue
			}
			c, k := y.saddle(s.epsilon, s.c)
			if c == 0 {
				return fmt.Errorf("certify: %w", errNotPositive)
			}
			if ln := chernoff(c, k, s.epsilon); ln > worst {
				worst, s.c, e = ln, c, y
				s.pair = [2]float64{b, a}
				if y.swapped {
					s.pair = [2]float64{a, b}
				}
			}
		}
		if from == to {
			break
		}
	}
	for range rounds {
		before := worst
		for _, which := range []*float64{&s.share.beside, &s.share.bend, &s.share.along} {
			if *which == 0 {
				continue
			}
			x, err := s.tuneShare(which, worst)
			if err != nil {
				return err
			}
			if x != nil {
				e = x
				worst = chernoff(s.c, e.cgf(s.c), s.epsilon)
			}
		}
		if s.share.beside == 0 || s.share.bend == 0 || worst > before-settled {
			break
		}
	}
	b, c := e.delta(s.epsilon, s.c, truncated)
	s.reached, s.c = b.High, c
	s.ln = chernoff(c, e.cgf(c), s.epsilon)
	return nil
}

// tuneShare improves one share at the binding pair, starting from a bound with the present one.
func (s *search) tuneShare(which *float64, worst float64) (best *Experiment, err error) {
	limit := 1.0 // for what the shares of the floor leave of each other
	switch which {
	case &s.share.beside:
		limit -= s.share.bend
	case &s.share.bend:
		limit -= s.share.beside
	}
	logit := math.Log(*which / (limit - *which))
	try := func(x float64) bool {
		old := *which
		frame, kappa2, slopes := s.frame, s.kappa2, s.slopes
		*which = limit / (1 + math.Exp(-x))
		if which != &s.share.along {
			s.frame = nil
		}
		e, err := s.ends(math.Min(s.pair[0], s.pair[1]), math.Max(s.pair[0], s.pair[1]))
		if err == nil {
			if s.pair[0] < s.pair[1] {
				e = e.Swapped()
			}
			if c, k := e.saddle(s.epsilon, s.c); c > 0 {
				if ln := chernoff(c, k, s.epsilon); ln < worst {
					worst, s.c, best, logit = ln, c, e, x
					return true
				}
			}
		}
		*which, s.frame, s.kappa2, s.slopes = old, frame, kappa2, slopes
		return false
	}
	for step := 2.; step > .2; {
		if math.Abs(logit) > 12 || !try(logit+step) && !try(logit-step) {
			step /= 2
		}
	}
	return best, nil
}

// cover verifies every pair.
func (s *search) cover() (Certificate, error) {
	if !(s.reached <= s.delta) {
		return Certificate{}, ErrUncertified
	}
	s.goal = math.Min(math.Max(margin*s.reached, s.release.Enough), s.delta)
	s.ln += math.Log(s.goal / s.reached) // about what Chernoff gives where the goal is reached
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
	return Certificate{Epsilon: s.epsilon + s.release.Extra.Pure, Delta: s.reached*math.Exp(s.release.Extra.Pure) + s.release.Extra.Delta, Pair: s.pair}, nil
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
		small := (q1-q0)*finest <= s.family.Span().Within
		ln := chernoff(s.c, x.cgf(s.c), s.epsilon)
		switch {
		case math.Exp(ln) <= s.reached:
			continue
		case math.Exp(ln) <= s.release.Enough:
			s.reached, s.pair = math.Exp(ln), [2]float64{b, q0}
			if x.swapped {
				s.pair = [2]float64{q0, b}
			}
			continue
		case !small && ln > s.ln: // the integral is likely to be too large as well
			return s.halves(q0, q1)
		}
		d, _ := x.delta(s.epsilon, s.c, rough)
		if d.High > s.goal && d.Low <= s.goal {
			d, _ = x.delta(s.epsilon, s.c, truncated)
		}
		switch {
		case d.High <= s.reached:
		case d.High > s.goal && !small:
			return s.halves(q0, q1)
		default:
			s.reached, s.pair = d.High, [2]float64{b, q0}
			if x.swapped {
				s.pair = [2]float64{q0, b}
			}
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
