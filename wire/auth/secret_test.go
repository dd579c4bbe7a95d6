package auth

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestKeptSecret(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	first, err := KeptSecret(path)
	if err != nil || len(first) != 32 {
		t.Fatalf("%d bytes, %v", len(first), err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if again, err := KeptSecret(path); err != nil || !bytes.Equal(again, first) {
		t.Errorf("again: %v", err)
	}
	if other, err := KeptSecret(filepath.Join(dir, "other")); err != nil || bytes.Equal(other, first) {
		t.Errorf("another: %v", err)
	}
	for _, text := range []string{"", "abcd", "not hexadecimal, but long enough for it"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := KeptSecret(path); err == nil {
			t.Errorf("%q is a secret", text)
		}
	}
	if _, err := KeptSecret(filepath.Join(dir, "none", "secret")); err == nil {
		t.Error("made in no directory")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".secret-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
