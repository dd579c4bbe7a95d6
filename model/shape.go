package model

import (
	"context"
	"errors"
	"fmt"
	"math"

	"fugu/planner"
)

// Shape is how far the distribution of one component of F is from a normal one, under one value of a secret. F is a sum
// over n independent rows, n_c of each class c, whose row function has the central moments μ2, μ3, μ4 in class c:
//
//	skewness         Σ n_c μ3 / V^(3/2)                    V = Σ n_c μ2
//	excess kurtosis  Σ n_c (μ4 - 3 μ2²) / V²
//
// and both fall with the rows, as 1/√n and 1/n.
type Shape struct {
	Skewness, Kurtosis float64
	// Bound holds whatever the distribution is: no probability of an interval below a point differs by more from the
	// normal one [Berry and Esseen; the constant 0.5600 is Shevtsova's, Doklady Mathematics 82 (2010), for rows that
	// differ in distribution]. E|h-μ|³ is bounded by √(μ2 μ4).
	Bound float64
	// Estimate is the first two terms of Edgeworth's series at their worst points, which is what that difference really
	// comes to as long as it is small: max|(x²-1)φ(x)|/6 for the skewness, max|(x³-3x)φ(x)|/24 for the excess kurtosis.
	Estimate float64
}

const (
	berryEsseen  = 0.5600
	edgeworthOne = 0.0664904 // φ(0)/6
	rounding     = 1e-12
	edgeworthTwo = 0.0229412 // |x³-3x|φ(x)/24 at x² = 3-√6
)

// Shapes are the first four moments of the terms in the classes of a table's secrets.
type Shapes struct {
	cut    *planner.Bound
	shaped []int         // the terms that have powers
	size   [][]float64   // secret, class: rows of the reference
	powers [][][]float64 // secret, class: cell × term × 4, sums of h, h², h³, h⁴
}

// MeasureShapes scans the reference once.
func MeasureShapes(ctx context.Context, ref planner.Querier, c *planner.Bound, totals []Totals) (*Shapes, error) {
	rows, err := ref.Query(ctx, c.Shapes(), nil, nil)
	if err != nil {
		return nil, err
	}

	s := &Shapes{cut: c, shaped: c.Shaped()}
	for i := range totals {
		size := totals[i].classes(c.Table.Secrets[i])
		powers := make([][]float64, len(size))
		for class := range powers {
			powers[class] = make([]float64, 4*len(c.Cells)*len(c.Terms))
		}
		s.size, s.powers = append(s.size, size), append(s.powers, powers)
	}

	// Groups that the statement does not answer are no part of its shape.
	cells := c.Index()
	for _, row := range rows {
		cell, ok := cells.Find(row[:c.Head()])
		if !ok {
			continue
		}
		if err := s.add(cell, row[c.Head():]); err != nil {
			return nil, fmt.Errorf("reading the shapes of the reference: %w", err)
		}
	}
	return s, nil
}

// classes are the rows of the classes that Shapes tells apart: outside and inside a proportion's predicate, and for
// other secrets all rows as one.
func (t Totals) classes(s planner.Secret) []float64 {
	if s.Predicate != nil {
		return t.Size
	}
	return []float64{t.Outside + sumOf(t.Size)}
}

func (s *Shapes) add(cell int, row []planner.Value) error {
	class := make([]int, len(s.size))
	for i, sec := range s.cut.Table.Secrets {
		if sec.Predicate != nil {
			if row[0].Text == "t" {
				class[i] = 1
			}
			row = row[1:]
		}
	}

	// Of each term there are four powers; the first term is 1, of which all are the number of rows.
	nt := len(s.cut.Terms)
	sums := make([]float64, 4*nt)
	for i, v := range row {
		x, err := number(v)
		if err != nil {
			return err
		}
		if i == 0 {
			for j := range 4 {
				sums[j] = x
			}
		} else {
			sums[4*s.shaped[(i-1)/4]+(i-1)%4] = x
		}
	}

	for i, c := range class {
		plus(s.powers[i][c][4*nt*cell:], sums)
	}
	return nil
}

// ErrNoShape says that a component is nothing of which the moments of single rows tell the shape.
var ErrNoShape = errors.New("only counts, sums and averages of single rows have a shape that is known")

// At is the shape of a component under the value p of a secret proportion; of other secrets, at the reference's own. It
// is zero for a component that does not vary. It wraps ErrNoShape for what is no count, sum or average of single rows,
// and for an average over no rows.
func (s *Shapes) At(secret int, p float64, k Component) (Shape, error) {
	shares := []float64{1 - p, p}
	if len(s.size[secret]) == 1 {
		shares = []float64{1}
	}
	sum, count, err := s.terms(k)
	if err != nil {
		return Shape{}, err
	}
	at := func(class, term, power int) float64 {
		if term < 0 {
			return 0
		}
		return s.powers[secret][class][4*(k.Cell*len(s.cut.Terms)+term)+power-1] / s.size[secret][class]
	}

	// The row function is x - r·y up to a factor: r = 0 for a sum, x = 0 and r = -1 for a count.
	r := -1.0
	if sum >= 0 {
		r = 0
	}
	if sum >= 0 && count >= 0 {
		var s, c float64
		for class, share := range shares {
			s, c = s+share*at(class, sum, 1), c+share*at(class, count, 1)
		}
		if c <= 0 {
			return Shape{}, fmt.Errorf("%w, and this is an average over no rows", ErrNoShape)
		}
		r = s / c
	}

	// Cumulants of independent rows add up.
	var variance, third, fourth, absolute float64
	for class, share := range shares {
		x := powers{at(class, sum, 1), at(class, sum, 2), at(class, sum, 3), at(class, sum, 4)}
		c2, c3, c4 := x.central(r, at(class, count, 1))
		n := share * float64(s.cut.Table.Rows)
		variance, third = variance+n*c2, third+n*c3
		fourth, absolute = fourth+n*(c4-3*c2*c2), absolute+n*math.Sqrt(c2*c4)
	}

	if !(variance > 0) {
		return Shape{}, nil
	}

	out := Shape{Skewness: third / math.Pow(variance, 1.5), Kurtosis: fourth / (variance * variance)}
	out.Bound = math.Min(1, berryEsseen*absolute/math.Pow(variance, 1.5))
	out.Estimate = edgeworthOne*math.Abs(out.Skewness) + edgeworthTwo*math.Abs(out.Kurtosis)
	return out, nil
}

// terms returns the terms that a component is made of; -1 where it has no sum, or no count.
func (s *Shapes) terms(k Component) (sum, count int, err error) {
	a := s.cut.Aggregates[k.Aggregate]
	switch {
	case a.Sampled != nil:
		return -1, -1, ErrNoShape
	case a.Linear() && s.cut.Single(a.Terms[0]):
		return -1, a.Terms[0], nil
	case a.Linear():
		return a.Terms[0], -1, nil
	case !a.Second() && s.cut.Single(a.Terms[0]):
		return a.Terms[1], a.Terms[0], nil // N comes first
	}
	return -1, -1, ErrNoShape
}

// powers are E x, E x², E x³ and E x⁴ of a row of one class.
type powers [4]float64

// central returns the central moments 2 to 4 of x - r·y, where y is 0 or 1 and has the mean of that name, and x is 0
// where y is 0, so that x^j y^l = x^j for j > 0. All are 0 for what is constant but for rounding.
func (x powers) central(r, y float64) (c2, c3, c4 float64) {
	x1, x2, x3, x4 := x[0], x[1], x[2], x[3]
	m1 := x1 - r*y
	m2 := x2 - 2*r*x1 + r*r*y
	m3 := x3 - 3*r*x2 + 3*r*r*x1 - r*r*r*y
	m4 := x4 - 4*r*x3 + 6*r*r*x2 - 4*r*r*r*x1 + r*r*r*r*y
	c2 = m2 - m1*m1
	if c2 <= rounding*m2 {
		return 0, 0, 0
	}
	c3 = m3 - 3*m1*m2 + 2*m1*m1*m1
	c4 = math.Max(c2*c2, m4-4*m1*m3+6*m1*m1*m2-3*m1*m1*m1*m1)
	return c2, c3, c4
}

// Rows is the number of rows of the reference that a cell has.
func (s *Shapes) Rows(cell int) float64 {
	total := 0.0
	for _, powers := range s.powers[0] {
		total += powers[4*len(s.cut.Terms)*cell]
	}
	return total
}
