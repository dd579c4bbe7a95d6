package twin

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"fugu/policy"
)

// The tail of an entry of e is what goes through all vectors finds, for two to four classes, to rounding; and it is
// that of scale 10^6, where nothing can be gone through, as of continuous noise: of 2 classes exactly, of 3 by its
// integral.
func TestTail(t *testing.T) {
	const reach = 40
	for classes := 2; classes <= 4; classes++ {
		for _, rate := range []float64{.9, 3} {
			beyond, all := map[int64]float64{}, 0.
			var each func(c int, sum, up, first int64)
			each = func(c int, sum, up, first int64) {
				if c == classes-1 { // the last entry makes up for the others
					w := math.Exp(-rate * float64(up+max(0, -sum)))
					all += w
					for j := int64(0); j < first; j++ {
						beyond[j] += w
					}
					return
				}

				for e := int64(-reach); e <= reach; e++ {
					if c == 0 {
						first = e
					}
					each(c+1, sum+e, up+max(0, e), first)
				}
			}

			each(0, 0, 0, 0)
			for j := int64(classes - 2); j < 8; j++ {
				got, want := tail(rate, classes, j), beyond[j]/all
				if math.Abs(got-want) > 1e-9*want {
					t.Errorf("%d classes, rate %v: Pr(e > %d) = %.12g, not %.12g", classes, rate, j, got, want)
				}
			}
		}
	}

	// Three classes of continuous noise: density ∝ e^-t(2+t) for t ≥ 0, so that Pr(e > t) = e^-t(3+t)/6.
	for _, at := range []float64{.5, 3, 10} {
		const scale = 1e6
		if got, want := tail(1/scale, 3, int64(at*scale)), math.Exp(-at)*(3+at)/6; math.Abs(got/want-1) > 1e-5 {
			t.Errorf("Pr(e > %v) = %v, and %v for continuous noise", at, got, want)
		}
	}
}

// Truncation at A leaves δ and no more, in every direction that k rows can move, counted over all vectors in rational
// numbers; and it is no more than it needs: two less leave more, unless the formula needs it.
func TestTruncationOfVectors(t *testing.T) {
	for _, c := range []struct {
		classes int
		move    int64
		epsilon float64
		delta   float64
	}{{2, 1, 1, .01}, {2, 3, 2, .05}, {3, 1, 1, .05}, {3, 2, 2, .1}, {4, 1, 2, .05}} {
		rate := c.epsilon / float64(c.move)
		most, err := truncation(rate, c.classes, c.move, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		x := new(big.Rat).SetFloat64(math.Exp(-rate))
		worst := missing(x, c.classes, c.move, most)
		if got, _ := worst.Float64(); got > c.delta {
			t.Errorf("%+v: A = %d leaves %v", c, most, got)
		} else {
			t.Logf("%+v: A = %d leaves %v", c, most, got)
		}

		less, _ := missing(x, c.classes, c.move, most-2).Float64()
		if least := c.move + int64(c.classes-2); most-2 >= least && less <= c.delta {
			t.Errorf("%+v: A = %d is more than it needs: 2 less leave %v", c, most, less)
		}
	}
}

// missing is the greatest probability, over all d that move at most k rows, of an e ≤ most of which e + d is not.
func missing(x *big.Rat, classes int, move, most int64) *big.Rat {
	within := func(v []int64) bool {
		for _, e := range v {
			if e > most {
				return false
			}
		}
		return true
	}

	vectors := func(low, high int64, each func(v []int64)) {
		v := make([]int64, classes)
		var step func(c int, left int64)
		step = func(c int, left int64) {
			if c == classes-1 {
				v[c] = left
				each(v)
				return
			}
			for v[c] = low; v[c] <= high; v[c]++ {
				step(c+1, left-v[c])
			}
		}

		step(0, 0)
	}
	zero, worst := make([]int64, classes), new(big.Rat)
	vectors(-move, move, func(d []int64) {
		if n := moved(d, zero); n == 0 || n > move {
			return
		}
		lost, total := new(big.Rat), new(big.Rat)
		vectors(-most*int64(classes-1), most, func(e []int64) {
			if !within(e) {
				return
			}
			w := power(x, moved(e, zero))
			total.Add(total, w)
			shifted := make([]int64, classes)
			for c := range e {
				shifted[c] = e[c] + d[c]
			}
			if !within(shifted) {
				lost.Add(lost, w)
			}
		})

		if lost.Quo(lost, total); lost.Cmp(worst) > 0 {
			worst.Set(lost)
		}
	})
	return worst
}

// However far off truncated noise is, fewer rows of each class are taken than a table has that can bring forth Ñ. Were
// vectors clamped from above as well, a class that is full would raise the others, and more of them be taken than there
// are: so this can fail.
func TestTruncatedVectorsTakeLessThanThereIs(t *testing.T) {
	kinds := Secret{Values: []policy.Value{{Text: "a"}, {Text: "b"}, {Text: "c"}}, Secret: policy.Secret{Name: "s",
		About: policy.AboutDataset, Categories: "kind", Range: &policy.SimplexRange{From: .02, To: .6, Within: .005}}}
	s := Spec{Rows: 10_000, Epsilon: 1, Delta: .01, Secrets: []Secret{kinds}}
	domain, err := s.domain()
	if err != nil {
		t.Fatal(err)
	}
	v, err := newVector(domain, s.Epsilon, s.Delta)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 0))
	clamped, beyond := 0, 0
	for range 200_000 {
		counts := make([]int64, 3)
		for left, c := s.Rows, 0; c < 3; c++ { // a table of the promise
			rest := int64(2 - c)
			last := domain.classes[2] // the bounds of all are the same
			low, high := max(last.Least, left-rest*last.Most), min(last.Most, left-rest*last.Least)
			counts[c] = low + rng.Int64N(high-low+1)
			left -= counts[c]
		}

		raw := []int64{counts[0] + v.most - rng.Int64N(3*v.most), counts[1] + v.most - rng.Int64N(3*v.most), 0}
		if raw[2] = s.Rows - raw[0] - raw[1]; raw[2] > counts[2]+v.most {
			continue // beyond the truncation
		}
		noisy := v.nearest(0, raw)
		for c, least := range v.least(noisy) {
			if least-1 >= counts[c] {
				t.Fatalf("%v, raw %v, noisy %v: %d rows of class %d are taken", counts, raw, noisy, least-1, c)
			}
			if least > domain.classes[c].Least {
				clamped++
			}
		}

		for c, least := range v.least(nearest(v.classes, s.Rows, raw)) {
			if least-1 >= counts[c] {
				beyond++
			}
		}
	}

	t.Logf("%s: %d classes had more than their least; clamped from above too, %d would have been taken whole",
		v, clamped, beyond)
	if clamped < 1000 || beyond == 0 {
		t.Error("the test shows nothing")
	}
}
