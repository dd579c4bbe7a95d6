package mechanism

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"fugu/internal/hook"
	"fugu/privacy"
	"fugu/sensitivity"
	"fugu/sqlstate"
	"math"
	"slices"
)

// Calibration is noise that keeps every secret of a request within its budget.
type Calibration struct {
	Kind       Kind // never Auto
	Assumption string
	Noise      Noise
	Losses     map[string]privacy.Loss // by secret and noise alone, computed from the integer scales really used: what composes
	SD         []float64               // standard deviation of the noise of each component, in F's units, before publication rounding
	Error      float64                 // Σ_k SD_k²/Unit_k², of several blocks their norm; or the Σ_k E|noise_k|/Unit_k of an Absolute request

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

// Calibrate returns the noise of the given kind for r; Auto is the kind with the least Error. It is deterministic.
// It ends early where ctx does. A kind that cannot meet the budget is a *sqlstate.Error; a malformed request is an ordinary error.
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
	r, err := r.tightened()
	if err != nil {
		return Calibration{}, fmt.Errorf("calibrate: %w", err)
	}
	r.Shifts = merged(r.Shifts)
	r.Families = slices.Clone(r.Families)
	between := func() error {
		if r.Between != nil {
			r.Between()
		}
		return ctx.Err()
	}
	for i, f := range r.Families {
		r.Families[i] = sensitivity.Remember(f, between)
		if effort := sensitivity.Effort(r.Families[i]); effort > MaxEffort {
			return Calibration{}, sqlstate.New(sqlstate.NotAnswerable, "the noise of %d values cannot be worked out in reasonable time for all pairs of secret %s", len(r.Components), f.Secret()).
				WithHint("Group by fewer columns, and by one set of columns in a statement.").Because(fmt.Errorf("calibrate: an effort of %.2g", effort))
		}
	}
	if r, err = r.balanced(between); err != nil {
		return Calibration{}, fmt.Errorf("calibrate: %w", err)
	}
	return r.search(ctx, kind)
}

// search returns the mechanism of the kind with the least error.
func (r Request) search(ctx context.Context, kind Kind) (Calibration, error) {
	var best Calibration
	var errs []error
	known := false
	for _, d := range r.candidates(kind) {
		known = true
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
	switch {
	case best.Kind != "":
		return best, nil
	case !known:
		return Calibration{}, fmt.Errorf("calibrate: no mechanism of kind %q", kind)
	}
	return Calibration{}, fmt.Errorf("calibrate: %w", errors.Join(errs...))
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
		if d.kind == OptimalGaussian { // without a family there is none
			out = append(out, full)
			continue
		}
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

// maxAutoInherent bounds the components for which Auto looks for the noise of OptimalGaussian in a joint account.
const maxAutoInherent = 64

// considers reports whether Auto may take a mechanism.
func (r Request) considers(m mechanism) bool {
	switch {
	case !r.Joint || m.kind == Directional || m.kind == ExpmGaussian:
		return m.auto
	}
	return m.kind == OptimalGaussian && r.known() && len(r.Components) <= maxAutoInherent
}

// calibrate widens the design by the little that rounding needs, until what it promises holds for its integer scales;
// then by what the certificates need.
func (m mechanism) calibrate(r Request) (Calibration, error) {
	if !m.auto && slices.ContainsFunc(r.Shifts, func(s sensitivity.Shift) bool { return s.Scatter != nil }) {
		return Calibration{}, sqlstate.New(sqlstate.ModelUnfit, "mechanism %s needs an assumption on how statistics are distributed, and the policy accepts none", m.kind).
			WithHint("Set fugu.mechanism to %s; or the owner of the policy can accept an assumption: assume: [translation].", Auto)
	}
	d, err := m.design(r)
	if err != nil {
		return Calibration{}, err
	}
	inflate, certified := 1.0, 1
	for i := 0; i < 58; {
		n := r.extended(d(inflate))
		if !n.valid() {
			break
		}
		losses, ok := r.losses(n)
		charged := make(map[string]privacy.Loss, len(losses))
		for secret, l := range losses {
			charged[secret] = r.charged(l)
			ok = ok && charged[secret].Within(r.promised)
		}
		if m.holds != nil {
			ok = m.holds(r, n)
		}
		if !ok {
			inflate = 1 + math.Ldexp(1, i-35)
			i++
			continue
		}
		certificates, err := m.certificates(r, n, losses)
		if errors.Is(err, sensitivity.ErrUncertified) && certified <= 12 {
			inflate = 1 + math.Ldexp(1, certified-10) // .2% more, .4% … four times
			certified++
			continue
		}
		if err != nil {
			return Calibration{}, uncertified(m.kind, err)
		}
		if certificates, err = r.weakened(certificates); err != nil {
			return Calibration{}, unmet(m.kind, tooLarge)
		}
		c := Calibration{Kind: m.kind, Assumption: assumption(certificates), Noise: n, Losses: charged, Certificates: certificates}
		for k := range n.cells {
			sd := n.sd(k)
			c.SD = append(c.SD, sd)
			n.cells[k].digits = digits(sd, r.Components[k].Integer)
		}
		c.Error = r.error(n)
		if math.IsInf(c.Error, 0) || math.IsNaN(c.Error) {
			break
		}
		return c, nil
	}
	return Calibration{}, unmet(m.kind, tooLarge)
}

func (m mechanism) certificates(r Request, n Noise, losses map[string]privacy.Loss) ([]Certificate, error) {
	if m.certify != nil {
		return m.certify(r, n, losses)
	}
	return r.certify(m.kind, n, losses)
}

// losses returns for each secret what each part costs at most, over its shifts, by the noise alone, and whether that is
// within the budget.
func (r Request) losses(n Noise) (losses map[string]privacy.Loss, within bool) {
	losses, within = make(map[string]privacy.Loss, len(r.Shifts)), true
	for _, s := range r.Shifts {
		l := n.loss(s).Max(losses[s.Secret])
		losses[s.Secret] = l
		within = within && l.Within(r.Budget)
	}
	for _, q := range r.Quilts {
		losses[q.Attribute] = r.quilted(q, n)
		within = within && losses[q.Attribute].Within(r.Budget)
	}
	return losses, within
}
