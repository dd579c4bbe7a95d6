package sensitivity

import (
	"errors"
	"fmt"
	"math"
)

// Shift bounds how the mean of F moves between the two values of any pair of one secret: every difference of means is
//
//	a·Along + r   with |a| ≤ 1 and |r_k| ≤ Beside_k for each component k,
//
// in both orders of the pair. Along is the direction that the pairs have in common, at the length of the widest pair;
// Beside is what leaves that line: the curvature of ratios, and what the reference is too small to resolve. Both have
// one entry for each component of F, in F's own units.
type Shift struct {
	Secret string
	Along  []float64
	Beside []float64
}

// Span is a set of secret pairs of a proportion: every two values of [From, To] that are at most Within apart.
type Span struct{ From, To, Within float64 }

// Hull returns one span that holds every pair of the spans.
func Hull(spans []Span) (Span, error) {
	if len(spans) == 0 {
		return Span{}, errors.New("a secret without pairs has no sensitivity")
	}
	h := spans[0]
	for _, s := range spans {
		if !(0 <= s.From && s.From < s.To && s.To <= 1 && 0 < s.Within && s.Within <= s.To-s.From+1e-12) {
			return Span{}, fmt.Errorf("a span of proportions needs 0 ≤ from < to ≤ 1 and 0 < within ≤ to-from, not %+v", s)
		}
		h = Span{math.Min(h.From, s.From), math.Max(h.To, s.To), math.Max(h.Within, s.Within)}
	}
	return h, nil
}

// Between derives the Shift over a span from the slopes of the means at its two ends. It holds for the whole continuum
// of pairs: where each component's slope is monotone over the span, the mean value theorem gives every difference of
// means as w'·slope(ξ), w' ≤ Within, and slope(ξ) lies between the slopes at the ends. resolution bounds, for each
// component, the error of its slope.
func Between(secret string, span Span, slopeFrom, slopeTo, resolution []float64) (Shift, error) {
	m := len(slopeFrom)
	if len(slopeTo) != m || len(resolution) != m {
		return Shift{}, fmt.Errorf("sensitivity to %s: slopes of %d, %d and %d components", secret, m, len(slopeTo), len(resolution))
	}
	s := Shift{Secret: secret, Along: make([]float64, m), Beside: make([]float64, m)}
	for k := range m {
		s.Along[k] = span.Within * (slopeFrom[k] + slopeTo[k]) / 2
		s.Beside[k] = span.Within * (math.Abs(slopeTo[k]-slopeFrom[k])/2 + resolution[k])
		if !finite(s.Along[k]) || !finite(s.Beside[k]) || s.Beside[k] < 0 {
			return Shift{}, fmt.Errorf("sensitivity to %s: component %d is not finite", secret, k)
		}
	}
	return s, nil
}

// Norm1 bounds Δ_{E,1} = sup ‖E f_θi - E f_θj‖₁ over the secret's pairs [Chen & Ohrimenko, section 4.1].
func (s Shift) Norm1() float64 {
	total := 0.0
	for k := range s.Along {
		total += math.Abs(s.Along[k]) + s.Beside[k]
	}
	return total
}

// Norm2 bounds Δ_{E,2}, the same in the Euclidean norm.
func (s Shift) Norm2() float64 {
	total := 0.0
	for k := range s.Along {
		total = math.Hypot(total, math.Abs(s.Along[k])+s.Beside[k])
	}
	return total
}

// Stack puts the shifts of independent parts of F above one another: parts[i] has a Shift for each secret that moves
// part i, and widths[i] components.
func Stack(parts [][]Shift, widths []int) []Shift {
	total := 0
	for _, w := range widths {
		total += w
	}
	var out []Shift
	index := map[string]int{}
	offset := 0
	for i, part := range parts {
		for _, s := range part {
			j, ok := index[s.Secret]
			if !ok {
				j = len(out)
				index[s.Secret] = j
				out = append(out, Shift{Secret: s.Secret, Along: make([]float64, total), Beside: make([]float64, total)})
			}
			copy(out[j].Along[offset:], s.Along)
			copy(out[j].Beside[offset:], s.Beside)
		}
		offset += widths[i]
	}
	return out
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
