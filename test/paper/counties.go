package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Seeman, Reimherr & Slavkovic's case study, section 4: monthly COVID-19 cases and deaths by county, of which the total
// of cases and the month before are public. Their data, of Pennsylvania's counties, are not Fugu's: these are generated
// ones of the same shape, 67 counties of log-normal sizes from 4,000 to 1.2 million people, so that only the shapes of
// figures 1 to 3 can be compared, and no number.
type counties struct {
	people                        []int
	cases, deaths, before, buried []int // by county: this month's, and last month's
}

func generateCounties(rng *rand.Rand) counties {
	const n = 67
	var c counties
	rate := .008 // cases of a month by head
	for i := range n {
		// Geometric from 1,200,000 to 4,000, as quantiles of a log-normal law nearly are.
		people := int(1.2e6 * math.Pow(4000/1.2e6, float64(i)/(n-1)))
		own := rate * math.Exp(.3*rng.NormFloat64())
		before, now := binomial(rng, people, own), binomial(rng, people, own*math.Exp(.1*rng.NormFloat64()))
		c.people = append(c.people, people)
		c.before, c.cases = append(c.before, before), append(c.cases, now)
		c.buried, c.deaths = append(c.buried, binomial(rng, before, .015)), append(c.deaths, binomial(rng, now, .015))
	}
	return c
}

// binomial draws by the normal law where there are many, and row by row where there are few.
func binomial(rng *rand.Rand, n int, p float64) (k int) {
	if mean := float64(n) * p; mean > 100 {
		return int(math.Round(mean + math.Sqrt(mean*(1-p))*rng.NormFloat64()))
	}
	for range n {
		if rng.Float64() < p {
			k++
		}
	}
	return k
}

// Δz is 2 throughout, as in the paper, which does not say of which laws.
const countyShift = 2.

// synthetic are one draw of cases and deaths by county.
type synthetic struct{ cases, deaths []int }

// contraction says what projecting made of a county: cases 0, deaths 0, or as many deaths as cases, where the noisy
// counts were beyond that. Counts that mean different things are then one.
type contraction struct{ cases, deaths, rate bool }

// processed is the paper's first way: discrete Laplace noise of scale Δ/ε on each count, then the nearest counts with
// the public total, no fewer cases than deaths, and none below 0.
func (c counties) processed(rng *rand.Rand, epsilon float64) (out synthetic, contracted []contraction) {
	var cases, deaths []float64
	total := 0
	for i := range c.cases {
		cases = append(cases, float64(c.cases[i]+discreteLaplace(rng, countyShift/epsilon)))
		deaths = append(deaths, float64(c.deaths[i]+discreteLaplace(rng, countyShift/epsilon)))
		total += c.cases[i]
	}

	near, left := nearest(cases, deaths, float64(total)), total
	order := make([]int, len(cases))
	for i := range cases {
		x, y := near[0][i], near[1][i]
		contracted = append(contracted, contraction{x <= 0, y <= 0, deaths[i] > 0 && y >= x})
		out.cases = append(out.cases, int(x))
		out.deaths = append(out.deaths, int(math.Min(math.Floor(x), math.Round(y))))
		left -= int(x)
		order[i] = i
	}

	// What rounding down left goes to the greatest remainders.
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Compare(near[0][b]-math.Floor(near[0][b]), near[0][a]-math.Floor(near[0][a]))
	})
	for _, i := range order[:max(0, min(left, len(order)))] {
		out.cases[i]++
	}
	return out, contracted
}

// nearest projects cases and deaths on those with the total and cases ≥ deaths ≥ 0, by bisection for the multiplier of
// the total: given it, each county is projected by itself.
func nearest(cases, deaths []float64, total float64) (out [2][]float64) {
	at := func(shift float64) (sum float64) {
		out = [2][]float64{}
		for i := range cases {
			x, y := cone(cases[i]+shift, deaths[i])
			out[0], out[1] = append(out[0], x), append(out[1], y)
			sum += x
		}
		return sum
	}
	low, high := -1e7, 1e7
	for range 100 {
		if mid := (low + high) / 2; at(mid) < total {
			low = mid
		} else {
			high = mid
		}
	}
	at(high)
	return out
}

// cone is the nearest point with x ≥ y ≥ 0.
func cone(x, y float64) (float64, float64) {
	switch {
	case x >= y && y >= 0:
		return x, y
	case y < 0 && x >= 0:
		return x, 0
	case x+y <= 0:
		return max(0, x), 0
	}
	return (x + y) / 2, (x + y) / 2
}

// discreteLaplace draws a whole number with P(k) ∝ e^(-|k|/scale), as the difference of two geometric ones.
func discreteLaplace(rng *rand.Rand, scale float64) int {
	geometric := func() int { return int(math.Floor(rng.ExpFloat64() * scale)) }
	one, other := geometric(), geometric()
	return one - other
}
