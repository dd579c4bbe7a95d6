package rowsum

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

// frame is what all laws of one certification are computed on: points of a window, which is one period.
type frame struct {
	sum    *Sum
	grid   *grid
	noise  float64
	lo, sd float64
	last   int // the last frequency
	step   float64
	fft    *fourier.CmplxFFT
	buffer []complex128
}

// curve is the density of a sum with its noise at the points of a frame: at every point between two of them it is, but
// for rest, within [down, up] of the straight line between their values.
type curve struct {
	up, down []float64
	tail     float64 // bounds the probability of what is outside the window
	rest     float64 // bounds the integral of what the computation leaves out or rounds
}

const (
	fewest, finest = 1 << 11, 1 << 15 // points
	perFrequency   = 4                // points for each frequency, at least
	unitRoundoff   = 0x1p-53
	mostTurns      = 1 << 25 // frequencies times values
)

// newFrame chooses a window and how fine it is, for laws of so many rows and errors that are small beside accuracy. It
// is false where that takes more than can be done.
func (s *Sum) newFrame(rows int, noise, accuracy float64) (*frame, bool) {
	f := &frame{sum: s, noise: noise, sd: s.widest(noise)}
	lo, hi := s.window(rows, noise, accuracy/4)
	if !(hi > lo) || math.IsInf(hi-lo, 0) {
		return nil, false
	}
	f.grid, f.lo = s.gridOf(hi-lo), lo

	// Beyond the last frequency the noise alone leaves next to nothing.
	cut := math.Sqrt(2 * math.Log(1e3*(hi-lo)/(math.Sqrt(noise)*accuracy)))
	last := math.Ceil(cut / (math.Sqrt(noise) * f.grid.dt))
	if !(perFrequency*last <= finest) {
		return nil, false
	}
	f.last = int(last)
	if f.last*(len(s.of[0].values)+len(s.of[1].values)) > mostTurns {
		return nil, false
	}
	s.extend(f.grid, f.last)

	// What is between the points is bounded by derivatives; the third is for all of the window.
	points := fewest
	for points < perFrequency*f.last {
		points *= 2
	}
	third := 0.0
	for k := 1; k <= f.last; k++ {
		t := float64(k) * f.grid.dt
		third += 2 * t * t * t * math.Exp(f.logAbs(s.pairs.Low, rows-s.pairs.Low, k))
	}
	for points < finest && math.Pow(f.grid.period/float64(points), 3)/16*third > accuracy {
		points *= 2
	}
	return f.with(points), true
}

// with is the frame with so many points.
func (f frame) with(points int) *frame {
	f.step, f.fft, f.buffer = f.grid.period/float64(points), fourier.NewCmplxFFT(points), make([]complex128, points)
	return &f
}

// exponent is the logarithm of the characteristic function of the sum at the k-th frequency.
func (f *frame) exponent(ones, zeros, k int) complex128 {
	t := float64(k) * f.grid.dt
	return complex(float64(ones), 0)*f.grid.logs[1][k] + complex(float64(zeros), 0)*f.grid.logs[0][k] -
		complex(f.noise*t*t/2, 0)
}

func (f *frame) logAbs(ones, zeros, k int) float64 { return real(f.exponent(ones, zeros, k)) }

// density computes the law with so many rows of class 1 and of class 0.
//
// With the characteristic function Φ, Poisson's summation gives Σ_j p(x+jL) = 1/L Σ_k Φ(t_k) e^(-it_k x), t_k = 2πk/L.
// The sum is cut off at the last frequency, and its second derivative comes from the same transform, as the imaginary
// part. Of a function f the straight line between two points that are h apart is off by h²/8·max|f”| at most, and
// between the points |f”| is at most what it is at the nearer one and h/2·max|f”'|.
func (f *frame) density(ones, zeros int) curve {
	// Φ and its second derivative side by side, and the sums of sizes that bound what is left out and rounded.
	period, n := f.grid.period, len(f.buffer)
	clear(f.buffer)
	sum, all, third := 0., 0., 0.
	for k := 0; k <= f.last; k++ {
		t := float64(k) * f.grid.dt
		phi := cmplx.Exp(f.exponent(ones, zeros, k) - complex(0, t*f.lo))
		second := t * t * f.sd * f.sd
		f.buffer[k] = phi * complex(1, -second)
		size := cmplx.Abs(phi)
		sum, all, third = sum+2*size, all+2*size*(1+second), third+2*size*t*t*t/period
		if k > 0 {
			f.buffer[n-k] = cmplx.Conj(phi) * complex(1, -second)
		}
	}
	f.buffer = f.fft.Coefficients(f.buffer, f.buffer)

	c := curve{up: make([]float64, n), down: make([]float64, n), tail: f.sum.tail(ones, zeros, f.noise, f.lo,
		f.lo+period), rest: f.rounding(ones+zeros, sum, all) + f.cutOff()}

	// The band around each point is as wide as the law may bend beside it.
	bend := make([]float64, n)
	for i, v := range f.buffer {
		bend[i] = math.Abs(imag(v)) / (f.sd * f.sd * period)
	}
	for i, v := range f.buffer {
		most := max(bend[i], bend[(i+1)%n], bend[(i+n-1)%n])
		off := f.step * f.step / 8 * (most + f.step/2*third)
		c.up[i], c.down[i] = real(v)/period+off, real(v)/period-off
	}
	return c
}

// cutOff bounds the integral over the window of all frequencies beyond the last: 2 Σ e^(-σ²t²/2).
func (f *frame) cutOff() float64 {
	sd := math.Sqrt(f.noise)
	z := sd * float64(f.last) * f.grid.dt
	return f.grid.period / (math.Pi * sd) * math.Exp(-z*z/2) / z
}

// rounding bounds what floating-point numbers are off by, over the window. The characteristic function of one row is
// off by some units for each step of a recurrence and each addition, and so that of n rows by n times as much; the
// transform by some units for each of its stages. all is Σ of what is transformed, sum of the characteristic function.
func (f *frame) rounding(rows int, sum, all float64) float64 {
	values := max(len(f.sum.of[0].values), len(f.sum.of[1].values))
	row := 4*resync + 2*chunk + values/chunk
	return unitRoundoff * (float64(rows+1)*float64(row)*sum + 16*math.Log2(float64(len(f.buffer)))*all)
}

// roughness bounds ∫|B * (X₁-X₀) * (X₁-X₀)|, B the sum of so many rows and noise: the second difference of a density
// by how many rows are of class 1. It is Cauchy's and Schwarz's bound on the window, by Parseval's equation, and twice
// two rows' probabilities outside of it.
func (f *frame) roughness(ones, zeros int) float64 {
	total, sum, outside := 0., 4., 0.
	for k := 1; k <= f.last; k++ {
		one, zero := cmplx.Exp(f.grid.logs[1][k]), cmplx.Exp(f.grid.logs[0][k])
		d := cmplx.Abs(one - zero)
		v := math.Exp(f.logAbs(ones, zeros, k)) * d * d
		total, sum = total+2*v*v, sum+2*v
	}
	for two := range 3 {
		weight := [3]float64{1, 2, 1}[two]
		outside += weight * f.sum.tail(ones+two, zeros+2-two, f.noise, f.lo, f.lo+f.grid.period)
	}
	return math.Sqrt(total) + 2*outside + 4*(f.cutOff()+f.rounding(ones+zeros+2, sum, sum))
}
