package reuse

import (
	"context"
	"math"
	"slices"
	"strings"

	"fugu/mechanism"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/quote"
)

// maxSources is how many layers of answers, the newest, one estimate is looked for in.
const maxSources = 64

// Wanted is what estimates are looked for.
type Wanted struct {
	Quote    *quote.Quote
	Policy   *policy.Policy
	Epoch    int64
	Within   privacy.Tolerance // the error that is asked for; none: nothing is estimated
	Database planner.Querier   // that is asked about the reference
}

// Estimates are the components of a quote as answers that were given tell them.
type Estimates struct {
	Of    []Derived
	given []given // which their shares are numbered in
}

// Estimate computes what is wanted from answers of the book; nil: that cannot be done within the error asked for.
func (p *Past) Estimate(ctx context.Context, book Book, wanted Wanted) (*Estimates, error) {
	m := wanted.Quote
	if wanted.Within == (privacy.Tolerance{}) || m.Width == 0 || !m.SumsOnly || m.Keep(wanted.Policy) == nil {
		return nil, nil
	}
	all, err := p.read(ctx, book, wanted.Policy.Dataset)
	if err != nil {
		return nil, err
	}

	// All of the components, or none: what is drawn beside would have to be paid for.
	s := search{wanted: wanted, book: book, all: all, paid: map[int]bool{}}
	out := &Estimates{make([]Derived, m.Width), all}
	found := 0
	for i := range m.Layers {
		n, err := s.layer(ctx, &m.Layers[i], out.Of)
		if err != nil {
			return nil, err
		}
		found += n
	}

	if found < m.Width {
		return nil, nil
	}

	fresh := m.Calibration.Noise.Law()
	for k, e := range out.Of {
		var drawn mechanism.Mixture
		unit := make([]float64, m.Width)
		unit[k] = 1
		drawn.Add(fresh, unit)
		if !wanted.Within.Allows(e.SD(), drawn.SD()) {
			return nil, nil
		}
	}
	return out, nil
}

// search is for the estimates of one statement.
type search struct {
	wanted Wanted
	book   Book
	all    []given
	paid   map[int]bool // by place in all, of those that the book was asked about
}

// layer estimates the components of one layer, and returns how many of them there are.
func (s *search) layer(ctx context.Context, l *quote.Layer, of []Derived) (found int, err error) {
	for name, components := range l.Values {
		d := derivation{of: l, name: name, given: s.all, outside: func(column string) (float64, error) {
			return l.Root.Outside(ctx, s.wanted.Database, column)
		}}
		if d.sources, err = s.sources(ctx, l, name); err != nil {
			return 0, err
		}
		cells, err := d.solve()
		if err != nil {
			return 0, err
		}
		for cell, e := range cells {
			of[components[cell]] = e
			found++
		}
	}
	return found, nil
}

// sources are the layers of answers that a layer may be computed from.
func (s *search) sources(ctx context.Context, l *quote.Layer, name string) (out []source, err error) {
	for i, g := range s.all {
		if g.Epoch != s.wanted.Epoch || g.Policy != s.wanted.Policy.Fingerprint {
			continue
		}
		for j := range g.Layers {
			of := &g.Layers[j]
			components, ok := of.Values[name]
			if !ok || of.Frame != l.Frame {
				continue
			}

			// Only what whoever asks has paid for, or its share would be saved; the ledger is asked once for each.
			if _, known := s.paid[i]; !known {
				if s.paid[i], err = s.book.Paid(ctx, g.Key); err != nil {
					return nil, err
				}
			}

			if !s.paid[i] {
				continue
			}
			if out = append(out, source{answer: i, layer: of, components: components}); len(out) == maxSources {
				return out, nil
			}
		}
	}
	return out, nil
}

// Combine computes the values from those that were released, and says what is kept of how; integer says of each
// component whether its values are whole.
func (e *Estimates) Combine(integer []bool) (release mechanism.Release, past *quote.Past, err error) {
	var releases []mechanism.Release
	for _, g := range e.given {
		releases = append(releases, g.release)
	}
	var estimates []mechanism.Estimate
	for k, d := range e.Of {
		d.Integer = integer[k]
		estimates = append(estimates, d.Estimate)
	}
	release, errs, err := mechanism.Combine(releases, estimates)
	if err != nil {
		return release, nil, err
	}
	past = &quote.Past{From: e.From()}
	for k, d := range e.Of {
		past.Errors = append(past.Errors, quote.PastError{Noise: errs[k], Outside: d.Outside})
	}
	return release, past, nil
}

// From are the numbers of the answers that have a share, in the order in which they were given.
func (e *Estimates) From() (ids []int64) {
	for _, g := range e.used() {
		ids = append(ids, g.ID)
	}
	return ids
}

// Assumption is what the answers that have a share rest on.
func (e *Estimates) Assumption() string {
	rests := []string{}
	for _, g := range e.used() {
		if !slices.Contains(rests, g.Assumption) {
			rests = append(rests, g.Assumption)
		}
	}
	slices.Sort(rests)
	return strings.Join(rests, "; ")
}

// Errors are the least and the largest error of a component.
func (e *Estimates) Errors() (least, most float64) {
	least = math.Inf(1)
	for _, d := range e.Of {
		least, most = math.Min(least, d.SD()), math.Max(most, d.SD())
	}
	return least, most
}

// Answer is the number of the answer that the shares of the components call so.
func (e *Estimates) Answer(release int) int64 { return e.given[release].ID }

// used are the answers that have a share, oldest first.
func (e *Estimates) used() (out []given) {
	used := map[int]bool{}
	for _, d := range e.Of {
		for _, s := range d.Of {
			used[s.Release] = true
		}
	}
	for i, g := range e.given {
		if used[i] {
			out = append(out, g)
		}
	}
	slices.Reverse(out)
	return out
}
