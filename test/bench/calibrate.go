package main

import (
	"context"
	"fmt"

	"fugu/mechanism"
	"fugu/privacy"
	"fugu/sensitivity"
)

// calibrating measures the search for noise for grouped counts of m cells.
func calibrating(ctx context.Context, rounds int) error {
	var measurements []*measurement
	for _, m := range []int{10, 1000} {
		r := groupedCounts(m)
		measurements = append(measurements, &measurement{name: fmt.Sprintf("counts of %d cells", m), times: 1,
			run: func() error {
				_, err := mechanism.Calibrate(ctx, mechanism.Auto, r)
				return err
			}})
	}
	return compare(measurements, rounds, fmt.Sprintf("Certified calibration, auto (goals: 50 ms for 10 cells, 2000 "+
		"ms for 1000), medians of %d rounds", rounds))
}

// groupedCounts is the request for counts of m cells over a million rows under one secret: cell k holds a share q of
// the rows inside the predicate and another outside.
func groupedCounts(m int) mechanism.Request {
	r := mechanism.Request{Budget: privacy.Budget{Epsilon: 1, Delta: .001}}
	f := counts{n: 1e6}
	s := sensitivity.Shift{Secret: f.Secret(), Along: make([]float64, m), Beside: make([]float64, m),
		Unseen: []sensitivity.Unseen{{Rows: 1}, {Rows: 1}}}
	total := float64(m) * float64(m+1) / 2
	for k := range m {
		f.inside = append(f.inside, float64(k+1)/total)
		f.outside = append(f.outside, float64(m-k)/total)
	}
	for k := range m {
		s.Along[k] = f.n * f.Span().Within * (f.inside[k] - f.outside[k])
		for i, rows := range []float64{2000, 8000} { // of a class of the reference
			u := &s.Unseen[i]
			u.At, u.Cell, u.Size = append(u.At, k), append(u.Cell, k), append(u.Size, f.n*f.Span().Within/rows)
			s.Beside[k] += f.n * f.Span().Within / rows * []float64{f.inside[k], f.outside[k]}[i]
		}
		r.Components = append(r.Components, mechanism.Component{Lattice: 1, Unit: 1, Integer: true})
	}
	r.Shifts, r.Families = []sensitivity.Shift{s}, []sensitivity.Family{f}
	return r
}

// counts is f_θ of counts by group among n rows, shares of the groups inside and outside the predicate.
type counts struct {
	n               float64
	inside, outside []float64
}

func (c counts) Secret() string         { return "s" }
func (c counts) Span() sensitivity.Span { return sensitivity.Span{From: .1, To: .6, Within: .05} }
func (c counts) Affine() bool           { return true }

func (c counts) Mean(p float64) []float64 {
	out := make([]float64, len(c.inside))
	for k := range out {
		out[k] = c.n * (p*c.inside[k] + (1-p)*c.outside[k])
	}
	return out
}

// Covariance of the multinomial counts inside and outside.
func (c counts) Covariance(p float64) sensitivity.Covariance {
	out := sensitivity.Covariance{Low: []sensitivity.RankOne{{Weight: -c.n * p, Vector: c.inside},
		{Weight: -c.n * (1 - p), Vector: c.outside}}}
	for _, v := range c.Mean(p) {
		out.Blocks = append(out.Blocks, sensitivity.Block{Size: 1, Entries: []float64{v}})
	}
	return out
}
