package sensitivity

import (
	"math"

	"fugu/privacy"
)

// Probe tells, while a noise is being searched for, how much Laplace noise a release can do with. It looks at one pair
// of values, and proves nothing: Certify does.
type Probe struct {
	s    search
	last float64
}

// quick is the tolerance of a probe.
const quick = 1e-2

// NewProbe looks for the pair at which a release is least private. A budget that the release exceeds is no error.
func NewProbe(f Family, r Release, b privacy.Budget) (*Probe, error) {
	s, err := newSearch(f, r, b)
	if err != nil {
		return nil, err
	}
	if err := s.tune(); err != nil {
		return nil, err
	}
	return &Probe{s: *s, last: .8 * s.epsilon}, nil
}

// Delta is the release's δ at the pair and the budget's ε.
func (p *Probe) Delta() float64 { return p.s.reached }

// EpsilonAt returns the least ε for which the release has at most the given δ at the pair, to within 1e-4; +Inf where
// there is none.
func (p *Probe) EpsilonAt(delta float64) float64 {
	e, err := p.s.ends(math.Min(p.s.pair[0], p.s.pair[1]), math.Max(p.s.pair[0], p.s.pair[1]))
	if err != nil {
		return math.Inf(1)
	}
	e.swapped = p.s.pair[0] < p.s.pair[1]
	return e.EpsilonAt((delta-p.s.release.Extra.Delta)*math.Exp(-p.s.release.Extra.Pure)) + p.s.release.Extra.Pure
}

// Laplace returns the largest shift |d|/t of one Laplace noise more with which r stays within the budget at the pair; 0
// where there is none.
func (p *Probe) Laplace(r Release) float64 {
	p.s.take(r)
	low, high := math.Min(p.s.pair[0], p.s.pair[1]), math.Max(p.s.pair[0], p.s.pair[1])
	e, err := p.s.ends(low, high)
	if err != nil {
		return 0
	}
	e = p.suited(e, r)

	// A contour that was laid for one shift serves others near it; where the shift turns out to be another, once more.
	shift := p.last
	for range 2 {
		x := p.with(e, shift)
		c, k := x.saddle(p.s.epsilon, p.s.c)
		if c == 0 {
			return 0
		}
		p.s.c = c
		line, _ := x.line(c, k, p.s.epsilon, chernoff(c, k, p.s.epsilon))
		fits := func(shift float64) bool {
			return line.delta(p.s.epsilon, p.with(e, shift).laplace, quick).High <= p.s.delta
		}

		var ok bool
		if shift, ok = largestShift(shift, p.s.epsilon, fits); !ok {
			return 0
		}
		if math.Abs(shift-p.last) < .02*shift {
			break
		}
		p.last = math.Max(shift, 1e-3*p.s.epsilon)
	}
	return shift
}

// with is the pair's experiment with one Laplace shift more.
func (p *Probe) with(e *Experiment, shift float64) *Experiment {
	x := *e
	x.swapped = p.s.pair[0] < p.s.pair[1]
	x.laplace = append(append([]float64(nil), e.laplace...), shift)
	return &x
}

// suited takes one step of the shares towards what suits r, and returns the experiment with these; the next release is
// likely to be much the same.
func (p *Probe) suited(e *Experiment, r Release) *Experiment {
	for _, which := range []*float64{&p.s.share.beside, &p.s.share.bend} {
		if *which == 0 {
			continue
		}
		p.s.release.Laplace = append(append([]float64(nil), r.Laplace...), p.last)
		if c, k := p.with(e, p.last).saddle(p.s.epsilon, p.s.c); c > 0 {
			p.s.c = c
			if x, _ := p.s.tuneShare(which, chernoff(c, k, p.s.epsilon)); x != nil {
				e = x
				e.laplace = r.Laplace
			}
		}
		p.s.release.Laplace = r.Laplace
	}
	return e
}

// largestShift bisects for the largest shift up to most that fits, to a relative error of 2e-3, starting from a guess;
// not ok where none fits.
func largestShift(guess, most float64, fits func(float64) bool) (shift float64, ok bool) {
	lo, hi := .97*guess, math.Min(1.03*guess, most)
	if !fits(lo) {
		if lo, hi = 0, lo; !fits(0) {
			return 0, false
		}
	} else if fits(hi) {
		lo, hi = hi, most
	}
	for hi-lo > 2e-3*hi {
		if mid := (lo + hi) / 2; fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, true
}
