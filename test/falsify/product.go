package falsify

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"fugu/mechanism"
	"fugu/test/setting"
)

// Release releases f with the noise that the product calibrated, and appends the published values to the transcript.
// It panics where the product returns an error: a calibration that cannot be released is no mechanism to be tried.
func Release(transcript []float64, n mechanism.Noise, f []float64, rng *rand.Rand) []float64 {
	values := make([]*big.Rat, len(f))
	for k, v := range f {
		values[k] = new(big.Rat).SetFloat64(v)
	}
	r, err := n.Release(words{rng}, mechanism.NewStatistics(values))
	if err != nil {
		panic(fmt.Sprintf("falsify: %v", err))
	}
	published, err := r.Numbers()
	if err != nil {
		panic(fmt.Sprintf("falsify: the product published %q", r.Values()))
	}
	return append(transcript, published...)
}

// words are the random bytes of a generator whose seed is fixed.
type words struct{ rng *rand.Rand }

func (w words) Read(p []byte) (int, error) {
	n := len(p)
	for ; len(p) >= 8; p = p[8:] {
		binary.LittleEndian.PutUint64(p, w.rng.Uint64())
	}
	if len(p) > 0 {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], w.rng.Uint64())
		copy(p, b[:])
	}
	return n, nil
}

// Parts tells the law of the product's noise from its covariance, for one secret that moves F along a direction with at
// least two entries: independent Laplace noise, or normal noise and, where components are correlated beyond it, one
// Laplace value along the direction. It is an error where that does not explain the covariance.
func Parts(c mechanism.Calibration, along []float64) (setting.Noise, error) {
	m := len(along)

	// Laplace noise in every component for itself, of which the variance is twice the scale's square.
	switch c.Kind {
	case mechanism.ExpmLaplace, mechanism.Wasserstein, mechanism.ApproximateWasserstein:
		n := setting.Noise{Laplace: setting.Identity(m, 1)}
		for k, v := range n.Laplace {
			floats.Scale(c.SD[k]/math.Sqrt2, v)
		}
		return n, nil
	}

	cov := mat.NewSymDense(m, nil)
	for k := range m {
		for l := k; l < m; l++ {
			cov.SetSym(k, l, c.Noise.Covariance(k, l))
		}
	}

	// What two components have in common is the Laplace value's; without it there has to be nothing left.
	var n setting.Noise
	if c.Kind == mechanism.Directional {
		t2 := cov.At(0, 1) / (2 * along[0] * along[1]) // its square times 2 is the variance of the Laplace value
		if !(t2 > 0) {
			return n, fmt.Errorf("%s: components 0 and 1 have covariance %g", c.Kind, cov.At(0, 1))
		}
		n.Laplace = [][]float64{floats.ScaleTo(make([]float64, m), math.Sqrt(t2), along)}
		cov.SymRankOne(cov, -2*t2, mat.NewVecDense(m, along))
		for k := range m {
			for l := range k {
				if math.Abs(cov.At(k, l)) > 1e-6*math.Sqrt(cov.At(k, k)*cov.At(l, l)) {
					return n, fmt.Errorf("%s: components %d and %d are correlated beside the direction", c.Kind, k, l)
				}
			}
		}
	}
	n.Normal = setting.Root(cov)
	return n, nil
}
