// Package reuse finds answers in those that were given before: of sums over cells with their noise it makes the best
// estimates of others, with the law of their error. What it finds costs nothing, as it is a function of what has been
// paid for. Whether it finds anything, and how, depends on statements, on the noise of answers and on the reference: on
// no protected row, nor on any value that was released. It charges nothing, and knows no session.
package reuse

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

// Book has the answers that were given, as those see it who ask.
type Book interface {
	// Given returns the newest answers of a dataset behind the one with the number after, at most so many.
	Given(ctx context.Context, dataset string, after int64, most int) ([]ledger.Given, error)
	// Paid reports whether who asks has paid for an answer.
	Paid(ctx context.Context, key ledger.Key) (bool, error)
}

// Past are the answers that others can be computed from, as far as this process has read them. Its zero value has read
// none; it is safe for concurrent use.
type Past struct {
	mu        sync.Mutex
	byDataset map[string]*answers
}

type answers struct {
	last  int64
	given []given // newest first
}

type given struct {
	ledger.Given
	quote.Kept
	evidence *quote.Evidence // nil: estimates take nothing from it
	release  mechanism.Release
}

// read returns the answers of a dataset, with those that the book has beside.
func (p *Past) read(ctx context.Context, book Book, dataset string) ([]given, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byDataset == nil {
		p.byDataset = map[string]*answers{}
	}
	known := p.byDataset[dataset]
	if known == nil {
		known = &answers{}
		p.byDataset[dataset] = known
	}

	more, err := book.Given(ctx, dataset, known.last, maxGiven)
	if err != nil {
		return nil, err
	}

	// An answer that nothing can be computed from is read once, too.
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
	if json.Unmarshal(g.Bytes, &s) != nil || s.Of == nil && s.Evidence == nil {
		return given{}, false
	}
	out := given{Given: g, evidence: s.Evidence}
	out.Bytes = nil
	if out.release.UnmarshalBinary(s.Release) != nil || s.Evidence != nil && !fits(*s.Evidence, out.release) {
		return given{}, false
	}
	if s.Of == nil {
		return out, true
	}
	if out.Kept = *s.Of; out.Law.Check(out.release.Len()) != nil {
		return given{}, false
	}

	// What the ledger keeps is not trusted to fit: a place beyond the values would be read later.
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
