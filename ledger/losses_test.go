package ledger

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"fugu/privacy"
	"fugu/test/golden"
)

// roundedUp is a+b with the rounding of IEEE 754's roundTowardPositive.
func roundedUp(a, b float64) float64 {
	exact := new(big.Float).SetPrec(2200).Add(big.NewFloat(a), big.NewFloat(b))
	v, _ := new(big.Float).SetPrec(53).SetMode(big.ToPositiveInf).Set(exact).Float64()
	return v
}

func FuzzAddUp(f *testing.F) {
	f.Add(0.1, 0.2)
	f.Add(1.0, 1e-300)
	f.Add(5e-324, 5e-324)
	f.Add(math.MaxFloat64, 1.0)
	f.Add(math.MaxFloat64, math.MaxFloat64)
	f.Add(1.0, math.Nextafter(0.25, 1))
	f.Fuzz(func(t *testing.T, a, b float64) {
		if !(privacy.Loss{Pure: a, Delta: b}).Valid() {
			t.Skip()
		}
		got := addUp(a, b)
		if math.IsInf(a+b, 1) {
			if !math.IsInf(got, 1) {
				t.Errorf("%g + %g = %g, want infinity", a, b, got)
			}
		} else if want := roundedUp(a, b); got != want {
			t.Errorf("%g + %g = %g, want %g", a, b, got, want)
		}
	})
}

// Random losses, many orders of magnitude apart: the nearest float64 would be below the sum in half of the steps.
func TestTotalIsNeverBelowTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var total privacy.Loss
	exact := new(big.Float).SetPrec(2200)
	for i := range 20000 {
		v := math.Ldexp(r.Float64(), r.IntN(30)-30)
		total = plus(total, privacy.Loss{Pure: v, Kappa2: v, Delta: v})
		exact.Add(exact, big.NewFloat(v))
		if big.NewFloat(total.Pure).Cmp(exact) < 0 {
			t.Fatalf("after %d losses the total %v is below their sum", i+1, total.Pure)
		}
	}
	if total.Pure != total.Kappa2 || total.Pure != total.Delta {
		t.Errorf("%+v", total)
	}
	if sum, _ := exact.Float64(); total.Pure > sum*(1+20000*0x1p-52) {
		t.Errorf("the total %v is far above the sum %v", total.Pure, sum)
	}
}

func TestExhaustedText(t *testing.T) {
	limit := privacy.Budget{Epsilon: 20, Delta: 0.01}
	exact := privacy.Budget{Epsilon: 1}
	pure := func(v float64) privacy.Loss { return privacy.Loss{Pure: v} }
	var out []string
	for _, e := range []Exhausted{
		{"adult", "", "high_income", limit, pure(19.5), pure(1)},
		{"adult", "bob", "high_income", limit, pure(19.5), pure(1)},
		{"adult", "", "high_income", limit, pure(20), pure(0.1)},
		{"adult", "", "high_income", limit, pure(25), pure(0.1)}, // the limit was lowered
		{"adult", "", "high_income", limit, privacy.Loss{}, pure(21)},
		{"adult", "", "high_income", exact, pure(0.9999), pure(0.00010000001)}, // four digits would look alike
		{"adult", "", "high_income", limit, privacy.Loss{Pure: 1, Delta: 0.009}, privacy.Loss{Delta: 0.002}},
		{"adult", "", "high_income", limit, privacy.Loss{Delta: 0.02}, pure(1)},
		{"adult", "", "high_income", limit, privacy.Loss{Pure: 13, Kappa2: 4}, privacy.Loss{Kappa2: 4}},
	} {
		out = append(out, e.Error())
	}
	golden.Check(t, "testdata/exhausted.txt", strings.Join(out, "\n")+"\n")
}
