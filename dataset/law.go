package dataset

import (
	"math"

	"fugu/policy"
	"fugu/sensitivity"
)

// LawShift is how far a secret moves F under its declared law over one of its spans: between the two values of a pair
// at the distance w the difference of means is w/Within of Along. What is declared for finitely many values has spans
// of one pair.
func LawShift(l policy.Law, span sensitivity.Span) (sensitivity.Shift, error) {
	f := LawFamily{l, span}
	from, to := f.Mean(span.From), f.Mean(span.To)
	slope := make([]float64, len(from))
	for k := range slope {
		slope[k] = (to[k] - from[k]) / (span.To - span.From)
	}
	return sensitivity.Between(l.Secret, span, slope, slope, make([]float64, len(slope)))
}

func nearest(values []float64, x float64) int {
	i := 0
	for j, v := range values {
		if math.Abs(v-x) < math.Abs(values[i]-x) {
			i = j
		}
	}
	return i
}

// LawFamily is f_θ along a declared law, over one of the secret's spans.
type LawFamily struct {
	Law policy.Law
	At  sensitivity.Span
}

// Secret implements sensitivity.Family.
func (f LawFamily) Secret() string { return f.Law.Secret }

// Span implements sensitivity.Family.
func (f LawFamily) Span() sensitivity.Span { return f.At }

// Affine implements sensitivity.Family.
func (f LawFamily) Affine() bool { return f.Law.Affine() }

// weights says what share each of two declared values has in what is interpolated at x.
func (f LawFamily) weights(x float64) (i, j int, share float64) {
	if !f.Law.Affine() {
		i := nearest(f.Law.Values, x)
		return i, i, 0
	}
	return 0, 1, (x - f.Law.Values[0]) / (f.Law.Values[1] - f.Law.Values[0])
}

// Mean implements sensitivity.Family.
func (f LawFamily) Mean(x float64) []float64 {
	i, j, share := f.weights(x)
	out := make([]float64, len(f.Law.Means[i]))
	for k := range out {
		out[k] = (1-share)*f.Law.Means[i][k] + share*f.Law.Means[j][k]
	}
	return out
}

// Covariance implements sensitivity.Family.
func (f LawFamily) Covariance(x float64) sensitivity.Covariance {
	i, j, share := f.weights(x)
	b := sensitivity.Block{Size: len(f.Law.Means[i])}
	for k := range b.Size {
		for l := range b.Size {
			b.Entries = append(b.Entries, (1-share)*f.Law.Covariances[i][k][l]+share*f.Law.Covariances[j][k][l])
		}
	}
	return sensitivity.Covariance{Blocks: []sensitivity.Block{b}}
}
