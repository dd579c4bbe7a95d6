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
	"fugu/quote"
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
		d.Integer = m.Integer[k]
		estimates = append(estimates, d.Estimate)
	}
	release, errs, err := mechanism.Combine(releases, estimates)
	if err != nil {
		return a, false, err
	}
	s := quote.Stored{Index: m.Index, Public: m.Public, Past: &quote.Past{}}
	if s.Release, err = release.MarshalBinary(); err != nil {
		return a, false, err
	}
	for k, d := range p.of {
		s.Past.Errors = append(s.Past.Errors, quote.PastError{Noise: errs[k], Outside: d.Outside})
	}
	rests := []string{}
	for _, g := range p.from() {
		s.Past.From = append(s.Past.From, g.ID)
		if !slices.Contains(rests, g.Assumption) {
			rests = append(rests, g.Assumption)
		}
	}
	slices.Sort(rests)
	if c.Answer, err = s.Encode(); err != nil {
		return a, false, err
	}
	c.Mechanism, c.Assumption, c.Losses = ledger.Derived, strings.Join(rests, "; "), map[string]privacy.Loss{}
	for secret := range q.request.Nominal() {
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
func (q *question) estimate(ctx context.Context, m *quote.Quote) (*ofPast, error) {
	if q.error == (privacy.Tolerance{}) || m.Width == 0 || !m.SumsOnly || m.Keep(q.request.Policy) == nil {
		return nil, nil
	}
	all, err := q.engine.past.read(ctx, q.engine.ledger, q.request.Policy.Dataset)
	if err != nil {
		return nil, err
	}
	out := &ofPast{make([]derived, m.Width), all}
	found := 0
	told := map[int]bool{} // by answer: whether the scopes have paid for it
	for i := range m.Layers {
		l := &m.Layers[i]
		for name, components := range l.Values {
			d := derivation{of: l, name: name, given: all, outside: func(column string) (float64, error) {
				return l.Over.Outside(ctx, q.request.Database, column)
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
	if found < m.Width {
		return nil, nil
	}
	fresh := m.Calibration.Noise.Law()
	for k, e := range out.of {
		var drawn mechanism.Mixture
		unit := make([]float64, m.Width)
		unit[k] = 1
		drawn.Add(fresh, unit)
		if !q.error.Allows(e.sd(), drawn.SD()) {
			return nil, nil
		}
	}
	return out, nil
}

// sources are the layers of answers that a layer of the question may be computed from.
func (q *question) sources(ctx context.Context, all []given, l *quote.Layer, name string, told map[int]bool) ([]source, error) {
	var out []source
	for i, g := range all {
		if g.Epoch != q.standing.Epoch || g.Policy != q.request.Policy.Fingerprint {
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

// explainPast says for people what an answer from the past is made of; empty: there is none.
func (q *question) explainPast(ctx context.Context, m *quote.Quote) (string, error) {
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
	return fmt.Sprintf("from answers %s, error (sd) %s to %s, within the %s asked for", list(ids), quote.Short(least), quote.Short(most), q.error), nil
}

// derivedFrom lists the answers that an answer was computed from; empty: it was drawn.
func derivedFrom(a ledger.Answer) string {
	var s quote.Stored
	if a.Mechanism != ledger.Derived || json.Unmarshal(a.Bytes, &s) != nil || s.Past == nil {
		return ""
	}
	return list(s.Past.From)
}

func list(ids []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]")
}
