package mechanism

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"fugu/privacy"
	"fugu/sensitivity"
)

// check refuses a request that is malformed, with what is wrong with it.
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

	// Everything below divides by lattices and units: far from 1 it would lose what they measure.
	for k, c := range r.Components {
		if !(c.Lattice >= 1/magnitude && c.Lattice <= magnitude && c.Unit >= 1/magnitude && c.Unit <= magnitude) {
			return fmt.Errorf("component %d: lattice and unit must be positive and of reasonable size", k)
		}
	}

	// A shift that is not finite would be hidden by no noise.
	for _, s := range r.Shifts {
		if err := r.checkShift(s); err != nil {
			return fmt.Errorf("secret %q: %w", s.Secret, err)
		}
	}
	for _, f := range r.Families {
		if err := r.checkFamily(f); err != nil {
			return fmt.Errorf("secret %q: %w", f.Secret(), err)
		}
	}

	for _, c := range r.Close {
		if err := r.checkClose(c); err != nil {
			return fmt.Errorf("secret %q: %w", c.Secret, err)
		}
	}
	return r.checkSums()
}

// checkSums refuses totals of other components than the request's, and components in two of them.
func (r Request) checkSums() error {
	seen := make([]bool, len(r.Components))
	for i, s := range r.Sums {
		if s.Total == nil || len(s.Components) == 0 {
			return fmt.Errorf("public total %d is of nothing", i)
		}
		for _, k := range s.Components {
			if k < 0 || k >= len(seen) || seen[k] {
				return fmt.Errorf("component %d is in several public totals or none", k)
			}
			seen[k] = true
		}
	}
	return nil
}

// checkShift refuses a shift of other components than the request's, and one that is not finite.
func (r Request) checkShift(s sensitivity.Shift) error {
	m := len(r.Components)
	if len(s.Along) != m || len(s.Beside) != m {
		return fmt.Errorf("shift of %d and %d entries for %d components", len(s.Along), len(s.Beside), m)
	}
	for k := range s.Along {
		if !(math.Abs(s.Along[k]) <= magnitude && s.Beside[k] >= 0 && s.Beside[k] <= magnitude) {
			return fmt.Errorf("shift of component %d is not finite, negative or too large", k)
		}
	}

	// What rows add, and what is left to chance, has to be about the same components.
	for _, u := range s.Unseen {
		if err := u.Check(m); err != nil {
			return err
		}
		if slices.ContainsFunc(u.Size, func(v float64) bool { return v > magnitude }) {
			return errors.New("unseen rows add too much")
		}
	}

	if !(s.Failure >= 0 && s.Failure < 1) {
		return fmt.Errorf("a bound that fails with probability %v", s.Failure)
	}
	if s.Scatter != nil {
		if err := s.Scatter.Check(m); err != nil {
			return err
		}
	}

	if s.Error != nil && len(s.Error) != m {
		return fmt.Errorf("%d standard errors for %d components", len(s.Error), m)
	}
	return nil
}

// checkFamily refuses a family of other components than the request's or of no secret of it, and one of a secret whose
// bounds hold but for a failure: these speak of coupled datasets, and a family of independent ones.
func (r Request) checkFamily(f sensitivity.Family) error {
	shifts := r.shiftsOf(f.Secret())
	if slices.ContainsFunc(shifts, func(s sensitivity.Shift) bool { return s.Failure > 0 }) {
		return errors.New("a family beside bounds on coupled datasets")
	}
	if n := f.Covariance(f.Span().From).Len(); n != len(r.Components) || len(shifts) == 0 {
		return fmt.Errorf("a family of %d components for %d, or without a shift", n, len(r.Components))
	}
	return nil
}

// checkClose refuses a Close that is malformed or of no secret of the request.
func (r Request) checkClose(c sensitivity.Close) error {
	if len(r.shiftsOf(c.Secret)) == 0 || c.Unit != nil && len(c.Unit) != len(r.Components) {
		return fmt.Errorf("a closeness without a shift, or of %d components", len(c.Unit))
	}
	if !(c.W >= 0 && c.W <= magnitude && c.Delta >= 0 && c.Delta < 1) {
		return fmt.Errorf("a closeness of W = %v, δ = %v", c.W, c.Delta)
	}
	for k, u := range c.Unit {
		if !(u >= 1/magnitude && u <= magnitude) {
			return fmt.Errorf("a closeness in units of %v for component %d", u, k)
		}
	}
	return nil
}
