package mechanism

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"fugu/sensitivity"
)

// search returns the mechanism of the kind with the least error.
func (r Request) search(ctx context.Context, kind Kind) (Calibration, error) {
	candidates := r.candidates(kind)
	if len(candidates) == 0 {
		return Calibration{}, fmt.Errorf("calibrate: no mechanism of kind %q", kind)
	}

	var best Calibration
	var errs []error
	for _, d := range candidates {
		// Candidates promise more and more error: certificates only add to it, so that this one is no better.
		if best.Kind != "" && d.least >= best.Error {
			continue
		}
		c, err := d.calibrate()
		switch {
		case ctx.Err() != nil: // the search was cut short
			return Calibration{}, fmt.Errorf("calibrate: %w", ctx.Err())
		case err != nil:
			errs = append(errs, err)
		case best.Kind == "" || c.Error < best.Error:
			best = c
		}
	}

	if best.Kind == "" {
		return Calibration{}, fmt.Errorf("calibrate: %w", errors.Join(errs...))
	}
	return best, nil
}

// candidate is a mechanism with the error that it would have at least: under translation alone.
type candidate struct {
	least     float64
	calibrate func() (Calibration, error)
}

// candidates returns the mechanisms of a kind, those first that promise the least error.
func (r Request) candidates(kind Kind) []candidate {
	var out []candidate
	for _, d := range designs {
		if kind != d.kind && (kind != Auto || !r.considers(d)) {
			continue
		}
		full := candidate{0, func() (Calibration, error) { return d.calibrate(r) }}
		if kind != Auto { // nothing to compare it with
			return []candidate{full}
		}
		if d.inherent { // without a family there is none of it
			out = append(out, full)
			continue
		}

		// Calibrated without families it is quick, and has the least error that it can have with them.
		plain := r
		plain.Families = nil
		c, err := d.calibrate(plain)
		full.least = c.Error
		if err != nil || len(r.certifiable()) == 0 {
			full.calibrate = func() (Calibration, error) { return c, err }
		}
		out = append(out, full)
	}

	slices.SortStableFunc(out, func(a, b candidate) int { return cmp.Compare(a.least, b.least) })
	return out
}

// considers reports whether Auto may take a mechanism.
func (r Request) considers(m mechanism) bool {
	if r.Joint {
		return m.joint != nil && m.joint(r)
	}
	// Where a closeness is all that is known, it is what every mechanism goes by, and this one in its own units.
	return m.auto || m.kind == ApproximateWasserstein && len(r.Close) > 0 && r.coupled()
}

// coupled reports whether all that is known of how the secrets move F are bounds on coupled datasets.
func (r Request) coupled() bool {
	return len(r.Shifts) > 0 && !slices.ContainsFunc(r.Shifts, func(s sensitivity.Shift) bool { return !s.Coupled })
}
