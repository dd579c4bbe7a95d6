package sensitivity

import (
	"fmt"
	"math"
)

// ends returns the experiment of the box [a,b], (b,a).
func (s *search) ends(a, b float64) (*Experiment, error) {
	if err := s.memory.between(); err != nil {
		return nil, fmt.Errorf("certify: %w", err)
	}
	p, q, kappa2, err := s.aside(a, b)
	if err != nil {
		return nil, err
	}
	e, err := NewExperiment(s.release.Laplace, kappa2, nil)
	if err != nil {
		return nil, err
	}
	if s.inside { // so much longer than Within
		e.moved = (b - a) / s.family.Span().Within
	}
	e.slopes, e.between = s.slopes, s.memory.between
	return e, e.mixed(s.frame, p, q)
}

// build makes the frame of [a,b]: the covariances at both ends, noise included, without what hides Beside and the bend.
// All in between are mixtures of the two.
func (s *search) build(a, b float64) error {
	r := s.release
	g, err := s.groundOf(a, b)
	if err != nil {
		return err
	}

	// What the bend's share of the floor makes of it: one slope for each component that bends, see Certify.
	s.slopes = nil
	for k, v := range g.rho {
		t := s.share.bend * r.Floor[k]
		if v > 0 && !(v < t) {
			return errBend
		}
		if v > 0 {
			s.slopes = append(s.slopes, slopeOf(v, t))
		}
	}

	// What is set aside for the bend and for what is beside Along is taken from the noise at both ends.
	aside := make([]float64, len(r.Floor))
	for k, v := range r.Floor {
		aside[k] = s.share.bend * v
	}
	s.kappa2 = 0
	if s.share.beside > 0 {
		beside := s.hidesBeside()
		s.kappa2 = beside.kappa * beside.kappa / s.share.beside
		for k, v := range beside.part {
			aside[k] += s.share.beside * v
		}
	}

	low, high := g.low, g.high
	if s.share.bend+s.share.beside > 0 {
		low, high = low.WithDiagonal(-1, aside), high.WithDiagonal(-1, aside)
	}

	along := r.Along
	if s.share.along == 0 && !s.inside {
		along = nil
	}

	s.span = [2]float64{a, b}
	if s.frame, err = newPencil(low, high, along, s.memory.order); err == nil {
		s.memory.order = s.frame.elimination
		s.frame = s.frame.diagonal()
	}
	return err
}

// scale is what the bend is measured in: the standard deviations of the noise that hides it; nil where some have none.
func (s *search) scale() []float64 {
	out := make([]float64, len(s.release.Floor))
	for k, v := range s.release.Floor {
		if !(v > 0) {
			return nil
		}
		out[k] = math.Sqrt(v)
	}
	return out
}

// errBend says that the noise cannot take in how far the covariances leave a straight line: more may.
var errBend = fmt.Errorf("%w: their differences are too far from a straight line for this noise", ErrUncertified)

// aside returns the covariances at b and a, noise included, without the part that is set aside in all of [a,b], as
// mixtures of the frame, and the squared Gaussian shift that this part hides.
func (s *search) aside(a, b float64) (p, q mix, kappa2 float64, err error) {
	switch sp := s.family.Span(); {
	case !s.family.Affine():
		err = s.build(a, b)
	case s.frame == nil:
		err = s.build(sp.From, sp.To)
	}

	if err != nil {
		return p, q, 0, err
	}

	// Both as mixtures of the ends of the frame.
	at := func(x float64) mix {
		t := (x - s.span[0]) / (s.span[1] - s.span[0])
		return mix{1 - t, t}
	}
	p, q, kappa2 = at(b), at(a), s.kappa2
	if s.share.along == 0 {
		return p, q, kappa2, nil
	}
	// In the basis of the box the middle's variances are the means of the ends', so all of the box is at least 1-g
	// times the middle, g = max |high-low|/(high+low): that much can be set aside everywhere.
	middle := mix{(p[0] + q[0]) / 2, (p[1] + q[1]) / 2}
	without := func(m mix, share float64) mix { return mix{m[0] - share*middle[0], m[1] - share*middle[1]} }

	lo, hi := 0., 1. // 1-g
	for range 8 {
		f := (lo + hi) / 2
		_, _, okP := s.frame.logDet(without(p, f).complex())
		_, _, okQ := s.frame.logDet(without(q, f).complex())
		if okP && okQ {
			lo = f
		} else {
			hi = f
		}
	}

	_, quad, ok := s.frame.logDet(middle.complex())
	if !ok || lo == 0 {
		return p, q, 0, errNotPositive
	}
	share := s.share.along * lo
	return without(p, share), without(q, share), kappa2 + real(quad)/share, nil
}
