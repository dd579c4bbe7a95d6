package history

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// pair is the account of one pair of values of a secret.
type pair struct {
	shared []float64   // n·min(p_c,q_c)
	moved  []float64   // n(p_c-q_c)
	number float64     // for a mean: n·Move/Var(g)
	ends   [][]float64 // the shares of both, where rows are drawn

	factor factor    // of S in units of scale
	scale  []float64 // the roots of S's diagonal
	white  []float64 // L⁻¹Delta
	kappa2 float64   // its square
	least  float64   // a lower bound on the eigenvalues of S in units of scale
	square []float64 // for each end: ‖N^-½ D N^-½‖² by Frobenius
	rows   [][]float64
}

// charge is what a release adds to a pair's account.
type charge struct {
	block  block
	scale  []float64
	white  []float64
	kappa2 float64
	least  float64
	square []float64
	rows   [][]float64 // the sums of moduli of the rows of N^-½ D N^-½, of all components
}

// covariances are the moments of a new release, with the stack's and among themselves.
type covariances struct {
	*moments
	stack, corner []float64 // Σ h_i h_l of the rows of class c, at (i·classes+c)·width+l: i old, and i new
	mean          [][]float64
	along         []float64
	noise         []float64 // of the new components
	before        []float64 // of the old ones
	lines         [][]float64
	still         []bool
	hidden        bool
}

// charge computes what all releases tell together, with the new one.
func (p *pair) charge(x *covariances) (*charge, error) {
	width := len(x.noise)
	c := &charge{scale: make([]float64, width), least: p.least}
	corner, bound, delta := make([]float64, width*width), make([]float64, width), make([]float64, width)
	p.covariance(x, x.corner, x.mean, x.along, corner)
	for _, v := range x.lines {
		for k, a := range v {
			for l, b := range v {
				corner[k*width+l] += a * b
			}
		}
	}
	for l, n := range x.noise {
		v := math.Max(corner[l*width+l], 0)
		c.scale[l] = math.Sqrt(v + n)
		bound[l] = n / (v + n)
		if c.least == 0 || bound[l] < c.least {
			c.least = bound[l]
		}
		if !x.hidden && (x.still == nil || !x.still[l]) {
			delta[l] = p.moves(x.mean, x.along, l) / c.scale[l]
		}
	}
	for k := range width {
		for l := range width {
			corner[k*width+l] /= c.scale[k] * c.scale[l]
		}
		corner[k*width+k] = 1
	}
	w := blas64.General{Rows: p.factor.size, Cols: width, Stride: width, Data: make([]float64, p.factor.size*width)}
	p.covariance(x, x.stack, x.moments.mean, x.moments.along, w.Data)
	for k, s := range p.scale {
		for l := range width {
			w.Data[k*width+l] /= s * c.scale[l]
		}
	}
	p.differences(x, c)
	p.factor.solve(w)
	var err error
	if c.block, err = p.factor.next(w, corner, bound); err != nil {
		return nil, err
	}
	c.white = c.block.whiten(p.white, delta)
	c.kappa2 = p.kappa2
	for _, v := range c.white {
		c.kappa2 += v * v
	}
	if math.IsNaN(c.kappa2) || math.IsInf(c.kappa2, 0) {
		return nil, errSingular
	}
	return c, nil
}

// moves is Delta of a component.
func (p *pair) moves(mean [][]float64, along []float64, k int) float64 {
	if along != nil {
		return p.number * along[k]
	}
	sum := 0.0
	for c, m := range p.moved {
		sum += m * mean[c][k]
	}
	return sum
}

// covariance writes Sigma0 of the components whose sums of products, means and covariances with the number are given
// with the new ones.
func (p *pair) covariance(x *covariances, sums []float64, mean [][]float64, along []float64, out []float64) {
	width, classes := len(x.noise), len(p.shared)
	for k := range len(out) / width {
		line := out[k*width : (k+1)*width]
		for c, n := range p.shared {
			if n == 0 {
				continue
			}
			products, m, weight := sums[(k*classes+c)*width:], n*mean[c][k], n/x.moments.rows[c]
			for l, y := range x.mean[c] {
				line[l] += weight*products[l] - m*y
			}
		}
		if along != nil {
			a := x.N * along[k] / x.spread
			for l, b := range x.along {
				line[l] -= a * b
			}
		}
	}
}

// differences adds what D has in the new rows and columns: its square, and the sums of its rows.
func (p *pair) differences(x *covariances, c *charge) {
	ends := p.ends
	if ends == nil {
		ends = [][]float64{nil}
	}
	width, classes := len(x.noise), len(p.shared)
	root := make([]float64, width)
	for l, n := range x.noise {
		root[l] = math.Sqrt(n)
	}
	line := make([]float64, width)
	for e, at := range ends {
		square, rows := 0.0, make([]float64, len(x.before)+width)
		if p.rows != nil {
			copy(rows, p.rows[e])
			square = p.square[e]
		}
		if x.number != nil {
			c.square, c.rows = append(c.square, 0), append(c.rows, rows)
			continue
		}
		middle, delta := make([]float64, width), make([]float64, width)
		if at != nil {
			for l := range width {
				middle[l], delta[l] = average(at, x.mean, l), average(p.moved, x.mean, l)
			}
		}
		part := func(sums []float64, mean [][]float64, k int) {
			clear(line)
			for c, n := range p.moved {
				if n == 0 {
					continue
				}
				products, weight := sums[(k*classes+c)*width:], n/x.moments.rows[c]
				for l := range line {
					line[l] += weight * products[l]
				}
				if at == nil { // else between takes them away
					m := n * mean[c][k]
					for l, y := range x.mean[c] {
						line[l] -= m * y
					}
				}
			}
			if at != nil {
				mu, d := average(at, mean, k), average(p.moved, mean, k)
				for l := range line {
					line[l] -= mu*delta[l] + d*middle[l]
				}
			}
		}
		for k, n := range x.before {
			part(x.stack, x.moments.mean, k)
			s := math.Sqrt(n)
			for l, v := range line {
				v = math.Abs(v / (s * root[l]))
				square += 2 * v * v
				rows[k] += v
				rows[len(x.before)+l] += v
			}
		}
		for k := range width {
			part(x.corner, x.mean, k)
			for l, v := range line {
				v = math.Abs(v / (root[k] * root[l]))
				square += v * v
				rows[len(x.before)+k] += v
			}
		}
		c.square, c.rows = append(c.square, square), append(c.rows, rows)
	}
}

// average is Σ w_c mean_c of a component.
func average(weights []float64, mean [][]float64, k int) float64 {
	sum := 0.0
	for c, w := range weights {
		if w != 0 {
			sum += w * mean[c][k]
		}
	}
	return sum
}

// commit takes the charge into the account.
func (p *pair) commit(c *charge) {
	p.factor.grow(c.block)
	p.scale = append(p.scale, c.scale...)
	p.white = append(p.white, c.white...)
	p.kappa2, p.least, p.square, p.rows = c.kappa2, c.least, c.square, c.rows
}
