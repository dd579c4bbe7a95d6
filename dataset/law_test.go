package dataset

import (
	"math"
	"slices"
	"testing"

	"fugu/policy"
	"fugu/sensitivity"
)

// What a declared model says of pairs is how far they move F, each of them by itself.
func TestLawShift(t *testing.T) {
	l := policy.Law{Secret: "s", Values: []float64{0, 1, 2, 4}, Means: [][]float64{{0, 0}, {1, 5}, {2, -5}, {8, 1}}}
	for _, c := range []struct {
		span sensitivity.Span
		want [2]float64
	}{
		{sensitivity.Span{From: 0, To: 1, Within: 1}, [2]float64{1, 5}},
		{sensitivity.Span{From: 1, To: 2, Within: 1}, [2]float64{1, -10}},
		{sensitivity.Span{From: 0, To: 4, Within: 4}, [2]float64{8, 1}},
	} {
		s, err := LawShift(l, c.span)
		if err != nil || s.Secret != "s" || [2]float64(s.Along) != c.want || s.Beside[0]+s.Beside[1] != 0 {
			t.Errorf("%+v: %+v, %v", c.span, s, err)
		}
	}
	l.Values, l.Means = l.Values[:2], l.Means[:2]
	s, err := LawShift(l, sensitivity.Span{From: 0.2, To: 0.8, Within: 0.1})
	if err != nil || math.Abs(s.Along[0]-0.1) > 1e-12 || math.Abs(s.Along[1]-0.5) > 1e-12 {
		t.Errorf("%+v, %v", s, err)
	}
}

// Between two declared values the distribution is interpolated; of more each has its own.
func TestLawFamily(t *testing.T) {
	l := policy.Law{Secret: "s", Values: []float64{1, 3}, Means: [][]float64{{10, 0}, {20, 4}},
		Covariances: [][][]float64{{{4, 1}, {1, 2}}, {{8, 3}, {3, 6}}}}
	f := LawFamily{Law: l, At: sensitivity.Span{From: 1, To: 3, Within: 1}}
	c := f.Covariance(1.5).Blocks[0].Entries
	if m := f.Mean(1.5); !f.Affine() || m[0] != 12.5 || m[1] != 1 || !slices.Equal(c, []float64{5, 1.5, 1.5, 3}) {
		t.Errorf("%v, %v", m, c)
	}
	l.Values, l.Means = append(l.Values, 9), append(l.Means, []float64{-1, -1})
	l.Covariances = append(l.Covariances, [][]float64{{1, 0}, {0, 1}})
	f.Law = l
	if m := f.Mean(3); f.Affine() || m[0] != 20 || f.Mean(9)[1] != -1 || f.Covariance(9).Blocks[0].Entries[3] != 1 {
		t.Errorf("%v", m)
	}
}
