package rowsum

import (
	"errors"
	"math"
)

// Sum is the law of a sum over the rows of a table: so many rows, each an independent draw from what the rows of its
// class add. How many are of class 1 is the secret.
type Sum struct {
	of     [2]*class // class 0 and class 1
	rows   int
	pairs  Pairs
	whole  *answered     // the last whole certificate
	hard   int           // where the box begins that was the hardest so far
	beyond bool          // a certificate took too long
	grids  map[int]*grid // what was computed of the characteristic functions, by the logarithm of the period
}

// Pairs are those of numbers of rows of class 1 that are to be hidden: every two from Low to High that are at most
// Apart from each other.
type Pairs struct{ Low, High, Apart int }

// most bounds the rows of a table and of a reference, for the sake of rounding and of time.
const most = 1 << 20

// New returns the sum over rows of a table, of which those of class c add any of values[c], each as likely as often as
// it is there.
func New(values [2][]float64, rows int, p Pairs) (*Sum, error) {
	if !(0 <= p.Low && p.Low < p.High && p.High <= rows && 0 < p.Apart && rows <= most) {
		return nil, errors.New("rowsum: no pairs of numbers of rows")
	}
	s := &Sum{rows: rows, pairs: p, grids: map[int]*grid{}}
	middle := 0.0
	for c, v := range values {
		var err error
		if s.of[c], err = newClass(v); err != nil {
			return nil, err
		}
		middle += s.of[c].mean / 2
	}

	// The same number off every row moves both sums of a pair alike, and keeps angles small.
	for _, c := range s.of {
		c.shift(middle)
	}
	return s, nil
}

// Step is by how much the sum's mean moves for one row more of class 1.
func (s *Sum) Step() float64 { return s.of[1].mean - s.of[0].mean }

// Rows is the number of rows of the table.
func (s *Sum) Rows() int { return s.rows }

// variance is that of the sum with so many rows of class 1 and of class 0.
func (s *Sum) variance(ones, zeros int) float64 {
	return float64(ones)*s.of[1].variance + float64(zeros)*s.of[0].variance
}

// widest is the standard deviation of the sum with its noise, where it is greatest.
func (s *Sum) widest(noise float64) float64 {
	return math.Sqrt(noise + math.Max(s.variance(s.pairs.Low, s.rows-s.pairs.Low),
		s.variance(s.pairs.High, s.rows-s.pairs.High)))
}
