package auth

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// KeptSecret reads the secret for NewSCRAM that a file holds, and makes the file where there is none: 64 hexadecimal
// digits, for its owner alone to read.
func KeptSecret(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeSecret(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("keeping a secret: %w", err)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the secret: %w", err)
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(secret) < 16 {
		return nil, fmt.Errorf("reading the secret: %s does not hold 32 hexadecimal digits or more; remove it to "+
			"have one made", path)
	}
	return secret, nil
}

// makeSecret makes the file in one step, so that nobody reads a part of it.
func makeSecret(path string) error {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it does not fail
	f, err := os.CreateTemp(filepath.Dir(path), ".secret-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = fmt.Fprintf(f, "%x\n", secret)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}
