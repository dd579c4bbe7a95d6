package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fugu/test/golden"
)

// TestStoredFingerprints: ledgers, stored answers and twins carry fingerprints, and a policy whose file did not change
// has to be the one that they name. Every *.good.yaml has its line in testdata/fingerprints.txt; -update adds new files
// alone.
func TestStoredFingerprints(t *testing.T) {
	const file = "testdata/fingerprints.txt"
	stored, err := os.ReadFile(file)
	if err != nil && !golden.Updating() {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(stored)) {
		fingerprint, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		known[name] = fingerprint
	}

	var all strings.Builder
	for _, path := range testdata(t, "*.good.yaml") {
		name := filepath.Base(path)
		got := load(t, path).Fingerprint
		if want, ok := known[name]; ok && got != want {
			t.Errorf("%s: fingerprint %s, stored as %s", name, got, want)
		} else if !ok && !golden.Updating() {
			t.Errorf("%s: no fingerprint is stored; -update stores %s", name, got)
		}
		fmt.Fprintf(&all, "%s  %s\n", got, name)
	}
	if golden.Updating() && !t.Failed() {
		if err := os.WriteFile(file, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
