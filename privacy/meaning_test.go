package privacy_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"fugu/channel"
	"fugu/privacy"
)

// worst are the two laws that every two (ε,δ)-indistinguishable ones are made of.
func worst(epsilon, delta float64) (p, q []float64) {
	more := (1 - delta) * math.Exp(epsilon) / (1 + math.Exp(epsilon))
	return []float64{delta, more, 1 - delta - more, 0}, []float64{0, 1 - delta - more, more, delta}
}

// Meaning's numbers are those of the worst two laws, which are (ε,δ)-indistinguishable and no less.
func TestMeaningIsReached(t *testing.T) {
	for _, b := range []privacy.Budget{{Epsilon: 1, Delta: .001}, {Epsilon: .1, Delta: 0}, {Epsilon: 3, Delta: .2}} {
		p, q := worst(float64(b.Epsilon), float64(b.Delta))
		if d := channel.Beyond(float64(b.Epsilon)).Of(p, q); math.Abs(d-float64(b.Delta)) > 1e-12 {
			t.Fatalf("the worst laws are not (ε,δ): %v of %v", d, b)
		}
		m := b.Meaning()
		for _, c := range []struct {
			of   channel.Divergence
			says float64
		}{
			{channel.TotalVariation, m.TotalVariation}, {channel.Hellinger, m.Hellinger}, {channel.KL, m.KL},
			{channel.ReverseKL, m.KL}, {channel.ChiSquared, m.ChiSquared},
		} {
			if got := c.of.Of(p, q); got != c.says && !(math.Abs(got-c.says) < 1e-12) {
				t.Errorf("%v: %s is %v, and Meaning says %v", b, c.of.Name, got, c.says)
			}
		}
	}

	// docs/choosing.md: 73% and 2.7 at ε = 1.
	if m := (privacy.Budget{Epsilon: 1}).Meaning(); math.Abs(m.Right-math.E/(1+math.E)) > 1e-12 || m.Odds != math.E {
		t.Errorf("at ε = 1 %+v", m)
	}
}

// No two laws that are (ε,δ)-indistinguishable are further apart than Meaning says: laws over four values, at the δ
// that they need at an ε.
func TestMeaningHolds(t *testing.T) {
	tight := 0
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []float64 {
			v, sum := rapid.SliceOfN(rapid.Float64Range(.001, 1), 4, 4).Draw(t, name), 0.
			for _, x := range v {
				sum += x
			}
			for x := range v {
				v[x] /= sum
			}
			return v
		}
		p, q := draw("p"), draw("q")
		epsilon := rapid.Float64Range(.01, 3).Draw(t, "ε")
		beyond := channel.Beyond(epsilon)
		m := privacy.Budget{Epsilon: privacy.Epsilon(epsilon), Delta: privacy.Delta(max(beyond.Of(p, q),
			beyond.Of(q, p)))}.Meaning()
		tv := channel.TotalVariation.Of(p, q)
		if tv > m.TotalVariation+1e-9 || channel.Hellinger.Of(p, q) > m.Hellinger+1e-9 ||
			channel.KL.Of(p, q) > m.KL+1e-9 ||
			channel.ChiSquared.Of(p, q) > m.ChiSquared+1e-9 {
			t.Fatalf("%v and %v are further apart than %+v", p, q, m)
		}
		if tv > .8*m.TotalVariation {
			tight++
		}
	})
	if tight == 0 {
		t.Error("no two laws were nearly as far apart as they may be: the check sees nothing")
	}
}

// Values k steps apart: of chains of randomised responses, of which each step multiplies one output's odds by e^ε, k
// steps multiply them by e^(kε), and of chains with a δ no set is beyond what Steps says.
func TestSteps(t *testing.T) {
	b := privacy.Budget{Epsilon: .5, Delta: .01}
	if e, d := b.Steps(1); e != .5 || math.Abs(d-.01) > 1e-15 {
		t.Errorf("one step is (%v, %v)", e, d)
	}
	if e, d := b.Steps(3); e != 1.5 || math.Abs(d-.01*(1+math.Exp(.5)+math.E)) > 1e-12 {
		t.Errorf("three steps are (%v, %v)", e, d)
	}
	if _, d := b.Steps(20); d != 1 {
		t.Errorf("of twenty steps something is promised: δ = %v", d)
	}

	// The chance of an output along a chain of values at which each is as much more probable as a step allows: the most
	// that the steps can come to, and it stays below what is said.
	chance, first := .002, .002
	for k := 1; k <= 6; k++ {
		chance = math.Exp(.5)*chance + .01
		e, d := b.Steps(k)
		if got := chance - math.Exp(e)*first; math.Abs(got-d) > 1e-12 {
			t.Errorf("%d steps leave %v beyond e^ε, and Steps says %v", k, got, d)
		}
	}

	if got, want := b.RightBeyond(1), b.Meaning().Right; math.Abs(got-want) > 1e-12 {
		t.Errorf("one step: %v, want %v", got, want)
	}
	last := 0.
	for k := range 12 {
		right := b.RightBeyond(k)
		if right < last || right > 1 {
			t.Errorf("%d steps: right in %v of all cases, and %v of one step less", k, right, last)
		}
		last = right
	}
	if last < .99 {
		t.Errorf("eleven steps of ε = .5 are told apart in %v of all cases only", last)
	}
}
