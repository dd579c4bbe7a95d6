package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"fugu/internal/hook"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/privacy"
	"fugu/sqlstate"
)

// maxSources is how many layers of answers, the newest, one estimate is looked for in.
const maxSources = 64

// ofPast is an answer that is computed from others: an estimate of each component.
type ofPast struct {
	of    []derived
	given []given // which their shares are numbered in
}

// fromPast answers the question from what was answered before, if that is within the error that was asked for. It costs
// nothing: what it returns is a function of answers that have been paid for, by everybody and by all shares of whoever asks.
// Whether it answers, and how, depends on the statements, on their noise and on the reference: on no protected row, nor on
// any value that was released.
func (q *question) fromPast(ctx context.Context, c ledger.Charge) (a ledger.Answer, ok bool, err error) {
	if q.error == (privacy.Tolerance{}) || hook.NoStored {
		return a, false, nil
	}
	c.Key = q.derivedKey()
	if a, ok, err = q.engine.ledger.Find(ctx, c.Key, scopes(q.shares)...); err != nil {
		return a, false, ledgerError(err)
	} else if ok {
		return a, true, nil
	}
	m, err := q.measure(ctx)
	if err != nil {
		return a, false, nil // the fresh answer says what is wrong
	}
	p, err := q.estimate(ctx, m)
	if err != nil || p == nil {
		return a, false, err
	}
	var releases []mechanism.Release
	for _, g := range p.given {
		releases = append(releases, g.release)
	}
	var estimates []mechanism.Estimate
	for k, d := range p.of {
		d.Integer = m.integer[k]
		estimates = append(estimates, d.Estimate)
	}
	release, errs, err := mechanism.Combine(releases, estimates)
	if err != nil {
		return a, false, err
	}
	s := stored{Index: m.index, Public: m.public, Past: &pastOf{}}
	if s.Release, err = release.MarshalBinary(); err != nil {
		return a, false, err
	}
	for k, d := range p.of {
		s.Past.Errors = append(s.Past.Errors, pastError{errs[k], d.Outside})
	}
	rests := []string{}
	for _, g := range p.from() {
		s.Past.From = append(s.Past.From, g.ID)
		if !slices.Contains(rests, g.Assumption) {
			rests = append(rests, g.Assumption)
		}
	}
	slices.Sort(rests)
	if c.Answer, err = s.encode(); err != nil {
		return a, false, err
	}
	c.Mechanism, c.Assumption, c.Losses = ledger.Derived, strings.Join(rests, "; "), map[string]privacy.Loss{}
	for secret := range q.nominal() {
		c.Losses[secret] = privacy.Loss{}
	}
	c.Cells = q.cells(m, s.Past, release.Values(), defaultConfidence)
	if a, err = q.engine.ledger.Charge(context.WithoutCancel(ctx), c); err != nil {
		return ledger.Answer{}, false, ledgerError(err)
	}
	return a, true, nil
}

// derivedKey is that of an answer from the past: of the error that was asked for, and of whose answers it may be made.
func (q *question) derivedKey() ledger.Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "from past %s %s %q", q.key, q.error, scopes(q.shares)))
	return ledger.Key(hex.EncodeToString(sum[:]))
}

// estimate looks for an answer from the past; nil: there is none within the error that was asked for.
func (q *question) estimate(ctx context.Context, m *measured) (*ofPast, error) {
	if q.error == (privacy.Tolerance{}) || m.width == 0 || !m.sumsOnly || m.keep(q.policy) == nil {
		return nil, nil
	}
	all, err := q.engine.past.read(ctx, q.engine.ledger, q.policy.Dataset)
	if err != nil {
		return nil, err
	}
	out := &ofPast{make([]derived, m.width), all}
	found := 0
	told := map[int]bool{} // by answer: whether the scopes have paid for it
	for i := range m.layers {
		l := &m.layers[i]
		for name, components := range l.Values {
			d := derivation{of: l, name: name, given: all, outside: func(column string) (float64, error) {
				return l.of.Outside(ctx, q.database, column)
			}}
			if d.sources, err = q.sources(ctx, all, l, name, told); err != nil {
				return nil, err
			}
			cells, err := d.solve()
			if err != nil {
				return nil, err
			}
			for cell, e := range cells {
				out.of[components[cell]] = e
				found++
			}
		}
	}
	if found < m.width {
		return nil, nil
	}
	fresh := m.calibration.Noise.Law()
	for k, e := range out.of {
		var drawn mechanism.Mixture
		unit := make([]float64, m.width)
		unit[k] = 1
		drawn.Add(fresh, unit)
		if !q.error.Allows(e.sd(), drawn.SD()) {
			return nil, nil
		}
	}
	return out, nil
}

// sources are the layers of answers that a layer of the question may be computed from.
func (q *question) sources(ctx context.Context, all []given, l *keptLayer, name string, told map[int]bool) ([]source, error) {
	var out []source
	for i, g := range all {
		if g.Epoch != q.standing.Epoch || g.Policy != q.policy.Fingerprint {
			continue
		}
		for j := range g.Layers {
			of := &g.Layers[j]
			components, ok := of.Values[name]
			if !ok || of.Frame != l.Frame {
				continue
			}
			if _, asked := told[i]; !asked && len(q.shares) > 0 {
				_, paid, err := q.engine.ledger.Find(ctx, g.Key, scopes(q.shares)...)
				if err != nil {
					return nil, ledgerError(err)
				}
				told[i] = paid
			}
			if len(q.shares) > 0 && !told[i] {
				continue
			}
			if out = append(out, source{answer: i, layer: of, components: components}); len(out) == maxSources {
				return out, nil
			}
		}
	}
	return out, nil
}

// from are the answers that have a share.
func (p *ofPast) from() (out []given) {
	used := map[int]bool{}
	for _, d := range p.of {
		for _, s := range d.Of {
			used[s.Release] = true
		}
	}
	for i, g := range p.given {
		if used[i] {
			out = append(out, g)
		}
	}
	slices.Reverse(out)
	return out
}

// pastOf is what is kept of an answer from the past.
type pastOf struct {
	From   []int64     // the answers that have a share in it
	Errors []pastError // of each component
}

type pastError struct {
	Noise   mechanism.Mixture
	Outside float64 `json:",omitempty"`
}

// sd is the root of the mean square.
func (e pastError) sd() float64 { return math.Hypot(e.Noise.SD(), e.Outside) }

// halfWidth is half the width of an interval that holds the value without noise at the confidence; what rows without public
// values add to it is bounded by Markov's inequality on its square, and gets half of what may go wrong.
func (e pastError) halfWidth(confidence float64) float64 {
	if e.Outside == 0 {
		return e.Noise.HalfWidth(confidence)
	}
	half := (1 - confidence) / 2
	return e.Noise.HalfWidth(1-half) + e.Outside/math.Sqrt(half)
}

// explainPast says for people what an answer from the past is made of; empty: there is none.
func (q *question) explainPast(ctx context.Context, m *measured) (string, error) {
	if q.error == (privacy.Tolerance{}) {
		return "", nil
	}
	if a, ok, err := q.engine.ledger.Find(ctx, q.derivedKey(), scopes(q.shares)...); err != nil {
		return "", ledgerError(err)
	} else if ok {
		return fmt.Sprintf("given before as answer %d, from answers %s", a.ID, derivedFrom(a)), nil
	}
	p, err := q.estimate(ctx, m)
	if err != nil || p == nil {
		return "", err
	}
	var ids []int64
	for _, g := range p.from() {
		ids = append(ids, g.ID)
	}
	least, most := math.Inf(1), 0.0
	for _, d := range p.of {
		least, most = math.Min(least, d.sd()), math.Max(most, d.sd())
	}
	return fmt.Sprintf("from answers %s, error (sd) %s to %s, within the %s asked for", list(ids), short(least), short(most), q.error), nil
}

// derivedFrom lists the answers that an answer was computed from; empty: it was drawn.
func derivedFrom(a ledger.Answer) string {
	var s stored
	if a.Mechanism != ledger.Derived || json.Unmarshal(a.Bytes, &s) != nil || s.Past == nil {
		return ""
	}
	return list(s.Past.From)
}

func list(ids []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]")
}

// tolerance takes over the error that was asked for.
func (q *question) tolerance(set settings) error {
	q.error = q.policy.Privacy.Error
	if !set.errorSet {
		return nil
	}
	if set.error != (privacy.Tolerance{}) && q.error == (privacy.Tolerance{}) {
		return sqlstate.New(sqlstate.NotAllowed, "fugu.error is %s, and the policy has every answer of dataset %s drawn afresh", set.error, q.policy.Dataset).
			WithHint("RESET fugu.error; or the owner of the policy can write privacy.error: %s.", set.error)
	}
	q.error = set.error
	return nil
}
