package twin

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"fugu/policy"
	"fugu/test/nightly"
)

// falseAlarm is the probability with which each test of a sampler here would reject a correct one, if its seed were not
// fixed. There are fewer than ten.
const falseAlarm = 1e-7

// Draw has the law that Law gives, at x = e^(-num/den): Pearson's chi-square with n = 200,000 draws, in bins of 20
// expected draws or more.
func TestDrawFollowsItsLaw(t *testing.T) {
	n := nightly.Or(200_000, 50_000)
	span := func(from, to, within float64) policy.Span { return policy.Span{From: from, To: to, Within: within} }
	nullable, pair := proportion(span(.2, .6, .1)), proportion(span(.2, .3, .1))
	listed := proportion(span(.2, .3, .1), span(.3, .5, .2), span(.3, .6, .3))
	nullable.Nullable, pair.Listed, listed.Listed = true, true, true
	for name, c := range map[string]struct {
		spec   Spec
		counts []int64
	}{
		"truncated": {Spec{Rows: 60, Epsilon: 1, Delta: .01, Secrets: []Secret{proportion(span(.1, .9, .1))}},
			[]int64{20, 40}},
		"untruncated": {Spec{Rows: 60, Epsilon: 1.3, Secrets: []Secret{proportion(span(.1, .9, .1))}}, []int64{20, 40}},
		"coarse": {Spec{Rows: 60, Epsilon: 5, Secrets: []Secret{proportion(span(.1, .9, 1./60))}},
			[]int64{20, 40}},
		"pair":   {Spec{Rows: 60, Epsilon: 1, Secrets: []Secret{pair}}, []int64{12, 48}},
		"graph":  {Spec{Rows: 60, Epsilon: 1, Secrets: []Secret{listed}}, []int64{18, 42}},
		"vector": {Spec{Rows: 20, Epsilon: 2, Smallest: .1, Secrets: []Secret{nullable}}, []int64{6, 10, 4}},
		"cells": {Spec{Rows: 30, Epsilon: 2, Smallest: .2, Public: publicly(20, 10),
			Secrets: []Secret{proportion(span(.2, .6, .1))}}, []int64{6, 14, 5, 5}},
		"truncated cells": {Spec{Rows: 30, Epsilon: 2, Delta: .05, Smallest: .2, Public: publicly(20, 10),
			Secrets: []Secret{proportion(span(.2, .6, .1))}}, []int64{6, 14, 5, 5}},
		"truncated vector": {Spec{Rows: 20, Epsilon: 2, Delta: .1, Smallest: .1, Secrets: []Secret{nullable}},
			[]int64{6, 10, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := New(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "truncated ") {
				d = byTruncation(t, c.spec)
			}
			if name == "pair" || name == "graph" {
				d = byGraph(t, c.spec)
			}
			seen := map[string]float64{}
			random := rand.NewChaCha8([32]byte{7, byte(len(name))})
			for range n {
				noisy, err := d.Draw(random, c.counts)
				if err != nil {
					t.Fatal(err)
				}
				seen[fmt.Sprint(noisy)]++
			}

			if p := chiSquare(d, c.counts, seen, float64(n)); p < falseAlarm {
				t.Errorf("%s: p = %g", d, p)
			} else {
				t.Logf("%s: p = %.3f over %d outcomes", d, p, len(seen))
			}
			// A test that could not fail would show nothing: noise a sixth too narrow is found.
			num, den, _ := d.Unit()
			wrong := math.Exp(-1.16 * float64(num) / float64(den))
			if p := chiSquareAt(d, wrong, c.counts, seen, float64(n)); p > falseAlarm {
				t.Errorf("%s: noise of another scale has p = %g", d, p)
			}
		})
	}
}

// byTruncation is the law with truncated vectors, whether it has the least error or not.
func byTruncation(t *testing.T, s Spec) *Design {
	t.Helper()
	domain, err := s.domain()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.candidates(domain) {
		if d, err := c(); err == nil && d.truncated() {
			return d
		}
	}
	t.Fatal("there is no law with truncated vectors")
	return nil
}

// byGraph is the law on the listed values, whether it has the least error or not.
func byGraph(t *testing.T, s Spec) *Design {
	t.Helper()
	domain, err := s.domain()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.candidates(domain) {
		if d, err := c(); err == nil {
			if _, ok := d.noise.(*listed); ok {
				return d
			}
		}
	}
	t.Fatal("there is no law on listed values")
	return nil
}

func chiSquare(d *Design, counts []int64, seen map[string]float64, n float64) float64 {
	num, den, _ := d.Unit()
	return chiSquareAt(d, math.Exp(-float64(num)/float64(den)), counts, seen, n)
}

func chiSquareAt(d *Design, x float64, counts []int64, seen map[string]float64, n float64) float64 {
	// A decimal of 9 digits is near enough for a law that is told from another by 200,000 draws, and its powers are
	// short.
	outcomes := d.Law(big.NewRat(int64(math.Round(x*1e9)), 1e9), counts)
	chi, bins, expected, observed, all := 0., 0., 0., 0., 0.
	for _, o := range outcomes {
		p, _ := o.Probability.Float64()
		expected += n * p
		if o.Counts != nil {
			observed += seen[fmt.Sprint(o.Counts)]
			all += seen[fmt.Sprint(o.Counts)]
		}

		if expected >= 20 {
			chi, bins = chi+(observed-expected)*(observed-expected)/expected, bins+1
			expected, observed = 0, 0
		}
	}
	if expected > 0 && bins > 0 { // the rest
		chi, bins = chi+(observed-expected)*(observed-expected)/math.Max(expected, 1), bins+1
	}
	if all != n {
		return 0 // an outcome that the law does not have
	}
	return distuv.ChiSquared{K: bins - 1}.Survival(chi)
}

// Truncation at A leaves δ and no more: the mass that only one value of a pair can bring forth. Half a row of A is
// spare, and two rows less are too few where noise is coarse.
func TestTruncationIsWithinDelta(t *testing.T) {
	left := func(epsilon float64, k, most int64) float64 {
		alpha := math.Exp(-epsilon / float64(k))
		last := math.Exp(-epsilon / float64(k) * float64(most+1))
		return last * math.Expm1(epsilon) / (1 + alpha - 2*last)
	}
	for _, epsilon := range []float64{.01, .2, 1, 5} {
		for _, delta := range []float64{1e-9, .001, .1} {
			for _, k := range []int64{1, 2, 17, 1761} {
				l, err := newLaplace(domain{move: k, classes: make([]Class, 2)}, 1<<30, epsilon, delta)
				if err != nil {
					t.Fatal(err)
				}
				if got := left(l.epsilon(), k, l.most); got > delta {
					t.Errorf("ε = %v, δ = %v, k = %d: A = %d leaves %v", epsilon, delta, k, l.most, got)
				}
				if got := left(l.epsilon(), k, l.most-2); got <= delta && l.most > k {
					t.Errorf("ε = %v, δ = %v, k = %d: A = %d is more than it needs: 2 less leave %v", epsilon, delta, k,
						l.most, got)
				}
			}
		}
	}
}

// Noisy counts that the law cannot bring forth, as of a count clamped before the noise and not after it, are refused:
// more rows would be taken than they say that there are.
func TestTakeRefusesOtherCounts(t *testing.T) {
	d := adult(t, 0)
	outside := d.Classes[True].Least - 500
	for _, noisy := range [][]int64{{outside, d.Rows - outside}, {d.Rows, 0}, {1, 2}, {-1, d.Rows + 1}, {d.Rows}} {
		if taken, err := d.Take(noisy); err == nil {
			t.Errorf("%v: takes %v", noisy, taken)
		}
	}
}

// Every table of the promise has more rows of each class than are taken, whatever was drawn; and the copies make up Ñ.
func TestTakeIsLessThanThereAre(t *testing.T) {
	random := rand.NewChaCha8([32]byte{9})
	d := adult(t, 0)
	for i := range 3000 {
		first := d.Classes[0].Least + int64(i)*(d.Classes[0].Most-d.Classes[0].Least)/2999
		counts := []int64{first, d.Rows - first}
		noisy, err := d.Draw(random, counts)
		if err != nil {
			t.Fatal(err)
		}
		taken, err := d.Take(noisy)
		if err != nil {
			t.Fatal(err)
		}
		for c, m := range taken {
			each, more, err := Copies(noisy[c], m)
			if err != nil || m >= counts[c] || more >= m || each*m+more != noisy[c] {
				t.Fatalf("%v, %v: %d of class %d are taken, %d times and %d once more: %v", counts, noisy, m, c, each,
					more, err)
			}
		}
	}
}

// A listed value that a table nearly has is the nearest one, and the promise does not speak of the table.
func TestListedValues(t *testing.T) {
	secret := proportion(policy.Span{From: .2, To: .25, Within: .05})
	secret.Listed = true
	d := byGraph(t, Spec{Rows: 1000, Epsilon: 1, Secrets: []Secret{secret}})
	if d.Covers([]int64{210, 790}) || !d.Covers([]int64{250, 750}) {
		t.Error("the promise speaks of the two values of the pair alone")
	}
	noisy, err := d.Draw(rand.NewChaCha8([32]byte{1}), []int64{210, 790})
	if err != nil || !slices.Equal(noisy, []int64{200, 800}) && !slices.Equal(noisy, []int64{250, 750}) {
		t.Errorf("%v, %v", noisy, err)
	}
	if taken, err := d.Take(noisy); err != nil || !slices.Equal(taken, []int64{199, 749}) {
		t.Errorf("%v, %v", taken, err)
	}
}
