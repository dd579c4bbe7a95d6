package mechanism

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"fugu/sensitivity"
)

// inherentSearch looks for the least noise of a structure that is certified: see inherent.
type inherentSearch struct {
	r     Request
	lines structure // nil: there are none
	limit float64   // κ*

	beside []float64 // floors' shape against what is beside the direction: besideFloor
	change []float64 // (|g_k|u_k)^(2/3)
	spread []float64 // V_k, the least over the families
	ends   []constraint

	least float64 // error of the best noise so far, and what gave it
	best  Noise
	f, c  float64
}

// newInherentSearch prepares what all noise of a request is tried against.
func newInherentSearch(r Request, lines structure, kappa float64) *inherentSearch {
	m := len(r.Components)
	s := &inherentSearch{r: r, lines: lines, limit: kappa, least: math.Inf(1)}
	s.change, s.spread = make([]float64, m), make([]float64, m)

	var exact []float64
	s.beside, exact = r.besideFloor()
	for k, v := range exact {
		s.beside[k] = math.Max(s.beside[k], v)
		s.spread[k] = math.Inf(1)
	}

	// What the rows' own randomness hides depends on how the covariances change along the secret.
	for _, shift := range r.Shifts {
		s.ends = append(s.ends, s.constraints(shift)...)
	}
	for _, f := range r.Families {
		span := f.Span()
		low, high := f.Covariance(span.From).Diagonal(), f.Covariance(span.To).Diagonal()
		for k, c := range r.Components {
			g := math.Abs(high[k]-low[k]) * span.Within / (span.To - span.From)
			s.spread[k] = math.Min(s.spread[k], math.Min(low[k], high[k]))
			s.change[k] = math.Max(s.change[k], math.Pow(g*c.Unit, 2./3))
		}
	}
	return s
}

// constraints are those of a shift at the ends of its secret's spans.
func (s *inherentSearch) constraints(shift sensitivity.Shift) (out []constraint) {
	move := make([]float64, len(shift.Along))
	for k, c := range s.r.Components {
		move[k] = shift.Along[k] / c.Unit
	}
	for _, f := range s.r.Families {
		if f.Secret() == shift.Secret {
			for _, x := range []float64{f.Span().From, f.Span().To} {
				out = append(out, constraint{move, s.r.dense(f.Covariance(x))})
			}
		}
	}
	return out
}

// floor returns standard deviations in F's units.
func (s *inherentSearch) floor(f, c float64) []float64 {
	out := make([]float64, len(s.beside))
	for k, comp := range s.r.Components {
		out[k] = math.Max(comp.Lattice, math.Max(f*s.beside[k], math.Sqrt(math.Max(0, c*s.change[k]-s.spread[k]))))
	}
	return out
}

// try certifies the noise for f, c and κ, and keeps it if it is the best so far. It is false where that noise is not
// certified; what is no better than the best is not looked at.
func (s *inherentSearch) try(f, c, kappa float64) bool {
	// Lines are found in units, under covariances with the floor, and drawn in F's.
	floor := s.floor(f, c)
	var cs []constraint
	for _, e := range s.ends {
		cov := mat.NewSymDense(len(floor), nil)
		cov.CopySym(e.cov)
		for k, sd := range floor {
			sd /= s.r.Components[k].Unit
			cov.SetSym(k, k, cov.At(k, k)+sd*sd)
		}

		cs = append(cs, constraint{e.move, cov})
	}
	lines := s.lines(cs, kappa)
	for _, v := range lines {
		for k := range v {
			v[k] *= s.r.Components[k].Unit
		}
	}

	n := gaussian(floor, lines)
	if !n.valid() {
		return false
	}

	sum := 0.0
	for k, c := range s.r.Components {
		sum += (n.sd(k) / c.Unit) * (n.sd(k) / c.Unit)
	}
	if sum >= s.least {
		return true // no better, whether certified or not
	}
	if !s.r.holds(n) {
		return false
	}
	s.least, s.best, s.f, s.c = sum, n, f, c
	return true
}

// tune finds about the largest κ that is certified with a floor, between the limit and 1/1000 of it.
func (s *inherentSearch) tune(f, c float64) {
	lo, hi := 0., 10. // ln κ*/κ, in units of ln 2
	if s.try(f, c, s.limit) {
		return
	}
	for lo = 1; lo <= hi && !s.try(f, c, s.limit*math.Exp2(-lo)); lo++ {
	}
	hi, lo = lo, lo-1
	for range 7 {
		if mid := (lo + hi) / 2; s.try(f, c, s.limit*math.Exp2(-mid)) {
			hi = mid
		} else {
			lo = mid
		}
	}
}

// run searches: what it finds is in best, least and what gave it; least is +Inf where there is nothing.
func (s *inherentSearch) run() {
	if s.lines == nil { // whether the least floor is enough, the certificate says
		s.least, s.best = 0, gaussian(s.floor(0, 0), nil)
		return
	}

	// The f for which what is beside takes a quarter of κ*, were there nothing else, and about it.
	fs := []float64{0}
	if slices.Max(s.beside) > 0 {
		f := 4 / s.limit
		fs = []float64{f, f / 2, 2 * f, 4 * f}
	}

	// From the c at which a floor begins to rise, until the floor alone costs more than the best.
	first := math.Inf(1)
	for k, g := range s.change {
		if h := s.r.Components[k].Lattice; g > 0 {
			first = math.Min(first, (s.spread[k]+h*h)/g)
		}
	}

	for _, f := range fs {
		s.tune(f, 0)
		for c := first; !math.IsInf(c, 1) && c < first*(1<<40) && s.cost(f, c) < s.least; c *= 2 {
			s.tune(f, c)
		}
	}

	// And finer about the best.
	for step := math.Sqrt2; step > 1.08; step = math.Sqrt(step) {
		f, c := s.f, s.c
		s.tune(f, c*step)
		s.tune(f, c/step)
		if f > 0 {
			s.tune(f*step, s.c)
			s.tune(f/step, s.c)
		}
	}
}

// cost is the error of a floor alone.
func (s *inherentSearch) cost(f, c float64) (sum float64) {
	for k, sd := range s.floor(f, c) {
		sum += (sd / s.r.Components[k].Unit) * (sd / s.r.Components[k].Unit)
	}
	return sum
}

// gaussian is noise of covariance diag(floor²) + Σ_j v_j v_jᵀ, floor and lines v_j in F's units. No floor is less than
// floorShare of the lines at its component, which bounds the grid's weights.
func gaussian(floor []float64, lines [][]float64) Noise {
	n := Noise{cells: make([]cell, len(floor))}
	for k, sd := range floor {
		for _, v := range lines {
			sd = math.Max(sd, floorShare*math.Abs(v[k]))
		}
		n.cells[k].normal(sd)
	}
	for _, v := range lines {
		d := direction{sigma: 1 << (gridBits + 1), weights: make([]float64, len(v))}
		for k := range v {
			d.weights[k] = math.Ldexp(v[k], -n.cells[k].exponent) / float64(d.sigma)
		}
		n.directions = append(n.directions, d)
	}
	return n
}
