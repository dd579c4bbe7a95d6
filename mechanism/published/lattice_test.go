package published

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// seen is a release of counts, to three decimals.
func seen(n Noise, counts []float64, rng *rand.Rand) []float64 {
	x := slices.Clone(counts)
	for _, w := range n.Normal {
		floats.AddScaled(x, rng.NormFloat64(), w)
	}
	for _, w := range n.Laplace {
		floats.AddScaled(x, rng.ExpFloat64()*float64(1-2*rng.IntN(2)), w)
	}
	for k := range x {
		x[k] = math.Round(x[k]*1000) / 1000
	}
	return x
}

// guess tries the values of the first count, takes the noise off along v, and returns what is nearest to integers.
func guess(x, v []float64) []float64 {
	least, out := math.Inf(1), make([]float64, len(x))
	for count := math.Floor(x[0] - 60); count <= x[0]+60; count++ {
		y, off := (x[0]-count)/v[0], 0.0
		for k := range x {
			off += math.Abs(x[k] - v[k]*y - math.Round(x[k]-v[k]*y))
		}
		if off < least {
			least = off
			for k := range x {
				out[k] = math.Round(x[k] - v[k]*y)
			}
		}
	}
	return out
}

// Noise of less than full rank falls to integers: on counts, an analyst who knows the one direction v with noise tries
// the values of one count, takes the noise off along v and keeps what is nearest to integers. Releases are seen to
// three decimals.
func TestRankDeficientNoiseFalls(t *testing.T) {
	const m, trials = 5, 100
	b := budget(1, .001)
	d := []float64{4.1421, -7.3891, 2.7183, 5.7721, -1.6180}
	v := scaled(d, 1/floats.Norm(d, 2))
	laws := Model{Pairs: [][2]int{{0, 1}}}
	for _, mean := range [][]float64{make([]float64, m), d} {
		cov := mat.NewSymDense(m, nil) // 1e6 beside v: so random is only the data, and EigM adds nothing there
		cov.SymRankOne(cov, -1e6+20, mat.NewVecDense(m, v))
		for k := range m {
			cov.SetSym(k, k, cov.At(k, k)+1e6)
		}
		laws.Laws = append(laws.Laws, Normal{mean, cov})
	}

	rng := rand.New(rand.NewPCG(1, 2))
	for name, f := range map[string]func() (Noise, error){
		"dirm laplace":  func() (Noise, error) { return DirmLaplace(laws, [][]float64{v}, b) },
		"dirm gaussian": func() (Noise, error) { return DirmGaussian(laws, [][]float64{v}, b) },
		"daum":          func() (Noise, error) { return Daum(laws, v, b) },
		"eigm":          func() (Noise, error) { return Eigm(laws, b) },
		"expm gaussian": func() (Noise, error) { return ExpmGaussian(laws, b) }, // full rank: does not fall
	} {
		n, err := f()
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for range trials {
			truth := make([]float64, m)
			for k := range truth {
				truth[k] = float64(rng.IntN(5000))
			}
			if slices.Equal(guess(seen(n, truth, rng), v), truth) {
				found++
			}
		}

		t.Logf("%s: %d of %d recovered", name, found, trials)
		if falls := found >= trials*9/10; falls != (name != "expm gaussian") || !falls && found > trials/20 {
			t.Errorf("%s: %d of %d recovered", name, found, trials)
		}
	}
}
