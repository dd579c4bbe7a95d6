package mechanism

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"

	"fugu/internal/hook"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// Calibration is noise that keeps every secret of a request within its budget.
type Calibration struct {
	Kind       Kind // never Auto
	Assumption string
	Noise      Noise

	// Losses are those of each secret by noise alone, computed from the integer scales really used: what composes.
	Losses map[string]privacy.Loss
	// SD is the standard deviation of the noise of each component, in F's units, before publication rounding.
	SD []float64
	// Error is Σ_k SD_k²/Unit_k², of several blocks their norm; or the Σ_k E|noise_k|/Unit_k of an Absolute request.
	Error float64

	Certificates []Certificate // of each secret, in the order of Losses' names
}

// Release draws the noise from the operating system's random numbers and publishes F with it.
func (c Calibration) Release(s Statistics) (Release, error) {
	if hook.ZeroNoise {
		return c.Noise.without(s)
	}
	return c.Noise.Release(rand.Reader, s)
}

// MaxEffort bounds sensitivity.Effort of a family: some ten seconds.
const MaxEffort = 5e9

// Calibrate returns the noise of the given kind for r; Auto is the kind with the least Error. It is deterministic, and
// ends early where ctx does. A kind that cannot meet the budget is a *sqlstate.Error; a malformed request is an
// ordinary error.
func Calibrate(ctx context.Context, kind Kind, r Request) (Calibration, error) {
	if err := r.check(); err != nil {
		return Calibration{}, fmt.Errorf("calibrate: %w", err)
	}
	if err := r.checkQuilts(kind); err != nil {
		return Calibration{}, fmt.Errorf("calibrate: %w", err)
	}
	if len(r.Quilts) > 0 {
		kind = MarkovQuilt
	}

	// The budget is what the relaxation leaves of it, and parallel shifts of one secret are one shift.
	r, err := r.tightened()
	if err != nil {
		return Calibration{}, fmt.Errorf("calibrate: %w", err)
	}
	r.Shifts = merged(r.Shifts)

	// Searches wait for others, or end, between their steps. What cannot be certified in time is refused before any.
	between := func() error {
		if r.Between != nil {
			r.Between()
		}
		return ctx.Err()
	}

	r.Families = slices.Clone(r.Families)
	for i, f := range r.Families {
		r.Families[i] = sensitivity.Remember(f, between)
		if err := r.affordable(r.Families[i]); err != nil {
			return Calibration{}, err
		}
	}

	if r, err = r.balanced(between); err != nil {
		return Calibration{}, fmt.Errorf("calibrate: %w", err)
	}
	return r.search(ctx, kind)
}

// affordable refuses a family whose certificates would take more than MaxEffort.
func (r Request) affordable(f sensitivity.Family) error {
	effort := sensitivity.Effort(f)
	if effort <= MaxEffort {
		return nil
	}
	return sqlstate.New(sqlstate.NotAnswerable,
		"the noise of %d values cannot be worked out in reasonable time for all pairs of secret %s",
		len(r.Components), f.Secret()).
		WithHint("Group by fewer columns, and by one set of columns in a statement.").
		Because(fmt.Errorf("calibrate: an effort of %.2g", effort))
}

const (
	// The i-th attempt at a promise that integer scales do not keep has 2^(i-35) more noise: what rounding takes is
	// some 2^-28, and the last attempts would cover anything that can be drawn.
	firstInflation    = -35
	promiseAttempts   = 58
	certifyInflation  = -10 // the i-th attempt at a certificate has 2^(i-10) more: .2%, .4% … four times
	certifiedAttempts = 12
)

// calibrate widens the design by the little that rounding needs, until what it promises holds for its integer scales;
// then by what the certificates need.
func (m mechanism) calibrate(r Request) (Calibration, error) {
	scattered := func(s sensitivity.Shift) bool { return s.Scatter != nil }
	if !m.auto && slices.ContainsFunc(r.Shifts, scattered) {
		return Calibration{}, unassumed(m.kind)
	}

	d, err := m.design(r)
	if err != nil {
		return Calibration{}, err
	}

	// Where the promise or the certificate does not hold, once more with a little more noise, each so many times.
	inflate, certified := 1.0, 1
	for promised := 0; promised < promiseAttempts; {
		n := r.extended(d(inflate))
		if !n.valid() {
			break
		}

		// Whether the promise holds is decided by the noise that would be drawn, and not by the scales that were aimed
		// at.
		losses := m.lossesOf(r, n)
		charged := r.chargedAll(losses)
		if !m.keeps(r, n, losses, charged) {
			inflate = 1 + math.Ldexp(1, promised+firstInflation)
			promised++
			continue
		}

		certificates, err := m.certificates(r, n, losses)
		if errors.Is(err, sensitivity.ErrUncertified) && certified <= certifiedAttempts {
			inflate = 1 + math.Ldexp(1, certified+certifyInflation)
			certified++
			continue
		}

		if err != nil {
			return Calibration{}, uncertified(m.kind, err)
		}
		if certificates, err = r.weakened(certificates); err != nil {
			return Calibration{}, r.short(m.kind)
		}
		return m.calibration(r, n, charged, certificates)
	}
	return Calibration{}, r.short(m.kind)
}

// calibration is the noise with what is said of it, and with the decimals that its values are published with.
func (m mechanism) calibration(
	r Request, n Noise, charged map[string]privacy.Loss, certificates []Certificate,
) (Calibration, error) {
	n = r.bind(n)
	c := Calibration{
		Kind: m.kind, Assumption: assumption(certificates), Noise: n,
		Losses: charged, Certificates: certificates, Error: r.error(n),
	}
	for k := range n.cells {
		sd := n.sd(k)
		c.SD = append(c.SD, sd)
		n.cells[k].digits = digits(sd, r.Components[k].Integer)
	}
	if math.IsInf(c.Error, 0) || math.IsNaN(c.Error) {
		return Calibration{}, r.short(m.kind)
	}
	return c, nil
}

// EpsilonFor is what the noise tells by itself, at δ, of each secret that moves F by other shifts than it was
// calibrated for; +Inf where there is no such ε. It rests on what these shifts rest on.
func (c Calibration) EpsilonFor(shifts []sensitivity.Shift, delta float64) map[string]float64 {
	out := map[string]float64{}
	for _, s := range shifts {
		out[s.Secret] = math.Max(out[s.Secret], c.Noise.loss(s).EpsilonAt(delta))
	}
	return out
}
