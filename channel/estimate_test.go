package channel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The numbers of Grosse et al. for the column sex of the Adult census: m = 10,000 rows, δ = 1e-9, ε = .3. They are of
// Laplace noise on -1 and 1 whose sign is shown; the optimal channel of two values says more.
func TestAdultSex(t *testing.T) {
	const women, rows = 14695, 45222 // without missing values
	law := []float64{float64(women) / rows, 1 - float64(women)/rows}
	radius := Radius(2, 10_000, 1e-9)
	near(t, "β", radius, .0654, 5e-5)

	scale := LaplaceScale(.3, law[0], radius)
	near(t, "Laplace's b", scale, 4.386, 2e-3)
	near(t, "leakage", LaplaceLeakage(scale, law[0], radius), .3, 1e-9)
	near(t, "Laplace's information", signs(t, scale).Information(law), .0184, 5e-5)
	near(t, "by local differential privacy", signs(t, 2/.3).Information(law), .0085, 5e-5)

	best, err := Binary(.3, Ball{Center: law, Radius: radius})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("optimal: %.4f nats; a woman is shown as one with %.3f, a man with %.3f", best.Information(law),
		best.Probability(0, 0), best.Probability(1, 1))
	if got := best.Information(law); got < .0184 {
		t.Errorf("the optimal channel says %g, and Laplace noise .0184", got)
	}
}

// signs is the channel of Laplace noise on -1 and 1 of which the sign is shown.
func signs(t *testing.T, scale float64) Channel {
	t.Helper()
	right := 1 - math.Exp(-1/scale)/2
	c, err := New([][]float64{{right, 1 - right}, {1 - right, right}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A law of four values is drawn from 100,000 times, 200 rows each. At δ = .05 the law leaves the radius in at most
// 5,000 of them but for a chance below 1e-6 (a binomial's 4.8 standard deviations are 331); the bound is far from
// tight.
func TestRadius(t *testing.T) {
	const trials, rows = 100_000, 200
	r := rand.New(rand.NewPCG(16, 4))
	law := []float64{.4, .3, .2, .1}
	radius, shorter, outside, outsideShorter := Radius(4, rows, .05), .5*Radius(4, rows, .05), 0, 0
	for range trials {
		counts := [4]float64{}
		for range rows {
			u, x := r.Float64(), 0
			for ; x < 3 && u >= law[x]; x++ {
				u -= law[x]
			}
			counts[x]++
		}
		apart := 0.
		for x := range law {
			apart += math.Abs(law[x] - counts[x]/rows)
		}
		if apart > radius {
			outside++
		}
		if apart > shorter {
			outsideShorter++
		}
	}
	t.Logf("%d of %d beyond %.3f, %d beyond half of that", outside, trials, radius, outsideShorter)
	if outside > 5331 {
		t.Errorf("%d of %d samples are further than the radius", outside, trials)
	}
	if outsideShorter <= 5331 {
		t.Errorf("half the radius would do: it is no test")
	}
	if got := Radius(1, 10, .1); got != 0 {
		t.Errorf("the law of one value is within %g, want 0", got)
	}
	if got := Radius(500, 10, .1); got != 2 {
		t.Errorf("a radius of %g is beyond all laws", got)
	}
}

func TestGrown(t *testing.T) {
	for _, radius := range []float64{0, .01, .3} {
		for _, epsilon := range []float64{.1, 1, 1.5} {
			near(t, "inverse", Grown(Shrunk(epsilon, radius), radius), epsilon, 1e-12)
		}
	}
	if got := Grown(1, .8); !math.IsInf(got, 1) {
		t.Errorf("ε grows to %g, want no bound", got)
	}

	// Failure is Radius and Grown, solved for δ.
	radius := Radius(20, 40_000, 1e-5)
	near(t, "failure", Failure(math.Log(5), Grown(math.Log(5), radius), 20, 40_000), 1e-5, 1e-10)
	if got := Failure(1, 1, 20, 100); got != 1 {
		t.Errorf("no growth fails with %g, want 1", got)
	}
}

// A channel that keeps ε for the center keeps Grown of it for every law of the ball: exactly that, where each output
// has a value that never becomes it [Grosse et al., Theorem 4, k > 1].
func TestGrownIsReached(t *testing.T) {
	laws := Ball{Center: []float64{.25, .25, .25, .25}}
	c, err := New([][]float64{{.5, .5, 0, 0}, {0, .5, .5, 0}, {0, 0, .5, .5}, {.5, 0, 0, .5}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "ε", c.Capacity(laws), math.Log(2), 1e-12)
	for _, radius := range []float64{.01, .1, .3} {
		near(t, "grown", c.Capacity(Ball{laws.Center, radius}), Grown(math.Log(2), radius), 1e-12)
	}
}
