package twin

import (
	"fmt"
	"math"
	"math/big"

	"fugu/internal/hook"
	"fugu/mechanism"
)

// laplace is K for two classes whose counts are in a range: Ñ_0 = clamp(N_0 + Y, Least_0, Most_0), and Ñ_1 the rest,
// where Pr(Y = y) is proportional to x^|y|, x = e^(-ε/k), for all integers y or for |y| ≤ A.
//
// Untruncated it is ε-hiding: the weights of one Ñ under two values at most k apart are within x^-k = e^ε, and the
// normaliser is the same. Truncated it is (ε,δ)-hiding with δ the mass of the k last y: what one value can bring forth
// and the other cannot. With α = x that is α^(A+1)(e^ε-1)/(1+α-2α^(A+1)), which is at most δ if
//
//	A ≥ (k/ε)·ln(1 + (e^ε-1)/2δ) - 1/2
//
// for 2α^½ ≤ 1+α. Rounding the right side up without its half leaves half a row for the rounding of float64.
type laplace struct {
	rate
	move int64 // k
	most int64 // A; -1: untruncated
	n    int64
	in   [2]Class

	listed []int64 // the first counts that the promise speaks of, if they are listed; nil: the range
}

func newLaplace(d domain, n int64, epsilon, delta float64) (*laplace, error) {
	r, err := newRate(epsilon, d.move)
	if err != nil {
		return nil, err
	}
	l := &laplace{rate: r, move: d.move, most: -1, n: n, in: [2]Class(d.classes)}
	if delta > 0 {
		most := math.Ceil(float64(d.move) / r.epsilon() * math.Log1p(math.Expm1(r.epsilon())/(2*delta)))
		if most < float64(n) { // beyond the number of rows it is as good as untruncated
			l.most = max(int64(most), d.move)
		}
	}
	return l, nil
}

func (l *laplace) String() string {
	if l.most < 0 {
		return fmt.Sprintf("discrete Laplace noise of scale %.4g rows", float64(l.move)/l.epsilon())
	}
	return fmt.Sprintf("discrete Laplace noise of scale %.4g rows, truncated at %d", float64(l.move)/l.epsilon(),
		l.most)
}

func (l *laplace) draws() int { return 4000 }

func (l *laplace) draw(i *mechanism.Integers, counts []int64) []int64 {
	for i.Err() == nil {
		y := i.Laplace(uint64(l.move)*l.den, l.num)
		if l.most >= 0 && abs(y) > l.most && !hook.TwinUnbounded {
			continue
		}
		if hook.TwinClampFirst {
			first := l.noisy(counts[0])[0] + y
			return []int64{first, l.n - first}
		}
		return l.noisy(counts[0] + y)
	}
	return nil
}

// noisy clamps the first count; the noise is in it already, so that clamping tells nothing more.
func (l *laplace) noisy(first int64) []int64 {
	first = min(max(first, l.in[0].Least), l.in[0].Most)
	return []int64{first, l.n - first}
}

// least is how many rows of each class a table has at least that can bring forth the noisy counts.
func (l *laplace) least(noisy []int64) []int64 {
	lo, hi := l.in[0].Least, l.in[0].Most
	if l.most >= 0 {
		lo, hi = max(lo, noisy[0]-l.most), min(hi, noisy[0]+l.most)
	}
	return []int64{lo, l.n - hi}
}

func (l *laplace) covers(counts []int64) bool {
	return l.in[0].Least <= counts[0] && counts[0] <= l.in[0].Most
}

// unit is x's exponent: x = e^(-num/(den·k)).
func (l *laplace) unit() (num, den uint64) { return l.num, l.den * uint64(l.move) }

// law sums the weights of all y that are clamped to one count: the tails are geometric series.
func (l *laplace) law(x *big.Rat, counts []int64) []Outcome {
	one := big.NewRat(1, 1)
	weights := map[int64]*big.Rat{}
	total := new(big.Rat)
	add := func(y int64, w *big.Rat) {
		first := l.noisy(counts[0] + y)[0]
		if weights[first] == nil {
			weights[first] = new(big.Rat)
		}
		weights[first].Add(weights[first], w)
		total.Add(total, w)
	}

	reach := l.most
	if reach < 0 {
		// From here on everything is clamped.
		reach = max(abs(counts[0]-l.in[0].Least), abs(l.in[0].Most-counts[0]))
		tail := new(big.Rat).Quo(power(x, reach+1), new(big.Rat).Sub(one, x))
		add(-reach-1, tail)
		add(reach+1, tail)
	}

	for y := -reach; y <= reach; y++ {
		add(y, power(x, abs(y)))
	}
	return normalised(weights, total, func(first int64) []int64 { return []int64{first, l.n - first} })
}

func (l *laplace) steps() int64 { return l.move }

// expect goes through quantiles of Y, as continuous noise has them.
func (l *laplace) expect(counts []int64, sizes func(noisy []int64) []int64) []Expected {
	var sum sums
	b, reach := float64(l.move)/l.epsilon(), 1.
	if l.most >= 0 {
		reach = -math.Expm1(-float64(l.most) / b) // Pr(|Y| ≤ A) untruncated
	}
	for q := range quantiles {
		y := int64(math.Round(-b * math.Log1p(-(float64(q)+.5)/quantiles*reach)))
		for _, y := range []int64{-y, y} {
			noisy := l.noisy(counts[0] + y)
			sum.add(counts, noisy, sizes(noisy), 1./(2*quantiles))
		}
	}
	return sum.expected()
}

func abs(x int64) int64 { return max(x, -x) }

// pairwise sums the tails beyond the range, which are clamped, as geometric series.
func (l *laplace) pairwise(_ int, counts, other []int64, each func(noisy []int64, p, q float64)) {
	for first := l.in[0].Least; first <= l.in[0].Most; first++ {
		each([]int64{first, l.n - first}, l.logarithm(first, counts[0]), l.logarithm(first, other[0]))
	}
}

// logarithm is that of the probability that a count becomes first.
func (l *laplace) logarithm(first, count int64) float64 {
	b := float64(l.move) / l.epsilon()
	total := 1 / math.Tanh(1/(2*b))             // Σ x^|y|
	geometric := func(from, to int64) float64 { // Σ x^y, from ≤ y ≤ to
		if from > to {
			return 0
		}
		return math.Exp(-float64(from)/b) * math.Expm1(-float64(to-from+1)/b) / math.Expm1(-1/b)
	}

	most := int64(1 << 60)
	if l.most >= 0 {
		most, total = l.most, 1+2*geometric(1, l.most)
	}

	// What is beyond the range is clamped to its ends, which have all of the tail.
	y := first - count
	mass := 0.
	switch {
	case l.in[0].Least == l.in[0].Most:
		return 0
	case first == l.in[0].Least: // all y' ≤ y
		mass = geometric(max(0, -y), most) + geometric(1, min(y, most))
	case first == l.in[0].Most: // all y' ≥ y
		mass = geometric(max(0, y), most) + geometric(1, min(-y, most))
	case abs(y) <= most:
		mass = math.Exp(-float64(abs(y)) / b)
	}
	return math.Log(mass / total)
}

// spreadPoints is how many tables a mean over all tables of a range goes through.
const spreadPoints = 1 << 12

// spread is the mean over all counts that the promise speaks of, each as likely before Ñ was told.
func (l *laplace) spread(noisy []int64) []float64 {
	weights, squares := 0., 0.
	add := func(count int64) {
		w, off := math.Exp(l.logarithm(noisy[0], count)), float64(noisy[0]-count)
		weights, squares = weights+w, squares+w*off*off
	}

	// A range of counts is gone through at so many points, which is enough for a mean.
	for _, count := range l.listed {
		add(count)
	}
	if l.listed == nil {
		from, to := l.in[0].Least, l.in[0].Most
		if l.most >= 0 {
			from, to = max(from, noisy[0]-l.most), min(to, noisy[0]+l.most)
		}
		for count := from; count <= to; count += max(1, (to-from)/spreadPoints) {
			add(count)
		}
	}

	sd := float64(l.in[0].Most - l.in[0].Least) // of what no listed count can bring forth nothing is promised
	if weights > 0 {
		sd = math.Sqrt(squares / weights)
	}
	return []float64{sd, sd}
}
