//go:build fuguhooks

package corpus

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// golden compares the states of a corpus file's units, each under its key, with the golden file, or writes it. A state
// may have several lines.
func golden(t *testing.T, dir, name string, units []unit, states map[string]string) {
	t.Helper()
	if *rewrite {
		var text strings.Builder
		for _, u := range units {
			text.WriteString(u.key() + "\n\t" + states[u.name] + "\n")
		}
		if err := os.WriteFile(goldenFile(dir, name), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}

	want := goldenStates(t, dir, name)
	for _, u := range units {
		switch was, ok := want[u.key()]; {
		case !ok:
			t.Errorf("%s is not in the golden file, and is\n\t%s\n%s", u.name, states[u.name], u.text())
		case was != states[u.name]:
			t.Errorf("%s is\n\t%s\nwas\n\t%s\n%s", u.name, states[u.name], was, u.text())
		}
		delete(want, u.key())
	}

	// What is left has gone from the corpus, or has another text there.
	for _, key := range slices.Sorted(maps.Keys(want)) {
		t.Errorf("the golden file has besides\n%s\n\t%s", key, want[key])
	}
}
