package dataset

import (
	"context"
	"fmt"

	"fugu/model"
	"fugu/policy"
	"fugu/upstream"
)

// compare finds secrets that are tied together, and refuses those that are one: where each follows from the other, a
// pair of values of one is a pair of the other as well, and the policy would state what is to be hidden twice, perhaps
// not alike.
func (t *Protected) compare(ctx context.Context, reader *upstream.Reader) ([]model.Tie, error) {
	ties, err := model.Ties(ctx, reader, t.Table)
	if err != nil {
		return nil, err
	}
	var findings policy.Findings
	for _, tie := range ties {
		if !tie.Same {
			continue
		}
		at := t.secretAt(tie.B)
		findings = append(findings, policy.Finding{File: t.Policy.Source, Line: at.Line, Column: at.Column,
			Message: fmt.Sprintf("the secrets %s and %s of %s are one: %s", tie.A, tie.B, t.Table, tie.What),
			Hint:    "keep one of them, with the pairs of both (a share p of the one is 1 - p of its opposite)"})
	}
	if findings != nil {
		return nil, findings
	}
	return ties, nil
}

func (t *Protected) secretAt(name string) policy.Position {
	for _, s := range t.Policy.Secrets {
		if s.Name == name {
			return s.At
		}
	}
	return t.Config.At
}

// Ties says, for the owner of the policies, which secrets are tied together.
func (s *Snapshot) Ties() (out policy.Findings) {
	for _, t := range s.Tables {
		for _, tie := range t.ties {
			at := t.secretAt(tie.B)
			out = append(out, policy.Finding{File: t.Policy.Source, Line: at.Line, Column: at.Column,
				Message: fmt.Sprintf("dataset %s: the secrets %s and %s of %s are tied: %s. "+
					"A pair of values of either is hidden as the other moves along with it; "+
					"that both move on their own is hidden less well, or not at all",
					t.Policy.Dataset, tie.A, tie.B, t.Table, tie.What),
				Hint: "where shares add up, write one secret with categories: in their place"})
		}
	}
	return out
}
