package mechanism

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"fugu/privacy"
	"fugu/sensitivity"
)

// outputs is the exact law in grid steps of noise of at most two components on grids of step 1. The box is wide enough
// that what lies outside weighs less than 1e-6, also for what is moved.
func outputs(n Noise, size int) []float64 {
	p := make([]float64, boxWidth(n, 0, size)*boxWidth(n, 1, size))
	own := ownLaws(n, size)
	var each func(directions []direction, weight float64, move [2]int64)
	each = func(directions []direction, weight float64, move [2]int64) {
		if len(directions) == 0 {
			addOutputs(p, own, weight, move, size)
			return
		}
		d := directions[0]
		pmf, reach := laplacePMF(float64(d.scale)), 16*d.scale
		if d.sigma > 0 {
			pmf, reach = gaussianPMF(float64(d.sigma)), 5*d.sigma // beyond is 6e-7
		}
		for y := -reach; y <= reach; y++ {
			moved := move
			for k, w := range d.weights {
				moved[k] += times(w, y).Int64()
			}
			each(directions[1:], weight*pmf(y), moved)
		}
	}

	each(n.directions, 1, [2]int64{})
	return p
}

// boxWidth is how many steps the law of component k is worked out for; one where there is no such component.
func boxWidth(n Noise, k, size int) int {
	if k < len(n.cells) {
		return 2*size + 1
	}
	return 1
}

// released is the exact law of F + noise, with the package's own rounding of F to the noise's grid.
func released(noise []float64, n Noise, f []float64, size int) []float64 {
	var steps [2]int
	for k := range f {
		steps[k] = int(toGrid(new(big.Rat).SetFloat64(f[k]), 0).Int64())
	}
	p, width := make([]float64, len(noise)), boxWidth(n, 1, size)
	for i := range p {
		a, b := i/width-steps[0], i%width-steps[1]
		if a >= 0 && a < boxWidth(n, 0, size) && b >= 0 && b < width {
			p[i] = noise[a*width+b]
		}
	}
	return p
}

// ownLaw is the law of a cell's own noise, by step: p begins at -center.
type ownLaw struct {
	p      []float64
	center int64
}

// at is the chance of a step.
func (l ownLaw) at(step int64) float64 {
	if i := step + l.center; i >= 0 && i < int64(len(l.p)) {
		return l.p[i]
	}
	return 0
}

// ownLaws are those of two components, over twice the box.
func ownLaws(n Noise, size int) (laws [2]ownLaw) {
	for k := range laws {
		laws[k] = ownLaw{p: []float64{1}}
		if k >= len(n.cells) {
			continue
		}
		c := n.cells[k]
		pmf := laplacePMF(float64(c.laplace))
		if c.sigma > 0 {
			pmf = gaussianPMF(float64(c.sigma))
		}
		p := make([]float64, 4*size+1)
		for i := range p {
			p[i] = pmf(int64(i - 2*size))
		}
		laws[k] = ownLaw{p, int64(2 * size)}
	}
	return laws
}

// addOutputs adds the law of both cells, moved, with a weight.
func addOutputs(p []float64, own [2]ownLaw, weight float64, move [2]int64, size int) {
	width := len(p) / (2*size + 1)
	for i := range len(p) / width {
		w := weight * own[0].at(int64(i-size)-move[0])
		if w == 0 {
			continue
		}
		if width == 1 {
			p[i] += w
			continue
		}
		// The steps that its law has, of those of the box.
		row, base := p[i*width:(i+1)*width], int(own[1].center-move[1])-size
		for j := max(0, -base); j < min(width, len(own[1].p)-base); j++ {
			row[j] += w * own[1].p[j+base]
		}
	}
}

// hockeyStick is sup_S P(S) - e^ε Q(S).
func hockeyStick(p, q []float64, epsilon float64) float64 {
	sum, most := 0.0, math.Exp(epsilon)
	for i := range p {
		if d := p[i] - most*q[i]; d > 0 {
			sum += d
		}
	}
	return sum
}

// corners calls f with every a·Along + r for a in {-1, -0.3, 0, 1} and r at the corners of Beside.
func corners(s sensitivity.Shift, f func(d []float64)) {
	m := len(s.Along)
	for _, a := range []float64{-1, -0.3, 0, 1} {
		for signs := range 1 << m {
			d := make([]float64, m)
			for k := range d {
				d[k] = a*s.Along[k] + s.Beside[k]*float64(1-2*(signs>>k&1))
			}
			f(d)
		}
	}
}

// smallNoises have few steps, so that a grid step matters; size is how far their laws are worked out.
var smallNoises = []struct {
	name  string
	noise Noise
	shift sensitivity.Shift
	size  int
}{
	{"laplace", Noise{cells: []cell{{laplace: 20}}},
		sensitivity.Shift{Along: []float64{8.8}, Beside: []float64{.4}}, 600},
	{"two laplaces", Noise{cells: []cell{{laplace: 6}, {laplace: 9}}},
		sensitivity.Shift{Along: []float64{3, -2}, Beside: []float64{0, 2.5}}, 220},
	{"gaussian", Noise{cells: []cell{{sigma: 1000}}},
		sensitivity.Shift{Along: []float64{900}, Beside: []float64{50}}, 9000},
	{"two gaussians", Noise{cells: []cell{{sigma: 40}, {sigma: 30}}},
		sensitivity.Shift{Along: []float64{20, -10}, Beside: []float64{1, 9}}, 250},
	{"direction, one component", Noise{cells: []cell{{sigma: 90}},
		directions: []direction{{reach: 32, scale: 40, weights: []float64{.7}}}},
		sensitivity.Shift{Along: []float64{.7 * 32}, Beside: []float64{90}}, 2000},
	{"direction alone", Noise{cells: []cell{{sigma: 60}},
		directions: []direction{{reach: 160, scale: 160, weights: []float64{-.7}}}},
		sensitivity.Shift{Along: []float64{-.7 * 160}, Beside: []float64{0}}, 2300},
	{"direction", Noise{cells: []cell{{sigma: 20}, {sigma: 25}},
		directions: []direction{{reach: 4, scale: 5, weights: []float64{1, -.6}}}},
		sensitivity.Shift{Along: []float64{4, -2.4}, Beside: []float64{8, 3}}, 250},
	{"gaussian direction, one component", Noise{cells: []cell{{sigma: 90}},
		directions: []direction{{sigma: 120, weights: []float64{1.4}}}},
		sensitivity.Shift{Along: []float64{200}, Beside: []float64{30}}, 2200},
	{"gaussian direction", Noise{cells: []cell{{sigma: 18}, {sigma: 18}},
		directions: []direction{{sigma: 18, weights: []float64{1.2, -.6}}}},
		sensitivity.Shift{Along: []float64{24, -12}, Beside: []float64{2, 4}}, 170},
	{"gaussian direction in coarse steps", Noise{cells: []cell{{sigma: 12}},
		directions: []direction{{sigma: 20, weights: []float64{60}}}},
		sensitivity.Shift{Along: []float64{30}, Beside: []float64{0}}, 6100},
	{"gaussian direction, aslant", Noise{cells: []cell{{sigma: 18}, {sigma: 18}},
		directions: []direction{{sigma: 18, weights: []float64{.9, .5}}}},
		sensitivity.Shift{Along: []float64{25, -10}, Beside: []float64{0, 3}}, 170},
	{"two gaussian directions", Noise{cells: []cell{{sigma: 60}},
		directions: []direction{{sigma: 20, weights: []float64{.8}}, {sigma: 20, weights: []float64{-3}}}},
		sensitivity.Shift{Along: []float64{90}, Beside: []float64{10}}, 700},
	{"gaussian and laplace directions", Noise{cells: []cell{{sigma: 60}},
		directions: []direction{{secret: "other", reach: 4, scale: 5, weights: []float64{1}},
			{sigma: 40, weights: []float64{2}}}},
		sensitivity.Shift{Along: []float64{90}, Beside: []float64{10}}, 900},
}

// The claimed loss covers the law that really comes out, rounding and all: small integer scales, so that a grid step
// matters, and statistics at random places between grid points.
func TestLossCoversTheExactLaw(t *testing.T) {
	if testing.Short() {
		t.Skip("takes longer than a save")
	}
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for _, test := range smallNoises {
		t.Run(test.name, func(t *testing.T) {
			loss := test.noise.loss(test.shift)
			noise := outputs(test.noise, test.size)
			tightest := 0.0
			corners(test.shift, func(d []float64) {
				f, moved := make([]float64, len(d)), make([]float64, len(d))
				positions := 1
				if len(test.noise.directions) == 0 && len(d) == 1 {
					positions = 12
				}
				for range positions {
					for k := range d {
						f[k] = rng.Float64() - .5
						moved[k] = f[k] + d[k]
					}
					p, q := released(noise, test.noise, f, test.size), released(noise, test.noise, moved, test.size)
					for _, epsilon := range []float64{.2, loss.Pure, loss.Pure + .3, loss.Pure + 1} {
						claimed := loss.DeltaAt(epsilon)
						for _, delta := range []float64{hockeyStick(p, q, epsilon), hockeyStick(q, p, epsilon)} {
							if delta > claimed+1e-6 {
								t.Errorf("shift %v, ε = %.3g: δ = %.6g, claimed %.6g", d, epsilon, delta, claimed)
							}
							if claimed > 0 && claimed < 1 {
								tightest = math.Max(tightest, delta/claimed)
							}
						}
					}
				}
			})

			t.Logf("loss %+v, reached %.3g of it", loss, tightest)
		})
	}
}

// Each calibration, recomputed from scratch in continuous terms: the hockey-stick divergence of the noise's density and
// the same moved by each corner of the shift set, by numerical integration.
func TestCalibrationsMeetTheBudget(t *testing.T) {
	requests := []struct {
		along, beside, lattice, unit []float64
	}{
		{[]float64{5}, []float64{.5}, []float64{1}, []float64{1}},
		{[]float64{0}, []float64{2}, []float64{.01}, []float64{1}},
		{[]float64{300, -80}, []float64{20, 10}, []float64{1, 1}, []float64{1, 1}},
		{[]float64{1e6, .02}, []float64{1e4, .001}, []float64{1, 1e-4}, []float64{1e6, .01}},
		{[]float64{40, 30, -70}, []float64{1, 8, 2}, []float64{1, 1, 1}, []float64{1, 2, 3}},
		{[]float64{4, 3, -7}, []float64{0, 0, 0}, []float64{1, 1, 1}, []float64{1, 1, 1}},
	}

	for _, epsilon := range []float64{.2, 1, 5} {
		for _, delta := range []float64{1e-3, 1e-6} {
			for i, q := range requests {
				r := Request{Budget: privacy.Budget{Epsilon: privacy.Epsilon(epsilon), Delta: privacy.Delta(delta)}}
				s := sensitivity.Shift{Secret: "s", Along: q.along, Beside: q.beside}
				r.Shifts = []sensitivity.Shift{s}
				for k := range q.unit {
					r.Components = append(r.Components, Component{Lattice: q.lattice[k], Unit: q.unit[k]})
				}
				for _, kind := range []Kind{ExpmLaplace, ExpmGaussian, Directional} {
					t.Run(fmt.Sprint(kind, i, epsilon, delta), func(t *testing.T) {
						c, err := Calibrate(t.Context(), kind, r)
						if err != nil {
							t.Fatal(err)
						}
						worst := 0.0
						corners(s, func(d []float64) { worst = math.Max(worst, density(c.Noise, d).delta(epsilon)) })
						if worst > delta*(1+1e-6)+1e-12 {
							t.Errorf("δ = %.6g", worst)
						}
						for k, sd := range c.SD {
							if sd < q.lattice[k] {
								t.Errorf("component %d: sd %g below the lattice", k, sd)
							}
						}
					})
				}
			}
		}
	}
}

// plane is what a shift sees of a law after rotation and scaling: pure Laplace loss, or independent coordinates of
// which the first is N(0,1) + Laplace(scale) and the second N(0,1), moved by (first, second).
type plane struct {
	pure                 float64
	scale, first, second float64
}

func density(n Noise, d []float64) plane {
	var p plane
	var vv, vd, dd float64
	for k, c := range n.cells {
		g := step(c.exponent)
		if c.laplace > 0 {
			p.pure += math.Abs(d[k]) / (float64(c.laplace) * g)
			continue
		}
		sd := float64(c.sigma) * g
		x, v := d[k]/sd, 0.0
		for _, dir := range n.directions {
			v = float64(dir.scale) * dir.weights[k] * g / sd
		}
		vv, vd, dd = vv+v*v, vd+v*x, dd+x*x
	}

	if vv > 0 {
		p.scale = math.Sqrt(vv)
		p.first = math.Abs(vd) / p.scale
		p.second = math.Sqrt(math.Max(0, dd-p.first*p.first))
	} else {
		p.second = math.Sqrt(dd)
	}
	return p
}

// delta integrates sup_S P(S) - e^ε P'(S): over the first coordinate by the midpoint rule; given it, the set where
// p > e^ε p' is a half-line of the second.
func (p plane) delta(epsilon float64) float64 {
	if p.pure > 0 {
		if p.pure <= epsilon {
			return 0
		}
		return 1
	}

	// given returns the chances under P and P' of the half-line when ln p/p' of the first coordinate is ratio.
	given := func(ratio float64) (float64, float64) {
		if p.second < 1e-12 {
			if ratio > epsilon {
				return 1, 1
			}
			return 0, 0
		}

		at := (ratio - epsilon) / p.second
		return distuv.UnitNormal.CDF(at + p.second/2), distuv.UnitNormal.CDF(at - p.second/2)
	}
	if p.scale == 0 {
		a, b := given(0)
		return a - math.Exp(epsilon)*b
	}

	logDensity := func(x float64) float64 { // of N(0,1) + Laplace(scale)
		b := p.scale
		u := 1/(2*b*b) - x/b + privacy.LogPhi(x-1/b)
		v := 1/(2*b*b) + x/b + privacy.LogPhi(-x-1/b)
		m := math.Max(u, v)
		return m + math.Log(math.Exp(u-m)+math.Exp(v-m)) - math.Log(2*b)
	}

	const n = 4000
	reach := 30*p.scale + 9 + p.first
	h := 2 * reach / n
	var sum float64
	for i := range n {
		x := -reach + (float64(i)+.5)*h
		l, m := logDensity(x), logDensity(x-p.first)
		a, b := given(l - m)
		sum += h * (math.Exp(l)*a - math.Exp(epsilon+m)*b)
	}
	return sum
}
