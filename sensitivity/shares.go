package sensitivity

import (
	"fmt"
	"math"
)

// share says how the Gaussian noise is divided: beside is the share of Release.besides that hides Beside and Unseen;
// bend the share of it that hides how far covariances leave a straight line; along the share of what is left, inherent
// randomness included, that hides Along.
type share struct{ beside, bend, along float64 }

const (
	rounds  = 6   // in which the shares are tuned one after the other, as what is best for one depends on the others,
	settled = .05 // until that changes the logarithm of the bound by no more than this
)

// guessShares gives a share of the noise to whatever there is to hide, for tune to start from.
func (s *search) guessShares() error {
	if s.hidesBeside().kappa != 0 { // NaN, too
		s.share.beside = .25
	}
	if !s.family.Affine() {
		need, err := s.mostBend()
		if err != nil {
			return err
		}
		s.share.bend = math.Max(.02, math.Min(3*need, .6))
	}

	// A movement along a straight line stays inside the Gaussian pair, and takes no share.
	if s.moves(s.release.Along) {
		if s.inside = s.family.Affine() && s.straight(); !s.inside {
			s.share.along = .5
		}
	}
	return nil
}

// mostBend returns the largest share of Floor that hides no more than the bend of the smallest boxes, of nine that are
// spread over the span.
func (s *search) mostBend() (need float64, err error) {
	from, to := s.lefts()
	for i := range 9 {
		a := from + (to-from)*float64(i)/8
		rho, err := bend(s.family, a, s.right(a+s.family.Span().Within/finest), s.scale())
		if err != nil {
			return 0, err
		}
		for k, v := range rho {
			if v > 0 {
				need = math.Max(need, v/s.release.Floor[k])
			}
		}
	}
	return need, nil
}

func (s *search) moves(v []float64) bool {
	for _, x := range v {
		if x != 0 {
			return true
		}
	}
	return false
}

// tune finds the values of the secret where the bound is largest and the shares that make it small there, both by
// Chernoff bounds; neither has to be right for the result to hold.
func (s *search) tune() error {
	e, worst, err := s.worstPair()
	if err != nil {
		return err
	}

	// One share after the other, in rounds, as what is best for one depends on the others.
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

// worstPair looks for the pair whose Chernoff bound, with the present shares, is largest, and returns its experiment
// and the logarithm of that bound.
func (s *search) worstPair() (e *Experiment, worst float64, err error) {
	from, to := s.lefts()
	last := s.family.Span().Within / finest // as long as the smallest boxes, so that they hold what holds here
	worst = math.Inf(-1)
	const points = 16
	for n := range points + 1 {
		i := n * 7 % (points + 1) // far apart, so that what is worst comes early
		a := from + (to-from)*float64(i)/points
		b := s.right(a + last)
		x, err := s.ends(a, b)
		if err != nil {
			return nil, 0, err
		}

		for _, y := range []*Experiment{x, x.Swapped()} {
			// What is not worse at the saddle point of the worst so far is not worse at its own.
			if e != nil && chernoff(s.c, y.cgf(s.c), s.epsilon) <= worst {
				continue
			}
			c, k := y.saddle(s.epsilon, s.c)
			if c == 0 {
				return nil, 0, fmt.Errorf("certify: %w", errNotPositive)
			}
			if ln := chernoff(c, k, s.epsilon); ln > worst {
				worst, s.c, e = ln, c, y
				s.pair = y.pairOf(a, b)
			}
		}

		if from == to {
			break
		}
	}
	return e, worst, nil
}

// tuneShare improves one share at the binding pair, starting from a bound with the present one. It returns the pair's
// experiment with the better share; nil where no better one was found.
func (s *search) tuneShare(which *float64, worst float64) (best *Experiment, err error) {
	limit := 1.0 // for what the shares of the floor leave of each other
	switch which {
	case &s.share.beside:
		limit -= s.share.bend
	case &s.share.bend:
		limit -= s.share.beside
	}

	// Steps are taken in the logit, which has no ends to run against. A step that does not help is taken back.
	logit := math.Log(*which / (limit - *which))
	try := func(x float64) bool {
		old := *which
		frame, kappa2, slopes := s.frame, s.kappa2, s.slopes
		*which = limit / (1 + math.Exp(-x))
		if which != &s.share.along { // which alone leaves the frame as it is
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
