package joint

import (
	"errors"
	"fmt"
	"math"
)

// Sample is the reference, row by row: of each secret the class that a row is in, or the number whose mean is secret.
type Sample struct {
	Rows    int
	Classes map[string][]int16   // of secrets about shares of classes: from 0, -1 for none
	Numbers map[string][]float64 // of secrets about a mean
}

// Secret is what two values of are to be hidden. Its name is in one of the sample's maps.
type Secret struct {
	Name         string
	N            float64 // rows of the protected table
	Distribution bool    // about what rows are drawn from, and not about the rows that there are
	Pairs        []Pair
}

// Pair is two values of a secret. What an account says holds for all pairs in the convex hull of a secret's pairs,
// those of a value with itself among them: of all p and q in [from, to] with |p-q| ≤ within it needs from and
// from+within, and to-within and to.
type Pair struct {
	// Shares of the classes: each class's, not negative, with the same sum under both. What the sums lack of 1 is rows
	// of no class: they are the same under both, and counted for nothing.
	P, Q []float64
	// Move is by how much the mean of a number differs.
	Move float64
}

// moments are what an account knows of a secret and of the components in its stack.
type moments struct {
	Secret
	class  []int32     // of each row, from 1; 0 for none
	rows   []float64   // of the reference in each class
	number []float64   // of each row less its mean; nil for shares of classes
	spread float64     // the number's variance
	mean   [][]float64 // by class, of each component: E[h | class]
	along  []float64   // of each component: Cov(h, number)
	aside  float64     // Σ κ² of what moves beside Delta
	pairs  []*pair
}

// newMoments checks a secret.
func newMoments(sample Sample, s Secret) (*moments, error) {
	m := &moments{Secret: s}
	if !(s.N >= 1) || s.N > 1e15 {
		return nil, fmt.Errorf("a table of %g rows", s.N)
	}
	if len(s.Pairs) == 0 {
		return nil, errors.New("no pairs")
	}

	// A secret is one about shares of classes, or about the mean of a number.
	classes, shares := sample.Classes[s.Name]
	number, mean := sample.Numbers[s.Name]
	if shares == mean {
		return nil, errors.New("the reference must have its classes or its number")
	}
	var err error
	if shares {
		err = m.classes(sample.Rows, classes)
	} else {
		err = m.numbers(sample.Rows, number)
	}

	if err != nil {
		return nil, err
	}

	m.mean = make([][]float64, len(m.rows))
	for _, p := range s.Pairs {
		q, err := m.newPair(p)
		if err != nil {
			return nil, err
		}
		m.pairs = append(m.pairs, q)
	}
	return m, nil
}

func (m *moments) classes(rows int, of []int16) error {
	if len(of) != rows {
		return fmt.Errorf("classes of %d rows, not of %d", len(of), rows)
	}
	k := len(m.Pairs[0].P)
	m.class, m.rows = make([]int32, rows), make([]float64, k)
	for r, c := range of {
		if c < -1 || int(c) >= k {
			return fmt.Errorf("class %d of %d", c, k)
		}
		m.class[r] = int32(c) + 1
		if c >= 0 {
			m.rows[c]++
		}
	}
	return nil
}

// numbers takes over the number of each row of the reference, of which the secret is the mean. All rows are one class.
func (m *moments) numbers(rows int, of []float64) error {
	if len(of) != rows {
		return fmt.Errorf("numbers of %d rows, not of %d", len(of), rows)
	}
	mean := 0.0
	for _, v := range of {
		if math.IsNaN(v) || math.Abs(v) > largest {
			return fmt.Errorf("a number of %g", v)
		}
		mean += v / float64(rows)
	}

	// The number is centred, so that its sum of squares is how it varies.
	m.class, m.rows, m.number = make([]int32, rows), []float64{float64(rows)}, make([]float64, rows)
	for r, v := range of {
		m.class[r], m.number[r] = 1, v-mean
		m.spread += (v - mean) * (v - mean) / float64(rows)
	}
	if !(m.spread > 0) {
		return errors.New("a number that does not vary")
	}
	return nil
}

// newPair checks a pair.
func (m *moments) newPair(p Pair) (*pair, error) {
	k := len(m.rows)
	out := &pair{shared: make([]float64, k), moved: make([]float64, k)}

	// A pair of means moves the number, and leaves the class of each row as it is.
	if m.number != nil {
		if p.P != nil || p.Q != nil || !(math.Abs(p.Move) <= largest) {
			return nil, errors.New("a pair of means that has shares, or a movement that is not finite")
		}
		out.shared[0], out.number = m.N, m.N*p.Move/m.spread
		return out, nil
	}

	if len(p.P) != k || len(p.Q) != k || p.Move != 0 {
		return nil, fmt.Errorf("a pair of shares of %d and %d classes, not of %d", len(p.P), len(p.Q), k)
	}
	sumP, sumQ := 0.0, 0.0
	for c := range k {
		if !(p.P[c] >= 0 && p.P[c] <= 1 && p.Q[c] >= 0 && p.Q[c] <= 1) {
			return nil, errors.New("a pair with shares that are none")
		}
		if p.P[c]+p.Q[c] > 0 && m.rows[c] == 0 {
			return nil, fmt.Errorf("no row of the reference is in class %d", c)
		}
		sumP, sumQ = sumP+p.P[c], sumQ+p.Q[c]
		out.shared[c] = m.N * math.Min(p.P[c], p.Q[c])
		out.moved[c] = m.N * (p.P[c] - p.Q[c])
	}

	// Shares are of all rows, or of those that the secret is about.
	const rounding = 1e-12
	if sumP > 1+rounding || sumQ > 1+rounding || math.Abs(sumP-sumQ) > rounding {
		return nil, fmt.Errorf("a pair with shares that add up to %g and %g", sumP, sumQ)
	}
	if m.Distribution {
		if sumP < 1-rounding {
			return nil, fmt.Errorf("shares that rows are drawn with add up to %g, and not to 1", sumP)
		}
		out.ends = [][]float64{p.P, p.Q}
	}

	out.bend = p.Bend(m.Distribution)
	return out, nil
}

// Bend is how far the covariances under the two values can differ, in units of Sigma0, whatever is released: D = n Σ
// (p_c-q_c) C_c and Sigma0 = n Σ min(p_c,q_c) C_c, so |D| ≤ Bend·Sigma0 with Bend the greatest |p_c-q_c|/min(p_c,q_c).
// It is +Inf where a class is empty under one value, and where rows are drawn: their number in a class then varies too.
func (p Pair) Bend(distribution bool) float64 {
	if p.P == nil {
		return 0 // a mean moves, and no covariance
	}
	if distribution {
		return math.Inf(1)
	}
	most := 0.0
	for c := range p.P {
		if d := math.Abs(p.P[c] - p.Q[c]); d > 0 {
			most = math.Max(most, d/math.Min(p.P[c], p.Q[c]))
		}
	}
	return most
}
