package quote

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"

	"fugu/dataset"
	"fugu/mechanism"
	"fugu/model"
	"fugu/planner"
	"fugu/policy"
	"fugu/privacy"
	"fugu/privacy/joint"
	"fugu/sensitivity"
	"fugu/sqlstate"
)

// JointAssumption is what an answer in a joint account rests on.
const JointAssumption = mechanism.Translation + ", " + mechanism.Gaussian + ", joint"

// counted reports which components a joint account can count: those that are sums.
func counted(m *model.Moments) []bool {
	out := make([]bool, len(m.Components))
	for k := range out {
		out[k] = len(m.Totals(k)) == 1
	}
	return out
}

// jointly says what the answer brings into the joint account.
func (r *Request) jointly(ctx context.Context, parts []part, m *Quote) (*JointTerms, error) {
	variance, lines, err := m.Calibration.Noise.Normal()
	if err != nil {
		return nil, sqlstate.New(sqlstate.NotAllowed, "mechanism %s has no normal noise, and all answers of dataset "+
			"%s share one account that needs it", m.Calibration.Kind, r.Policy.Dataset).
			WithHint("Set fugu.mechanism to %s.", mechanism.Auto).Because(err)
	}
	var sums []bool
	terms := map[*dataset.Protected]*joined{}
	for _, p := range parts {
		sums = append(sums, counted(p.model.moments)...)
		terms[p.model.root] = &joined{table: p.model.root}
	}

	// Normal noise that components share is counted where all of them are sums over one table. Otherwise it stands for
	// nothing in the account, as if everybody knew it: then the noise alone hides all movements.
	if len(lines) > 0 && (len(terms) > 1 || slices.Contains(sums, false)) {
		lines = nil
		clear(sums)
	}
	offset := 0
	for _, p := range parts {
		end := offset + len(p.model.Components)
		err := terms[p.model.root].add(ctx, r.Database, p.model.moments, variance[offset:end], sums[offset:end])
		if err != nil {
			return nil, err
		}
		offset = end
	}

	// The secrets of all tables have their losses beside, and each table is a part of its own.
	out := &JointTerms{Losses: map[string]privacy.Loss{}}
	for _, j := range terms {
		part, err := m.jointPart(j, sums, out.Losses)
		if err != nil {
			return nil, err
		}
		part.Lines = lines
		if err := part.Read(); err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, part)
	}
	slices.SortFunc(out.Parts, func(a, b JointPart) int { return cmp.Compare(a.Table, b.Table) })
	out.Bytes, err = json.Marshal(out.Parts)
	return out, err
}

// jointPart is what the components over one table bring into the account. What the noise alone hides of its secrets
// goes into losses.
func (m *Quote) jointPart(j *joined, sums []bool, losses map[string]privacy.Loss) (JointPart, error) {
	t, noise := j.table, m.Calibration.Noise
	out := JointPart{Table: t.Table.String(), Digest: t.Places.Digest, Noise: j.noise, Still: j.still,
		Rounding: noise.Rounding(), Hidden: map[string]bool{}, Aside: map[string]float64{}, Alone: map[string]float64{}}
	for _, s := range t.Table.Secrets {
		hidden, loss := noise.Aside(ofSecret(m.Shifts, s.Name), sums)
		out.Hidden[s.Name], out.Aside[s.Name] = hidden, math.Sqrt(loss.Kappa2)
		out.Alone[s.Name] = m.Calibration.Losses[s.Name].Kappa2
		loss.Kappa2 = 0 // which the account counts
		losses[s.Name] = loss
	}
	all, err := joint.Concat(j.terms...)
	if err != nil {
		return out, err
	}
	out.Terms, err = all.MarshalBinary()
	return out, err
}

// ofSecret are the shifts of one secret.
func ofSecret(shifts []sensitivity.Shift, name string) []sensitivity.Shift {
	var out []sensitivity.Shift
	for _, s := range shifts {
		if s.Secret == name {
			out = append(out, s)
		}
	}
	return out
}

// joined collects the terms of the cuts over one table.
type joined struct {
	table *dataset.Protected
	terms []*joint.Terms
	noise []float64
	still []bool
}

// add takes in a cut's components, of which variance is the noise, by the sums that they stand for. No secret moves an
// average there: how far it moves is counted by its noise, as it is of all components that are not counted.
func (j *joined) add(ctx context.Context, ref planner.Querier, m *model.Moments, variance []float64,
	counted []bool) error {
	var totals []model.Total
	for k := range m.Components {
		of, noise, err := standIns(m, j.table.Psi, k, variance[k])
		if err != nil {
			return err
		}
		totals, j.noise = append(totals, of...), append(j.noise, noise...)
		j.still = append(j.still, slices.Repeat([]bool{!counted[k]}, len(of))...)
	}

	// How rows vary together in these sums comes from the reference, in one statement.
	terms, err := m.Terms(ctx, ref, j.table.Places, totals)
	if err == nil {
		j.terms = append(j.terms, terms)
	}
	return err
}

// unaccounted refuses a statement that a joint account cannot follow.
func (r *Request) unaccounted(c *planner.Bound) error {
	if r.Policy.Privacy.Composition != policy.Jointly {
		return nil
	}
	for _, a := range c.Aggregates {
		if a.Sampled != nil || !a.Linear() && (a.Second() || len(a.Terms) != 2) {
			return sqlstate.New(sqlstate.NotAnswerable, "%s cannot be answered: all answers of dataset %s share one "+
				"account, which takes counts, sums and averages", a.Label, r.Policy.Dataset).
				WithHint("Ask for counts, sums and averages.")
		}
	}
	return nil
}
