package joint

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// Whatever releases it grew by, W is D between S^-½: its Frobenius norm is tr(S⁻¹DS⁻¹D). What counts where W would be
// too large is D between the roots of the components' own noise.
func TestWhitenedDifferencesAgainstDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sample := drawSample(t)
		secrets := append([]Secret(nil), drawn...)
		secrets[0].Distribution = rapid.Bool().Draw(t, "distribution")
		account, err := New(sample, secrets)
		if err != nil {
			t.Fatal(err)
		}
		dense := &slow{sample: sample}
		for range rapid.IntRange(1, 4).Draw(t, "releases") {
			r := drawRelease(t, sample, dense.releases)
			if err := account.Append(r); err != nil {
				t.Fatal(err)
			}
			dense.add(r)
		}

		of := rapid.IntRange(0, 1).Draw(t, "secret")
		nth := rapid.IntRange(0, 1).Draw(t, "pair")
		sigma, _, differ := dense.moments(secrets[of], secrets[of].Pairs[nth])
		dense.noisy(sigma)
		var chol mat.Cholesky
		if !chol.Factorize(sigma) {
			t.Fatal("S is singular")
		}
		for end, d := range differ {
			var x, y mat.Dense
			if err := chol.SolveTo(&x, d); err != nil {
				t.Fatal(err)
			}
			y.Mul(&x, &x)
			want, got := mat.Trace(&y), account.secrets[of].pairs[nth].whited[end]
			if math.Abs(got.square-want) > 1e-6*math.Max(want, 1e-6) {
				t.Fatalf("‖W‖² = %v, want %v", got.square, want)
			}
			most := 0.0
			for i := range got.sums {
				sum := 0.0
				for k := range got.lower {
					sum += math.Abs(got.lower[max(i, k)][min(i, k)])
				}
				most = math.Max(most, math.Abs(sum-got.sums[i]))
			}

			if most > 1e-9*(1+want) {
				t.Fatalf("the sums of rows are off by %v", most)
			}

			checkByNoise(t, dense, d, end, account.secrets[of].pairs[nth])
		}
	})
}

// checkByNoise compares D between the roots of the components' own noise.
func checkByNoise(t *rapid.T, dense *slow, d *mat.Dense, end int, pair *pair) {
	square := 0.0
	for i, n := range dense.noise {
		sum := 0.0
		for k, m := range dense.noise {
			v := math.Abs(d.At(i, k)) / math.Sqrt(n*m)
			square, sum = square+v*v, sum+v
		}
		if got := pair.rows[end][i]; math.Abs(got-sum) > 1e-6*math.Max(sum, 1e-3) {
			t.Fatalf("row %d of D has %v by the noise, want %v", i, got, sum)
		}
	}
	if got := pair.square[end]; math.Abs(got-square) > 1e-6*math.Max(square, 1e-6) {
		t.Fatalf("‖D‖² by the noise is %v, want %v", got, square)
	}
}
