package twin

import (
	"fmt"
	"math/big"
	"slices"
)

func (v *vector) unit() (num, den uint64) { return v.num, v.den * uint64(v.move) }
func (v *vector) steps() int64            { return v.move }

// law is the product of the laws of the cells. An outcome without counts is all that are not gone through together.
func (v *vector) law(x *big.Rat, counts []int64) []Outcome {
	out := []Outcome{{Counts: []int64{}, Probability: big.NewRat(1, 1)}}
	for cell := range v.cells {
		from, to := v.part(cell)
		var next []Outcome
		for _, o := range v.cellLaw(x, cell, counts[from:to]) {
			if o.Counts == nil {
				continue
			}
			for _, before := range out {
				both := new(big.Rat).Mul(before.Probability, o.Probability)
				next = append(next, Outcome{slices.Concat(before.Counts, o.Counts), both})
			}
		}

		out = next
	}

	// What the listed outcomes leave of the probability belongs to all others.
	rest := big.NewRat(1, 1)
	for _, o := range out {
		rest.Sub(rest, o.Probability)
	}
	if rest.Sign() > 0 {
		out = append([]Outcome{{nil, rest}}, out...)
	}
	return out
}

// cellLaw goes through the vectors N + e of a cell: all of them, where noise is truncated, or those near the table, the
// same for every N. The normaliser of those without bounds counts the points of the root lattice by their distance:
// Σ x^h(e) = Σ_j C(d,j)² x^j / (1-x)^d, d classes but one [Conway & Sloane 1997].
func (v *vector) cellLaw(x *big.Rat, cell int, counts []int64) []Outcome {
	rows, d := v.cells[cell].Rows, int64(len(counts)-1)
	ways, outcomes := map[string][]int64{}, map[string][]int64{} // ways: see weighed

	low, high := make([]int64, len(counts)), make([]int64, len(counts)) // of the vectors
	for c := range counts {
		low[c], high[c] = -rows-8, 2*rows+8
		if v.most >= 0 {
			low[c], high[c] = counts[c]-d*v.most, counts[c]+v.most
		}
	}

	// All entries but the last are free: the rows of the cell leave it.
	raw := make([]int64, len(counts))
	var each func(c int, left int64)
	each = func(c int, left int64) {
		if c < len(raw)-1 {
			for raw[c] = low[c]; raw[c] <= high[c]; raw[c]++ {
				each(c+1, left-raw[c])
			}
			return
		}

		if raw[c] = left; v.most >= 0 && left > high[c] {
			return
		}

		// Vectors that are clamped to one are one outcome.
		noisy := v.nearest(cell, raw)
		key := fmt.Sprint(noisy)
		if outcomes[key] == nil {
			outcomes[key] = noisy
		}
		far := moved(raw, counts)
		for int64(len(ways[key])) <= far {
			ways[key] = append(ways[key], 0)
		}
		ways[key][far]++
	}

	each(0, rows)
	weights, total := map[string]*big.Rat{}, new(big.Rat)
	for key, w := range ways {
		weights[key] = weighed(x, w)
		total.Add(total, weights[key])
	}

	// What was not gone through has the rest of the normaliser.
	if v.most < 0 {
		all := new(big.Rat)
		for j := range d + 1 {
			ways := new(big.Int).Binomial(d, j)
			all.Add(all, new(big.Rat).Mul(new(big.Rat).SetInt(ways.Mul(ways, ways)), power(x, j)))
		}
		all.Quo(all, power(new(big.Rat).Sub(big.NewRat(1, 1), x), d))
		weights[""] = new(big.Rat).Sub(all, total)
		total = all
	}
	return normalised(weights, total, func(key string) []int64 { return outcomes[key] })
}

// weighed is Σ_j ways[j] x^j, the weight of an outcome that so many vectors at each distance come to. Its numerator
// over the common denominator is added up by Horner's rule: fractions would be shortened at each of thousands of
// vectors.
func weighed(x *big.Rat, ways []int64) *big.Rat {
	sum, over := new(big.Int), big.NewInt(1)
	for j := len(ways) - 1; j >= 0; j-- {
		here := new(big.Int).Mul(big.NewInt(ways[j]), over)
		if sum.Add(sum.Mul(sum, x.Num()), here); j > 0 {
			over.Mul(over, x.Denom())
		}
	}
	return new(big.Rat).SetFrac(sum, over)
}
