package build

import (
	"context"
	"strings"
	"testing"

	"fugu/ledger"
	"fugu/policy"
	"fugu/privacy"
)

// A policy may answer one table with noise and have a twin of another. What was told about the one, by whatever name
// its secret has had, is no reason against the twin of the other; anything else is.
func TestNoiseAboutAnotherTable(t *testing.T) {
	visit := policy.QualifiedName{Schema: "public", Name: "visit"}
	p := &policy.Policy{Dataset: "shop", Tables: []policy.Table{
		{Schema: customers.Schema, Name: customers.Name, Answers: policy.FromTwin},
		{Schema: visit.Schema, Name: visit.Name, Answers: policy.ByAnswerNoise}},
		Secrets: []policy.Secret{{Name: "rich", Table: customers}, {Name: "long", Table: visit}}}

	for _, c := range []struct {
		name, mechanism string
		secrets         []string
		refused         bool
	}{
		{"of the other table", "directional", []string{"long"}, false},
		{"of this one", "directional", []string{"rich"}, true},
		{"of both", "directional", []string{"long", "rich"}, true},
		{"of a secret that the policy has no more", "directional", []string{"wealthy"}, true},
		{"the draw of a twin", ledger.Twin, []string{"rich"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := booksOf(t, nil)
			losses := map[string]privacy.Loss{}
			for _, s := range c.secrets {
				losses[s] = privacy.Loss{Pure: .1}
			}
			if _, err := b.ledger.Charge(t.Context(), ledger.Charge{Key: entryKey(c.name), Dataset: p.Dataset,
				User: "alice", Losses: losses, Limit: privacy.Budget{Epsilon: 2, Delta: .01},
				Requested: privacy.Budget{Epsilon: .1}, Mechanism: c.mechanism, Assumption: "none",
				Answer: []byte("1")}); err != nil {
				t.Fatal(err)
			}

			err := b.noisy(t.Context(), p, false)
			if refused := err != nil; refused != c.refused ||
				refused && !strings.Contains(err.Error(), "answers with noise were given") {
				t.Errorf("%v, refused should be %v", err, c.refused)
			}
		})
	}
}

// many is a ledger of more answers than are looked at, all about the other table.
type many struct{ ledger.Ledger }

func (many) Releases(_ context.Context, _ string, limit int) ([]ledger.Answer, error) {
	out := make([]ledger.Answer, limit)
	for i := range out {
		out[i] = ledger.Answer{Mechanism: "directional", Losses: map[string]privacy.Loss{"long": {}}}
	}
	return out, nil
}

// What is not looked at may have been about this table; where it was drawn before, that was looked at then.
func TestNoiseOutOfSight(t *testing.T) {
	visit := policy.QualifiedName{Schema: "public", Name: "visit"}
	p := &policy.Policy{Dataset: "shop", Secrets: []policy.Secret{{Name: "long", Table: visit}},
		Tables: []policy.Table{{Schema: visit.Schema, Name: visit.Name, Answers: policy.ByAnswerNoise}}}
	if err := (books{ledger: many{}}).noisy(t.Context(), p, false); err == nil {
		t.Error("a first draw behind answers that nobody looks at")
	}
	if err := (books{ledger: many{}}).noisy(t.Context(), p, true); err != nil {
		t.Error(err)
	}
}
