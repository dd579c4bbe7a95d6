package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Law is what the noise of a release is, as it can be kept beside it: of each component its own, and what components
// share. All lengths are in the units of the component.
type Law struct {
	Own    []Own
	Shared []Line `json:",omitempty"`
}

// Own is the independent noise of one component: the scales of Laplace noise and the σ of normal noise, 0 where there
// is none, and the decimal step to which the value is rounded.
type Own struct {
	Laplace float64 `json:"b,omitempty"`
	Extra   float64 `json:"e,omitempty"`
	Sigma   float64 `json:"s,omitempty"`
	Step    float64 `json:"r,omitempty"`
}

// Line is noise that moves all components along a vector, by a number with Laplace noise of a scale or normal noise of
// a σ.
type Line struct {
	Laplace float64 `json:"b,omitempty"`
	Sigma   float64 `json:"s,omitempty"`
	Along   []float64
}

// Law describes the noise as it is drawn. Where public totals bind a release, its law is this one given that the noise
// of a total's components adds up to zero; of every weighted sum of values this is the wider law, see
// docs/theory/calibration.md.
func (n Noise) Law() Law {
	l := Law{Own: make([]Own, len(n.cells))}
	for k, c := range n.cells {
		g := step(c.exponent)
		l.Own[k] = Own{g * float64(c.laplace), g * float64(c.extra), g * float64(c.sigma), math.Pow10(-c.digits)}
	}
	for _, d := range n.directions {
		line := Line{Laplace: float64(d.scale), Sigma: float64(d.sigma), Along: make([]float64, len(n.cells))}
		for k, c := range n.cells {
			line.Along[k] = d.weights[k] * step(c.exponent)
		}
		l.Shared = append(l.Shared, line)
	}
	return l
}

// Variance is that of the component's own noise, with that of rounding: of a number that is anywhere within a step.
func (o Own) Variance() float64 {
	return 2*o.Laplace*o.Laplace + 2*o.Extra*o.Extra + o.Sigma*o.Sigma + o.Step*o.Step/12
}

// Variance is that of the number by which the line is followed.
func (l Line) Variance() float64 { return 2*l.Laplace*l.Laplace + l.Sigma*l.Sigma }

// Covariance is that of two components.
func (l Law) Covariance(j, k int) float64 {
	v := 0.0
	if j == k {
		v = l.Own[k].Variance()
	}
	for _, s := range l.Shared {
		v += s.Variance() * s.Along[j] * s.Along[k]
	}
	return v
}

// Check refuses a law of another number of components, and one that is not of finite noise in each.
func (l Law) Check(components int) error {
	if len(l.Own) != components {
		return fmt.Errorf("a law of %d components for %d", len(l.Own), components)
	}
	finite := func(xs ...float64) bool {
		return !slices.ContainsFunc(xs, func(x float64) bool { return !(math.Abs(x) < 1e150) })
	}
	for k, o := range l.Own {
		if !finite(o.Laplace, o.Extra, o.Sigma, o.Step) || !(o.Variance() > 0) {
			return fmt.Errorf("the noise of component %d is none, or not finite", k)
		}
	}
	for i, s := range l.Shared {
		if len(s.Along) != components || !finite(s.Along...) || !finite(s.Laplace, s.Sigma) {
			return fmt.Errorf("shared noise %d is of %d components for %d, or not finite", i, len(s.Along), components)
		}
	}
	return nil
}

// Mixture is the law of a weighted sum of noise: independent Laplace noise of these scales, normal noise of this σ, and
// rounding by at most Rounding with the variance Rounded.
type Mixture struct {
	Scales   []float64 `json:",omitempty"`
	Sigma    float64   `json:",omitempty"`
	Rounding float64   `json:",omitempty"`
	Rounded  float64   `json:",omitempty"`
}

// Add adds the noise of a release of this law, each component by its weight.
func (m *Mixture) Add(l Law, weights []float64) {
	scale := func(b float64) {
		if b != 0 {
			m.Scales = append(m.Scales, math.Abs(b))
		}
	}

	// A weighted sum of independent noise: Laplace scales stay apart, normal ones become one.
	for k, w := range weights {
		if w == 0 {
			continue
		}
		o := l.Own[k]
		scale(w * o.Laplace)
		scale(w * o.Extra)
		m.Sigma = math.Hypot(m.Sigma, w*o.Sigma)
		m.Rounding += math.Abs(w) * o.Step / 2
		m.Rounded += w * w * o.Step * o.Step / 12
	}

	// What all components share moves their sum along its own line.
	for _, s := range l.Shared {
		along := 0.0
		for k, w := range weights {
			along += w * s.Along[k]
		}
		scale(along * s.Laplace)
		m.Sigma = math.Hypot(m.Sigma, along*s.Sigma)
	}
}

// SD is the standard deviation.
func (m Mixture) SD() float64 {
	v := m.Sigma*m.Sigma + m.Rounded
	for _, b := range m.Scales {
		v += 2 * b * b
	}
	return math.Sqrt(v)
}

// HalfWidth returns a length that the noise stays within with at least the probability confidence, strictly between 0
// and 1; otherwise +Inf. Of few Laplace scales it is exact but for how far they must be moved apart; and it is never
// more than Chernoff's bound, inf_t (ln 2/α + ln E e^(tX))/t with ln E e^(tX) = σ²t²/2 - Σ ln(1-b²t²).
func (m Mixture) HalfWidth(confidence float64) float64 {
	if !(confidence > 0 && confidence < 1) {
		return math.Inf(1)
	}

	end := 10 / m.Sigma // ln E e^(tX) is finite up to 1/b
	for _, b := range m.Scales {
		end = math.Min(end, 1/b)
	}
	least := math.Inf(1)
	for i := 1; i < 400; i++ {
		t := end * float64(i) / 400
		bound := math.Log(2/(1-confidence)) + m.Sigma*m.Sigma*t*t/2
		for _, b := range m.Scales {
			bound -= math.Log1p(-b * b * t * t)
		}
		least = math.Min(least, bound/t)
	}

	// Chernoff's bound holds for any number of scales. With few of them the exact length is worth its time.
	const few = 6
	if len(m.Scales) <= few {
		least = math.Min(least, halfWidth(slices.Clone(m.Scales), m.Sigma, confidence, 1e-9*m.SD()))
	}
	return least + m.Rounding
}

// Share is a released value with a weight.
type Share struct {
	Release, Component int
	Weight             float64
}

// Estimate is a weighted sum of released values, with its error and whether it is of whole numbers.
type Estimate struct {
	Of      []Share
	Error   Mixture
	Integer bool
}

// rounded returns the decimals that the estimate is published with, and its error with what rounding to them adds:
// nothing to whole numbers of whole numbers.
func (e Estimate) rounded() (decimals int, out Mixture) {
	decimals, out = digits(e.Error.SD(), e.Integer), e.Error
	if e.Integer && !slices.ContainsFunc(e.Of, func(s Share) bool { return s.Weight != math.Round(s.Weight) }) {
		return decimals, out
	}
	step := math.Pow10(-decimals)
	out.Rounding += step / 2
	out.Rounded += step * step / 12
	return decimals, out
}

// Combine returns estimates from values that are released already, and their errors: post-processing, in which no
// statistic and no randomness has a part.
func Combine(from []Release, estimates []Estimate) (Release, []Mixture, error) {
	out, errs := Release{values: make([]string, len(estimates))}, make([]Mixture, len(estimates))
	for i, e := range estimates {
		total := new(big.Rat)
		for _, s := range e.Of {
			w := new(big.Rat).SetFloat64(s.Weight)
			if w == nil || s.Release < 0 || s.Release >= len(from) || s.Component < 0 ||
				s.Component >= len(from[s.Release].values) {
				return Release{}, nil, errors.New("combining releases: a share of nothing")
			}
			// Decimals are read as they were released, so that the sum is exact and anybody can repeat it.
			v, ok := new(big.Rat).SetString(from[s.Release].values[s.Component])
			if !ok {
				return Release{}, nil, fmt.Errorf("combining releases: %w", errMalformed)
			}
			total.Add(total, w.Mul(w, v))
		}

		// A sum of many may be longer than a value may be.
		var decimals int
		decimals, errs[i] = e.rounded()
		if out.values[i] = total.FloatString(decimals); len(out.values[i]) > maxText {
			return Release{}, nil, fmt.Errorf("combining releases: %w", errMalformed)
		}
	}
	return out, errs, nil
}
