package rowsum

import (
	"math"
	"math/cmplx"
)

// grid is what is kept of the characteristic functions of one row, at the frequencies of one period.
type grid struct {
	period float64
	dt     float64         // 2π/period
	logs   [2][]complex128 // ln E e^(itX) of each class at t = 0, dt, 2dt, ...
}

// gridOf returns the grid of a period of at least so much: periods are powers of 2^(1/8), so that a search for noise
// computes few of them.
func (s *Sum) gridOf(period float64) *grid {
	i := int(math.Ceil(8 * math.Log2(period)))
	g, ok := s.grids[i]
	if !ok {
		g = &grid{period: math.Exp2(float64(i) / 8)}
		g.dt = 2 * math.Pi / g.period
		s.grids[i] = g
	}
	return g
}

// extend computes frequencies up to last·dt.
func (s *Sum) extend(g *grid, last int) {
	for c := range g.logs {
		if len(g.logs[c]) <= last {
			g.logs[c] = s.of[c].characteristic(g.logs[c], g.dt, last)
		}
	}
}

// nothing is what stands for the logarithm of 0: of one row already e to it is 0.
const nothing = -800

// logarithm of a characteristic function: any branch will do, since it is taken a whole number of times.
func logarithm(v complex128) complex128 {
	if v == 0 {
		return nothing
	}
	return cmplx.Log(v)
}

// tail bounds the probability that the sum with so many rows of class 1 and of class 0, and noise, is below lo or above
// hi: E e^(sX-sx) at the best of some s, for either end [Chernoff].
func (s *Sum) tail(ones, zeros int, noise, lo, hi float64) float64 {
	from := s.firstTilt(noise)
	below, above := 0., 0.
	for i := from; i <= from+tilts; i++ {
		below = math.Min(below, s.cumulant(i, -1, ones, zeros, noise)-tilt(i, -1)*lo)
		above = math.Min(above, s.cumulant(i, 1, ones, zeros, noise)-tilt(i, 1)*hi)
	}
	return math.Exp(below) + math.Exp(above)
}

// tilts is how many steps of s are tried, from about one standard deviation's inverse upwards.
const tilts = 16

func (s *Sum) firstTilt(noise float64) int { return int(math.Floor(-4 * math.Log2(s.widest(noise)))) }

// cumulant is ln E e^(sX) of the sum and its noise.
func (s *Sum) cumulant(i int, sign float64, ones, zeros int, noise float64) float64 {
	t := tilt(i, sign)
	return float64(ones)*s.of[1].cumulant(i, sign) + float64(zeros)*s.of[0].cumulant(i, sign) + noise*t*t/2
}

// window is where the sum of so many rows is for all of the pairs' numbers, but for a probability of about each at
// either end. It is a choice: what is outside is counted by tail.
func (s *Sum) window(rows int, noise, each float64) (lo, hi float64) {
	from := s.firstTilt(noise)
	lo, hi = math.Inf(-1), math.Inf(1)
	for i := from; i <= from+tilts; i++ {
		ends := [2]float64{} // the cumulants are straight lines in the number of rows of class 1
		for side, sign := range []float64{-1, 1} {
			ends[side] = math.Max(s.cumulant(i, sign, s.pairs.Low, rows-s.pairs.Low, noise),
				s.cumulant(i, sign, s.pairs.High, rows-s.pairs.High, noise))
		}
		lo = math.Max(lo, (ends[0]-math.Log(each))/tilt(i, -1))
		hi = math.Min(hi, (ends[1]-math.Log(each))/tilt(i, 1))
	}
	return lo, hi
}
