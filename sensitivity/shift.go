package sensitivity

import (
	"fmt"
	"math"
	"slices"
)

// Shift bounds how the mean of F moves between the two values of a pair of one secret: every difference of means is
//
//	a·Along + r + Σ_i u_i   with |a| ≤ 1, |r_k| ≤ Beside_k for each component k, and u_i in Unseen_i,
//
// in both orders of the pair. Along is the direction that the pairs have in common, at the length of the widest pair;
// Beside and Unseen are what leaves that line: the curvature of ratios, and what the reference is too small to resolve.
// Along and Beside have one entry for each component of F, in F's own units. Unseen has one for each set of disjoint
// cells and class of rows: see there.
//
// A secret whose pairs have no direction in common has several shifts, its extreme movements: every difference of means
// is a convex combination of theirs. What noise hides is convex in the movement (each component's share of a Laplace
// loss, a Gaussian shift's size), so the loss of the secret is the greatest over its shifts, each part by itself.
type Shift struct {
	Secret string
	Along  []float64
	Beside []float64
	Unseen []Unseen
	Error  []float64 // standard error of each component's movement as the reference gives it; nil: not known

	// Failure is the probability that Beside does not hold, where it bounds chance on coupled datasets.
	Failure float64
	// Coupled: all of it is a bound on coupled datasets, and no translation is assumed.
	Coupled bool

	// Scatter is what is left to chance; nil: the distribution of F shifts and does nothing else.
	Scatter *Scatter
}

// Span is a set of secret pairs: every two values of [From, To] that are at most Within apart.
type Span struct{ From, To, Within float64 }

// Check refuses what is no set of pairs.
func (s Span) Check() error {
	rounding := 1e-12 * math.Max(1, math.Abs(s.From)+math.Abs(s.To))
	if !(s.From < s.To && finite(s.From) && finite(s.To) && 0 < s.Within && s.Within <= s.To-s.From+rounding) {
		return fmt.Errorf("a span needs from < to and 0 < within ≤ to-from, not %+v", s)
	}
	return nil
}

// Between derives the Shift over a span from bounds on the slopes of the means: for each component, no slope in the
// span is outside [lo, hi] or, which is the same here, [hi, lo]. It holds for the whole continuum of pairs: the mean
// value theorem gives every difference of means as w'·slope(ξ), w' ≤ Within. resolution bounds, for each component, the
// error of its slope.
func Between(secret string, span Span, lo, hi, resolution []float64) (Shift, error) {
	m := len(lo)
	if len(hi) != m || len(resolution) != m {
		return Shift{}, fmt.Errorf("sensitivity to %s: slopes of %d, %d and %d components", secret, m, len(hi),
			len(resolution))
	}
	s := Shift{Secret: secret, Along: make([]float64, m), Beside: make([]float64, m)}
	for k := range m {
		s.Along[k] = span.Within * (lo[k] + hi[k]) / 2
		s.Beside[k] = span.Within * (math.Abs(hi[k]-lo[k])/2 + resolution[k])
		if !finite(s.Along[k]) || !finite(s.Beside[k]) || s.Beside[k] < 0 {
			return Shift{}, fmt.Errorf("sensitivity to %s: component %d is not finite", secret, k)
		}
	}
	return s, nil
}

// Norm1 bounds Δ_{E,1} = sup Σ_k |d_k|/scale_k over the differences d of E f_θi and E f_θj, for the secret's pairs
// [Chen & Ohrimenko, section 4.1]. A component of which scale is +Inf does not count; nil: all scales are 1.
func (s Shift) Norm1(scale []float64) float64 {
	scale = s.orOnes(scale)
	total := 0.0
	for k, v := range s.Along {
		total += (math.Abs(v) + s.Beside[k]) / scale[k]
	}
	for _, u := range s.Unseen {
		total += u.Norm1(scale)
	}
	return total
}

// Norm2 bounds Δ_{E,2}, the same for (Σ_k (d_k/sd_k)²)^½. It is exact with one Unseen; of several, all but one are
// added by the triangle inequality, or all by the box around them, whichever is less.
//
// Sets of opposite signs do not add up. Let x ≥ 0 be what the sets of one sign add and y ≥ 0 what those of the other
// take away, and b the rest. Of component k |x-y| ≤ max(x,y), so that with v ≥ 0 its bound |b| ≤ v
//
//	(|b|+|x-y|)² ≤ v² + ((v+x)²-v²) + ((v+y)²-v²),
//
// and the square of the norm is at most that with the sets of one sign, and that with those of the other, less that of
// v.
func (s Shift) Norm2(sd []float64) float64 {
	sd = s.orOnes(sd)
	most := make([]float64, len(s.Along))
	for k, v := range s.Along {
		most[k] = math.Abs(v) + s.Beside[k]
	}

	length := func() float64 {
		total := 0.0
		for k, v := range most {
			total += (v / sd[k]) * (v / sd[k])
		}
		return math.Sqrt(total)
	}

	if len(s.Unseen) == 0 {
		return length()
	}

	// One Unseen at its exact norm with the box, the others by the triangle inequality, whichever that one is.
	alone, sum, least := length(), 0.0, math.Inf(1)
	each := make([]float64, len(s.Unseen))
	for i, u := range s.Unseen {
		each[i] = u.Norm2(sd)
		sum += each[i]
	}

	for i, u := range s.Unseen {
		least = math.Min(least, u.beside(most, alone, sd)+math.Max(0, sum-each[i]))
	}

	if one, other, ok := s.opposite(); ok {
		one, other := one.Norm2(sd), other.Norm2(sd)
		least = math.Min(least, math.Sqrt(one*one+math.Max(0, other*other-alone*alone)))
	}

	for _, u := range s.Unseen {
		u.box(most)
	}
	return math.Min(least, length())
}

// opposite returns the shift with its unseen rows of sign 1 alone, and with those of sign -1; not ok where there are
// others, or only one of these.
func (s Shift) opposite() (one, other Shift, ok bool) {
	one, other = s, s
	one.Unseen, other.Unseen = nil, nil
	for _, u := range s.Unseen {
		switch u.Sign {
		case 1:
			one.Unseen = append(one.Unseen, u)
		case -1:
			other.Unseen = append(other.Unseen, u)
		default:
			return one, other, false
		}
	}
	return one, other, len(one.Unseen) > 0 && len(other.Unseen) > 0
}

// Box is Beside and Unseen in one: what each component by itself leaves the line by, at most.
func (s Shift) Box() []float64 {
	out := slices.Clone(s.Beside)
	for _, u := range s.Unseen {
		u.box(out)
	}
	return out
}

func (s Shift) orOnes(v []float64) []float64 {
	if v != nil {
		return v
	}
	return slices.Repeat([]float64{1}, len(s.Along))
}

// Aside is the shift without what it has along its direction: what Beside and Unseen bound.
func (s Shift) Aside() Shift {
	s.Along = make([]float64, len(s.Along))
	return s
}

// With is the shift with further components after its own: on coupled datasets they differ by at most beside, but for a
// probability failure that one of them differs by more.
func (s Shift) With(beside []float64, failure float64) Shift {
	out, m := s, len(s.Along)
	zero := make([]float64, len(beside))
	out.Along, out.Beside = append(slices.Clone(s.Along), zero...), append(slices.Clone(s.Beside), beside...)
	out.Failure += failure

	// What the shift does not say of its own components it does not say of these.
	if s.Error != nil {
		out.Error = append(slices.Clone(s.Error), zero...)
	}
	if s.Scatter != nil {
		c := *s.Scatter
		c.Variance, c.Second = append(slices.Clone(c.Variance), zero...), append(slices.Clone(c.Second), zero...)
		c.Extent = append(slices.Clone(c.Extent), zero...)
		c.Cell, c.Layer = slices.Clone(c.Cell), slices.Clone(c.Layer)
		for k := range beside { // cells of their own
			c.Cell, c.Layer = append(c.Cell, -1-m-k), append(c.Layer, -1-m-k)
		}
		out.Scatter = &c
	}

	if m == 0 { // nothing else moves
		out.Scatter, out.Coupled = nil, true
	}
	return out
}

// Stack puts the shifts of parts of F above one another: parts[i] has the Shifts of each secret that moves part i, and
// widths[i] components. Those of one secret are in the same order in every part.
func Stack(parts [][]Shift, widths []int) []Shift {
	total := 0
	for _, w := range widths {
		total += w
	}

	var out []Shift
	type part struct {
		secret string
		nth    int // a secret with several sets of pairs has a shift for each, in the same order in every part
	}
	index := map[part]int{}

	offset := 0
	for i, shifts := range parts {
		seen := map[string]int{}
		for _, s := range shifts {
			key := part{s.Secret, seen[s.Secret]}
			seen[s.Secret]++
			j, ok := index[key]
			if !ok {
				j = len(out)
				index[key] = j
				out = append(out, Shift{Secret: s.Secret, Along: make([]float64, total), Beside: make([]float64, total),
					Coupled: true})
			}

			copy(out[j].Along[offset:], s.Along)
			copy(out[j].Beside[offset:], s.Beside)
			for _, u := range s.Unseen { // another part is another statement: unseen rows are in both
				out[j].Unseen = append(out[j].Unseen, u.placed(offset))
			}

			// Each part may fail by itself, so that probabilities add up.
			out[j].Failure += s.Failure
			out[j].Coupled = out[j].Coupled && s.Coupled
			if s.Error != nil {
				if out[j].Error == nil {
					out[j].Error = make([]float64, total)
				}
				copy(out[j].Error[offset:], s.Error)
			}

			s.Scatter.place(&out[j].Scatter, total, offset)
		}
		offset += widths[i]
	}
	return out
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
