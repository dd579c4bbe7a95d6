package estimate

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"fugu/test/nightly"
)

// Whatever was released, by whatever noise, has finite estimates with their means inside their intervals: units apart
// by fifteen orders of magnitude, values far from what is believed, secrets outside of their range, statistics that do
// not vary, answers that repeat each other. One in 1,500 is refused, and so are those that the model excludes: the
// secret is outside of its range, and the noise tells so.
func TestSolvesEverything(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 16))
	size := func() float64 { return math.Pow(10, 15*r.Float64()-6) }
	refused := 0
	trials := nightly.Or(1500, 500)
	for trial := range trials {
		n := 1 + r.IntN(6)
		c := curve{from: r.Float64() / 2, to: .6 + r.Float64()/3}
		p := Problem{Size: n, Prior: &Prior{}}
		var unit []float64
		for k := range n {
			u := size()
			unit = append(unit, u)
			c.start, c.slope = append(c.start, u*r.NormFloat64()), append(c.slope, u*r.NormFloat64())
			c.bend, c.deviation = append(c.bend, u*r.NormFloat64()), append(c.deviation, u*.1*float64(r.IntN(2)))
			c.together = append(c.together, u*.1*float64(r.IntN(2)))
			p.Prior.Of = append(p.Prior.Of, k)
		}
		secret := c.from - .05 + (c.to-c.from+.1)*r.Float64() // also where it is said not to be
		x := c.draw(r, secret)
		for range 1 + r.IntN(3) {
			p.Answers = append(p.Answers, release(r, x, anyNoise(r, unit, c)))
		}
		p.Prior.Mean, p.Prior.Secrets = c.Mean(.3), []Secret{c}
		if r.IntN(4) == 0 {
			p.Prior = nil
		}

		got, err := p.Solve()
		if err != nil {
			t.Logf("trial %d, secret %.3f in %.3f..%.3f: %v", trial, secret, c.from, c.to, err)
			if !errors.Is(err, errContradicted) || c.from <= secret && secret <= c.to {
				refused++
			}
			continue
		}
		for k, e := range got {
			low, high := e.Interval(.999)
			if m := e.Mean(); !finite(m, e.SD(), low, high) || !(low <= m && m <= high) || e.SD() < 0 {
				t.Errorf("trial %d, statistic %d: %v ± %v in %v..%v", trial, k, m, e.SD(), low, high)
			}
		}
	}
	if refused > 1 {
		t.Errorf("%d of %d are refused", refused, trials)
	}
}

// anyNoise is normal or Laplace noise of each statistic, up to a thousandth of its unit, and some along the curve.
func anyNoise(r *rand.Rand, unit []float64, c curve) (noise Noise) {
	for k := range unit {
		own := Own{Normal: unit[k] * math.Pow(10, -3*r.Float64())}
		if r.IntN(2) == 0 {
			own = Own{Laplace: own.Normal}
		}
		noise.Own = append(noise.Own, own)
	}
	for range r.IntN(3) {
		line := Line{Laplace: .05, Along: c.slope}
		if r.IntN(3) == 0 {
			line = Line{Normal: .1, Along: c.start}
		}
		noise.Shared = append(noise.Shared, line)
	}
	return noise
}
