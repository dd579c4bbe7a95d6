package main

import (
	"fmt"
	"math"

	"fugu/internal/finding"
	"fugu/policy"
	"fugu/privacy"
)

// meaning says what a budget is worth in the measures that people ask for: how often a guess is right, how far laws are
// apart, and what is left of it for values of a secret that are further apart than within.
func (f *findings) meaning(p *policy.Policy, b privacy.Budget) {
	if b.Epsilon <= 0 {
		return
	}

	m := b.Meaning()
	what := fmt.Sprintf("of two values of a secret that nobody may tell apart, equally probable beforehand, whoever "+
		"has all answers names the right one in at most %s of all cases; odds change by a factor of %.3g at most, but "+
		"for delta", percent(m.Right), m.Odds)
	if m.Right > .999 {
		what = fmt.Sprintf("epsilon %v for all answers together promises next to nothing of two values of a secret: "+
			"whoever has all of them may name the right one nearly always; what there is instead is that single "+
			"answers tell little", float64(b.Epsilon))
	}

	why := fmt.Sprintf("what is seen under one value is within %.3g of what is seen under the other in total "+
		"variation, and %.3g in squared Hellinger distance", m.TotalVariation, m.Hellinger)
	if b.Delta == 0 {
		why += fmt.Sprintf("; %.3g nats in KL divergence, %.3g in chi-squared", m.KL, m.ChiSquared)
	} else {
		why += "; KL divergence and chi-squared are not bounded where delta is above 0"
	}
	at := f.under(p, "privacy", "budget")
	f.add(finding.Note, at, what, why, "nothing, if that will do; a smaller privacy.budget.epsilon promises more")

	// Values further apart than within are told apart more easily: each step of within costs the budget once more.
	for _, s := range p.Secrets {
		if len(s.Spans) != 1 || s.Listed {
			continue
		}
		span := s.Spans[0]
		steps := int(math.Ceil((span.To-span.From)/span.Within - 1e-9))
		if steps < 2 {
			continue
		}
		epsilon, delta := b.Steps(steps)
		promise := "nothing is promised of these"
		if right := b.RightBeyond(steps); right < .999 {
			promise = fmt.Sprintf("of these the right one is named in at most %s of all cases (epsilon %.3g, delta "+
				"%.3g)",
				percent(right), epsilon, delta)
		}
		f.add(finding.Note, f.in(p, s.At), fmt.Sprintf("secret %s: its values from %g to %g are up to %d steps of "+
			"within %g apart: %s", s.Name, span.From, span.To, steps, span.Within, promise),
			"within is how close two values are that nobody may tell apart; farther ones each step costs once more",
			"nothing, if only close values are to be hidden; else a larger within, or a smaller budget")
	}
}

// percent is a chance for people, rounded up: what is said not to be exceeded is not.
func percent(p float64) string { return fmt.Sprintf("%g%%", math.Ceil(p*1000-1e-9)/10) }
