package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/patient"
)

// A secret that the policy gets after answers were given, or another name of one, begins with nothing spent, whatever
// was told of it: check says so, and serve's log. Of secrets that were there from the beginning nothing is said.
func TestSecretsThatComeLate(t *testing.T) {
	patient.Test(t)
	_, path := harbouring(t)
	file := filepath.Join(filepath.Dir(path), "p.policy.yaml")
	both := strings.Replace(harbourPolicy, "assume:", "  steam: {table: public.ship, proportion: kind = 'steam', "+
		"values: {from: 0.2, to: 0.8, within: 0.05}}\nassume:", 1)
	answered := func(policy string) {
		t.Helper()
		writeFile(t, file, policy)
		ask(t, through(t, path, "harbour"), "SELECT count(*)::text FROM ship WHERE big")
	}
	const words = "charged for 0 of 1 answers"

	answered(harbourPolicy)
	if _, stdout, _ := invoke(t, "check", "-c", path); strings.Contains(stdout, "in no account") {
		t.Errorf("nothing has come late:\n%s", stdout)
	}
	writeFile(t, file, both)
	expect(t, exitOK, "secret steam of table public.ship was "+words, "check", "-c", path)
	writeFile(t, file, strings.Replace(harbourPolicy, "  big:", "  large:", 1))
	expect(t, exitOK, "secret large of table public.ship was "+words, "check", "-c", path)

	config, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, strings.Replace(string(config), "fugu.db", "other.db", 1))
	answered(both)
	if _, stdout, _ := invoke(t, "check", "-c", path); strings.Contains(stdout, "in no account") {
		t.Errorf("both were there from the beginning:\n%s", stdout)
	}
}
