package pipeline

import (
	"context"
	"fmt"

	"fugu/model"
	"fugu/upstream"
)

// compare finds secrets that are tied together, and refuses those that are one: where each follows from the other, a pair of
// values of one is a pair of the other as well, and the policy would state what is to be hidden twice, perhaps not alike.
func (t *protected) compare(ctx context.Context, reader *upstream.Reader) ([]model.Tie, error) {
	ties, err := model.Ties(ctx, reader, t.table)
	if err != nil {
		return nil, err
	}
	for _, tie := range ties {
		if tie.Same {
			return nil, fmt.Errorf("the secrets %s and %s are one: %s; keep one of them, with the pairs of both (a share p of the one is 1 - p of its opposite)",
				tie.A, tie.B, tie.What)
		}
	}
	return ties, nil
}

// Ties says, for the owner of the policies, which secrets are tied together.
func (s *Snapshot) Ties() (out []string) {
	for _, t := range s.tables {
		for _, tie := range t.ties {
			out = append(out, fmt.Sprintf("dataset %s: the secrets %s and %s of %s are tied: %s. A pair of values of either is hidden as the other moves along with it; "+
				"that both move on their own is not. Where shares add up, write one secret with categories: in their place",
				t.policy.Dataset, tie.A, tie.B, t.table, tie.What))
		}
	}
	return out
}
