package pipeline

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"fugu/ledger"
	"fugu/mechanism"
	"fugu/quote"
)

// maxGiven is how many answers, the newest, others are computed from.
const maxGiven = 1000

// past are the answers that others can be computed from, as far as this process has read them.
type past struct {
	mu sync.Mutex
	of map[string]*pastAnswers // by dataset
}

type pastAnswers struct {
	last  int64
	given []given // newest first
}

type given struct {
	ledger.Given
	quote.Kept
	release mechanism.Release
}

// read returns the answers of a dataset, with those that the ledger has beside.
func (p *past) read(ctx context.Context, l ledger.Ledger, dataset string) ([]given, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[string]*pastAnswers{}
	}
	known := p.of[dataset]
	if known == nil {
		known = &pastAnswers{}
		p.of[dataset] = known
	}
	more, err := l.Given(ctx, dataset, known.last, maxGiven)
	if err != nil {
		return nil, ledgerError(err)
	}
	if len(more) > 0 {
		known.last = more[0].ID
	}
	var fresh []given
	for _, g := range more {
		if x, ok := readGiven(g); ok {
			fresh = append(fresh, x)
		}
	}
	known.given = slices.Concat(fresh, known.given)
	known.given = slices.Clip(known.given[:min(len(known.given), maxGiven)])
	return known.given, nil
}

// readGiven takes in an answer; false: nothing can be computed from it.
func readGiven(g ledger.Given) (given, bool) {
	var s quote.Stored
	if json.Unmarshal(g.Bytes, &s) != nil || s.Of == nil {
		return given{}, false
	}
	out := given{Given: g, Kept: *s.Of}
	out.Bytes = nil
	if out.release.UnmarshalBinary(s.Release) != nil || !out.Law.Valid(out.release.Len()) {
		return given{}, false
	}
	for _, l := range out.Layers {
		for _, components := range l.Values {
			for _, cell := range l.Cells {
				if cell < 0 || cell >= len(components) {
					return given{}, false
				}
			}
			if slices.ContainsFunc(components, func(k int) bool { return k < -1 || k >= out.release.Len() }) {
				return given{}, false
			}
		}
		if len(l.Manner) != len(l.Axes) {
			return given{}, false
		}
	}
	return out, true
}
