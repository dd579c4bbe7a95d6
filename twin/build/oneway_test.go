package build_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"fugu/ledger"
	"fugu/policy"
	"fugu/privacy"
	"fugu/test/patient"
	"fugu/twin/build"
)

// A table has a twin or answers with noise, whatever the order in which somebody tries both.
func TestTwinOrNoise(t *testing.T) {
	patient.Test(t)
	w := newWorld(t, "oneway", shop, shopPolicy)
	if drawn, err := build.Drawn(t.Context(), w.ledger, w.policy.Tables[0].Qualified()); err != nil || drawn {
		t.Fatalf("drawn before any build: %v, %v", drawn, err)
	}

	sum := sha256.Sum256([]byte("an answer with noise"))
	_, err := w.ledger.Charge(t.Context(), ledger.Charge{Key: ledger.Key(hex.EncodeToString(sum[:])),
		Dataset: w.policy.Dataset, User: "alice",
		Losses: map[string]privacy.Loss{"rich": {Pure: .1}}, Limit: privacy.Budget{Epsilon: 2, Delta: .01},
		Requested: privacy.Budget{Epsilon: .1},
		Mechanism: "directional", Assumption: string(policy.Translation), Answer: []byte("1")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.keeper.Build(t.Context(), w.policy, w.policy.Tables[0], build.Options{}); err == nil ||
		!strings.Contains(err.Error(), "answers with noise were given") {
		t.Fatalf("a twin after noise: %v", err)
	}

	other := newWorld(t, "otherway", shop, shopPolicy)
	other.build(build.Options{})
	if drawn, err := build.Drawn(t.Context(), other.ledger, other.policy.Tables[0].Qualified()); err != nil || !drawn {
		t.Errorf("drawn after a build: %v, %v", drawn, err)
	}
}
