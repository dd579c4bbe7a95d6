package reuse

import (
	"context"
	"slices"

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

		// Another policy may have another model, and another epoch other data.
		about := func(v string) bool { _, is := vectors[v]; return is }
		if !slices.ContainsFunc(g.evidence.Vectors, about) {
			continue
		}

		paid, err := book.Paid(ctx, g.Key)
		if err != nil {
			return nil, err
		}
		if !paid {
			continue
		}

		values, err := g.release.Numbers()
		if err != nil {
			return nil, err
		}
		out = append(out, Witness{ID: g.ID, Values: values, Evidence: *g.evidence})
	}
	return out, nil
}
