//go:build !byday

package main

import (
	"bytes"
	"os"
	"testing"
)

// The pictures of the page are what the laws are today.
func TestPictures(t *testing.T) {
	for name, draw := range pictures {
		want, err := draw()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := os.ReadFile("../../docs/plots/" + name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/plots/%s is not what is drawn (%v); run go run ./test/choosing", name, err)
		}
	}
}
