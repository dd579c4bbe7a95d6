package aggregate

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkSlope(b *testing.B) {
	for _, name := range []string{"avg", "stddev", "corr", "regr_intercept"} {
		f, _ := Lookup(name)
		r := rand.New(rand.NewPCG(3, 5))
		_, from := sumsOf(f, sample(r, 400, 40))
		_, to := sumsOf(f, sample(r, 300, 45))
		b.Run(name+" weights", func(b *testing.B) {
			for range b.N {
				f.Weights(from, to)
			}
		})
		b.Run(name, func(b *testing.B) {
			for range b.N {
				f.Slope(from, to)
			}
		})
	}
}
