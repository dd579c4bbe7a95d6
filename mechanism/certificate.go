package mechanism

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"fugu/privacy"
	"fugu/privacy/rowsum"
	"fugu/sensitivity"
)

// Certificate says what holds for one secret of one release by itself, whatever else was released.
//
// With the gaussian assumption it is a bound over all pairs of the secret, in both orders, computed from the two normal
// distributions of F, of unequal covariances, and the integer scales of the noise that is drawn; or from F's own law,
// where that is known (IndependentRows). Without it, it rests on the translation assumption: what the losses say.
type Certificate struct {
	Mechanism   Kind       `json:"mechanism"`
	Assumptions []string   `json:"assumptions"`
	Secret      string     `json:"secret"`
	Pair        [2]float64 `json:"pair"` // the values that are hardest to hide, first against second; 0, 0: all alike
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

// certify returns the certificate of each secret, or sensitivity.ErrUncertified where the noise is not enough.
func (r Request) certify(kind Kind, n Noise, losses map[string]privacy.Loss) ([]Certificate, error) {
	families := r.certifiable()
	var out []Certificate
	for _, secret := range slices.Sorted(maps.Keys(losses)) {
		c := Certificate{Mechanism: kind, Secret: secret, Epsilon: float64(r.Budget.Epsilon),
			Assumptions: []string{r.rests(secret)},
			Delta:       losses[secret].DeltaAt(float64(r.Budget.Epsilon))}
		// The worst pair over all families of the secret is what is certified.
		for _, f := range families {
			if f.Secret() != secret {
				continue
			}
			s, taken, err := r.certified(n, f, rowsum.AllPairs)
			if err != nil {
				return nil, fmt.Errorf("secret %s: %w", secret, err)
			}
			if len(c.Assumptions) == 1 || s.Delta >= c.Delta {
				c.Assumptions, c.Delta, c.Pair = taken, s.Delta, s.Pair
			}
		}

		c.Estimation = r.estimation(n, secret)
		out = append(out, c)
	}
	return out, nil
}

// certified certifies one family, and says what for: noise that is Laplace alone by a bound on densities, a sum of
// which the law is known by that, all else as an experiment, which is over all pairs in any case.
func (r Request) certified(n Noise, f sensitivity.Family, over rowsum.PairSet) (
	sensitivity.Certificate, []string, error) {
	normal := []string{Gaussian, Translation}
	if scales, ok := n.laplaceScales(); ok {
		cost, err := sensitivity.ScaleCost(f, scales)
		if err != nil {
			return sensitivity.Certificate{}, nil, err
		}
		for _, s := range r.shiftsOf(f.Secret()) {
			if n.loss(s).Pure+cost > float64(r.Budget.Epsilon) {
				return sensitivity.Certificate{}, nil, sensitivity.ErrUncertified
			}
		}
		sp := f.Span()
		return sensitivity.Certificate{Epsilon: float64(r.Budget.Epsilon),
			Pair: [2]float64{sp.From, sp.From + sp.Within}}, normal, nil
	}

	if c, taken, err := r.exactly(n, f, over); taken != nil {
		return c, taken, err
	}

	// What F is besides normal takes its part of δ, and the rest is for what it is as a normal one.
	b, skew := r.Budget, r.skewed(n, f)
	if b.Delta -= privacy.Delta(skew); !(b.Delta > 0) {
		return sensitivity.Certificate{}, nil, fmt.Errorf("%w: their shapes are too far from normal",
			sensitivity.ErrUncertified)
	}
	release := n.release(r.shiftsOf(f.Secret()), f.Covariance(f.Span().From))
	release.Enough = enough * float64(b.Delta)
	c, err := sensitivity.Certify(f, release, b)
	c.Delta += skew
	return c, normal, err
}

// rests is what the losses of a secret rest on.
func (r Request) rests(secret string) string {
	for _, s := range r.shiftsOf(secret) {
		if s.Scatter == nil && !s.Coupled {
			return Translation
		}
	}
	return Coupling
}

// estimation returns the ε of Certificate.Estimation.
func (r Request) estimation(n Noise, secret string) float64 {
	most := 0.0
	for _, s := range r.shiftsOf(secret) {
		if s.Error == nil {
			return 0
		}
		wide := s
		wide.Beside = slices.Clone(s.Beside)
		for k := range wide.Beside {
			wide.Beside[k] += estimationErrors * s.Error[k]
		}

		// The bound without families holds for noise that is Laplace alone; otherwise a family's may need more.
		e := n.loss(wide).EpsilonAt(float64(r.Budget.Delta))
		if _, pure := n.laplaceScales(); !pure {
			for _, f := range r.certifiable() {
				if f.Secret() == secret {
					p, err := sensitivity.NewProbe(f, n.release([]sensitivity.Shift{wide}, f.Covariance(f.Span().From)),
						r.Budget)
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
