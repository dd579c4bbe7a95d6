package account_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"fugu/account"
	"fugu/ledger"
	"fugu/policy"
	"fugu/privacy"
)

// What operators are shown: everybody's account, those of all groups and users whom the policy names, and those of
// whoever has been told something by the share that everybody else has. Each says what was told to whose it is.
func TestBalancesOfShares(t *testing.T) {
	const shares = `shares: {default: {epsilon: 5, delta: 0.002}, users: {alice: {epsilon: 20, delta: 0.01}},
      groups: {interns: {members: [carol, dave], epsilon: 4, delta: 0.001}}}`
	p, _ := fleetOf(t, "budget: {epsilon: 100, delta: 0.01}}", "\n  budget: {epsilon: 100, delta: 0.01, "+shares+"}}",
		"assume: [translation]", "assume: [translation]\nanalysts: [alice, bob, carol, dave, eve]")
	l := openLedger(t)
	told := func(user string, epsilon float64) {
		t.Helper()
		sum := sha256.Sum256(fmt.Append(nil, user))
		_, err := l.Charge(t.Context(), ledger.Charge{Key: ledger.Key(hex.EncodeToString(sum[:])), Dataset: p.Dataset,
			User: user, Losses: map[string]privacy.Loss{"big": {Pure: epsilon}}, Limit: account.Total(p.Privacy.Budget),
			Shares: account.Shares(p.Privacy.Budget, user), Renew: policy.Never,
			Requested: privacy.Budget{Epsilon: privacy.Epsilon(epsilon)}, Mechanism: "laplace",
			Assumption: "translation", Answer: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
	}
	told("carol", 0.5)
	told("eve", 0.25)

	balances, err := account.AllBalances(t.Context(), l, p)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range balances {
		if b.Secret == "big" {
			got = append(got, fmt.Sprintf("%s: %g of %g in %d", b.Scope, b.Spent, b.Total, b.Releases))
		} else if b.Spent != 0 || b.Left != b.Total {
			t.Errorf("nothing was told of secret %s: %+v", b.Secret, b)
		}
	}
	want := []string{": 0.75 of 100 in 2", ledger.GroupScope("interns") + ": 0.5 of 4 in 1",
		ledger.UserScope("alice") + ": 0 of 20 in 0", ledger.UserScope("carol") + ": 0.5 of 5 in 1",
		ledger.UserScope("eve") + ": 0.25 of 5 in 1"}
	if !slices.Equal(got, want) {
		t.Errorf("balances are\n%q, want\n%q", got, want)
	}
}
