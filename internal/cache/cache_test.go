package cache

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Whatever is put in, the bounds hold, and what was used last is there.
func TestCache(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	c := New[int, string](50, 10_000)
	for i := range 20_000 {
		key, bytes := r.IntN(200), r.IntN(1500)
		c.Add(key, fmt.Sprint(key, i), bytes)
		if v, ok := c.Get(key); ok != (bytes <= 10_000/8) || ok && v != fmt.Sprint(key, i) {
			t.Fatalf("%d bytes under key %d: %q, %v", bytes, key, v, ok)
		}
		total := 0
		for _, bytes := range c.Weights() {
			total += bytes
		}
		if n, b := c.Size(); b != total || n > 50 || b > 10_000 {
			t.Fatalf("%d entries of %d bytes, said to be %d", n, total, b)
		}
	}
	if n, b := c.Size(); n < 10 || b < 8_000 {
		t.Errorf("only %d entries of %d bytes are left", n, b)
	}
}
