package mechanism

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"fugu/privacy"
	"fugu/sensitivity"
)

func rats(texts []string) []*big.Rat {
	out := make([]*big.Rat, len(texts))
	for i, t := range texts {
		out[i], _ = new(big.Rat).SetString(t)
	}
	return out
}

// What comes out adds up exactly, is no nearer to any other vector that does, and is the same again.
func TestSummingTo(t *testing.T) {
	c, err := Calibrate(t.Context(), Directional, Request{
		Shifts: []sensitivity.Shift{{Secret: "s", Along: []float64{50, -30, -20, 5, 1},
			Beside: []float64{1, 2, 1, 1, 1}}},
		Components: []Component{{Lattice: 1, Unit: 10, Integer: true}, {Lattice: 1, Unit: 30, Integer: true},
			{Lattice: 1, Unit: 20, Integer: true},
			{Lattice: 0.1, Unit: 1}, {Lattice: 0.01, Unit: 1}},
		Budget: privacy.Budget{Epsilon: 1, Delta: 1e-3}})
	if err != nil {
		t.Fatal(err)
	}
	r := Release{values: []string{"103", "-7", "50", "12.34", "5.001"}}
	sums := []Sum{{[]int{2, 0}, big.NewRat(200, 1)}, {[]int{3, 4}, big.NewRat(161, 8)}}
	got, err := r.SummingTo(c.Noise, sums)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := r.SummingTo(c.Noise, sums)
	before, after, twice := rats(r.values), rats(got.values), rats(again.values)
	for _, s := range sums {
		total := new(big.Rat)
		for _, k := range s.Components {
			total.Add(total, after[k])
		}
		if total.Cmp(s.Total) != 0 {
			t.Errorf("components %v add up to %s, not %s", s.Components, total.FloatString(6), s.Total.FloatString(6))
		}
	}
	// The distance dᵀΣ⁻¹d of the noise, by solving with Gaussian elimination here.
	distance := func(v []*big.Rat) float64 {
		m := len(v)
		a := make([][]float64, m)
		for i := range a {
			a[i] = make([]float64, m+1)
			for j := range m {
				a[i][j] = c.Noise.Covariance(i, j)
			}
			a[i][m], _ = new(big.Rat).Sub(v[i], before[i]).Float64()
		}
		d := make([]float64, m)
		for i := range a {
			d[i] = a[i][m]
		}
		for i := range m {
			for j := range m {
				if j != i {
					f := a[j][i] / a[i][i]
					for l := i; l <= m; l++ {
						a[j][l] -= f * a[i][l]
					}
				}
			}
		}
		total := 0.0
		for i := range m {
			total += d[i] * a[i][m] / a[i][i]
		}
		return total
	}
	best := distance(after)
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		other := rats(got.values)
		step := func() *big.Rat { return new(big.Rat).SetFloat64(math.Round(random.NormFloat64() * 20)) }
		for _, pair := range [][2]int{{0, 2}, {3, 4}} {
			d := step()
			other[pair[0]].Add(other[pair[0]], d)
			other[pair[1]].Sub(other[pair[1]], d)
		}
		other[1].Add(other[1], step())
		// Rounding to whole numbers moves it by half a unit at most.
		if distance(other) < best*(1-1e-2) {
			t.Fatalf("%v is nearer than %v: %v, %v", other, after, distance(other), best)
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
	for _, bad := range [][]Sum{{{[]int{0, 5}, big.NewRat(1, 1)}}, {{[]int{0, 0}, big.NewRat(1, 1)}},
		{{[]int{0}, big.NewRat(1, 1)}, {[]int{0}, big.NewRat(1, 1)}}} {
		if _, err := r.SummingTo(c.Noise, bad); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}
