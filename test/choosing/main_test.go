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

// What the page says of noise beside a twin is so: where the secret makes a group twice as frequent the twin is better
// from the first statement on, at 1.2 times as frequent from the third.
func TestTwinBesideNoise(t *testing.T) {
	for _, x := range []struct{ lift, from float64 }{{2, 1}, {1.2, 3}} {
		twin, err := byTwin(usual, 1, x.lift)
		if err != nil {
			t.Fatal(err)
		}
		if noise := byNoise(usual.Within, 1, x.from, x.lift); twin >= noise {
			t.Errorf("lift %g: the twin is off by %g, noise of %g statements by %g", x.lift, twin, x.from, noise)
		}
		if noise := byNoise(usual.Within, 1, x.from-1, x.lift); twin <= noise {
			t.Errorf("lift %g: the twin is off by %g, noise of one statement less by %g", x.lift, twin, noise)
		}
	}
}
