package rowsum

import (
	"errors"
	"math"
	"slices"
)

// class is the law of what one row of a class adds.
type class struct {
	values, weights []float64 // ascending; the weights add up to 1
	mean, variance  float64
	logMoment       map[int]float64 // ln E e^(sX), by the logarithm of |s| and its sign
}

var errValues = errors.New("rowsum: a class without rows, or with a value that is not finite")

func newClass(rows []float64) (*class, error) {
	if len(rows) == 0 || len(rows) > most {
		return nil, errValues
	}

	// Rows of one value are one point of the law, however many they are.
	sorted := slices.Sorted(slices.Values(rows))
	c := &class{logMoment: map[int]float64{}}
	one := 1 / float64(len(sorted))
	for _, v := range sorted {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errValues
		}
		if n := len(c.values); n > 0 && c.values[n-1] == v {
			c.weights[n-1] += one
		} else {
			c.values, c.weights = append(c.values, v), append(c.weights, one)
		}
	}

	// The variance in a pass of its own, from differences: sums of squares would lose what tells values apart.
	for i, v := range c.values {
		c.mean += c.weights[i] * v
	}
	for i, v := range c.values {
		c.variance += c.weights[i] * (v - c.mean) * (v - c.mean)
	}
	return c, nil
}

// shift takes the same number off every value.
func (c *class) shift(by float64) {
	for i := range c.values {
		c.values[i] -= by
	}
	c.mean -= by
}

// tilt is ±2^(i/4).
func tilt(i int, sign float64) float64 { return sign * math.Exp2(float64(i)/4) }

// cumulant is ln E e^(sX) for s = ±2^(i/4).
func (c *class) cumulant(i int, sign float64) float64 {
	key := 2 * i
	if sign < 0 {
		key++
	}
	if v, ok := c.logMoment[key]; ok {
		return v
	}
	// The greatest exponent comes off first, so that nothing overflows.
	s := tilt(i, sign)
	top := math.Max(s*c.values[0], s*c.values[len(c.values)-1])
	sum := 0.0
	for k, v := range c.values {
		sum += c.weights[k] * math.Exp(s*v-top)
	}
	c.logMoment[key] = top + math.Log(sum)
	return c.logMoment[key]
}

const (
	resync = 64  // angles are computed anew after so many steps of a recurrence
	chunk  = 128 // values whose terms are added up before they are added to the rest
)

// characteristic appends ln E e^(itX) at t = k·dt for k from len(out) to last.
func (c *class) characteristic(out []complex128, dt float64, last int) []complex128 {
	first := len(out)
	sums := make([]complex128, last+1-first)
	part := make([]complex128, len(sums))
	for from := 0; from < len(c.values); from += chunk {
		clear(part)
		for i := from; i < min(from+chunk, len(c.values)); i++ {
			c.turn(part, i, dt, first)
		}
		for k, v := range part {
			sums[k] += v
		}
	}
	for _, v := range sums {
		out = append(out, logarithm(v))
	}
	return out
}

// turn adds the i-th value's part of E e^(itX) for t = (first+k)·dt.
func (c *class) turn(to []complex128, i int, dt float64, first int) {
	w, angle := c.weights[i], c.values[i]*dt
	sin, cos := math.Sincos(angle)
	var x, y float64
	for k := range to {
		if k%resync == 0 {
			y, x = math.Sincos(float64(first+k) * angle)
			x, y = w*x, w*y
		}
		to[k] += complex(x, y)
		x, y = x*cos-y*sin, x*sin+y*cos
	}
}
