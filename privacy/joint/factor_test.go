package joint

import (
	"math"
	"math/rand/v2"
	"testing"
)

// However many vectors are solved at a time, and by however many goroutines, L times each is what it was, and what lies
// behind L's rows is left alone.
func TestSolve(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, size := range []int{0, 1, 7, 100} {
		f := &factor{}
		for i := range size {
			row := make([]float64, i+1)
			for k := range row {
				row[k] = rng.NormFloat64() / 8
			}
			row[i] = 1 + rng.Float64()
			f.rows = append(f.rows, row)
		}

		for _, count := range []int{0, 1, 3, abreast, abreast + 1, 2*abreast + 1} {
			for _, goroutines := range []int{1, 2} {
				var before, after [][]float64
				for range count {
					v := make([]float64, size+2)
					for i := range v {
						v[i] = rng.NormFloat64()
					}
					before, after = append(before, v), append(after, append([]float64(nil), v...))
				}
				f.solve(after, goroutines)
				for c := range after {
					compareSolved(t, f, before[c], after[c])
				}
			}
		}
	}
}

// compareSolved fails unless after is L⁻¹ of before, as far as L goes, and before behind it.
func compareSolved(t *testing.T, f *factor, before, after []float64) {
	t.Helper()
	for i, want := range before {
		got := after[i]
		if i < len(f.rows) {
			got = 0
			for k, v := range f.rows[i] {
				got += v * after[k]
			}
		}
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%d rows, entry %d: %g, want %g", len(f.rows), i, got, want)
		}
	}
}
