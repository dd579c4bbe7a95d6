package main

import (
	"strings"
	"testing"

	"fugu/policy"
	"fugu/privacy"
)

// What a policy can never answer is said when it is checked, and nothing of a policy that can.
func TestUnanswerable(t *testing.T) {
	for _, c := range []struct {
		assume          []policy.Assumption
		answers         policy.Answers
		mechanism       string
		delta           float64
		refused, bounds string
	}{
		{nil, "", "auto", .001, "", ""},
		{nil, "", "auto", 0, "nothing is private at delta 0", "privacy.delta above 0"},
		{nil, "", "wasserstein", .001, "the mechanism wasserstein needs an assumption", ""},
		{nil, "", "no-noise", .001, "the mechanism no-noise needs an assumption", ""},
		{[]policy.Assumption{policy.Translation}, "", "wasserstein", .001, "", ""},
		{[]policy.Assumption{policy.Translation}, "", "auto", 0, "", "privacy.delta above 0"},
		{nil, policy.FromTwin, "auto", 0, "", ""},
	} {
		p := &policy.Policy{Assume: c.assume, Tables: []policy.Table{{Answers: c.answers}}}
		p.Privacy.Mechanism, p.Privacy.Delta = c.mechanism, privacy.Delta(c.delta)
		for want, got := range map[string]string{"refused: " + c.refused: "refused: " + unanswerable(p),
			"bounds: " + c.bounds: "bounds: " + withoutBounds(p)} {
			kind, what, _ := strings.Cut(want, ": ")
			if text := strings.TrimPrefix(got, kind+": "); !strings.Contains(text, what) ||
				(what == "") != (text == "") {
				t.Errorf("%s with %v, delta %g: %q, want %q", c.mechanism, c.assume, c.delta, got, want)
			}
		}
	}
}
