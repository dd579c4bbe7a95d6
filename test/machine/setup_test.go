package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// programs has only those that setup.sh calls, and a Go that answers with a script.
func programs(t *testing.T, golang string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"bash", "awk", "sort", "head", "dirname", "dpkg-query", "id"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\n"+golang+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Whoever lacks something is told what, which one, and where it is to be had.
func TestSetup(t *testing.T) {
	for _, c := range []struct {
		name, golang string
		want         []string
	}{
		{"an old Go", "echo go1.19.8", []string{"or newer is needed", "1.19.8", "https://go.dev/doc/install"}},
		{"a Go that cannot read go.mod", "echo 'errors parsing go.mod' >&2; exit 1",
			[]string{"or newer is needed", "https://go.dev/doc/install", "errors parsing go.mod"}},
		{"no compiler, and no apt to install one", "echo go1.99.0", []string{"please install: gcc libc6-dev"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := programs(t, c.golang)
			cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "bash"), "../../scripts/setup.sh")
			cmd.Env = []string{"PATH=" + dir, "HOME=" + dir}
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("it succeeds: %s", out)
			}
			for _, word := range c.want {
				if !strings.Contains(string(out), word) {
					t.Errorf("it says nothing of %q: %s", word, out)
				}
			}
		})
	}
}
