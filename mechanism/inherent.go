package mechanism

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// maxInherent is the most components of a statement for which mechanisms that count the randomness of the data look for
// their noise: it takes dense matrices.
const maxInherent = 200

// constraint asks for noise N with Δᵀ(Σ+N)⁻¹Δ ≤ κ², under a covariance Σ that holds the floor. All in units: component k
// divided by u_k.
type constraint struct {
	move []float64     // Δ
	cov  *mat.SymDense // Σ
}

// structure gives the vectors v_j of noise Σ_j v_j v_jᵀ that meets the constraints, in units.
type structure func(cs []constraint, kappa float64) [][]float64

// inherent is the design of mechanisms that count the randomness of normal F as noise:
//
//	Σ_x   covariance of F at the value x of a secret      h_k   lattice of component k
//	N   = diag(floor²) + Σ_j v_j v_jᵀ                     floor_k ≥ h_k
//	v_j   by the mechanism, for Δᵀ(Σ_x+diag(floor²)+Σ v_j v_jᵀ)⁻¹Δ ≤ κ² with Δ = Along and x either end of the span
//
// With the same Σ for both values of a pair, κ = κ*(ε,δ) makes the release (ε,δ)-private [Balle & Wang 2018, Theorem 5;
// Dong, Roth & Su, Corollary 2.13, in place of ε/√(2 ln(1.25/δ)) of Chen & Ohrimenko, Theorem 4.4]; Δᵀ(Σ_x+N)⁻¹Δ is convex
// where Σ_x is affine, so that both ends speak for all x. But covariances do differ over a pair. So κ and the floor are
// searched for the least error for which sensitivity.Certify proves (ε,δ) for every pair as it is; a smaller κ hides the
// mean better, a larger floor the covariances and what is beside the direction:
//
//	floor_k² = max(h_k², f²·b_k², c·(|g_k|·u_k)^(2/3) - V_k),   g_k = change of V_k = Σ_kk over a pair
//
// b_k the larger of the shapes of besideFloor, the third for a given Σ (g/(V+floor²))² (Lagrange).
// A nil structure has no lines, and no floor beyond h.
func inherent(kind Kind, lines structure) func(Request) (design, error) {
	return func(r Request) (design, error) {
		if !r.known() {
			return nil, sqlstate.New(sqlstate.ModelUnfit, "mechanism %s needs a statistic whose distribution may be taken to be normal", kind).
				WithHint("The owner of the policy can accept it: assume: [translation, gaussian]; or set fugu.mechanism to %s.", Auto)
		}
		kappa := privacy.Kappa(r.Budget)
		if kappa == 0 || r.Budget.Epsilon > maxGaussianEpsilon || len(r.Components) > maxInherent || kind == Apgm && len(r.Components) > 1 {
			return nil, unmetNormal(kind, r)
		}
		s := search{r: r, lines: lines, limit: kappa, least: math.Inf(1)}
		s.prepare()
		if lines == nil {
			s.least, s.best = 0, gaussian(s.floor(0, 0), nil)
		} else {
			s.run()
		}
		if math.IsInf(s.least, 1) {
			return nil, unmet(kind, tooLarge)
		}
		return func(inflate float64) Noise {
			if inflate > 1 { // the noise found was certified as it is
				return Noise{}
			}
			return s.best
		}, nil
	}
}

// search looks for the least noise of a structure that is certified.
type search struct {
	r      Request
	lines  structure
	limit  float64   // κ*
	beside []float64 // floors' shape against what is beside the direction: besideFloor
	change []float64 // (|g_k|u_k)^(2/3)
	spread []float64 // V_k, the least over the families
	ends   []constraint
	least  float64 // error of the best noise so far, and what gave it
	best   Noise
	f, c   float64
}

func (s *search) prepare() {
	m := len(s.r.Components)
	s.change, s.spread = make([]float64, m), make([]float64, m)
	var exact []float64
	s.beside, exact = s.r.besideFloor()
	for k, v := range exact {
		s.beside[k] = math.Max(s.beside[k], v)
	}
	for k := range m {
		s.spread[k] = math.Inf(1)
	}
	for _, shift := range s.r.Shifts {
		s.ends = append(s.ends, s.constraints(shift)...)
	}
	for _, f := range s.r.Families {
		span := f.Span()
		low, high := f.Covariance(span.From).Diagonal(), f.Covariance(span.To).Diagonal()
		for k, c := range s.r.Components {
			a, b := low[k], high[k]
			s.spread[k] = math.Min(s.spread[k], math.Min(a, b))
			s.change[k] = math.Max(s.change[k], math.Pow(math.Abs(b-a)*span.Within/(span.To-span.From)*c.Unit, 2./3))
		}
	}
}

// constraints are those of a shift at the ends of its secret's spans.
func (s *search) constraints(shift sensitivity.Shift) (out []constraint) {
	move := make([]float64, len(shift.Along))
	for k, c := range s.r.Components {
		move[k] = shift.Along[k] / c.Unit
	}
	for _, f := range s.r.Families {
		if f.Secret() == shift.Secret {
			for _, x := range []float64{f.Span().From, f.Span().To} {
				out = append(out, constraint{move, s.dense(f.Covariance(x))})
			}
		}
	}
	return out
}

// holds reports whether every secret's certificate is within the budget.
func (r Request) holds(n Noise) bool {
	for _, f := range r.Families {
		if _, err := r.certified(n, f); err != nil {
			return false
		}
	}
	return true
}

// certificateOnly is what mechanisms promise that count the randomness of the data: the certificate, and nothing by noise
// alone.
func certificateOnly(Request, Noise) bool { return true }

// floor returns standard deviations in F's units.
func (s *search) floor(f, c float64) []float64 {
	out := make([]float64, len(s.beside))
	for k, comp := range s.r.Components {
		out[k] = math.Max(comp.Lattice, math.Max(f*s.beside[k], math.Sqrt(math.Max(0, c*s.change[k]-s.spread[k]))))
	}
	return out
}

// try certifies the noise for f, c and κ, and keeps it if it is the best so far.
func (s *search) try(f, c, kappa float64) bool {
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
func (s *search) tune(f, c float64) {
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

func (s *search) run() {
	// The f for which what is beside takes a quarter of κ*, were there nothing else, and about it.
	fs := []float64{0}
	if slices.Max(s.beside) > 0 {
		f := 4 / s.limit
		fs = []float64{f, f / 2, 2 * f, 4 * f}
	}
	// From the c at which a floor begins to rise, until the floor alone costs more than the best.
	first := math.Inf(1)
	for k, g := range s.change {
		if g > 0 {
			first = math.Min(first, (s.spread[k]+s.r.Components[k].Lattice*s.r.Components[k].Lattice)/g)
		}
	}
	for _, f := range fs {
		s.tune(f, 0)
		for c := first; !math.IsInf(c, 1) && c < first*(1<<40) && s.cost(f, c) < s.least; c *= 2 {
			s.tune(f, c)
		}
	}
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
func (s *search) cost(f, c float64) (sum float64) {
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
		n.cells[k].exponent = gridFor(sd)
		n.cells[k].sigma = steps(sd, n.cells[k].exponent)
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

// dense writes a covariance out, in units.
func (s *search) dense(c sensitivity.Covariance) *mat.SymDense {
	out, k := mat.NewSymDense(c.Len(), nil), 0
	for _, b := range c.Blocks {
		for i := range b.Size {
			for j := i; j < b.Size; j++ {
				out.SetSym(k+i, k+j, b.Entries[i*b.Size+j])
			}
		}
		k += b.Size
	}
	for _, e := range c.Off {
		out.SetSym(e.Row, e.Col, out.At(e.Row, e.Col)+e.Value)
	}
	for _, l := range c.Low {
		out.SymRankOne(out, l.Weight, mat.NewVecDense(len(l.Vector), l.Vector))
	}
	for i := range k {
		for j := i; j < k; j++ {
			out.SetSym(i, j, out.At(i, j)/s.r.Components[i].Unit/s.r.Components[j].Unit)
		}
	}
	return out
}
