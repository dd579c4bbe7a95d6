package main

import (
	"strings"
	"testing"

	"fugu/dataset"
	"fugu/policy"
	"fugu/privacy"
	"fugu/test/patient"
)

// What a policy can never answer is said when it is checked, and nothing of a policy that can.
func TestUnanswerable(t *testing.T) {
	patient.Test(t)
	table := policy.QualifiedName{Schema: "public", Name: "adult"}
	share, mean, parameter := policy.Secret{Name: "rich", Table: table, Proportion: "rich"},
		policy.Secret{Name: "pay", Table: table, Mean: "salary"}, policy.Secret{Table: table, Parameter: "times"}
	assumed := []policy.Assumption{policy.Translation}
	for _, c := range []struct {
		assume          []policy.Assumption
		answers         policy.Answers
		mechanism       string
		delta           float64
		secret          policy.Secret
		refused, bounds string
	}{
		{nil, "", "auto", .001, share, "", ""},
		{nil, "", "auto", 0, share, "nothing is private at delta 0", "privacy.delta above 0"},
		{nil, "", "wasserstein", .001, share, "the mechanism wasserstein needs an assumption", ""},
		{nil, "", "no-noise", .001, share, "the mechanism no-noise needs an assumption", ""},
		{nil, "", "auto", .001, mean, "on public.adult is refused: secret pay is a mean", "secret pay of public.adult"},
		{nil, "", "auto", .001, parameter, "", ""},
		{nil, "", "expm-laplace", .001, parameter, "cannot hide a parameter", ""},
		{nil, "", "markov-quilt", .001, parameter, "", ""},
		{assumed, "", "markov-quilt", .001, share, "hides parameters of a network, and this table has none", ""},
		{assumed, "", "wasserstein", .001, share, "", ""},
		{assumed, "", "auto", .001, mean, "", "secret pay of public.adult is a mean"},
		{assumed, "", "auto", 0, share, "", "privacy.delta above 0"},
		{nil, policy.FromTwin, "auto", 0, share, "", ""},
	} {
		adult := policy.Table{Schema: table.Schema, Name: table.Name, Answers: c.answers}
		p := &policy.Policy{Assume: c.assume, Tables: []policy.Table{adult}, Secrets: []policy.Secret{c.secret}}
		p.Privacy.Mechanism, p.Privacy.Delta = c.mechanism, privacy.Delta(c.delta)
		for want, got := range map[string][]string{"refused: " + c.refused: unanswerable(&dataset.Snapshot{}, p),
			"bounds: " + c.bounds: withoutBounds(p)} {
			_, what, _ := strings.Cut(want, ": ")
			if text := strings.Join(got, "\n"); !strings.Contains(text, what) || (what == "") != (text == "") {
				t.Errorf("%s with %v, delta %g, %+v: %q, want %q", c.mechanism, c.assume, c.delta, c.secret, text, want)
			}
		}
	}
}
