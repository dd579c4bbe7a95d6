package mechanism

import (
	"io"
	"math"
	"strconv"
	"testing"

	"fugu/sensitivity"
)

// draws releases F = 0 n times and returns the values, by component.
func draws(t testing.TB, noise Noise, n int, random io.Reader) [][]float64 {
	t.Helper()
	zero := statistics(make([]float64, len(noise.cells))...)
	out := make([][]float64, len(noise.cells))
	for range n {
		r, err := noise.Release(random, zero)
		if err != nil {
			t.Fatal(err)
		}
		for k, text := range r.Values() {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			out[k] = append(out[k], v)
		}
	}
	return out
}

// Each entry of the sample covariance of n = 20,000 releases is compared with Σ_s 2t_s²v_sv_sᵀ + diag(floor²) in units
// of its own standard error (from fourth moments); |z| > 5.5 has probability 4e-8 for each of the 6 entries.
func TestDirectionalCovariance(t *testing.T) {
	const n, limit = 20_000, 5.5
	r := Request{Budget: budget(1, 1e-6)}
	for range 3 {
		r.Components = append(r.Components, Component{Lattice: 1, Unit: 1})
	}
	r.Shifts = []sensitivity.Shift{
		{Secret: "a", Along: []float64{40, -30, 20}, Beside: []float64{1, 1, 1}},
		{Secret: "b", Along: []float64{0, 35, 35}, Beside: []float64{1, 2, 0}},
	}

	c := calibrated(t, Directional, r)
	x := draws(t, c.Noise, n, seeded(42))
	z := func(i, j int, want float64) float64 {
		var sum, square float64
		for l := range n {
			p := x[i][l] * x[j][l]
			sum += p
			square += p * p
		}

		mean := sum / n
		return (mean - want) / math.Sqrt((square/n-mean*mean)/n)
	}
	for i := range 3 {
		for j := range i + 1 {
			var want float64
			for s, d := range c.Noise.directions {
				scale := float64(d.scale) / float64(d.reach) // in units of Along
				want += 2 * scale * scale * r.Shifts[s].Along[i] * r.Shifts[s].Along[j]
			}
			if i == j {
				floor := math.Ldexp(float64(c.Noise.cells[i].sigma), c.Noise.cells[i].exponent)
				want += floor * floor
				if sd := math.Sqrt(want); math.Abs(sd/c.SD[i]-1) > 1e-6 {
					t.Errorf("SD[%d] = %g, want %g", i, c.SD[i], sd)
				}
			} else if v := z(i, j, 0); math.Abs(v) < limit {
				t.Errorf("covariance %d,%d cannot be told from none: z = %.2f", i, j, v)
			}

			if v := z(i, j, want); math.Abs(v) > limit {
				t.Errorf("covariance %d,%d: z = %.2f", i, j, v)
			}
		}
	}
}
