package estimate

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// factor is what is known of one number beside a normal law: that it lies between two bounds, or that it has a Laplace
// law around a centre.
type factor struct {
	low, high float64 // ±Inf: no bound
	scale     float64 // of the Laplace law; 0: there is none
	centre    float64
}

// uniform is the factor of a number that lies between bounds.
func uniform(low, high float64) factor { return factor{low: low, high: high} }

// laplace is the factor of a number with that law.
func laplace(centre, scale float64) factor {
	return factor{low: math.Inf(-1), high: math.Inf(1), centre: centre, scale: scale}
}

// log is the logarithm of the factor, up to a constant.
func (f factor) log(x float64) float64 {
	switch {
	case x < f.low || x > f.high:
		return math.Inf(-1)
	case f.scale > 0:
		return -math.Abs(x-f.centre) / f.scale
	}
	return 0
}

// moments are those of a normal law of a mean and a variance multiplied by the factor: the logarithm of its mass, its
// mean and its variance. Each side of a Laplace law tilts the normal to another one, which is cut off at the centre.
func (f factor) moments(mean, variance float64) (mass, first, second float64) {
	if f.scale == 0 {
		return truncated(mean, variance, f.low, f.high)
	}
	tilt := variance / f.scale
	lift := tilt / f.scale / 2
	ma, a, va := truncated(mean-tilt, variance, f.centre, f.high)
	mb, b, vb := truncated(mean+tilt, variance, f.low, f.centre)
	ma += lift - (mean-f.centre)/f.scale
	mb += lift + (mean-f.centre)/f.scale

	top := math.Max(ma, mb)
	wa, wb := math.Exp(ma-top), math.Exp(mb-top)
	total := wa + wb
	wa, wb = wa/total, wb/total
	return top + math.Log(total), wa*a + wb*b, wa*va + wb*vb + wa*wb*(a-b)*(a-b)
}

// nodes are how many points a piece of a density is integrated at. The density is smooth there, and e^-drop times its
// largest value at most beyond the piece's ends.
const (
	nodes = 32
	drop  = 32
)

// legendre are the nodes on [-1, 1], and their weights.
var legendreAt, legendreWeight = func() (x, w []float64) {
	x, w = make([]float64, nodes), make([]float64, nodes)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
}()

// truncated are the logarithm of the mass of a normal law between two bounds, and the mean and the variance of the law
// that is left. The bounds may be anywhere: lengths are measured from where the density is largest.
func truncated(mean, variance, low, high float64) (mass, first, second float64) {
	top := math.Min(math.Max(mean, low), high)
	off := top - mean
	span := 2 * drop * variance // of the squares of distances from the mean, at top and at the ends
	reach := math.Sqrt(off*off+span) + math.Abs(off)
	to, from := reach, -reach
	if off >= 0 {
		to = span / reach
	}
	if off <= 0 {
		from = -span / reach
	}
	from, to = math.Max(low-top, from), math.Min(high-top, to)

	// Beyond these ends the density is too small to count.
	half, middle := (to-from)/2, (from+to)/2
	var m0, m1, m2 float64
	for i, x := range legendreAt {
		d := middle + half*x
		w := legendreWeight[i] * math.Exp(-d*(d+2*off)/(2*variance))
		m0, m1, m2 = m0+w, m1+w*d, m2+w*d*d
	}
	m1, m2 = m1/m0, m2/m0
	mass = math.Log(half*m0) - off*off/(2*variance) - math.Log(2*math.Pi*variance)/2
	return mass, top + m1, m2 - m1*m1
}
