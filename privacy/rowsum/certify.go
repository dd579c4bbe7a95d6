package rowsum

import (
	"errors"
	"math"
)

// Ask is what a certificate is asked for: that the sum with normal noise, for every pair and in both orders, is
// (Epsilon, Delta)-indistinguishable.
type Ask struct {
	Epsilon, Delta float64
	Noise          float64 // its variance
	Aside          float64 // the sums of a pair differ by so much more, at most, whatever the rows are
	Between        func()  // is called now and then; nil: nothing is
}

// Certificate is a bound on δ at the Ask's ε, and the pair of numbers of rows that it is greatest for, first against
// second.
type Certificate struct {
	Delta float64
	Pair  [2]int
}

// ErrMore says that the bound exceeds the Ask's δ.
var ErrMore = errors.New("the exact laws differ by more than the budget allows")

// ErrBeyond says that it would take too long to tell.
var ErrBeyond = errors.New("the exact law takes too long to compute")

const (
	boxes    = 24   // into which the smaller numbers of pairs are divided, where they are more
	dropped  = .01  // of the rows, at most, that a box does without
	accuracy = 1e-4 // of δ: what may be left out
	mostLaws = 600  // laws that are computed, at most
	margin   = 1.03 // a bound that is so many times what the widest pairs need is as good as any,
	enough   = .25  // and so is one of this share of the budget's δ
)

// certification is one run.
type certification struct {
	sum     *Sum
	ask     Ask
	frame   *frame
	beside  []node
	drop    int // rows that each box does without
	laws    int
	widest  map[int]widest // by where the box begins: what was computed for the pairs that are farthest apart
	reached Certificate
	hard    int // where the box of what is reached begins
}

// widest is the law of the smaller number of a box, and δ of its pairs that are farthest apart, in both orders.
type widest struct {
	low    curve
	deltas [2]float64
}

// PairSet says which pairs of numbers of rows a bound is over.
type PairSet bool

const (
	// FarthestPairs are some of those that are farthest apart, the hardest so far among them. Their bound is about that
	// of all, and takes less: a search for noise looks at them first.
	FarthestPairs PairSet = false
	// AllPairs are what is promised of.
	AllPairs PairSet = true
)

// Certify bounds δ over pairs. What once took too long is not tried again.
func (s *Sum) Certify(a Ask, over PairSet) (Certificate, error) {
	whole := over == AllPairs
	if s.beyond {
		return Certificate{}, ErrBeyond
	}
	if whole && s.whole != nil && s.whole.is(a) {
		return s.whole.Certificate, s.whole.err
	}
	r := &certification{sum: s, ask: a, widest: map[int]widest{}}
	if !(a.Epsilon > 0 && a.Delta > 0 && a.Noise > 0 && a.Aside >= 0) {
		return Certificate{}, ErrMore
	}

	// Noise is set aside for what the sums differ by besides, the more the more that is of all that they differ by.
	moved := math.Abs(s.Step()) * float64(s.pairs.Apart)
	part := math.Min(.5, math.Max(1e-6, a.Aside/math.Max(math.Max(moved, a.Aside), math.SmallestNonzeroFloat64)))
	r.beside = shifted(a.Epsilon, a.Delta, a.Aside/math.Sqrt(part*a.Noise))

	values := s.pairs.High - s.pairs.Low // of the smaller number
	if values > boxes {
		r.drop = max(0, min(int(dropped*float64(s.rows)), (values+boxes-1)/boxes-1))
	}
	var ok bool
	if r.frame, ok = s.newFrame(s.rows-r.drop, (1-part)*a.Noise, accuracy*a.Delta/(1+math.Exp(a.Epsilon))); !ok {
		return Certificate{}, ErrBeyond
	}
	err := r.farthest(whole)
	if r.reached.Delta > 0 {
		s.hard = r.hard
	}
	if err == nil && whole {
		err = r.nearer()
		s.whole = &answered{a, r.reached, err}
	}
	s.beyond = s.beyond || errors.Is(err, ErrBeyond)
	return r.reached, err
}

// answered is an Ask with what was said to it: who searches for noise asks once more for what was found.
type answered struct {
	Ask
	Certificate
	err error
}

// is reports whether it is the same that is asked.
func (w *answered) is(a Ask) bool {
	return w.Ask.Epsilon == a.Epsilon && w.Ask.Delta == a.Delta && w.Noise == a.Noise && w.Aside == a.Aside
}

// box is the pairs whose smaller number is from low to low+drop: of rows that both have in common as many of class 1 or
// 0 are left out as differ between them, so that all of the box have the same rest.
type box struct{ low, apart int }

func (r *certification) box(low int) box {
	p := r.sum.pairs
	return box{low, min(p.Apart, p.High-low)}
}

func (r *certification) lows(do func(box) error) error {
	for low := r.sum.pairs.Low; low < r.sum.pairs.High; low += r.drop + 1 {
		b := r.box(low)
		if low+b.apart+r.drop > r.sum.rows { // there are not as many rows of class 0
			return ErrBeyond
		}
		if err := do(b); err != nil {
			return err
		}
	}
	return nil
}

// law is the curve with so many rows of class 1.
func (r *certification) law(ones int) (curve, error) {
	if r.laws++; r.laws > mostLaws {
		return curve{}, ErrBeyond
	}
	if r.ask.Between != nil {
		r.ask.Between()
	}
	return r.frame.density(ones, r.sum.rows-r.drop-ones), nil
}

// farthest bounds δ of the pairs that are farthest apart; if not of all boxes, of three and the hardest so far.
func (r *certification) farthest(all bool) error {
	p := r.sum.pairs
	last := max(p.Low, p.High-p.Apart)
	return r.lows(func(b box) error {
		// The three are the first, the middle and the last of the secret's values.
		holds := func(low int) bool { return b.low <= low && low <= b.low+r.drop }
		if !all && !holds(p.Low) && !holds((p.Low+last)/2) && !holds(last) && b.low != r.sum.hard {
			return nil
		}

		low, err := r.law(b.low)
		if err != nil {
			return err
		}
		d, err := r.boundPair(b, b.apart, low)
		if err != nil {
			return err
		}
		if all {
			r.widest[b.low] = widest{low, d}
		}
		r.count(b, b.apart, d, 0)
		if r.reached.Delta > r.ask.Delta {
			return ErrMore
		}
		return nil
	})
}

// count takes a bound of both orders into what is reached.
func (r *certification) count(b box, apart int, d [2]float64, more float64) {
	for order, v := range d {
		if v+more > r.reached.Delta {
			pair := [2]int{b.low + apart, b.low}
			if order == 1 {
				pair[0], pair[1] = pair[1], pair[0]
			}
			r.reached, r.hard = Certificate{v + more, pair}, b.low
		}
	}
}

// nearer bounds δ of the pairs that are less far apart than those of farthest, in steps as long as they may be. Between
// two numbers a and b of rows apart the difference p-γq of two densities is, as a function of the number, off the
// straight line between those of a and b by (b-a)²/8 times its greatest second difference. And max(0, ·) is convex.
func (r *certification) nearer() error {
	limit := math.Min(r.ask.Delta, math.Max(margin*r.reached.Delta, enough*r.ask.Delta))
	return r.lows(func(b box) error {
		low, upper := r.widest[b.low].low, r.widest[b.low].deltas
		bent := r.frame.roughness(b.low, r.sum.rows-r.drop-b.low-b.apart) * r.steepest() / 8

		// From the farthest down to none apart, where both laws are the same.
		for at := b.apart; at > 1; {
			slack := math.Max(0, limit-math.Max(upper[0], upper[1]))
			far := min(at, max(1, int(math.Sqrt(slack/bent))))
			lower, err := r.boundPair(b, at-far, low)
			if err != nil {
				return err
			}
			if far > 1 {
				r.count(b, at-far/2, [2]float64{math.Max(lower[0], upper[0]), math.Max(lower[1], upper[1])},
					bent*float64(far)*float64(far))
			} else {
				r.count(b, at-far, lower, 0)
			}
			if r.reached.Delta > r.ask.Delta {
				return ErrMore
			}
			at, upper = at-far, lower
		}
		return nil
	})
}

// boundPair bounds δ of the pair that is so far apart, in both orders.
func (r *certification) boundPair(b box, by int, low curve) ([2]float64, error) {
	if by == 0 {
		same := r.same()
		return [2]float64{same, same}, nil
	}
	high, err := r.law(b.low + by)
	if err != nil {
		return [2]float64{}, err
	}
	return r.deltas(high, low), nil
}
