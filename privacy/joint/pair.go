package joint

import (
	"math"
)

// pair is the account of one pair of values of a secret.
type pair struct {
	shared []float64   // n·min(p_c,q_c)
	moved  []float64   // n(p_c-q_c)
	number float64     // for a mean: n·Move/Var(g)
	ends   [][]float64 // the shares of both, where rows are drawn
	bend   float64     // D is between -bend and bend times Sigma0; +Inf: not known

	factor factor    // of S in units of scale
	scale  []float64 // the roots of S's diagonal
	white  []float64 // L⁻¹Delta
	kappa2 float64   // its square
	kappa  float64   // its length, and what the shape of the rows' sum adds to it
	least  float64   // a lower bound on the eigenvalues of S in units of scale
	differences
}

// differences is how far the covariances under the two values differ: D, at each end of the way from one to the other.
type differences struct {
	square []float64   // ‖N^-½ D N^-½‖² by Frobenius
	rows   [][]float64 // the sums of moduli of the rows of N^-½ D N^-½
	whited []*whited   // D by S; nil once that is too large
}

// charge is what a release adds to a pair's account.
type charge struct {
	factor [][]float64
	scale  []float64
	white  []float64
	kappa2 float64
	kappa  float64
	least  float64
	differences
}

// covariances are the moments of a new release, with the stack's and among themselves.
type covariances struct {
	*moments
	stack, corner sums
	mean          [][]float64
	along         []float64
	noise         []float64 // of the new components
	before        []float64 // of the old ones
	lines         [][]float64
	still         []bool
	hidden        bool
}

// charge computes what all releases tell together, with the new one, by so many goroutines.
func (p *pair) charge(x *covariances, goroutines int) (*charge, error) {
	size, width := len(x.before), len(x.noise)
	c := &charge{scale: make([]float64, width), least: p.least, factor: make([][]float64, width)}
	bound, delta := make([]float64, width), make([]float64, width)
	data := make([]float64, width*size+width*(width+1)/2)

	// A row of the covariance matrix for each new component, scaled so that its diagonal is 1.
	for l := range width {
		n := size + l + 1
		c.factor[l], data = data[:n:n], data[n:]
		p.covariance(x, l, x.stack, x.moments.mean, x.moments.along, c.factor[l][:size])
		p.covariance(x, l, x.corner, x.mean, x.along, c.factor[l][size:])
		for _, line := range x.lines {
			for k := range l + 1 {
				c.factor[l][size+k] += line[l] * line[k]
			}
		}

		v := math.Max(c.factor[l][size+l], 0)
		c.scale[l] = math.Sqrt(v + x.noise[l])
		bound[l] = x.noise[l] / (v + x.noise[l])
		if c.least == 0 || bound[l] < c.least {
			c.least = bound[l]
		}
		for k, s := range p.scale {
			c.factor[l][k] /= s * c.scale[l]
		}
		for k, s := range c.scale[:l] {
			c.factor[l][size+k] /= s * c.scale[l]
		}
		c.factor[l][size+l] = 1
		if !x.hidden && (x.still == nil || !x.still[l]) {
			delta[l] = p.moves(x.mean, x.along, l) / c.scale[l]
		}
	}

	// What rounding could have done to the factor has to be small beside its least diagonal.
	if !(wrong(size+width, c.least) <= tolerable) {
		return nil, errSingular
	}
	p.factor.solve(c.factor, goroutines)
	if err := p.factor.extend(c.factor, bound); err != nil {
		return nil, err
	}
	p.differ(x, c, goroutines)

	// κ² is the square of the movement, seen in units of the noise and the randomness of rows together.
	c.white = whiten(c.factor, p.white, delta)
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

// covariance writes Sigma0 of the new component l with as many as out has room for, whose sums of products, means and
// covariances with the number are given.
func (p *pair) covariance(x *covariances, l int, products sums, mean [][]float64, along, out []float64) {
	for c, n := range p.shared {
		if n == 0 {
			continue
		}
		weight, m := n/x.rows[c], n*x.mean[c][l]
		from, y := products.of(c, l)[:len(out)], mean[c][:len(out)]
		for k := range out {
			out[k] += weight*from[k] - m*y[k]
		}
	}
	if along != nil {
		a := x.N * x.along[l] / x.spread
		for k := range out {
			out[k] -= a * along[k]
		}
	}
}

// differ adds what D has in the new rows and columns: its square, and the sums of its rows.
func (p *pair) differ(x *covariances, c *charge, goroutines int) {
	size, width := len(x.before), len(x.noise)
	ends := p.ends
	if ends == nil {
		ends = [][]float64{nil}
	}
	line := make([]float64, max(size, width))

	// Where rows are drawn with the shares, D is another at either end of the pair.
	for e, at := range ends {
		square, rows := 0.0, make([]float64, size+width)
		grown := p.grow(e, x, c)
		if p.rows != nil {
			copy(rows, p.rows[e])
			square = p.square[e]
		}

		for l, n := range x.noise {
			if x.number != nil {
				break // the same under both values
			}
			p.difference(x, l, at, x.stack, x.moments.mean, line[:size])
			grown.take(l, line[:size])
			for k, v := range line[:size] {
				v = math.Abs(v) / math.Sqrt(n*x.before[k])
				square += 2 * v * v
				rows[k] += v
				rows[size+l] += v
			}

			p.difference(x, l, at, x.corner, x.mean, line[:width])
			grown.corner(l, line[:width])
			for k, v := range line[:width] {
				v = math.Abs(v) / math.Sqrt(n*x.noise[k])
				square += v * v
				rows[size+l] += v
			}
		}

		c.square, c.rows, c.whited = append(c.square, square), append(c.rows, rows),
			append(c.whited, grown.whiten(&p.factor, goroutines))
	}
}

// difference writes D of the new component l with others. Of a secret about a distribution it is the
// derivative of the covariance along the way from one value to the other, at the shares at: D is between its values at
// the ends.
func (p *pair) difference(x *covariances, l int, at []float64, products sums, mean [][]float64, out []float64) {
	clear(out)
	// Of a distribution the mean that is taken off is that of all rows, and moves with the shares.
	mu, delta := 0.0, 0.0
	if at != nil {
		mu, delta = average(at, x.mean, l), average(p.moved, x.mean, l)
	}

	for c, n := range p.moved {
		weight := 0.0
		if n != 0 {
			weight = n / x.rows[c]
		}
		m := n * x.mean[c][l] // what the rows of one class have between them
		if at != nil {
			m = mu*n + delta*at[c] // what all have
		}
		from, y := products.of(c, l), mean[c]
		for k := range out {
			out[k] += weight*from[k] - m*y[k]
		}
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
	p.factor.rows = append(p.factor.rows, c.factor...)
	p.scale = append(p.scale, c.scale...)
	p.white = append(p.white, c.white...)
	p.kappa2, p.kappa, p.least, p.differences = c.kappa2, c.kappa, c.least, c.differences
}
