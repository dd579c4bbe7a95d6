package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The largest value of a quadratic on a box is not below what a grid of 201 × 201 points shows, and above it by no more
// than half a step of the grid, 0.005, can change q in both directions: its derivatives are at most 1 + 2·2 + 2.
func TestLargestOfAQuadratic(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		var q quadratic
		for i := range q.w {
			q.w[i] = 2*r.Float64() - 1
			if r.IntN(4) == 0 {
				q.w[i] = 0
			}
		}

		q.x[0], q.y[0] = -2*r.Float64(), -2*r.Float64()
		q.x[1], q.y[1] = q.x[0]+2*r.Float64(), q.y[0]+2*r.Float64()
		seen := 0.0
		for i := range 201 {
			for j := range 201 {
				x, y := q.x[0]+(q.x[1]-q.x[0])*float64(i)/200, q.y[0]+(q.y[1]-q.y[0])*float64(j)/200
				seen = math.Max(seen, math.Abs(q.w[0]+q.w[1]*x+q.w[2]*y+q.w[3]*x*x+q.w[4]*x*y+q.w[5]*y*y))
			}
		}

		if got := q.largest(); got < seen-1e-12 || got > seen+0.07 {
			t.Fatalf("%+v: %g, seen %g", q, got, seen)
		}
	}
	// 5 - (x-1)² - 2(y+1)² + (x-1)(y+1) is largest inside.
	q := quadratic{w: [6]float64{5 - 1 - 2 - 1, 2 + 1, -4 - 1, -1, 1, -2}, x: [2]float64{0.5, 1.5},
		y: [2]float64{-1.5, -0.5}}
	if got := q.largest(); math.Abs(got-5) > 1e-12 {
		t.Errorf("the extreme inside is %g, want 5", got)
	}
}
