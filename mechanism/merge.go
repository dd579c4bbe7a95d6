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
			if o.Secret != s.Secret || o.Scatter != nil || s.Scatter != nil {
				continue
			}
			long, short := o, s
			if s.Norm2(nil) > o.Norm2(nil) {
				long, short = s, o
			}
			var dot, square float64
			for k, v := range long.Along {
				dot += v * short.Along[k]
				square += v * v
			}
			a := 0.0
			if square > 0 {
				a = math.Max(-1, math.Min(1, dot/square))
			}
			m := sensitivity.Shift{Secret: s.Secret, Along: long.Along, Beside: slices.Clone(long.Beside),
				Error:   slices.Clone(long.Error),
				Failure: math.Max(long.Failure, short.Failure), Coupled: long.Coupled && short.Coupled}
			unseen, parallel := sensitivity.Cover(long.Unseen, short.Unseen)
			m.Unseen, parallel = unseen, parallel && (long.Error == nil) == (short.Error == nil)
			for k, v := range long.Along {
				rest := math.Abs(short.Along[k] - a*v)
				parallel = parallel && rest <= 1e-9*math.Abs(short.Along[k])+1e-12*math.Sqrt(square)
				m.Beside[k] = math.Max(m.Beside[k], short.Beside[k]+rest)
				if m.Error != nil {
					m.Error[k] = math.Max(m.Error[k], short.Error[k])
				}
			}
			if parallel {
				out[i] = m
				continue next
			}
		}
		out = append(out, s)
	}
	return out
}
