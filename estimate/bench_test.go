package estimate

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// As large problems as are taken on: groups with independent Laplace noise, each a factor of its own, and with a line.
func BenchmarkSolve(b *testing.B) {
	for _, kind := range []string{"shared", "independent"} {
		for _, n := range []int{16, 100, MaxSize} {
			r := rand.New(rand.NewPCG(1, 2))
			c := curve{from: .1, to: .6}
			noise := Noise{Shared: []Line{{Laplace: .05}}}
			p := Problem{Size: n, Prior: &Prior{}}
			for k := range n {
				c.start, c.slope = append(c.start, 100*r.Float64()), append(c.slope, 400*r.NormFloat64())
				c.bend, c.deviation = append(c.bend, 30*r.NormFloat64()), append(c.deviation, 8)
				c.together = append(c.together, 3*r.NormFloat64())
				noise.Own, noise.Shared[0].Along = append(noise.Own, Own{Normal: 6}),
					append(noise.Shared[0].Along, c.slope[k])
				p.Prior.Of = append(p.Prior.Of, k)
			}
			if kind == "independent" {
				noise.Shared = nil
				for k := range n {
					noise.Own[k] = Own{Laplace: 20}
				}
			}
			p.Prior.Mean, p.Prior.Secrets = c.Mean(.3), []Secret{c}
			p.Answers = []Answer{release(r, c.draw(r, .3), noise)}
			b.Run(fmt.Sprintf("%s %d", kind, n), func(b *testing.B) {
				for range b.N {
					if _, err := p.Solve(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
