package main

import (
	"context"

	"fugu/ledger"
	"fugu/policy"
	"fugu/twin/build"
)

// oneWayOnly refuses policies that would answer with noise about a table of which a twin was drawn. Beside the twin
// only the rows that it left out are unknown, so that nothing that noise counts on holds any more; and the twin, once
// told, is never untold, so that this does not end when it is dropped.
func oneWayOnly(ctx context.Context, l ledger.Ledger, policies []*policy.Policy) error {
	for _, p := range policies {
		for _, t := range p.Tables {
			if t.Answers == policy.FromTwin {
				continue
			}
			drawn, err := build.Drawn(ctx, l, t.Qualified())
			if err != nil {
				return err
			}
			if drawn {
				return p.Misfit(t.At, "table %s: a twin of it was drawn, says the ledger, "+
					"and beside a twin noise on answers hides less than it claims; "+
					"write answers: twin, or protect a table of other rows under another name", t.Qualified())
			}
		}
	}
	return nil
}
