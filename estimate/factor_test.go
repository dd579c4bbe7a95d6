package estimate

import (
	"math"
	"testing"
)

// brute integrates a normal law with a factor by brute force, over where there is any of it.
func brute(f factor, mean, variance float64) (mass, first, second float64) {
	low, high := math.Max(f.low, mean-60*math.Sqrt(variance)), math.Min(f.high, mean+60*math.Sqrt(variance))
	const n = 200_000
	h := (high - low) / n
	log := func(x float64) float64 {
		return f.log(x) - (x-mean)*(x-mean)/(2*variance) - math.Log(2*math.Pi*variance)/2
	}
	top := math.Inf(-1)
	for i := range n {
		top = math.Max(top, log(low+(float64(i)+.5)*h))
	}
	var m0, m1, m2 float64
	for i := range n {
		x := low + (float64(i)+.5)*h
		w := math.Exp(log(x) - top)
		m0, m1, m2 = m0+w, m1+w*(x-mean), m2+w*(x-mean)*(x-mean)
	}
	m1 /= m0
	return top + math.Log(m0*h), mean + m1, m2/m0 - m1*m1
}

// Moments are those of brute force, in the middle and far out.
func TestMoments(t *testing.T) {
	for _, f := range []factor{uniform(-1, 2), uniform(0, 1e-3), laplace(0, 1), laplace(3, .05), laplace(-2, 40),
		{low: -1, high: 5, centre: 2, scale: .7}} {
		for _, mean := range []float64{-9, -1, 0, .4, 7} {
			for _, variance := range []float64{.04, 1, 9} {
				m0, m1, m2 := f.moments(mean, variance)
				b0, b1, b2 := brute(f, mean, variance)
				if math.Abs(m0-b0) > 1e-3 || math.Abs(m1-b1) > 1e-3*math.Sqrt(b2) || math.Abs(m2/b2-1) > 1e-3 {
					t.Errorf("%+v, normal %v %v: %v %v %v, want %v %v %v", f, mean, variance, m0, m1, m2, b0, b1, b2)
				}
			}
		}
	}
}

// Far beyond a bound the normal law is an exponential one: E[z - low] is σ²/d, and so is its standard deviation.
func TestMomentsFarOut(t *testing.T) {
	_, first, second := uniform(0, 1).moments(-1e8, 1)
	if math.Abs(first*1e8-1) > 1e-6 || math.Abs(second*1e16-1) > 1e-5 {
		t.Errorf("mean %v, variance %v", first, second)
	}
}
