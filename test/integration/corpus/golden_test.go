//go:build fuguhooks

package corpus

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// golden compares the states of a corpus file's units, by name, with its golden file, or writes that. A unit is found
// there by its text, so that one more changes nothing for the others.
func golden(t *testing.T, dir, name string, units []unit, states map[string]string) {
	t.Helper()
	if *rewrite {
		var text strings.Builder
		written := map[string]bool{}
		for _, u := range units {
			if !written[u.key()] {
				text.WriteString(u.key() + "\n\t" + states[u.name] + "\n")
			}
			written[u.key()] = true
		}
		if err := os.WriteFile(goldenFile(dir, name), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}

	want, found := goldenStates(t, dir, name), map[string]bool{}
	for _, u := range units {
		if was, ok := want[u.key()]; !ok {
			t.Errorf("%s is not in %s:\n%s\n\t%s", u.name, goldenFile(dir, name), u.key(), states[u.name])
		} else if was != states[u.name] {
			t.Errorf("%s:\n%s\nis\n\t%s\nwas\n\t%s", u.name, u.key(), states[u.name], was)
		}
		found[u.key()] = true
	}
	for key := range want {
		if !found[key] {
			t.Errorf("%s has what is not in the corpus: %s", goldenFile(dir, name), key)
		}
	}
}
