package ledger

import (
	"math"
	"math/big"
	"strconv"
)

// Shown is how far a value is off, as people are told it: the standard deviation in four digits, as forecasts have it,
// and the ends of its interval to a hundredth of that or less, rounded outwards. So no digit is shown that means
// nothing, and no interval is narrower than it was.
func (c Cell) Shown() (sd, lower, upper string) {
	return strconv.FormatFloat(c.SD, 'g', 4, 64), outwards(c.Lower, c.SD, -1), outwards(c.Upper, c.SD, 1)
}

// digitsOfDeviation is how many digits of a standard deviation the ends of intervals are rounded to.
const digitsOfDeviation = 3

// outwards writes the end of an interval around a value with a standard deviation: the lower one with sign -1, the
// upper one with 1. What is exact, or has no end, is written as it is.
func outwards(end, sd float64, sign int) string {
	if !(sd > 0) || math.IsInf(sd, 0) || math.IsInf(end, 0) || math.IsNaN(end) {
		return strconv.FormatFloat(end, 'g', -1, 64)
	}

	// In units of the last digit, so that what is cut off is a fraction; of a number below 0 towards 0 as well.
	decimals := digitsOfDeviation - 1 - int(math.Floor(math.Log10(sd)))
	unit := tenTo(-decimals)
	units := new(big.Rat).Quo(new(big.Rat).SetFloat64(end), unit)
	whole := new(big.Int).Quo(units.Num(), units.Denom())
	if !units.IsInt() && units.Sign() == sign {
		whole.Add(whole, big.NewInt(int64(sign)))
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt(whole), unit).FloatString(max(0, decimals))
}

// tenTo is a power of ten.
func tenTo(exponent int) *big.Rat {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
	if exponent < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), power)
	}
	return new(big.Rat).SetInt(power)
}
