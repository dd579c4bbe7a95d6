package policy

import (
	"slices"
	"testing"

	"fugu/mechanism"
)

// A policy may name each mechanism that there is, and no other.
func TestMechanismWords(t *testing.T) {
	var names []string
	for _, k := range mechanism.Kinds() {
		names = append(names, string(k))
	}
	if !slices.Equal(words["privacy.mechanism"], names) {
		t.Errorf("words %v, mechanisms %v", words["privacy.mechanism"], names)
	}
	for _, name := range needDelta {
		if !slices.Contains(names, name) {
			t.Errorf("no mechanism %s", name)
		}
	}
}
