package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Sum is a public fact about F: these components add up to the total.
type Sum struct {
	Components []int
	Total      *big.Rat
}

// maxSums is how many sums are fitted together; more are fitted one by one, which is a little less exact.
const maxSums = 500

// SummingTo returns the release that is closest to r, in the metric of the noise, among those whose components add up
// to public totals; no component is in two of the sums. It is post-processing of what is released already: it looks at
// no statistic, and nothing in it is random. With A the matrix of the sums and Σ the covariance of the noise the
// correction is Σ Aᵀ (A Σ Aᵀ)⁻¹ (total - A r). What is left by rounding goes to the components that rounding has moved
// most.
func (r Release) SummingTo(n Noise, sums []Sum) (Release, error) {
	values := make([]*big.Rat, len(r.values))
	for k, text := range r.values {
		v, ok := new(big.Rat).SetString(text)
		if !ok {
			return Release{}, fmt.Errorf("adjusting a release: %w", errMalformed)
		}
		values[k] = v
	}
	if len(n.cells) != len(values) {
		return Release{}, fmt.Errorf("adjusting a release: %d values for noise of %d", len(values), len(n.cells))
	}
	rest, with, seen, err := n.missing(values, sums)
	if err != nil {
		return Release{}, fmt.Errorf("adjusting a release: %w", err)
	}

	// Each component takes of what is missing in proportion to what its noise has in common with the sum's.
	for g, l := range multipliers(sums, with, rest) {
		for k, c := range with[g] {
			if d := new(big.Rat).SetFloat64(c * l); d != nil {
				values[k].Add(values[k], d)
			}
		}
	}

	out := Release{values: slices.Clone(r.values)}
	for k, v := range values {
		if !seen[k] {
			out.values[k] = v.FloatString(decimals(r.values[k]))
		}
	}
	for _, s := range sums {
		digits := decimals(strings.TrimRight(s.Total.FloatString(30), "0"))
		for _, k := range s.Components {
			digits = max(digits, decimals(r.values[k]))
		}
		for i, text := range apportion(values, s, digits) {
			out.values[s.Components[i]] = text
		}
	}
	return out, nil
}

// missing returns for each sum what the values lack of its total, and the covariance of its noise with that of each
// component; and which components are in a sum.
func (n Noise) missing(values []*big.Rat, sums []Sum) (rest []float64, with [][]float64, seen []bool, err error) {
	seen = make([]bool, len(values))
	rest, with = make([]float64, len(sums)), make([][]float64, len(sums))
	for g, s := range sums {
		if len(s.Components) == 0 {
			return nil, nil, nil, errors.New("a sum of nothing")
		}
		missing := new(big.Rat).Set(s.Total)
		for _, k := range s.Components {
			if k < 0 || k >= len(values) || seen[k] {
				return nil, nil, nil, fmt.Errorf("component %d is in several sums or none", k)
			}
			seen[k] = true
			missing.Sub(missing, values[k])
		}
		rest[g], _ = missing.Float64()
		with[g] = n.withSum(s.Components)
	}
	return rest, with, seen, nil
}

// withSum is the covariance of the noise of each component with that of a sum: its own, where it is in the sum, and for
// each direction what all of the sum has of it.
func (n Noise) withSum(components []int) []float64 {
	out := make([]float64, len(n.cells))
	for _, k := range components {
		sd := n.cells[k].sd()
		out[k] = sd * sd
	}
	for _, d := range n.directions {
		along := 0.0
		for _, k := range components {
			along += math.Ldexp(d.weights[k], n.cells[k].exponent)
		}
		for l, c := range n.cells {
			out[l] += d.sd() * d.sd() * along * math.Ldexp(d.weights[l], c.exponent)
		}
	}
	return out
}

// multipliers solves (A Σ Aᵀ) λ = rest.
func multipliers(sums []Sum, with [][]float64, rest []float64) []float64 {
	gram := func(g, h int) float64 {
		total := 0.0
		for _, k := range sums[h].Components {
			total += with[g][k]
		}
		return total
	}

	// Of many sums each by itself, as if they had nothing in common.
	out := make([]float64, len(sums))
	scale := make([]float64, len(sums))
	for g := range sums {
		if v := gram(g, g); v > 0 {
			scale[g] = 1 / math.Sqrt(v)
		}
		out[g] = rest[g] * scale[g] * scale[g]
	}

	if len(sums) > maxSums {
		return out
	}

	// Otherwise the normal equations, in units in which each sum's noise is 1.
	m := mat.NewSymDense(len(sums), nil)
	b := mat.NewVecDense(len(sums), nil)
	for g := range sums {
		b.SetVec(g, rest[g]*scale[g])
		for h := range g + 1 {
			m.SetSym(g, h, gram(g, h)*scale[g]*scale[h])
		}
	}

	var c mat.Cholesky
	var x mat.VecDense
	if !c.Factorize(m) || c.SolveVecTo(&x, b) != nil {
		return out
	}
	for g := range out {
		out[g] = x.AtVec(g) * scale[g]
	}
	return out
}

// apportion writes the components of a sum with that many decimals, so that they add up to its total exactly: each is
// rounded down, and the units that are missing go to the largest remainders, round after round.
func apportion(values []*big.Rat, s Sum, digits int) []string {
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
	type part struct {
		place int
		whole *big.Int
		rest  *big.Rat
	}

	scaled := new(big.Rat).Mul(s.Total, unit)
	missing := new(big.Int).Set(scaled.Num()) // digits are enough for it to be whole
	parts := make([]part, len(s.Components))
	for i, k := range s.Components {
		x := new(big.Rat).Mul(values[k], unit)
		w := new(big.Int).Div(x.Num(), x.Denom())
		parts[i] = part{i, w, x.Sub(x, new(big.Rat).SetInt(w))}
		missing.Sub(missing, w)
	}

	slices.SortStableFunc(parts, func(a, b part) int { return b.rest.Cmp(a.rest) })

	// The largest remainders first.
	each, more := new(big.Int).DivMod(missing, big.NewInt(int64(len(parts))), new(big.Int))
	out := make([]string, len(parts))
	for i, p := range parts {
		p.whole.Add(p.whole, each)
		if int64(i) < more.Int64() {
			p.whole.Add(p.whole, big.NewInt(1))
		}
		out[p.place] = new(big.Rat).Quo(new(big.Rat).SetInt(p.whole), unit).FloatString(digits)
	}
	return out
}

// decimals is the number of digits behind the point of a decimal text.
func decimals(text string) int {
	_, behind, _ := strings.Cut(text, ".")
	return len(behind)
}
