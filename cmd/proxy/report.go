package main

import (
	"cmp"
	"fmt"
	"slices"

	"fugu/dataset"
	"fugu/mechanism"
	"fugu/policy"
)

// noisy reports whether a table is answered with noise.
func noisy(t policy.Table) bool { return t.Answers != policy.FromTwin }

// unanswerable says of which tables no statement can be answered, and why, where that shows in the policy alone.
func unanswerable(s *dataset.Snapshot, p *policy.Policy) (out []string) {
	for _, t := range p.Tables {
		if !noisy(t) || t.Link != nil { // what is linked has the secrets of the other
			continue
		}
		if why := refusesAll(p, t, only(s, t) != nil); why != "" {
			out = append(out, fmt.Sprintf("every statement on %s is refused: %s", t.Qualified(), why))
		}
	}
	return out
}

// only is the model of the one statement that a table answers; nil: it answers others too.
func only(s *dataset.Snapshot, t policy.Table) *dataset.Declared {
	if found := s.Find(t.Schema, t.Name); found != nil {
		return found.Alone
	}
	return nil
}

// refusesAll says why every statement on a table is refused: parameters of networks have a mechanism of their own, and
// without an assumption on distributions there is noise for coupled datasets only, which some mechanisms have not, nor
// secret means, and none at delta 0. What is declared by samples needs no more than they say.
func refusesAll(p *policy.Policy, t policy.Table, sampled bool) string {
	k := mechanism.Kind(p.Privacy.Mechanism)
	parameter, mean := "", ""
	for _, s := range p.Secrets {
		if s.Table == t.Qualified() {
			parameter = cmp.Or(parameter, s.Parameter)
			if s.Mean != "" {
				mean = cmp.Or(mean, s.Name)
			}
		}
	}

	// The first reason that applies is enough, since each alone refuses everything.
	switch {
	case parameter != "" && k != mechanism.Auto && k != mechanism.MarkovQuilt:
		return fmt.Sprintf("the mechanism %s cannot hide a parameter of a network; write mechanism: %s", k,
			mechanism.Auto)
	case parameter == "" && k == mechanism.MarkovQuilt:
		return fmt.Sprintf("the mechanism %s hides parameters of a network, and this table has none; "+
			"write mechanism: %s", k, mechanism.Auto)
	case parameter != "" || p.Accepts(policy.Translation):
		return ""
	case sampled && (k == mechanism.Wasserstein || k == mechanism.ApproximateWasserstein):
		return ""
	case p.Privacy.Delta == 0 && !sampled:
		return "without an assumption on how statistics are distributed nothing is private at delta 0; " +
			"write a privacy.delta above 0, or assume: [translation]"
	case mean != "" && !sampled:
		return fmt.Sprintf("secret %s is a mean, which is hidden under an assumption on how statistics are "+
			"distributed alone; write assume: [translation]", mean)
	case !slices.Contains([]mechanism.Kind{mechanism.Auto, mechanism.ExpmLaplace, mechanism.ExpmGaussian,
		mechanism.Directional}, k):
		return fmt.Sprintf("the mechanism %s needs an assumption on how statistics are distributed; "+
			"write mechanism: %s, or assume: [translation]", k, mechanism.Auto)
	}
	return ""
}

// withoutBounds says why no percentile and no DISTINCT can be answered, where that shows in the policy alone: they rest
// on bounds for coupled datasets, whatever is assumed of the rest.
func withoutBounds(p *policy.Policy) (out []string) {
	if p.Privacy.Delta == 0 && slices.ContainsFunc(p.Tables, noisy) {
		return []string{"they can be bounded but for a probability only; write a privacy.delta above 0"}
	}
	for _, t := range p.Tables {
		if noisy(t) && t.Drawn == policy.FromReference {
			out = append(out, fmt.Sprintf("%s has drawn: from-reference, and nothing bounds how they differ then",
				t.Qualified()))
		}
	}
	for _, s := range p.Secrets {
		if s.Mean != "" {
			out = append(out, fmt.Sprintf("secret %s of %s is a mean, and nothing bounds how they differ between "+
				"datasets of different means", s.Name, s.Table))
		}
	}
	return out
}
