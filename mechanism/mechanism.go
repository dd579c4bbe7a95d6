package mechanism

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"

	"fugu/internal/hook"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// Kind names a mechanism.
type Kind string

const (
	Auto         Kind = "auto" // whichever of the others has the least Error
	ExpmLaplace  Kind = "expm-laplace"
	ExpmGaussian Kind = "expm-gaussian"
	Directional  Kind = "directional"
)

// Translation is the assumption on F of every mechanism here; see the package comment.
const Translation = "translation"

// ParseKind reads the name of a mechanism; what is not exactly one of the names it refuses.
func ParseKind(s string) (Kind, error) {
	switch k := Kind(s); k {
	case Auto, ExpmLaplace, ExpmGaussian, Directional:
		return k, nil
	}
	return "", sqlstate.New(sqlstate.InvalidParameterValue, "unknown mechanism").
		WithHint("Use %s, %s, %s or %s.", Auto, ExpmLaplace, ExpmGaussian, Directional)
}

// Component describes one entry of F.
type Component struct {
	Lattice float64 // upper bound on the step of the lattice the component lives on, in F's units, > 0
	Unit    float64 // error is measured in this unit, > 0
	Integer bool    // published as an integer
}

// Request is what a calibration depends on. It holds nothing from protected rows.
type Request struct {
	Shifts     []sensitivity.Shift // one for each secret, at least one
	Components []Component         // one for each entry of F, at least one
	Budget     privacy.Budget      // what this release may cost each secret
}

// Calibration is noise that keeps every secret of a request within its budget.
type Calibration struct {
	Kind       Kind // never Auto
	Assumption string
	Noise      Noise
	Losses     map[string]privacy.Loss // by secret, computed from the integer scales really used
	SD         []float64               // standard deviation of the noise of each component, in F's units, before publication rounding
	Error      float64                 // Σ_k SD_k²/Unit_k²
}

// Release draws the noise from the operating system's random numbers and publishes F with it.
func (c Calibration) Release(s Statistics) (Release, error) {
	if hook.ZeroNoise {
		return c.Noise.without(s)
	}
	return c.Noise.Release(rand.Reader, s)
}

// magnitude bounds every length in a request, from above and (lattice, unit) from below: squares stay in float64.
const magnitude = 1e100

// maxGaussianEpsilon is the largest ε for which the tails left out in gaussianDeviation are negligible.
const maxGaussianEpsilon = 100

// design gives the noise of a mechanism with its scales multiplied by inflate ≥ 1.
type design func(inflate float64) Noise

// designs holds the mechanisms in the order in which Auto breaks ties.
var designs = []struct {
	kind   Kind
	design func(Request) (design, error)
}{
	{ExpmLaplace, expmLaplace},
	{ExpmGaussian, expmGaussian},
	{Directional, directional},
}

// Calibrate returns the noise of the given kind for r; Auto is the kind with the least Error. It is deterministic.
// A kind that cannot meet the budget is a *sqlstate.Error; a malformed request is an ordinary error.
func Calibrate(kind Kind, r Request) (Calibration, error) {
	if err := r.check(); err != nil {
		return Calibration{}, fmt.Errorf("calibrate: %w", err)
	}
	var best Calibration
	var errs []error
	for _, d := range designs {
		if kind != d.kind && kind != Auto {
			continue
		}
		c, err := calibrate(d.kind, d.design, r)
		switch {
		case err != nil:
			errs = append(errs, err)
		case best.Kind == "" || c.Error < best.Error:
			best = c
		}
	}
	switch {
	case best.Kind != "":
		return best, nil
	case errs == nil:
		return Calibration{}, fmt.Errorf("calibrate: no mechanism of kind %q", kind)
	}
	return Calibration{}, fmt.Errorf("calibrate: %w", errors.Join(errs...))
}

// calibrate widens the design by the little that rounding needs, until the losses recomputed from its integer scales
// are within the budget.
func calibrate(kind Kind, f func(Request) (design, error), r Request) (Calibration, error) {
	d, err := f(r)
	if err != nil {
		return Calibration{}, err
	}
	for i := range 58 {
		inflate := 1.0
		if i > 0 {
			inflate += math.Ldexp(1, i-36)
		}
		n := d(inflate)
		if !n.valid() {
			break
		}
		losses, ok := r.losses(n)
		if !ok {
			continue
		}
		c := Calibration{Kind: kind, Assumption: Translation, Noise: n, Losses: losses}
		for k := range n.cells {
			sd := n.sd(k)
			c.SD = append(c.SD, sd)
			c.Error += (sd / r.Components[k].Unit) * (sd / r.Components[k].Unit)
			n.cells[k].digits = digits(sd, r.Components[k].Integer)
		}
		if math.IsInf(c.Error, 0) || math.IsNaN(c.Error) {
			break
		}
		return c, nil
	}
	return Calibration{}, unmet(kind)
}

func unmet(kind Kind) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "mechanism %s cannot keep this statement within its epsilon and delta", kind).
		WithHint("Set a larger fugu.delta, or set fugu.mechanism to %s.", Auto)
}

func (r Request) losses(n Noise) (map[string]privacy.Loss, bool) {
	m := make(map[string]privacy.Loss, len(r.Shifts))
	for _, s := range r.Shifts {
		l := n.loss(s)
		if !l.Within(r.Budget) {
			return nil, false
		}
		m[s.Secret] = l
	}
	return m, true
}

func (r Request) check() error {
	if _, err := privacy.NewEpsilon(float64(r.Budget.Epsilon)); err != nil {
		return err
	}
	if _, err := privacy.NewDelta(float64(r.Budget.Delta)); err != nil {
		return err
	}
	if len(r.Components) == 0 {
		return errors.New("no components")
	}
	if len(r.Shifts) == 0 {
		return errors.New("no secrets")
	}
	for k, c := range r.Components {
		if !(c.Lattice >= 1/magnitude && c.Lattice <= magnitude && c.Unit >= 1/magnitude && c.Unit <= magnitude) {
			return fmt.Errorf("component %d: lattice and unit must be positive and of reasonable size", k)
		}
	}
	seen := map[string]bool{}
	for _, s := range r.Shifts {
		if seen[s.Secret] {
			return fmt.Errorf("secret %q: more than one shift", s.Secret)
		}
		seen[s.Secret] = true
		if len(s.Along) != len(r.Components) || len(s.Beside) != len(r.Components) {
			return fmt.Errorf("secret %q: shift of %d and %d entries for %d components", s.Secret, len(s.Along), len(s.Beside), len(r.Components))
		}
		for k := range s.Along {
			if !(math.Abs(s.Along[k]) <= magnitude && s.Beside[k] >= 0 && s.Beside[k] <= magnitude) {
				return fmt.Errorf("secret %q: shift of component %d is not finite, negative or too large", s.Secret, k)
			}
		}
	}
	return nil
}
