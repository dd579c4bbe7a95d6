package sensitivity

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Atoms is a distribution on R^m with finite support: Mass[i] of Total at Points[i]. Masses are integers, so that what
// can be moved where is counted without rounding.
type Atoms struct {
	points [][]float64
	mass   []int64
	total  int64
	blur   int64     // what rounding the weights can have moved, in units of mass
	unit   []float64 // one for each component: distances are Σ_k |x_k-y_k|/unit_k; nil: all 1
}

// weightBits is the resolution of the weights that Weighted takes: multiples of 2^-40.
const weightBits = 40

// Sample is the empirical distribution of points, each a vector of the same length m ≥ 1. It is exact.
func Sample(points [][]float64) (Atoms, error) {
	a := Atoms{points: points, mass: make([]int64, len(points)), total: int64(len(points))}
	for i := range a.mass {
		a.mass[i] = 1
	}
	return a, a.check()
}

// Counted is the distribution in which points[i] counts counts[i] ≥ 0 times, at least one of them once. It is exact.
func Counted(points [][]float64, counts []int64) (Atoms, error) {
	if len(points) != len(counts) {
		return Atoms{}, fmt.Errorf("%d points with %d counts", len(points), len(counts))
	}
	a := Atoms{points: points, mass: slices.Clone(counts)}
	for i, n := range counts {
		if a.total += n; n < 0 || n > 1<<weightBits || a.total > 1<<weightBits {
			return Atoms{}, fmt.Errorf("count %d is negative, or too large", i)
		}
	}
	if a.total == 0 {
		return Atoms{}, errors.New("all counts are 0")
	}
	return a, a.check()
}

// In returns the same distribution, with distances in the norm Σ_k |x_k|/unit_k: one unit > 0 for each component.
func (a Atoms) In(unit []float64) Atoms {
	a.unit = unit
	return a
}

// Component is the distribution of one component alone.
func (a Atoms) Component(k int) Atoms {
	out := Atoms{mass: a.mass, total: a.total, blur: a.blur}
	for _, p := range a.points {
		out.points = append(out.points, p[k:k+1])
	}
	return out
}

// Weighted is the distribution with probability weights[i] at points[i]. Weights are rounded to multiples of 2^-40;
// what that changes is part of every Close computed from it.
func Weighted(points [][]float64, weights []float64) (Atoms, error) {
	if len(points) != len(weights) {
		return Atoms{}, fmt.Errorf("%d points with %d weights", len(points), len(weights))
	}
	a := Atoms{points: points, mass: make([]int64, len(points)), blur: int64(len(points))}
	sum := 0.0
	for i, w := range weights {
		if !(w >= 0 && w <= 1) {
			return Atoms{}, fmt.Errorf("weight %d is not between 0 and 1", i)
		}
		sum += w
		a.mass[i] = int64(math.Round(math.Ldexp(w, weightBits)))
		a.total += a.mass[i]
	}

	if math.Abs(sum-1) > 1e-9 {
		return Atoms{}, fmt.Errorf("weights add up to %v, not to 1", sum)
	}

	// What rounding has left over, or taken too much, goes to the heaviest point, and is part of the blur.
	if len(points) > 0 { // the remainder goes where it matters least
		rest, most := 1<<weightBits-a.total, 0
		for i, w := range a.mass {
			if w > a.mass[most] {
				most = i
			}
		}

		a.mass[most] += rest
		a.total += rest
		a.blur += int64(math.Abs(float64(rest)))
	}
	return a, a.check()
}

func (a Atoms) check() error {
	if len(a.points) == 0 {
		return errors.New("a distribution without points")
	}
	for i, p := range a.points {
		if len(p) == 0 || len(p) != len(a.points[0]) {
			return fmt.Errorf("point %d has %d components", i, len(p))
		}
		if !slices.ContainsFunc(p, func(v float64) bool { return !(math.Abs(v) <= math.MaxFloat64/4) }) {
			continue
		}
		return fmt.Errorf("point %d is not finite", i)
	}
	return nil
}

// distance is the distance of two points in the norm of the distribution.
func (a Atoms) distance(x, y []float64) float64 {
	d := 0.0
	for k := range x {
		apart := math.Abs(x[k] - y[k])
		if a.unit != nil {
			apart /= a.unit[k]
		}
		d += apart
	}
	return d
}

// dimension is m.
func (a Atoms) dimension() int { return len(a.points[0]) }

// common returns both distributions in the same unit of mass.
func common(a, b Atoms) (Atoms, Atoms, error) {
	if a.total < 1 || b.total < 1 || a.dimension() != b.dimension() || !slices.Equal(a.unit, b.unit) {
		return a, b, errors.New("two distributions on different spaces")
	}
	g := a.total
	for r := b.total; r != 0; {
		g, r = r, g%r
	}
	if bits := math.Log2(float64(a.total)) + math.Log2(float64(b.total/g)); bits > 61 {
		return a, b, errors.New("two distributions with too fine a common unit of mass")
	}
	return a.times(b.total / g), b.times(a.total / g), nil
}

func (a Atoms) times(n int64) Atoms {
	out := Atoms{points: a.points, mass: make([]int64, len(a.mass)), total: a.total * n, blur: a.blur * n, unit: a.unit}
	for i, w := range a.mass {
		out.mass[i] = w * n
	}
	return out
}

// sorted orders the points of a one-dimensional distribution that have mass.
func (a Atoms) sorted() Atoms {
	order := make([]int, len(a.points))
	for i := range order {
		order[i] = i
	}

	// Points of one place keep their order, so that sums over them are the same each time.
	slices.SortFunc(order, func(i, j int) int {
		switch x, y := a.points[i][0], a.points[j][0]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return i - j
	})

	out := Atoms{total: a.total, blur: a.blur, unit: a.unit}
	for _, i := range order {
		if a.mass[i] > 0 {
			out.points, out.mass = append(out.points, a.points[i]), append(out.mass, a.mass[i])
		}
	}
	return out
}
