package mechanism

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// Certificate says what holds for one secret of one release by itself, whatever else was released.
//
// With the gaussian assumption it is a bound over all pairs of the secret, in both orders, computed from the two normal
// distributions of F, of unequal covariances, and the integer scales of the noise that is drawn. Without it, it rests on
// the translation assumption: what the losses say.
type Certificate struct {
	Mechanism   Kind       `json:"mechanism"`
	Assumptions []string   `json:"assumptions"`
	Secret      string     `json:"secret"`
	Pair        [2]float64 `json:"pair"` // the values that are hardest to hide, the first against the second; 0, 0: all alike
	Epsilon     float64    `json:"epsilon"`
	Delta       float64    `json:"delta"` // reached at Epsilon
	// Estimation is the ε that holds, at the budget's δ, if every component's movement were two standard errors of the
	// reference larger; 0: the standard errors are not known; +Inf is written as -1: more than can be bounded.
	Estimation float64 `json:"estimation"`
}

// estimationErrors is the number of standard errors that Certificate.Estimation allows for.
const estimationErrors = 2

// enough is the share of δ below which certificates take bounds as they come.
const enough = .25

// certifiable returns the families that bounds on unequal covariances exist for: those of a secret all of whose are known.
func (r Request) certifiable() []sensitivity.Family {
	crooked := map[string]bool{}
	for _, f := range r.Families {
		crooked[f.Secret()] = crooked[f.Secret()] || !sensitivity.Known(f)
	}
	var out []sensitivity.Family
	for _, f := range r.Families {
		if !crooked[f.Secret()] {
			out = append(out, f)
		}
	}
	return out
}

// certify returns the certificate of each secret, or sensitivity.ErrUncertified where the noise is not enough.
func (r Request) certify(kind Kind, n Noise, losses map[string]privacy.Loss) ([]Certificate, error) {
	families := r.certifiable()
	var out []Certificate
	for _, secret := range slices.Sorted(maps.Keys(losses)) {
		c := Certificate{Mechanism: kind, Secret: secret, Epsilon: float64(r.Budget.Epsilon), Assumptions: []string{r.rests(secret)},
			Delta: losses[secret].DeltaAt(float64(r.Budget.Epsilon))}
		for _, f := range families {
			if f.Secret() != secret {
				continue
			}
			s, err := r.certified(n, f)
			if err != nil {
				return nil, fmt.Errorf("secret %s: %w", secret, err)
			}
			if len(c.Assumptions) == 1 || s.Delta >= c.Delta {
				c.Assumptions, c.Delta, c.Pair = []string{Gaussian, Translation}, s.Delta, s.Pair
			}
		}
		c.Estimation = r.estimation(n, secret)
		out = append(out, c)
	}
	return out, nil
}

// certified certifies one family: noise that is Laplace alone by a bound on densities, all else as an experiment.
func (r Request) certified(n Noise, f sensitivity.Family) (sensitivity.Certificate, error) {
	if scales, ok := n.laplaceScales(); ok {
		cost, err := sensitivity.ScaleCost(f, scales)
		if err != nil {
			return sensitivity.Certificate{}, err
		}
		for _, s := range r.of(f.Secret()) {
			if n.loss(s).Pure+cost > float64(r.Budget.Epsilon) {
				return sensitivity.Certificate{}, sensitivity.ErrUncertified
			}
		}
		sp := f.Span()
		return sensitivity.Certificate{Epsilon: float64(r.Budget.Epsilon), Pair: [2]float64{sp.From, sp.From + sp.Within}}, nil
	}
	release := n.release(r.of(f.Secret()), f.Covariance(f.Span().From))
	release.Enough = enough * float64(r.Budget.Delta)
	return sensitivity.Certify(f, release, r.Budget)
}

// rests is what the losses of a secret rest on.
func (r Request) rests(secret string) string {
	for _, s := range r.of(secret) {
		if s.Scatter == nil && !s.Coupled {
			return Translation
		}
	}
	return Coupling
}

// of returns the shifts of a secret.
func (r Request) of(secret string) []sensitivity.Shift {
	var out []sensitivity.Shift
	for _, s := range r.Shifts {
		if s.Secret == secret {
			out = append(out, s)
		}
	}
	return out
}

// laplaceScales returns the scales of noise that is Laplace in each component and nothing else, in F's units.
func (n Noise) laplaceScales() ([]float64, bool) {
	var out []float64
	for _, c := range n.cells {
		if c.laplace == 0 || len(n.directions) > 0 {
			return nil, false
		}
		out = append(out, math.Ldexp(float64(c.laplace), c.exponent))
	}
	return out, true
}

// release says what the noise does for a secret with the given shifts: a pair of it moves F by one of them. like has the
// blocks of F's covariance.
//
// A release is round(F) + D + round(w·y), D discrete noise. Taking D for a rounded normal costs gaussianDeviation, taking y
// for a rounded Laplace laplaceDeviation, and then the release is a post-processing of round(F) + round(w·y) + G, G ~ N(0, diag σ²) as in sensitivity.Release; what
// the two roundings and the whole steps of y move differs by at most slack steps between the values of the pair, given
// everything else, and is hidden like Beside [the mixture of shifts is no worse than the widest: hockey-stick divergences
// are jointly convex]. So it is with Gaussian directions, y a rounded normal Y: round(w·round(Y)) is w·Y up to ½+½|w|.
func (n Noise) release(shifts []sensitivity.Shift, like sensitivity.Covariance) sensitivity.Release {
	m := len(n.cells)
	r := sensitivity.Release{Floor: make([]float64, m), Beside: make([]float64, m)}
	for _, c := range n.cells {
		if c.sigma > 0 {
			r.Extra = r.Extra.Plus(gaussianDeviation(float64(c.sigma)))
		} else {
			r.Extra = r.Extra.Plus(laplaceDeviation(float64(c.laplace)))
		}
	}
	rounding := make([]float64, m)
	for k := range rounding {
		rounding[k] = slack
	}
	for _, d := range n.directions {
		if d.scale > 0 {
			r.Extra = r.Extra.Plus(laplaceDeviation(float64(d.scale)))
			continue
		}
		r.Extra = r.Extra.Plus(gaussianDeviation(float64(d.sigma)))
		for k, w := range d.weights {
			rounding[k] += 1 + math.Abs(w)
		}
		r.Gaussian.Low = append(r.Gaussian.Low, sensitivity.RankOne{Weight: 1, Vector: n.line(d)})
	}
	directions := []float64{0}
	laplace, pure := make([]float64, m), slices.ContainsFunc(n.cells, func(c cell) bool { return c.laplace > 0 })
	for _, s := range shifts {
		if pure { // its shifts are bounded each by itself
			s.Beside, s.Unseen = s.Box(), nil
		}
		r.Unseen = append(r.Unseen, s.Unseen)
		moves, left, hidden := n.hidden(s)
		for i, v := range moves { // the i-th of one shift's is no worse than one that is larger
			if i == len(directions) {
				directions = append(directions, 0)
			}
			directions[i] = math.Max(directions[i], v)
		}
		along := make([]float64, m)
		for k, c := range n.cells {
			g := step(c.exponent)
			beside := s.Beside[k] + rounding[k]*g
			if len(moves) > 1 {
				beside += roundingLent * g
			}
			switch {
			case hidden || c.laplace > 0:
				beside += math.Abs(left[k])
			case len(shifts) == 1:
				along[k] = left[k]
			}
			switch {
			case c.laplace > 0:
				laplace[k] = math.Max(laplace[k], beside/(g*float64(c.laplace)))
			case !hidden && len(shifts) > 1: // which of several directions it is, is not known
				r.Beside[k] = math.Max(r.Beside[k], beside+math.Abs(s.Along[k]))
			default:
				r.Beside[k] = math.Max(r.Beside[k], beside)
			}
		}
		if len(shifts) == 1 {
			r.Along = along
		}
	}
	r.Laplace = append(laplace, directions...)
	for k, c := range n.cells {
		sd := math.Ldexp(float64(c.sigma), c.exponent)
		r.Floor[k] = sd * sd
	}
	for _, b := range like.Blocks {
		r.Gaussian.Blocks = append(r.Gaussian.Blocks, sensitivity.Block{Size: b.Size, Entries: make([]float64, len(b.Entries))})
	}
	r.Gaussian = r.Gaussian.WithDiagonal(1, r.Floor)
	return r
}

// estimation returns the ε of Certificate.Estimation.
func (r Request) estimation(n Noise, secret string) float64 {
	most := 0.0
	for _, s := range r.of(secret) {
		if s.Error == nil {
			return 0
		}
		wide := s
		wide.Beside = slices.Clone(s.Beside)
		for k := range wide.Beside {
			wide.Beside[k] += estimationErrors * s.Error[k]
		}
		e := n.loss(wide).EpsilonAt(float64(r.Budget.Delta))
		if _, pure := n.laplaceScales(); !pure {
			for _, f := range r.certifiable() {
				if f.Secret() == secret {
					p, err := sensitivity.NewProbe(f, n.release([]sensitivity.Shift{wide}, f.Covariance(f.Span().From)), r.Budget)
					if err != nil {
						return -1
					}
					e = math.Max(e, p.EpsilonAt(float64(r.Budget.Delta)))
				}
			}
		}
		if !(e < math.MaxFloat64) {
			return -1
		}
		most = math.Max(most, e)
	}
	return most
}

// assumption names what the certificates rest on, for people.
func assumption(certificates []Certificate) string {
	var all []string
	for _, c := range certificates {
		for _, a := range c.Assumptions {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { // what is said of the others comes last
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	return strings.Join(all, ", ")
}

func rank(assumption string) int {
	if assumption == RelaxedModel {
		return 1
	}
	return 0
}

// uncertified is the error of a mechanism for which no noise of the search was enough, or whose model cannot be certified.
func uncertified(kind Kind, err error) error {
	return sqlstate.New(sqlstate.ModelUnfit, "mechanism %s cannot hide how the spread of this statement's values differs between the values of a secret", kind).
		WithHint("Group by fewer columns, set a larger fugu.delta, or set fugu.mechanism to %s.", Auto).Because(err)
}

// merged returns the shifts with those of one secret that lie along one line made one: the longest, whose Beside and
// Unseen cover the others'.
func merged(shifts []sensitivity.Shift) []sensitivity.Shift {
	var out []sensitivity.Shift
next:
	for _, s := range shifts {
		for i, o := range out {
			if o.Secret != s.Secret || o.Scatter != nil || s.Scatter != nil {
				continue
			}
			long, short := o, s
			if s.Norm2(nil) > o.Norm2(nil) {
				long, short = s, o
			}
			var dot, square float64
			for k, v := range long.Along {
				dot += v * short.Along[k]
				square += v * v
			}
			a := 0.0
			if square > 0 {
				a = math.Max(-1, math.Min(1, dot/square))
			}
			m := sensitivity.Shift{Secret: s.Secret, Along: long.Along, Beside: slices.Clone(long.Beside), Error: slices.Clone(long.Error),
				Failure: math.Max(long.Failure, short.Failure), Coupled: long.Coupled && short.Coupled}
			unseen, parallel := sensitivity.Cover(long.Unseen, short.Unseen)
			m.Unseen, parallel = unseen, parallel && (long.Error == nil) == (short.Error == nil)
			for k, v := range long.Along {
				rest := math.Abs(short.Along[k] - a*v)
				parallel = parallel && rest <= 1e-9*math.Abs(short.Along[k])+1e-12*math.Sqrt(square)
				m.Beside[k] = math.Max(m.Beside[k], short.Beside[k]+rest)
				if m.Error != nil {
					m.Error[k] = math.Max(m.Error[k], short.Error[k])
				}
			}
			if parallel {
				out[i] = m
				continue next
			}
		}
		out = append(out, s)
	}
	return out
}
