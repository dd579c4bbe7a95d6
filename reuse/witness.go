package reuse

import (
	"context"
	"strconv"

	"fugu/mechanism"
	"fugu/policy"
	"fugu/quote"
)

// Witness is an answer that was given, as estimates see it.
type Witness struct {
	ID       int64
	Values   []float64
	Evidence quote.Evidence
}

// fits reports whether evidence is about the values of a release.
func fits(e quote.Evidence, r mechanism.Release) bool {
	return len(e.Vectors) == r.Len() && e.Law.Check(r.Len()) == nil
}

// Witnesses are the answers of the book about any of the vectors, under the policy and of the epoch, newest first:
// those that whoever asks has paid for.
func (p *Past) Witnesses(ctx context.Context, book Book, of *policy.Policy, epoch int64,
	vectors map[string]int) (out []Witness, err error) {
	all, err := p.read(ctx, book, of.Dataset)
	if err != nil {
		return nil, err
	}
	for _, g := range all {
		if g.evidence == nil || g.Epoch != epoch || g.evidence.Policy != of.Fingerprint {
			continue
		}
		about := false
		for _, v := range g.evidence.Vectors {
			_, is := vectors[v]
			about = about || is
		}
		if !about {
			continue
		}

		paid, err := book.Paid(ctx, g.Key)
		if err != nil {
			return nil, err
		}
		if !paid {
			continue
		}
		w := Witness{ID: g.ID, Evidence: *g.evidence}
		for _, text := range g.release.Values() {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, err
			}
			w.Values = append(w.Values, v)
		}
		out = append(out, w)
	}
	return out, nil
}
