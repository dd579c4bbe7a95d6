package planner

import (
	"math/big"

	"github.com/jackc/pgx/v5/pgtype"
)

// Arguments are the parameters of Statistics, in text form, and their types. limits has an entry for each Base.
func (b *Bound) Arguments(limits []Limit) (values [][]byte, types []uint32) {
	for i, x := range b.Bases {
		if x.Indicator {
			continue
		}
		for set := range b.LimitSets() {
			low, high := limits[i].Low, limits[i].High
			if limits[i].Sets != nil {
				low, high = limits[i].Sets[set].Low, limits[i].Sets[set].High
			}

			// Integers are bound, multiplied and summed as integers, so their limits are integers that hold the others.
			if x.whole {
				low, high = within(low, maxFactor), within(high, maxFactor)
				values = append(values, []byte(floor(low).String()), []byte(ceiling(high).String()))
				types = append(types, pgtype.Int8OID, pgtype.Int8OID)
			} else {
				values = append(values, []byte(decimal(low)), []byte(decimal(high)))
				types = append(types, pgtype.NumericOID, pgtype.NumericOID)
			}
		}
	}

	for _, i := range b.sampled() {
		if d := b.Aggregates[i].Sampled.Domain; d != nil {
			values, types = append(values, Array(d)), append(types, pgtype.TextArrayOID)
		}
	}
	return values, types
}

func within(x *big.Rat, most int64) *big.Rat {
	for _, bound := range []int64{-most, most} {
		if b := big.NewRat(bound, 1); x.Cmp(b)*b.Sign() > 0 {
			return b
		}
	}
	return x
}

func floor(x *big.Rat) *big.Int {
	return new(big.Int).Div(x.Num(), x.Denom()) // Euclidean: rounds down, the denominator being positive
}

func ceiling(x *big.Rat) *big.Int {
	return new(big.Int).Neg(floor(new(big.Rat).Neg(x)))
}

// decimal writes x, a binary fraction, exactly.
func decimal(x *big.Rat) string { return x.FloatString(max(0, x.Denom().BitLen()-1)) }
