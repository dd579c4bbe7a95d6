package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"fugu/channel"
)

// gaussianFails is the chance that a bit, coded as -1 with probability share and as 1 otherwise, leaks more than
// epsilon to what is shown of it with normal noise of standard deviation sd [Grosse et al., section VI-B]. Of y ≥ 0 the
// leakage is -ln(share·e^(-2y/sd²) + 1 - share), which grows with y, so that it is beyond epsilon above one point; and
// of y < 0 likewise, with the shares exchanged.
func gaussianFails(sd, epsilon, share float64) float64 {
	tail := func(p float64) float64 { // p is the share of the value on the other side
		if p <= -math.Expm1(-epsilon) {
			return 0
		}
		a := sd * sd / 2 * math.Log(p/(p+math.Expm1(-epsilon)))
		return p*distuv.UnitNormal.Survival((a+1)/sd) + (1-p)*distuv.UnitNormal.Survival((a-1)/sd)
	}
	return tail(share) + tail(1-share)
}

// gaussianFailsNear is the most of it for a share within half of the radius, on a grid as the paper has it.
func gaussianFailsNear(sd, epsilon, share, radius float64) (most float64) {
	const points = 2000
	low, high := math.Max(0, share-radius/2), math.Min(1, share+radius/2)
	for i := range points + 1 {
		most = math.Max(most, gaussianFails(sd, epsilon, low+(high-low)*float64(i)/points))
	}
	return most
}

// plainFails is the δ with which that noise keeps local differential privacy but for an event of this probability
// [Zhao et al., Theorem 8, as equation 70 has it: sd = √2 (f + √(f²+ε))/ε, solved for f = inverfc(δ)].
func plainFails(sd, epsilon float64) float64 {
	s := sd * epsilon / math.Sqrt2
	return math.Min(1, math.Erfc((s*s-epsilon)/(2*s)))
}

// estimateFails is the probability that the estimate of a share is off by more than half of the radius, in figures 6
// and 7.
const estimateFails = 1e-6

// epsilonAt is the least ε at which a failure that falls with it is at most delta.
func epsilonAt(delta float64, fails func(epsilon float64) float64) float64 {
	low, high := 0., 60.
	if fails(high) > delta {
		return math.Inf(1)
	}
	for range 50 {
		if mid := (low + high) / 2; fails(mid) <= delta {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// noisyBits are the settings of figures 6 and 7.
var noisyBits = []struct {
	name      string
	sd, share float64
}{{"grosse6a", 1.5, .5}, {"grosse6b", 2, .5}, {"grosse7", 1.5, .3}}

// printNoisyBits says what ε the Gaussian mechanism of a bit has at δ = 1e-5. The paper adds to an ε that already holds
// for every law of the ball what ε grows by within the ball, which is to count the ball twice: both are printed.
func printNoisyBits() error {
	const delta = 1e-5
	s := newSheet(fmt.Sprintf("A bit with normal noise (Grosse et al., VI-B): ε at δ = %g, of which %g is the "+
		"estimate's.", delta, estimateFails), "sd", "share", "m", "β", "local DP", "the paper's ε*", "ε of the ball")
	for _, b := range noisyBits {
		for _, m := range []int64{100, 1000, 10_000, 100_000, 1_000_000} {
			radius := channel.Radius(2, m, estimateFails)
			left := (delta - estimateFails) / (1 - estimateFails)
			ball := epsilonAt(left, func(e float64) float64 { return gaussianFailsNear(b.sd, e, b.share, radius) })
			plain := epsilonAt(delta, func(e float64) float64 { return plainFails(b.sd, e) })
			s.row(b.sd, b.share, m, number(radius), number(plain), number(channel.Grown(ball, radius)), number(ball))
		}
	}
	return s.w.Flush()
}

// leakage draws Grosse et al.'s figures 2, 3 and 5 to 7.
func leakage(data census, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	example, err := channel.New([][]float64{{.325, .225, .225, .225}, {.45, .1, .225, .225}, {.45, .225, .1, .225},
		{.45, .225, .225, .1}})
	if err != nil {
		return err
	}
	singular, uniform, err := singularChannel(10, 5)
	if err != nil {
		return err
	}
	first := outputRatio("grosse2a", "Example 1", example, []float64{.4, .2, .2, .2}, math.Log(9./8))
	second := outputRatio("grosse2b", "5-singular, N = 10", singular, uniform, math.Ln2)
	byDelta, err := informationByRows(data)
	if err != nil {
		return err
	}

	all := []*figure{first, second, growthAgainstFailure(), growthByRows(), byDelta}
	for _, b := range noisyBits {
		all = append(all, noisyBit(b.name, b.sd, b.share))
	}
	for _, f := range all {
		err = errors.Join(err, f.write(dir))
	}
	fmt.Printf("\nGrosse et al.'s figures 2, 3 and 5 to 7 are in %s\n", dir)
	return err
}

// singularChannel is a k-singular mechanism of n values, each of which is shown as itself or one of the k-1 after it,
// and the uniform law for which it is optimal.
func singularChannel(n, k int) (channel.Channel, []float64, error) {
	matrix, law := make([][]float64, n), make([]float64, n)
	for x := range matrix {
		matrix[x], law[x] = make([]float64, n), 1/float64(n)
		for i := range k {
			matrix[x][(x+i)%n] = 1 / float64(k)
		}
	}
	c, err := channel.New(matrix)
	return c, law, err
}

// outputRatio is figure 2: how far what is shown under one law is from what is shown under another, in max-divergence,
// by how far the laws are apart: the most of 10,000 random ones, the worst there is, and Theorem 4's bound.
func outputRatio(name, title string, c channel.Channel, law []float64, epsilon float64) *figure {
	f := &figure{name: name, title: title + ": laws at a distance", x: "β", y: "max-divergence of what is shown"}
	const draws, bins, far = 10_000, 24, 1.2
	var most [bins]float64
	rng := rand.New(rand.NewPCG(9, 0))
	shown := c.Shown(law)
	for range draws {
		other := make([]float64, len(law))
		for x := range other {
			other[x] = rng.ExpFloat64()
		}
		floats.Scale(1/floats.Sum(other), other)
		t := rng.Float64()
		for x := range other {
			other[x] = (1-t)*law[x] + t*other[x]
		}

		if i := int(floats.Distance(law, other, 1) / far * bins); i < bins {
			most[i] = math.Max(most[i], channel.MaxDivergence(shown, c.Shown(other)))
		}
	}
	for i, v := range most {
		if v > 0 {
			f.add("most of 10,000 random laws", far*(float64(i)+1)/bins, v)
		}
	}

	// Both grow beyond all bounds where a law has none of what is shown.
	const top = 2.5
	for i := 1; i <= bins; i++ {
		beta := far * float64(i) / bins
		if worst := worstRatio(c, law, beta); worst < top {
			f.add("worst law", beta, worst)
		}
	}
	for i := 1; i <= bins; i++ {
		beta := far * float64(i) / bins
		if grown := channel.Grown(epsilon, beta) - epsilon; grown < top {
			f.add("Theorem 4", beta, grown)
		}
	}
	return f
}

// worstRatio is the greatest max-divergence from what is shown under a law to what is shown under one so far from it.
func worstRatio(c channel.Channel, law []float64, radius float64) (most float64) {
	for y := range c.Outputs() {
		there := c.Leakage(y, channel.Ball{Center: law, Radius: radius})
		most = math.Max(most, there-c.Leakage(y, channel.Ball{Center: law}))
	}
	return most
}

// growthAgainstFailure is figure 3(a): the chance that ε = ln 5 for an estimate of 20 values grows beyond another one.
func growthAgainstFailure() *figure {
	f := &figure{name: "grosse3a", title: "N = 20, ε = ln 5", x: "ε'", y: "δ", logY: true,
		legend: bottom}
	for _, m := range []int64{1000, 10_000, 100_000} {
		for _, grown := range span(math.Log(5)+.002, math.Log(5)+2, 40) {
			if d := channel.Failure(math.Log(5), grown, 20, m); d > 1e-12 {
				f.add(fmt.Sprintf("m = %d", m), grown, d)
			}
		}
	}
	return f
}

// growthByRows is figure 3(b): what ε grows to at δ = 1e-5, by the rows of the estimate.
func growthByRows() *figure {
	f := &figure{name: "grosse3b", title: "N = 20, δ = 1e-5", x: "m", y: "ε'", logX: true}
	for _, epsilon := range []float64{.5, 1, math.Log(5), 2} {
		for _, m := range span(1000, 1e7, 25) {
			if grown := channel.Grown(epsilon, channel.Radius(20, int64(m), 1e-5)); grown < 6 {
				f.add(fmt.Sprintf("ε = %.2f", epsilon), m, grown)
			}
		}
	}
	return f
}

// informationByRows is figure 5: what a shown sign tells of the sex of a census record, with the Laplace noise that
// ε = ln 2 takes, by the rows of the estimate. At δ = 0 every law is possible, which is local differential privacy.
func informationByRows(data census) (*figure, error) {
	f := &figure{name: "grosse5", title: "sex, Laplace noise, ε = ln 2", x: "m", y: "mutual information (nats)",
		logX: true}
	women, all := 0., whole(data)
	for _, r := range all {
		women += r.values[3] / float64(len(all))
	}
	rarer := math.Min(women, 1-women)
	for _, delta := range []float64{1e-3, 1e-6, 1e-9, 1e-12, 0} {
		for _, m := range span(100, float64(len(all)), 20) {
			radius := 2 * rarer
			if delta > 0 {
				radius = math.Min(radius, channel.Radius(2, int64(m), delta))
			}
			scale := channel.LaplaceScale(math.Ln2, rarer, radius)
			c, err := signs(scale)
			if err != nil {
				return nil, err
			}
			f.add(fmt.Sprintf("δ = %g", delta), m, c.Information([]float64{rarer, 1 - rarer}))
		}
	}
	return f, nil
}

// noisyBit is figure 6 or 7: δ* against ε* of the Gaussian mechanism, for estimates of so many rows.
func noisyBit(name string, sd, share float64) *figure {
	f := &figure{name: name, title: fmt.Sprintf("a bit of share %g, normal noise of %g", share, sd), x: "ε*", y: "δ*",
		logY: true, legend: bottom}
	for _, m := range []int64{100, 1000, 10_000, 1_000_000} {
		radius := channel.Radius(2, m, estimateFails)
		for _, epsilon := range span(.05, 4, 40) {
			d := gaussianFailsNear(sd, epsilon, share, radius)
			if grown := channel.Grown(epsilon, radius); grown < 5 {
				f.add(fmt.Sprintf("m = %d", m), grown, d+estimateFails-d*estimateFails)
			}
		}
	}
	for _, epsilon := range span(.05, 5, 40) {
		f.add("local", epsilon, plainFails(sd, epsilon))
	}
	return f
}
