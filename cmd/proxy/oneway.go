package main

import (
	"context"
	"encoding/json"

	"fugu/ledger"
	"fugu/policy"
	"fugu/quote"
	"fugu/twin/build"
)

// addsUp refuses policies under which nothing would hold of what was told before together with what will be.
func addsUp(ctx context.Context, l ledger.Ledger, policies []*policy.Policy) error {
	if err := oneWayOnly(ctx, l, policies); err != nil {
		return err
	}
	for _, p := range policies {
		if err := oneCoupling(ctx, l, p); err != nil {
			return err
		}
	}
	return nil
}

// oneCoupling refuses to change a policy that declares distributions by samples or concentration, or to begin with one,
// once answers were given about the same data: how close two distributions are is said by one coupling of them, which
// follows from the policy, and what rests on two couplings does not add up (Chen & Ohrimenko, section 3.2). As no such
// change is ever served, the last answer stands for all of them. Data that are drawn independently of those before have
// nothing to add up with.
func oneCoupling(ctx context.Context, l ledger.Ledger, p *policy.Policy) error {
	given, err := l.Given(ctx, p.Dataset, 0, 1)
	if err != nil || len(given) == 0 {
		return err
	}
	var last quote.Stored
	known := json.Unmarshal(given[0].Bytes, &last) == nil
	if !p.Coupled() && !last.Samples || known && last.Policy == p.Fingerprint {
		return nil
	}

	// Data that are drawn independently of those before begin anew.
	standing, err := l.Standing(ctx, p.Dataset, p.Privacy.Budget.Renew)
	if err != nil {
		return err
	}
	others := given[0].Epoch != standing.Epoch || p.Epoch.Label != "" && p.Epoch.Label != standing.Label
	if p.Epoch.Draw == policy.IndependentDraw && others {
		return nil
	}

	at := p.Tables[0].At
	if p.Coupled() {
		at = p.Declared[0].At
	}
	return p.Misfit(at, "dataset %s: answers were given under another policy, and what "+
		"rests on samples or concentration does not add up with anything else; bring that policy back, or protect "+
		"other data, drawn independently, under another dataset or epoch", p.Dataset)
}

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
