package mechanism

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"fugu/sensitivity"
)

func rats(texts []string) []*big.Rat {
	out := make([]*big.Rat, len(texts))
	for i, t := range texts {
		out[i], _ = new(big.Rat).SetString(t)
	}
	return out
}

// adjusted is a release and what it becomes when two sums of its components are public.
func adjusted(t *testing.T) (n Noise, r, got Release, sums []Sum) {
	t.Helper()
	c := calibrated(t, Directional, Request{
		Shifts: []sensitivity.Shift{{
			Secret: "s", Along: []float64{50, -30, -20, 5, 1}, Beside: []float64{1, 2, 1, 1, 1},
		}},
		Components: []Component{
			{Lattice: 1, Unit: 10, Integer: true}, {Lattice: 1, Unit: 30, Integer: true},
			{Lattice: 1, Unit: 20, Integer: true}, {Lattice: 0.1, Unit: 1}, {Lattice: 0.01, Unit: 1},
		},
		Budget: budget(1, 1e-3),
	})
	r = Release{values: []string{"103", "-7", "50", "12.34", "5.001"}}
	sums = []Sum{{[]int{2, 0}, big.NewRat(200, 1)}, {[]int{3, 4}, big.NewRat(161, 8)}}
	got, err := r.SummingTo(c.Noise, sums)
	if err != nil {
		t.Fatal(err)
	}
	return c.Noise, r, got, sums
}

// What comes out adds up exactly, in whole numbers where it was in whole numbers, is the same again, and can be stored.
func TestSummingTo(t *testing.T) {
	n, r, got, sums := adjusted(t)
	again, _ := r.SummingTo(n, sums)
	after, twice := rats(got.values), rats(again.values)
	for _, s := range sums {
		total := new(big.Rat)
		for _, k := range s.Components {
			total.Add(total, after[k])
		}
		if total.Cmp(s.Total) != 0 {
			t.Errorf("components %v add up to %s, not %s", s.Components, total.FloatString(6), s.Total.FloatString(6))
		}
	}

	for k := range after {
		if after[k].Cmp(twice[k]) != 0 {
			t.Error("another result the second time")
		}
	}
	for k := range 3 {
		if !after[k].IsInt() {
			t.Errorf("component %d was a whole number and is %s", k, got.values[k])
		}
	}

	bytes, err := got.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := new(Release).UnmarshalBinary(bytes); err != nil {
		t.Error(err)
	}
}

// No other vector that adds up is nearer.
func TestSummingToIsNearest(t *testing.T) {
	n, r, got, _ := adjusted(t)
	before, after := rats(r.values), rats(got.values)
	best := distance(n, before, after)
	random := rand.New(rand.NewPCG(1, 2))
	step := func() *big.Rat { return new(big.Rat).SetFloat64(math.Round(random.NormFloat64() * 20)) }
	for range 2000 {
		other := rats(got.values)
		for _, pair := range [][2]int{{0, 2}, {3, 4}} {
			d := step()
			other[pair[0]].Add(other[pair[0]], d)
			other[pair[1]].Sub(other[pair[1]], d)
		}

		other[1].Add(other[1], step())

		// Rounding to whole numbers moves it by half a unit at most.
		if d := distance(n, before, other); d < best*(1-1e-2) {
			t.Fatalf("%v is nearer than %v: %v, %v", other, after, d, best)
		}
	}
}

// distance is dᵀΣ⁻¹d of the noise for the difference of two vectors, by Gaussian elimination.
func distance(n Noise, from, to []*big.Rat) (total float64) {
	m := len(from)
	d, a := make([]float64, m), make([][]float64, m)
	for i := range a {
		a[i] = make([]float64, m+1)
		for j := range m {
			a[i][j] = n.Covariance(i, j)
		}
		d[i], _ = new(big.Rat).Sub(to[i], from[i]).Float64()
		a[i][m] = d[i]
	}

	for i := range m {
		for j := range m {
			if j == i {
				continue
			}
			f := a[j][i] / a[i][i]
			for l := i; l <= m; l++ {
				a[j][l] -= f * a[i][l]
			}
		}
	}

	for i := range m {
		total += d[i] * a[i][m] / a[i][i]
	}
	return total
}

// Sums of components that are not there, or in two places, are refused.
func TestSummingToRefuses(t *testing.T) {
	n, r, _, _ := adjusted(t)
	one := big.NewRat(1, 1)
	for _, bad := range [][]Sum{{{[]int{0, 5}, one}}, {{[]int{0, 0}, one}}, {{[]int{0}, one}, {[]int{0}, one}},
		{{nil, one}}, {{[]int{0}, one}, {[]int{}, one}}} {
		if _, err := r.SummingTo(n, bad); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}
