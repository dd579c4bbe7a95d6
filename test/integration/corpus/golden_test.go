//go:build fuguhooks

package corpus

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// golden compares the lines of a corpus file with its golden file, or writes it.
func golden(t *testing.T, dir, name string, lines []string) {
	t.Helper()
	path := filepath.Join("testdata", dir, name+".golden")
	text := strings.Join(lines, "\n") + "\n"
	if *rewrite {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Split(string(want), "\n")
	for i, line := range strings.Split(text, "\n") {
		if i >= len(old) || old[i] != line {
			was := "nothing"
			if i < len(old) {
				was = old[i]
			}
			t.Errorf("%s line %d is\n\t%s\nwas\n\t%s", path, i+1, line, was)
		}
	}
	if n := strings.Count(text, "\n") + 1; len(old) > n {
		t.Errorf("%s has %d lines more", path, len(old)-n)
	}
}
