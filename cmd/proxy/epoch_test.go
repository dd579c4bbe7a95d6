package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/patient"
)

// An operator says that the data are others while a proxy serves, which soon answers anew; who and why are in the
// audit.
func TestEpochAdvance(t *testing.T) {
	patient.Test(t)
	path := setting(t)
	advance := []string{"epoch", "advance", "-c", path, "adult", "--reason", "the table of 2027", "-user", "root"}
	expect(t, exitFailure, "there is none yet", advance...)
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	conn := c.connect(t)
	ask := func() {
		t.Helper()
		if _, err := conn.Exec(t.Context(), "SELECT count(*) FROM adult WHERE income = '>50K'"); err != nil {
			t.Fatal(err)
		}
	}
	releases := func() (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM fugu.releases").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	ask()
	if code, stdout, stderr := invoke(t, advance...); code != exitOK || !strings.Contains(stdout, "epoch 1") ||
		!strings.Contains(stdout, "carries on") {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
	for releases() == 1 { // until the proxy has noticed
		ask()
	}
	if _, stdout, _ := invoke(t, "budget", "-c", path); !strings.Contains(strings.Join(strings.Fields(stdout), " "),
		"adult 1 0 everyone high_income") {
		t.Errorf("budget:\n%s", stdout)
	}
	if _, stdout, _ := invoke(t, "audit", "export", "-c", path); !strings.Contains(stdout,
		`"event":"epoch","dataset":"adult","epoch":1,"user":"root","reason":"the table of 2027"`) {
		t.Errorf("audit:\n%s", stdout)
	}
	for _, args := range [][]string{{"epoch"}, {"epoch", "advance", "-c", path, "-reason", "x"},
		{"epoch", "advance", "-c", path, "adult"},
		{"epoch", "advance", "-c", path, "adult", "census", "-reason", "x"}, {"epoch", "back", "-c", path, "adult",
			"-reason", "x"}, {"epoch", "advance", "-c", path, "adult", "-reason", " "}} {
		if code, _, _ := invoke(t, args...); code != exitUsage {
			t.Errorf("%q: %d", args, code)
		}
	}
	expect(t, exitFailure, "nosuch", "epoch", "advance", "-c", path, "nosuch", "-reason", "x")

	// With a label in the policy, the label advances.
	file := filepath.Join(filepath.Dir(path), "adult.policy.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, "\nepoch: {label: 2027-Q1, draw: independent}\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, exitFailure, "2027-Q1", advance...)
}

// A check says who shares in the budget, and what renewal gives up.
func TestCheckSaysWhatRenewalGivesUp(t *testing.T) {
	patient.Test(t)
	path := setting(t, "per: dataset}", "renew: P30D, shares: {default: {epsilon: 5, delta: 0.002}, users: {alice: "+
		"{epsilon: 20, delta: 0.01}}, groups: {both: {members: [alice, bob], epsilon: 12, delta: 0.01}}}}")
	code, stdout, stderr := invoke(t, "check", "-c", path)
	if code != exitOK {
		t.Fatal(stderr)
	}
	for _, line := range []string{
		"warning: dataset adult: budget.renew gives every period of 30 days a budget of its own, but the secret does " +
			"not renew with it",
		"after a year, of 13 periods, epsilon 260 at delta 0.13",
		"the budget of everybody together is epsilon 20, delta 0.01",
		`share of user "alice" below it: epsilon 20, delta 0.01`,
		`share of group "both" (alice, bob) below it: epsilon 12, delta 0.01`, "share of each other user below " +
			"it: epsilon 5, delta 0.002",
	} {
		if !strings.Contains(stdout, line) {
			t.Errorf("%q is missing:\n%s", line, stdout)
		}
	}
	if _, stdout, _ := invoke(t, "check", "-c", setting(t)); strings.Contains(stdout, "renew") ||
		strings.Contains(stdout, "share") {
		t.Errorf("of a policy without either:\n%s", stdout)
	}
}
