package channel

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// all is the number of values up to which every extreme column is looked at; their number doubles with each value.
const all = 10

// margins are taken off ε, the next where one was not enough, for what a programme that is slightly off, float64 and
// rounding to multiples of 1/Whole may add to a leakage.
var margins = []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, .1}

// least is the smallest ε for which there is a channel. By it a value of one in a thousand is hardly told; the
// programme's columns cannot be told apart either.
const least = .001

// slightly is how far the right sides of the programme's equations are from one, so that no two of its vertices
// coincide: at one that several bases share, as where all values are equally frequent, the simplex method may go round
// for ever.
const slightly = 1e-8

// Optimal is the channel that says most of the true values, in mutual information under the ball's center, of those
// that leak at most epsilon for every law of the ball.
//
// The channels that keep ε are a polytope [Grosse et al., Proposition 2], and mutual information is a sum of a convex
// and homogeneous function of each column, so that an optimal channel's columns are on extreme rays of the cone of
// columns that keep ε. They can be written down (see rays); a linear programme finds how much of each there is, as
// [Grosse et al. 2024, Theorem 6] has it without a radius. With more than ten values only those rays are looked at that
// raise one value or lower one: what is kept is the same, the information may be less than the most.
//
// The output y has a value's name, such that what is shown speaks for what is true as far as it can (see named).
func Optimal(epsilon float64, laws Ball) (Channel, error) {
	if err := laws.Validate(); err != nil {
		return Channel{}, fmt.Errorf("channel: %w", err)
	}
	if !(epsilon >= least) || math.IsInf(epsilon, 1) {
		return Channel{}, fmt.Errorf("channel: ε = %g must be finite and at least %g", epsilon, least)
	}

	told := 0.
	for _, margin := range margins {
		columns := rays(Shrunk(epsilon-margin, laws.Radius), laws)
		weights, err := weigh(columns, laws.Center)
		if err != nil {
			return Channel{}, fmt.Errorf("channel: %w", err)
		}
		c, err := New(named(columns, weights, laws.Center))
		if err != nil {
			return Channel{}, err
		}

		// The programme's solution is believed only as far as the leakage of the channel as it stands.
		if told = c.Capacity(laws); told <= epsilon {
			return c, nil
		}
	}
	return Channel{}, fmt.Errorf("channel: found one that leaks %g where %g is allowed", told, epsilon)
}

// rays are the extreme columns v ≥ 0 with v_i ≤ e^ε' (Σ p v + β/2 v_i') for all i and i', up to a factor, which is such
// that their greatest entry is 1.
//
// An extreme ray has one active inequality less than it has entries. If its least entry t is above 0, an active
// inequality makes an entry of the set A greatest and one of B least, and says how the two compare; these are |A|+|B|-1
// independent ones, so every entry is in A or in B, and t follows. If the least entry is 0, each 0 is an inequality,
// and each greatest entry is one, so that one entry may lie between, where Σ p v puts it. A value so frequent that its
// column tells less than ε may be alone in one.
func rays(shrunk float64, laws Ball) [][]float64 {
	n := len(laws.Center)
	e, half := math.Exp(shrunk), laws.Radius/2
	var out, first [][]float64

	// One value alone, all others 0.
	for x := range n {
		if e*laws.Center[x] >= 1 {
			alone := make([]float64, n)
			alone[x] = 1
			first = append(first, alone)
		}
	}
	for _, high := range subsets(n) {
		// All others at t, which is above 0.
		chance := mean(twoValued(high, 0), laws.Center)
		if left := 1 - e*chance; left > 0 {
			v := twoValued(high, left/(e*(1-chance+half)))
			if number(high) == 1 {
				first = append(first, v)
			} else {
				out = append(out, v)
			}
		}

		// All others at 0, but for one between. Where there is one other it is the least, and t already.
		if e*chance > 1 || number(high) == n-1 {
			continue
		}
		for f := range n {
			if between := (1/e - chance) / laws.Center[f]; !high[f] && between > 0 && between < 1 {
				v := twoValued(high, 0)
				v[f] = between
				out = append(out, v)
			}
		}
	}

	// The simplex method looks for its first basis from the end. Of the columns in which one value is greatest there is
	// one for each value, and they are far from dependent; among others a float64 may take for independent what is not.
	return append(out, first...)
}

// twoValued is 1 where high is, and t elsewhere.
func twoValued(high []bool, t float64) []float64 {
	v := make([]float64, len(high))
	for x := range v {
		if v[x] = t; high[x] {
			v[x] = 1
		}
	}
	return v
}

// number is how many values a set has.
func number(set []bool) (n int) {
	for _, in := range set {
		if in {
			n++
		}
	}
	return n
}

// subsets are the sets of greatest entries that are looked at: all that are neither empty nor everything, or, of many
// values, those of one and those of all but one.
func subsets(n int) (out [][]bool) {
	if n > all {
		for x := range n {
			one, others := make([]bool, n), make([]bool, n)
			for k := range n {
				one[k], others[k] = k == x, k != x
			}
			out = append(out, one, others)
		}
		return out
	}
	for bits := 1; bits < 1<<n-1; bits++ {
		set := make([]bool, n)
		for x := range n {
			set[x] = bits>>x&1 == 1
		}
		out = append(out, set)
	}
	return out
}

// weigh is how much of each column there is in the channel that says most: the maximum of Σ w U(v) where Σ w v = 1 for
// each true value.
func weigh(columns [][]float64, law []float64) ([]float64, error) {
	if len(columns) == 0 {
		return nil, errors.New("no column keeps ε")
	}

	n := len(law)

	// No two vertices of the programme may coincide, see slightly.
	ones := make([]float64, n)
	for x := range ones {
		_, part := math.Modf(math.Phi * float64(x+1))
		ones[x] = 1 + slightly*(1+part)
	}

	cost := make([]float64, len(columns)) // which is made least
	a := mat.NewDense(n, len(columns), nil)
	for r, v := range columns {
		cost[r] = -worth(v, law)
		a.SetCol(r, v)
	}
	_, weights, err := lp.Simplex(cost, a, ones, 1e-12, nil)
	if err != nil {
		return nil, fmt.Errorf("linear programme of %d columns: %w", len(columns), err)
	}
	return weights, nil
}

// worth is what a column adds to the mutual information: Σ p v ln(v/Σ p v).
func worth(v, law []float64) float64 {
	out, mean := 0., mean(v, law)
	for x := range v {
		if v[x] > 0 {
			out += law[x] * v[x] * math.Log(v[x]/mean)
		}
	}
	return out
}
