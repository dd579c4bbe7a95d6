package shop

import "testing"

// What the page says of noise beside a twin is so: where the secret makes a group twice as frequent the twin is better
// from the first statement on, at 1.2 times as frequent from the third.
func TestTwinBesideNoise(t *testing.T) {
	for _, x := range []struct{ lift, from float64 }{{2, 1}, {1.2, 3}} {
		twin, err := ByTwin(Usual, 1, x.lift)
		if err != nil {
			t.Fatal(err)
		}
		if noise := ByNoise(Usual.Within, 1, x.from, x.lift); twin >= noise {
			t.Errorf("lift %g: the twin is off by %g, noise of %g statements by %g", x.lift, twin, x.from, noise)
		}
		if noise := ByNoise(Usual.Within, 1, x.from-1, x.lift); twin <= noise {
			t.Errorf("lift %g: the twin is off by %g, noise of one statement less by %g", x.lift, twin, noise)
		}
	}
}
