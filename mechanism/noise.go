package mechanism

import (
	"math"
	"math/big"

	"fugu/internal/hook"
	"fugu/sensitivity"
)

// Noise is the law of what is added to F: integers on a power-of-two grid for each component. Only Calibrate makes it;
// the zero Noise releases nothing.
type Noise struct {
	cells      []cell
	directions []direction
	planes     []hyperplane // public totals that bind it; no component is on two
}

// cell is the noise of one component, in steps of its grid. Exactly one of laplace and sigma is positive. What extra
// adds hides how far F is from its model, and counts for nothing else.
type cell struct {
	exponent int   // the grid's step is 2^exponent
	laplace  int64 // scale of discrete Laplace noise, 0: none
	sigma    int64 // σ of discrete Gaussian noise, 0: none
	extra    int64 // scale of more discrete Laplace noise; 0: none
	digits   int   // decimals of the published value
}

// direction is noise shared by all components: an integer y moves component k by weights[k]·y grid steps, rounded.
// Exactly one of scale and sigma is positive.
type direction struct {
	// A discrete Laplace y hides this secret's Along, or all of it but what is lent; a Gaussian one what it can of any.
	secret  string
	reach   int64 // of a Laplace: how far y must move to hide the widest pair of the secret: a power of two
	scale   int64 // y ~ discrete Laplace(scale), 0: none
	sigma   int64 // y ~ discrete Gaussian(sigma), 0: none
	weights []float64

	// Where lent is not 0, the y of another direction moves for this one's secret as well: for the widest pair by lent
	// times its reach, of the direction that is the from-th of the noise.
	lent float64
	from int
}

const (
	gridBits    = 28      // a noise scale is between 2^gridBits and 2^(gridBits+1) steps of its grid
	slack       = 3       // what rounding adds to a shift, in steps; see the package comment
	maxScale    = 1 << 50 // of a Laplace, in steps: the sampler multiplies it by less than 2^12
	closeness   = 201     // gaussianDeviation's bound on the log ratio, times σ²
	maxWeight   = 1 << 24 // of a direction: one step of y moves a component by at most so many of its own
	tailOutside = 1e-300  // (1+e^ε)·Pr(|N(0,1)| > 40 - ½/σ) for ε ≤ maxGaussianEpsilon
)

func step(exponent int) float64 { return shifted(1, exponent) }

// shifted is math.Ldexp, in a fraction of its time wherever 2^exponent is an ordinary number: searches do little else.
func shifted(x float64, exponent int) float64 {
	if -1022 <= exponent && exponent <= 1023 {
		return x * math.Float64frombits(uint64(exponent+1023)<<52)
	}
	return math.Ldexp(x, exponent)
}

// gridFor returns the exponent of the grid for noise of the given scale.
func gridFor(scale float64) int { return math.Ilogb(scale) - gridBits }

// steps returns a length in steps of a grid, rounded up; 0, which valid refuses, if that is no reasonable number.
func steps(length float64, exponent int) int64 {
	n := math.Ceil(shifted(length, -exponent))
	if !(n >= 1 && n <= maxScale) {
		return 0
	}
	return int64(n)
}

// normal gives an empty cell normal noise of a standard deviation, in F's units.
func (c *cell) normal(sd float64) {
	c.exponent = gridFor(sd)
	c.sigma = steps(sd, c.exponent)
}

// newDirection puts a secret's direction on the grids of the cells: y has 2^j steps to the widest pair, j ≥ gridBits
// the least with which one step of y moves no component by more than one step of its grid. The scale is at least
// 2^j/rate.
func newDirection(s sensitivity.Shift, cells []cell, rate float64) direction {
	j := gridBits
	for k, c := range cells {
		if v := math.Abs(s.Along[k]); v > 0 {
			j = max(j, math.Ilogb(v)-c.exponent+1)
		}
	}
	d := direction{secret: s.Secret, weights: make([]float64, len(cells)), scale: steps(1/rate, -j)}
	if j < 63 {
		d.reach = 1 << j
	}
	for k, c := range cells {
		d.weights[k] = math.Ldexp(s.Along[k], -j-c.exponent)
	}
	return d
}

// valid reports whether n can be sampled and leaves no component without noise.
func (n Noise) valid() bool {
	for _, c := range n.cells {
		if c.laplace < 0 || c.sigma < 0 || (c.laplace > 0) == (c.sigma > 0) || c.laplace > maxScale ||
			c.sigma > 1<<30 ||
			c.extra < 0 || c.extra > maxScale {
			return false
		}
	}

	// A direction has one kind of noise, and borrows only from one that has some to lend.
	for _, d := range n.directions {
		if d.scale < 0 || d.sigma < 0 || (d.scale > 0) == (d.sigma > 0) || d.scale > maxScale || d.sigma > 1<<30 ||
			d.scale > 0 && d.reach < 1 || len(d.weights) != len(n.cells) || d.lent != 0 &&
			(d.from < 0 || d.from >= len(n.directions) || n.directions[d.from].scale == 0) {
			return false
		}
		for _, w := range d.weights {
			if !(math.Abs(w) <= maxWeight) {
				return false
			}
		}
	}
	return len(n.cells) > 0
}

// sd returns the standard deviation of the noise of component k of a release, in F's units: √(2t²) for Laplace noise of
// scale t (the discrete one has 1/6 of a squared step less), σ for Gaussian noise (the discrete one has no more), and
// of what a public total binds, what that leaves.
func (n Noise) sd(k int) float64 {
	own := n.cells[k].sd()
	if p, place := n.planeOf(k); p != nil {
		own = p.sd[place]
	}
	return n.beside(k, own)
}

// sd returns the standard deviation of the noise that is drawn for the component alone, in its units.
func (c cell) sd() float64 {
	return shifted(math.Hypot(math.Sqrt2*math.Hypot(float64(c.laplace), float64(c.extra)), float64(c.sigma)),
		c.exponent)
}

// beside adds what the directions have of component k to a standard deviation of its own.
func (n Noise) beside(k int, own float64) float64 {
	for _, d := range n.directions {
		own = math.Hypot(own, shifted(d.sd()*d.weights[k], n.cells[k].exponent))
	}
	return own
}

// sd returns the standard deviation of y, in its own steps.
func (d direction) sd() float64 { return math.Hypot(math.Sqrt2*float64(d.scale), float64(d.sigma)) }

// Covariance returns the covariance of the noise that is drawn for components k and l, in F's units, before public
// totals bind it.
func (n Noise) Covariance(k, l int) float64 {
	if k == l {
		sd := n.beside(k, n.cells[k].sd())
		return sd * sd
	}
	total := 0.0
	for _, d := range n.directions {
		total += d.sd() * d.sd() * d.weights[k] * d.weights[l]
	}
	return shifted(total, n.cells[k].exponent+n.cells[l].exponent)
}

// draw returns a draw of each cell's own noise, in steps of its grid, and of the y of each direction.
func (n Noise) draw(s *source) (own, shared []int64) {
	own, shared = make([]int64, len(n.cells)), make([]int64, len(n.directions))

	// Components of a plane are drawn together, since their noise adds up to zero.
	drawn := make([]bool, len(n.cells))
	for _, p := range n.planes {
		if !p.drawn {
			continue
		}
		scales := make([]int64, len(p.of))
		for i, k := range p.of {
			scales[i], drawn[k] = n.cells[k].laplace, true
		}
		for i, v := range s.drawZero(scales) {
			own[p.of[i]] = v
		}
	}

	for k, c := range n.cells {
		switch {
		case drawn[k]:
		case c.laplace > 0:
			own[k] = s.laplace(uint64(c.laplace))
		default:
			own[k] = s.gaussian(uint64(c.sigma))
		}
		if c.extra > 0 {
			own[k] += s.laplace(uint64(c.extra))
		}
	}

	if hook.NoFloor && len(n.directions) > 0 {
		clear(own)
	}

	for i, d := range n.directions {
		if d.scale > 0 {
			shared[i] = s.laplace(uint64(d.scale))
		} else {
			shared[i] = s.gaussian(uint64(d.sigma))
		}
	}
	return own, shared
}

// times returns w·y rounded to the nearest integer, exactly.
func times(w float64, y int64) *big.Int {
	frac, exp := math.Frexp(w)
	x := big.NewInt(int64(math.Ldexp(frac, 53)))
	x.Mul(x, big.NewInt(y))
	if exp >= 53 {
		return x.Lsh(x, uint(exp-53))
	}
	half := big.NewInt(1)
	x.Add(x, half.Lsh(half, uint(52-exp)))
	return x.Rsh(x, uint(53-exp)) // floor
}

// floorShare is the least Gaussian floor of a component as a share of Along_k/ε, the smallest that the noise along a
// direction can be: it costs one part in two million of the variance and keeps the grid of the direction bounded.
const floorShare = 1.0 / 1024

// Size is how many bytes the noise keeps alive, about.
func (n Noise) Size() int {
	size := 48 * len(n.cells)
	for _, p := range n.planes {
		size += 128 + 24*len(p.of)
	}
	for _, d := range n.directions {
		size += 128 + 8*len(d.weights)
	}
	return size
}
