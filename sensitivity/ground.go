package sensitivity

// ground is what frames of one box stand on, however the noise is shared out: the covariances at both of its ends,
// noise included, and how far those between leave the straight line (Bent). Shares are tuned at one pair, and only what
// is taken off the ground is another for each of them.
type ground struct {
	ends      [2]float64
	low, high Covariance
	rho       []float64
}

// setAside is Release.besides of a release: a part of Floor, and the κ that it would hide all by itself.
type setAside struct {
	part  []float64
	kappa float64
}

// take gives the search another release, and forgets what was worked out for the one before.
func (s *search) take(r Release) {
	s.release, s.frame, s.ground, s.besides = r, nil, nil, nil
}

// groundOf returns the ground of [a,b]; the last one is kept.
func (s *search) groundOf(a, b float64) (*ground, error) {
	if g := s.ground; g != nil && g.ends == [2]float64{a, b} {
		return g, nil
	}
	rho, err := bend(s.family, a, b, s.scale())
	if err != nil {
		return nil, err
	}
	noise := s.release.Gaussian
	s.ground = &ground{
		ends: [2]float64{a, b}, rho: rho,
		low: s.family.Covariance(a).Plus(1, noise), high: s.family.Covariance(b).Plus(1, noise),
	}
	return s.ground, nil
}

// hidesBeside is what hides Beside and Unseen if all of it may.
func (s *search) hidesBeside() setAside {
	if s.besides == nil {
		part, kappa := s.release.besides()
		s.besides = &setAside{part, kappa}
	}
	return *s.besides
}
