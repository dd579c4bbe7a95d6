package mechanism

import (
	"errors"
	"fmt"
	"fugu/privacy"
	"fugu/sensitivity"
	"math"
	"slices"
)

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
	if len(r.Shifts)+len(r.Quilts) == 0 {
		return errors.New("no secrets")
	}
	for k, c := range r.Components {
		if !(c.Lattice >= 1/magnitude && c.Lattice <= magnitude && c.Unit >= 1/magnitude && c.Unit <= magnitude) {
			return fmt.Errorf("component %d: lattice and unit must be positive and of reasonable size", k)
		}
	}
	known := map[string]bool{}
	for _, s := range r.Shifts {
		known[s.Secret] = true
		if len(s.Along) != len(r.Components) || len(s.Beside) != len(r.Components) {
			return fmt.Errorf("secret %q: shift of %d and %d entries for %d components", s.Secret, len(s.Along), len(s.Beside), len(r.Components))
		}
		for k := range s.Along {
			if !(math.Abs(s.Along[k]) <= magnitude && s.Beside[k] >= 0 && s.Beside[k] <= magnitude) {
				return fmt.Errorf("secret %q: shift of component %d is not finite, negative or too large", s.Secret, k)
			}
		}
		for _, u := range s.Unseen {
			if err := u.Check(len(r.Components)); err != nil {
				return fmt.Errorf("secret %q: %w", s.Secret, err)
			}
			if slices.ContainsFunc(u.Size, func(v float64) bool { return v > magnitude }) {
				return fmt.Errorf("secret %q: unseen rows add too much", s.Secret)
			}
		}
		if !(s.Failure >= 0 && s.Failure < 1) {
			return fmt.Errorf("secret %q: a bound that fails with probability %v", s.Secret, s.Failure)
		}
		if s.Scatter != nil {
			if err := s.Scatter.Check(len(r.Components)); err != nil {
				return fmt.Errorf("secret %q: %w", s.Secret, err)
			}
		}
		if s.Error != nil && len(s.Error) != len(r.Components) {
			return fmt.Errorf("secret %q: %d standard errors for %d components", s.Secret, len(s.Error), len(r.Components))
		}
	}
	for _, f := range r.Families {
		if slices.ContainsFunc(r.of(f.Secret()), func(s sensitivity.Shift) bool { return s.Failure > 0 }) {
			return fmt.Errorf("secret %q: a family beside bounds on coupled datasets", f.Secret())
		}
		if n := f.Covariance(f.Span().From).Len(); n != len(r.Components) || !known[f.Secret()] {
			return fmt.Errorf("secret %q: a family of %d components for %d, or without a shift", f.Secret(), n, len(r.Components))
		}
	}
	return r.checkClose()
}

// checkClose refuses a Close that is malformed or of no secret of the request.
func (r Request) checkClose() error {
	for _, c := range r.Close {
		if len(r.of(c.Secret)) == 0 || c.Unit != nil && len(c.Unit) != len(r.Components) {
			return fmt.Errorf("secret %q: a closeness without a shift, or of %d components", c.Secret, len(c.Unit))
		}
		if !(c.W >= 0 && c.W <= magnitude && c.Delta >= 0 && c.Delta < 1) {
			return fmt.Errorf("secret %q: a closeness of W = %v, δ = %v", c.Secret, c.W, c.Delta)
		}
		for k, u := range c.Unit {
			if !(u >= 1/magnitude && u <= magnitude) {
				return fmt.Errorf("secret %q: a closeness in units of %v for component %d", c.Secret, u, k)
			}
		}
	}
	return nil
}
