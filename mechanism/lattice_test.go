package mechanism

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"fugu/sensitivity"
)

// bare is a family that is random everywhere but along v, where it has variance 20: what mechanisms that count inherent
// randomness leave without noise of their own.
type bare struct{ v []float64 }

func (bare) Secret() string             { return "income" }
func (bare) Span() sensitivity.Span     { return sensitivity.Span{From: .3, To: .6, Within: .1} }
func (bare) Affine() bool               { return true }
func (b bare) Mean(x float64) []float64 { return scaled(b.v, 10*x) }
func (b bare) Covariance(float64) sensitivity.Covariance {
	m := len(b.v)
	block := sensitivity.Block{Size: m, Entries: make([]float64, m*m)}
	for k := range m {
		block.Entries[k*m+k] = 1e6
	}
	return sensitivity.Covariance{Blocks: []sensitivity.Block{block},
		Low: []sensitivity.RankOne{{Weight: 20 - 1e6, Vector: scaled(b.v, 1/floats.Norm(b.v, 2))}}}
}

// An analyst who knows the direction v tries the values of one count, takes the noise off along v, and keeps the value
// that puts the other components nearest to integers. With noise along v alone this finds all counts of nearly every
// release; the Gaussian floor is there to stop it. It is the same for every mechanism that has a direction.
func TestLatticeAttack(t *testing.T) {
	const m, trials = 8, 100
	for i, kind := range []Kind{Directional, Daum, OptimalGaussian, Eigm} {
		t.Run(string(kind), func(t *testing.T) {
			r := counts(m, budget(1, 1e-6))
			r.Shifts[0].Beside = make([]float64, m)
			v := r.Shifts[0].Along
			r.Families = []sensitivity.Family{bare{v}}
			c := calibrated(t, kind, r)
			if len(c.Noise.directions) != 1 {
				t.Fatalf("%d directions", len(c.Noise.directions))
			}
			attack := func(floor bool) (found int) {
				rng := rand.New(rand.NewChaCha8([32]byte{5, byte(i)}))
				noise := rand.NewChaCha8([32]byte{6, byte(i)})
				n := Noise{cells: slices.Clone(c.Noise.cells), directions: c.Noise.directions}
				for k := range n.cells {
					n.cells[k].digits = 3
					if !floor {
						n.cells[k].sigma = 1 // one grid step: 2^-28
					}
				}

				for range trials {
					f := make([]float64, m)
					for k := range f {
						f[k] = float64(rng.IntN(5000))
					}
					release, err := n.Release(noise, statistics(f...))
					if err != nil {
						t.Fatal(err)
					}
					if slices.Equal(tried(release, v, 6*c.SD[0]), f) {
						found++
					}
				}

				return found
			}
			if found := attack(false); found < trials*9/10 {
				t.Errorf("without the floor the attack finds %d of %d: it is no test", found, trials)
			}
			if found := attack(true); found > trials/50 {
				t.Errorf("with the floor the attack finds %d of %d", found, trials)
			}
		})
	}

	// Without any direction, noise of a mechanism is its floor: no value is published as it is.
	for _, kind := range []Kind{NoNoise, ExpmLaplace, ExpmGaussian, Wasserstein, ApproximateWasserstein} {
		c := calibrated(t, kind, everyKind(kind, 2))
		for k, sd := range c.SD {
			if sd < 1 {
				t.Errorf("%s: component %d has noise of %g on a lattice of 1", kind, k, sd)
			}
		}
	}
}

// tried returns what the analyst takes for F.
func tried(release Release, v []float64, reach float64) []float64 {
	x := make([]float64, len(v))
	for k, text := range release.Values() {
		x[k], _ = strconv.ParseFloat(text, 64)
	}
	least, guess := math.Inf(1), make([]float64, len(v))
	for count := math.Floor(x[0] - reach); count <= x[0]+reach; count++ {
		y := (x[0] - count) / v[0]
		var off float64
		for k := range x {
			off += math.Abs(x[k] - v[k]*y - math.Round(x[k]-v[k]*y))
		}
		if off < least {
			least = off
			for k := range x {
				guess[k] = math.Round(x[k] - v[k]*y)
			}
		}
	}
	return guess
}
