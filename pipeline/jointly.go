package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
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

// jointAssumption is what an answer in a joint account rests on.
const jointAssumption = mechanism.Translation + ", " + mechanism.Gaussian + ", joint"

// jointTerms is what an answer brings into the joint account of its dataset: nothing of it depends on protected rows.
type jointTerms struct {
	parts  []tableTerms
	losses map[string]privacy.Loss // by secret: what the noise alone hides, and the account does not count; of κ² nothing
	bytes  []byte                  // of the parts, as the ledger keeps them
}

// tableTerms is an answer's components over one table.
type tableTerms struct {
	Table   string
	Digest  string // of the reference's rows
	Terms   []byte
	release joint.Release

	Noise    []float64          // as in joint.Release, like the rest
	Lines    [][]float64        `json:",omitempty"`
	Still    []bool             `json:",omitempty"`
	Hidden   map[string]bool    `json:",omitempty"`
	Aside    map[string]float64 `json:",omitempty"`
	Rounding float64

	Alone map[string]float64 // κ² by secret, by the noise alone
}

// counted reports which components a joint account can count: those that are sums.
func counted(m *model.Moments) []bool {
	out := make([]bool, len(m.Components))
	for k := range out {
		out[k] = len(m.Totals(k)) == 1
	}
	return out
}

// jointly says what the answer brings into the joint account.
func (q *question) jointly(ctx context.Context, parts []part, m *measured) (*jointTerms, error) {
	variance, lines, err := m.calibration.Noise.Normal()
	if err != nil {
		return nil, sqlstate.New(sqlstate.NotAllowed, "mechanism %s has no normal noise, and all answers of dataset %s share one account that needs it", m.calibration.Kind, q.policy.Dataset).
			WithHint("Set fugu.mechanism to %s.", mechanism.Auto).Because(err)
	}
	var sums []bool
	for _, p := range parts {
		sums = append(sums, counted(p.model.moments)...)
	}
	out := &jointTerms{losses: map[string]privacy.Loss{}}
	byTable := map[*dataset.Protected]*tableTerms{}
	terms := map[*dataset.Protected]*joined{}
	for _, p := range parts {
		t := p.model.root
		if byTable[t] == nil {
			byTable[t] = &tableTerms{Table: t.Table.String(), Digest: t.Places.Digest, Hidden: map[string]bool{}, Aside: map[string]float64{}, Alone: map[string]float64{}, Rounding: m.calibration.Noise.Rounding()}
			terms[t] = &joined{}
		}
	}
	// Normal noise that components share is counted where all of them are sums over one table. Otherwise it stands for
	// nothing in the account, as if everybody knew it: then the noise alone hides all movements.
	if len(lines) > 0 && (len(byTable) > 1 || slices.Contains(sums, false)) {
		lines = nil
		clear(sums)
	}
	offset := 0
	for _, p := range parts {
		t, to := p.model.root, offset+len(p.model.components)
		if err := terms[t].add(ctx, q.database, t.Places, t.Psi, p.model.moments, variance[offset:to], sums[offset:to]); err != nil {
			return nil, err
		}
		offset = to
	}
	for t, part := range byTable {
		for _, s := range t.Table.Secrets {
			hidden, loss := m.calibration.Noise.Aside(ofSecret(m.shifts, s.Name), sums)
			part.Hidden[s.Name] = hidden
			part.Aside[s.Name] = math.Sqrt(loss.Kappa2)
			part.Alone[s.Name] = m.calibration.Losses[s.Name].Kappa2
			loss.Kappa2 = 0
			out.losses[s.Name] = loss
		}
		j := terms[t]
		all, err := joint.Concat(j.terms...)
		if err != nil {
			return nil, err
		}
		part.Noise, part.Still, part.Lines = j.noise, j.still, lines
		if part.Terms, err = all.MarshalBinary(); err != nil {
			return nil, err
		}
		if err := part.read(); err != nil {
			return nil, err
		}
		out.parts = append(out.parts, *part)
	}
	slices.SortFunc(out.parts, func(a, b tableTerms) int { return cmp.Compare(a.Table, b.Table) })
	out.bytes, err = json.Marshal(out.parts)
	return out, err
}

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
	terms []*joint.Terms
	noise []float64
	still []bool
}

// add takes in a cut's components, of which variance is the noise. An average of s over c stands in the account as s and c with noise of
// their own: noise of variances τ_s and τ_c in them is no more in the average than (∂s)²τ_s + (∂c)²τ_c, ∂ its derivatives,
// and the average has at least that. So what the average tells, these tell as well. No secret moves them there: how far
// the average moves is counted by its noise, as it is of all components that are not counted.
func (j *joined) add(ctx context.Context, ref planner.Querier, p *model.Places, psi []model.Psi, m *model.Moments, variance []float64, counted []bool) error {
	var totals []model.Total
	for k := range m.Components {
		of := m.Totals(k)
		for i, t := range of {
			noise := variance[k]
			if len(of) > 1 {
				d, err := m.Steepest(k, i, psi)
				if err != nil {
					return err
				}
				noise /= float64(len(of)) * d * d
			}
			totals, j.noise, j.still = append(totals, t), append(j.noise, noise), append(j.still, !counted[k])
		}
	}
	terms, err := m.Terms(ctx, ref, p, totals)
	if err == nil {
		j.terms = append(j.terms, terms)
	}
	return err
}

// read makes the release of what the ledger keeps.
func (p *tableTerms) read() error {
	p.release = joint.Release{Terms: new(joint.Terms), Noise: p.Noise, Lines: p.Lines, Still: p.Still, Hidden: p.Hidden, Aside: p.Aside, Rounding: p.Rounding}
	if err := p.release.Terms.UnmarshalBinary(p.Terms); err != nil {
		return fmt.Errorf("reading what was released of %s: %w", p.Table, err)
	}
	return nil
}

// unaccounted refuses a statement that a joint account cannot follow.
func (q *question) unaccounted(c *planner.Bound) error {
	if q.policy.Privacy.Composition != policy.Jointly {
		return nil
	}
	for _, a := range c.Aggregates {
		if a.Sampled != nil || !a.Linear() && (a.Second() || len(a.Terms) != 2) {
			return sqlstate.New(sqlstate.NotAnswerable, "%s cannot be answered: all answers of dataset %s share one account, which takes counts, sums and averages", a.Label, q.policy.Dataset).
				WithHint("Ask for counts, sums and averages.")
		}
	}
	return nil
}
