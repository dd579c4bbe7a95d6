// Package policies has tests read a policy from text, as Fugu reads it from a file.
package policies

import (
	"os"
	"path/filepath"
	"testing"

	"fugu/policy"
)

// Load returns the policy that a text is, or ends the test.
func Load(t testing.TB, text string) *policy.Policy {
	t.Helper()
	path := filepath.Join(t.TempDir(), "the.policy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return policies[0]
}
