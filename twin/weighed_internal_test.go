package twin

import (
	"math/big"
	"testing"
)

// The sum over the common denominator is the sum of fractions.
func TestWeighed(t *testing.T) {
	x, ways := big.NewRat(3, 7), []int64{2, 0, 5, 1}
	want := new(big.Rat)
	for j, n := range ways {
		want.Add(want, new(big.Rat).Mul(big.NewRat(n, 1), power(x, int64(j))))
	}
	if got := weighed(x, ways); got.Cmp(want) != 0 || weighed(x, nil).Sign() != 0 {
		t.Errorf("%v and %v, want %v and 0", got, weighed(x, nil), want)
	}
}
