package twin

import (
	"fmt"
	"math"
	"math/big"

	"fugu/mechanism"
)

// rate is ε as a fraction, for samplers that compute in integers: num/den ≤ ε.
type rate struct{ num, den uint64 }

// leastBits is how exact the fraction is: to a part in 2^leastBits of ε.
const leastBits = 12

// newRate is the fraction next below epsilon of which den·factor can still be drawn with.
func newRate(epsilon float64, factor int64) (rate, error) {
	e := 23 - math.Ilogb(epsilon)
	for ; e > 0 && math.Ldexp(float64(factor), e) > mechanism.MaxRatio; e-- {
		// A coarser fraction.
	}
	e = max(e, 0)
	num := math.Floor(math.Ldexp(epsilon, e))
	if num < 1<<leastBits && num != math.Ldexp(epsilon, e) || math.Ldexp(float64(factor), e) > mechanism.MaxRatio ||
		num > mechanism.MaxRatio {
		return rate{}, fmt.Errorf("epsilon %v is too small for a pair of %d rows", epsilon, factor)
	}
	n, d := new(big.Int).SetUint64(uint64(num)), new(big.Int).Lsh(big.NewInt(1), uint(e))
	g := new(big.Int).GCD(nil, nil, n, d)
	return rate{n.Div(n, g).Uint64(), d.Div(d, g).Uint64()}, nil
}

// epsilon is the fraction as a number; it has few enough bits.
func (r rate) epsilon() float64 { return float64(r.num) / float64(r.den) }
