package mechanism

import (
	"math"
	"math/big"

	"gonum.org/v1/gonum/integrate/quad"
)

// hyperplane is a public total that binds a release: of these components it is certain what they add up to, whatever
// the secret and the rows are. So F, and the F' of every pair, are on the plane of the values that add up to the total,
// and so is what is released.
//
// Laplace noise is drawn given that it adds up to zero. A release y on the plane then has, given F, the probability
//
//	Π_k exp(-|y_k - F_k|/b_k) / Z,    Z the sum of Π_k exp(-|z_k|/b_k) over all z on the grid that add up to zero.
//
// Z is the same for all F. So under two laws of F the ratio of the probabilities of y is what it is for independent
// noise at the same y: whatever bounds that for every y, a pure loss or a certificate without δ, bounds this, at the
// same scales. It is the Wasserstein exponential mechanism with a base measure on the plane [Seeman, Reimherr &
// Slavković, Theorem 9]. The noise is less than what projection leaves of independent noise: of d equal scales its
// variance is (2d-1)/(2d+2) times that.
//
// Normal noise is drawn by itself, and SummingTo projects it in its own metric. That is the law given the plane, as of
// a normal vector what a regression leaves is independent of what it is regressed on; and it hides a shift on the plane
// as the whole noise does, since the sum that is projected away does not move with the shift.
type hyperplane struct {
	of    []int
	drawn bool      // Laplace noise, drawn on the plane
	total *big.Int  // of drawn: in steps of the grid that its components share
	sd    []float64 // of what is left of each component's own noise, in its units
	mean  []float64 // of drawn: E|noise|
}

const (
	// maxDrawn bounds the components of a drawn plane: the draws for one that is kept grow with d^1.5, and what is
	// gained is 3/2d of the variance.
	maxDrawn = 64
	// maxUneven bounds the ratio of their scales, and maxDrawnScale the scales in steps, so that sums of draws are
	// int64.
	maxUneven     = 1 << 10
	maxDrawnScale = 1 << 44
	// triesOnPlane is how many draws of a component count as one that is kept: a tenth is kept at least.
	triesOnPlane = 16
)

// bind tells the noise which public totals bind it. What cannot be bound is left to SummingTo, as it was drawn.
func (r Request) bind(n Noise) Noise {
	for _, s := range r.Sums {
		if p, ok := r.drawnPlane(n, s); ok {
			n.planes = append(n.planes, p)
		} else if p, ok := n.normalPlane(s); ok {
			n.planes = append(n.planes, p)
		}
	}
	return n
}

// drawnPlane brings components with Laplace noise of their own, and no other, to one grid. They are whole numbers and
// the grid divides one, so that F is on it without rounding, and on the plane.
func (r Request) drawnPlane(n Noise, s Sum) (p hyperplane, ok bool) {
	if len(s.Components) < 2 || len(s.Components) > maxDrawn || len(n.directions) > 0 || !s.Total.IsInt() {
		return p, false
	}
	finest, least, most := 0, math.Inf(1), 0.0
	for _, k := range s.Components {
		c := n.cells[k]
		if c.laplace == 0 || c.extra > 0 || !r.Components[k].Integer {
			return p, false
		}
		b := math.Ldexp(float64(c.laplace), c.exponent)
		finest, least, most = min(finest, c.exponent), math.Min(least, b), math.Max(most, b)
	}
	if most > maxUneven*least || math.Ldexp(most, -finest) > maxDrawnScale {
		return p, false
	}

	// On the finest of their grids all scales are whole numbers.
	scales := make([]float64, len(s.Components))
	for i, k := range s.Components {
		c := &n.cells[k]
		c.laplace, c.exponent = c.laplace<<(c.exponent-finest), finest
		scales[i] = math.Ldexp(float64(c.laplace), finest)
	}
	p = hyperplane{of: s.Components, drawn: true, total: new(big.Int).Lsh(s.Total.Num(), uint(-finest))}
	p.sd, p.mean = givenZero(scales)
	return p, true
}

// normalPlane says what projection leaves of normal noise, σ_k² - σ_k⁴/Σσ². Shared noise has to be on the plane itself.
func (n Noise) normalPlane(s Sum) (p hyperplane, ok bool) {
	total := 0.0
	p.of = s.Components
	for _, k := range s.Components {
		c := n.cells[k]
		if c.sigma == 0 || c.extra > 0 {
			return p, false
		}
		total += math.Pow(math.Ldexp(float64(c.sigma), c.exponent), 2)
	}

	// Shared noise that is not on the plane would be moved by the projection.
	for _, d := range n.directions {
		off, all := 0.0, 0.0
		for _, k := range s.Components {
			w := math.Ldexp(d.weights[k], n.cells[k].exponent)
			off, all = off+w, all+math.Abs(w)
		}
		if math.Abs(off) > 1e-9*all {
			return p, false
		}
	}

	for _, k := range s.Components {
		v := math.Pow(math.Ldexp(float64(n.cells[k].sigma), n.cells[k].exponent), 2)
		p.sd = append(p.sd, math.Sqrt(math.Max(0, v-v*v/total)))
	}
	return p, true
}

// planeOf is the plane that component k is on, and its place there; nil: none.
func (n Noise) planeOf(k int) (p *hyperplane, place int) {
	for i := range n.planes {
		for place, of := range n.planes[i].of {
			if of == k {
				return &n.planes[i], place
			}
		}
	}
	return nil, 0
}

// project brings F, in steps of the grid, to the plane. It is there already if the public total is true; otherwise the
// release must not tell by how much it is not.
func (p hyperplane) project(f []*big.Int) {
	missing := new(big.Int).Set(p.total)
	for _, k := range p.of {
		missing.Sub(missing, f[k])
	}
	each, more := new(big.Int).DivMod(missing, big.NewInt(int64(len(p.of))), new(big.Int))
	for i, k := range p.of {
		f[k].Add(f[k], each)
		if int64(i) < more.Int64() {
			f[k].Add(f[k], big.NewInt(1))
		}
	}
}

// drawZero draws discrete Laplace noise of these scales given that it adds up to zero, exactly: all but the widest by
// themselves, and what they leave to that one is kept with the ratio of its probability to that of zero.
func (s *source) drawZero(scales []int64) []int64 {
	widest := 0
	for i, t := range scales {
		if t > scales[widest] {
			widest = i
		}
	}

	// The others decide what is left to the widest one, which is accepted as often as its law has it.
	out, last := make([]int64, len(scales)), uint64(scales[widest])
	for s.err == nil {
		sum := int64(0)
		for i, t := range scales {
			if i != widest {
				out[i] = s.laplace(uint64(t))
				sum += out[i]
			}
		}
		away := uint64(max(sum, -sum))
		if s.bernoulliExp(away/last, away%last, last) {
			out[widest] = -sum
			return out
		}
	}
	return out
}

// planeNodes are how many points the integrals of givenZero are evaluated at.
const planeNodes = 600

// planeAt are the nodes on [0, π/2], and planeWeight their weights.
var planeAt, planeWeight = func() (x, w []float64) {
	x, w = make([]float64, planeNodes), make([]float64, planeNodes)
	quad.Legendre{}.FixedLocations(x, w, 0, math.Pi/2)
	return x, w
}()

// givenZero returns the standard deviations and E|x_k| of independent Laplace noise x of scales b given that it adds up
// to zero. With φ_k(t) = 1/(1+b_k²t²) the density of the sum at zero is 1/2π ∫ Π_k φ_k(t) dt. E x_k² and E|x_k| where
// the sum is zero are the same integral with (2b²-6b⁴t²)φ³, respectively E|x|e^(itx) = b(1-b²t²)φ², in place
// of φ_k. With t = tan(u)/√Σb² the integrands are smooth in u.
func givenZero(scales []float64) (sd, mean []float64) {
	var length float64
	for _, b := range scales {
		length = math.Hypot(length, b)
	}

	// Each point of the rule adds to the density of the sum and to the two moments of every component.
	squares, sizes, density := make([]float64, len(scales)), make([]float64, len(scales)), 0.0
	for i, u := range planeAt {
		t := math.Tan(u) / length
		product := planeWeight[i] / (math.Cos(u) * math.Cos(u))
		for _, b := range scales {
			product /= 1 + b*b*t*t
		}
		density += product
		for k, b := range scales {
			x := b * b * t * t
			squares[k] += product * b * b * (2 - 6*x) / ((1 + x) * (1 + x))
			sizes[k] += product * b * (1 - x) / (1 + x)
		}
	}

	for k := range scales {
		sd = append(sd, math.Sqrt(math.Max(0, squares[k]/density)))
		mean = append(mean, math.Max(0, sizes[k]/density))
	}
	return sd, mean
}
