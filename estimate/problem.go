package estimate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Problem is everything that estimates follow from. Lengths are in the statistics' own units.
type Problem struct {
	Size    int // how many statistics are wanted
	Answers []Answer
	Facts   []Fact
	Prior   *Prior // nil: nothing is believed of any statistic before the answers
}

// Answer is values that were released together.
type Answer struct {
	Values []float64
	Of     []int // the statistic that each value is of
	Noise  Noise
}

// Noise is the law of what was added to the values of an answer: to each its own, and what several have in common.
type Noise struct {
	Own    []Own
	Shared []Line
}

// Own is independent noise: Laplace of a scale, and normal of a standard deviation; rounding counts as normal. Either
// may be 0.
type Own struct{ Laplace, Normal float64 }

// Line is noise that moves all values along a vector, by a Laplace number of a scale or a normal one of a standard
// deviation.
type Line struct {
	Laplace, Normal float64
	Along           []float64
}

// Fact is public: these statistics add up to the total.
type Fact struct {
	Of    []int
	Total float64
}

// Prior is a model of the data: what is believed of statistics before anything was released.
type Prior struct {
	Of      []int     // the statistics that it is about; of the others nothing is believed
	Mean    []float64 // of each, where the reference has it: what the paths of several secrets start from
	Secrets []Secret
}

// Only is what the prior says of statistic k alone, which is then number 0; nil: nothing.
func (p *Prior) Only(k int) *Prior {
	if p == nil {
		return nil
	}
	i := slices.Index(p.Of, k)
	if i < 0 {
		return nil
	}
	out := &Prior{Of: []int{0}, Mean: p.Mean[i : i+1]}
	for _, s := range p.Secrets {
		out.Secrets = append(out.Secrets, single{s, i})
	}
	return out
}

// single is a Secret of which one statistic is looked at.
type single struct {
	of Secret
	k  int
}

func (s single) Range() (from, to float64) { return s.of.Range() }

func (s single) Mean(value float64) []float64 { return s.of.Mean(value)[s.k : s.k+1] }

func (s single) Covariance(value float64) *mat.SymDense {
	return mat.NewSymDense(1, []float64{s.of.Covariance(value).At(s.k, s.k)})
}

// Secret is the law of a prior's statistics along the values of one secret.
type Secret interface {
	// Range is that of the secret's values, From < To.
	Range() (from, to float64)
	// Mean is that of the statistics at a value.
	Mean(value float64) []float64
	// Covariance is that of the statistics at a value: how they vary, and how well their mean is known.
	Covariance(value float64) *mat.SymDense
}

// MaxSize bounds the statistics of a problem, and MaxValues the released values: it takes a second or two at most.
const (
	MaxSize   = 400
	MaxValues = 400
)

// ErrSize is of a problem that is too large.
var ErrSize = fmt.Errorf("estimates take %d statistics and %d released values at most", MaxSize, MaxValues)

// errShape is of a problem whose parts do not fit together.
var errShape = errors.New("estimates: lists of different lengths, or numbers that are not finite")

// check refuses problems that are not well formed: every value has noise, and every statistic a value or a prior.
func (p Problem) check() error {
	values, known := 0, make([]bool, p.Size)
	within := func(of []int) bool {
		return !slices.ContainsFunc(of, func(k int) bool { return k < 0 || k >= p.Size })
	}
	for _, a := range p.Answers {
		values += len(a.Values)
		if len(a.Of) != len(a.Values) || len(a.Noise.Own) != len(a.Values) || !within(a.Of) || !finite(a.Values...) {
			return errShape
		}
		for i, o := range a.Noise.Own {
			if !finite(o.Laplace, o.Normal) || !(o.Laplace >= 0 && o.Normal >= 0 && o.Laplace+o.Normal > 0) {
				return errShape
			}
			known[a.Of[i]] = true
		}
		for _, l := range a.Noise.Shared {
			if len(l.Along) != len(a.Values) || !finite(l.Along...) || !finite(l.Laplace, l.Normal) ||
				!(l.Laplace >= 0 && l.Normal >= 0) {
				return errShape
			}
		}
	}

	for _, f := range p.Facts {
		if !within(f.Of) || !finite(f.Total) {
			return errShape
		}
	}

	// A statistic without a value needs a prior, and a secret a range.
	if p.Prior != nil {
		if len(p.Prior.Mean) != len(p.Prior.Of) || len(p.Prior.Secrets) == 0 || !within(p.Prior.Of) ||
			!finite(p.Prior.Mean...) {
			return errShape
		}
		for _, k := range p.Prior.Of {
			known[k] = true
		}
		for _, s := range p.Prior.Secrets {
			if from, to := s.Range(); !finite(from, to) || !(from < to) {
				return errShape
			}
		}
	}
	switch {
	case slices.Contains(known, false):
		return errShape
	case p.Size > MaxSize || values > MaxValues:
		return ErrSize
	}
	return nil
}

func finite(xs ...float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return !(math.Abs(x) < 1e150) })
}
