package mechanism

import (
	"math"
	"slices"

	"fugu/sensitivity"
)

// merged returns the shifts with those of one secret that lie along one line made one: the longest, whose Beside and
// Unseen cover the others'.
func merged(shifts []sensitivity.Shift) []sensitivity.Shift {
	var out []sensitivity.Shift
next:
	for _, s := range shifts {
		for i, o := range out {
			if m, ok := mergedPair(o, s); ok {
				out[i] = m
				continue next
			}
		}
		out = append(out, s)
	}
	return out
}

// mergedPair returns a shift that covers both: their secret is one, and they are parallel but for rounding.
func mergedPair(a, b sensitivity.Shift) (m sensitivity.Shift, ok bool) {
	if a.Secret != b.Secret || a.Scatter != nil || b.Scatter != nil || (a.Error == nil) != (b.Error == nil) {
		return sensitivity.Shift{}, false
	}
	long, short := a, b
	if b.Norm2(nil) > a.Norm2(nil) {
		long, short = b, a
	}
	m = sensitivity.Shift{
		Secret: long.Secret, Along: long.Along, Beside: slices.Clone(long.Beside), Error: slices.Clone(long.Error),
		Failure: math.Max(long.Failure, short.Failure), Coupled: long.Coupled && short.Coupled,
	}

	// Shifts whose unseen rows are of other cells stay two: each is hidden by itself.
	var err error
	if m.Unseen, err = sensitivity.Cover(long.Unseen, short.Unseen); err != nil {
		return sensitivity.Shift{}, false
	}

	// The shorter one is c times the longer one, |c| ≤ 1, and a rest that has to be next to nothing: it goes beside.
	var dot, square float64
	for k, v := range long.Along {
		dot += v * short.Along[k]
		square += v * v
	}

	c := 0.0
	if square > 0 {
		c = math.Max(-1, math.Min(1, dot/square))
	}
	for k, v := range long.Along {
		rest := math.Abs(short.Along[k] - c*v)
		if !(rest <= 1e-9*math.Abs(short.Along[k])+1e-12*math.Sqrt(square)) {
			return sensitivity.Shift{}, false
		}
		m.Beside[k] = math.Max(m.Beside[k], short.Beside[k]+rest)
		if m.Error != nil {
			m.Error[k] = math.Max(m.Error[k], short.Error[k])
		}
	}
	return m, true
}
