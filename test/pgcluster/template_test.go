package pgcluster

import (
	"os"
	"path/filepath"
	"testing"
)

// testCache is an empty cache in a directory of its own, and a small tree to put there.
func testCache(t *testing.T) (c *cache, tree string) {
	t.Helper()
	as, err := unprivileged()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := as.tempDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	c, err = openCache(as, "inputs")
	if err != nil {
		t.Fatal(err)
	}
	tree = filepath.Join(dir, "tree")
	if _, err := run(t.Context(), as, "sh", "-c", `mkdir -p "$0/a/b" && echo 1 >"$0/a/one" && echo 2 >"$0/a/b/two"`,
		tree); err != nil {
		t.Fatal(err)
	}
	return c, tree
}

func TestCacheRoundTrip(t *testing.T) {
	c, tree := testCache(t)
	if err := c.copyTo(t.Context(), tree+"-early"); err == nil {
		t.Error("copied from an empty cache")
	}
	for range 2 { // the second takes the place of the first
		if err := c.store(t.Context(), tree); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.copyTo(t.Context(), tree+"-copy"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(tree+"-copy", "a/b/two")); string(b) != "2\n" {
		t.Errorf("got %q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(c.root, "new-*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestDamagedCacheIsNoticed(t *testing.T) {
	damage := map[string]func(data string) error{
		"file gone":      func(data string) error { return os.Remove(filepath.Join(data, "a/one")) },
		"directory gone": func(data string) error { return os.RemoveAll(filepath.Join(data, "a/b")) },
		"file cut":       func(data string) error { return os.Truncate(filepath.Join(data, "a/one"), 1) },
		"file added":     func(data string) error { return os.WriteFile(filepath.Join(data, "three"), nil, 0o644) },
		"no manifest":    func(data string) error { return os.Remove(filepath.Join(filepath.Dir(data), "manifest")) },
	}
	for name, f := range damage {
		t.Run(name, func(t *testing.T) {
			c, tree := testCache(t)
			if err := c.store(t.Context(), tree); err != nil {
				t.Fatal(err)
			}
			if err := f(filepath.Join(c.path(), "data")); err != nil {
				t.Fatal(err)
			}
			if err := c.copyTo(t.Context(), tree+"-copy"); err == nil {
				t.Error("used a damaged cache")
			}
		})
	}
}

func TestForeignCacheIsRefused(t *testing.T) {
	c, _ := testCache(t)
	if err := os.Chmod(c.root, 0o770); err != nil {
		t.Fatal(err)
	}
	if _, err := openCache(c.as, "inputs"); err != errUnsafe {
		t.Errorf("got %v", err)
	}
	elsewhere := t.TempDir()
	if err := os.RemoveAll(c.root); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, c.root); err != nil {
		t.Fatal(err)
	}
	if _, err := openCache(c.as, "inputs"); err != errUnsafe {
		t.Errorf("got %v", err)
	}
}
