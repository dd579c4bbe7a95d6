package answer

import (
	"context"
	"fmt"

	"fugu/dataset"
	"fugu/ledger"
	"fugu/mechanism"
	"fugu/quote"
)

// LawPart is one independent part of the noise of one value: a number with a law, by which the value is moved along
// times. Parts of equal source other than their own are one number, which moves several values; so the covariance of
// two values is the sum over their common sources of the number's variance times both alongs.
type LawPart struct {
	dataset.Label
	Source   string  // own, or shared and a number
	Law      string  // laplace, normal or uniform
	Scale    float64 // of the number: Laplace's scale, the normal's standard deviation, the width of the uniform
	Along    float64
	Variance float64 // of the number
}

// NoiseLaw is the law of the noise of an answer to the question: public, as the noise is chosen before a protected row
// is read. Of an answer that was computed from others it is that of each value's error alone.
func (q *Question) NoiseLaw(ctx context.Context, a ledger.Answer) (parts []LawPart, err error) {
	s, err := stored(a)
	if err != nil {
		return nil, err
	}
	m, err := q.Measure(ctx)
	if err != nil || m.Width == 0 {
		return nil, err
	}
	if s.Past != nil {
		return lawOfPast(m, s.Past)
	}
	w, err := q.witness(a, s, m)
	if err != nil {
		return nil, err
	}

	// Each value has noise of its own, and its part of every noise that it shares with others.
	for k, label := range m.Labels {
		for _, p := range ownParts(w.Evidence.Law.Own[k]) {
			p.Label = label
			parts = append(parts, p)
		}
		for i, line := range w.Evidence.Law.Shared {
			p := number(line.Laplace, line.Sigma)
			p.Label, p.Source, p.Along = label, fmt.Sprintf("shared %d", i+1), line.Along[k]
			if p.Along != 0 {
				parts = append(parts, p)
			}
		}
	}
	return parts, nil
}

// ownParts are the parts of a value's own noise.
func ownParts(o mechanism.Own) (parts []LawPart) {
	for _, b := range []float64{o.Laplace, o.Extra} {
		if b > 0 {
			parts = append(parts, number(b, 0))
		}
	}
	if o.Sigma > 0 {
		parts = append(parts, number(0, o.Sigma))
	}
	if o.Step > 0 {
		parts = append(parts, LawPart{Law: "uniform", Scale: o.Step, Variance: o.Step * o.Step / 12})
	}
	for i := range parts {
		parts[i].Source, parts[i].Along = "own", 1
	}
	return parts
}

// number is a part with Laplace noise of a scale, or normal noise of a standard deviation.
func number(laplace, sigma float64) LawPart {
	if laplace > 0 {
		return LawPart{Law: "laplace", Scale: laplace, Variance: 2 * laplace * laplace}
	}
	return LawPart{Law: "normal", Scale: sigma, Variance: sigma * sigma}
}

// lawOfPast is the law of each value of an answer that was computed from others.
func lawOfPast(m *quote.Quote, past *quote.Past) (parts []LawPart, err error) {
	if len(past.Errors) != m.Width {
		return nil, errMisfit
	}
	for k, e := range past.Errors {
		var of []LawPart
		for _, b := range e.Noise.Scales {
			of = append(of, number(b, 0))
		}
		of = append(of, number(0, e.Noise.Sigma))
		of = append(of, LawPart{Law: "uniform", Scale: 2 * e.Noise.Rounding, Variance: e.Noise.Rounded})
		for _, p := range of {
			if p.Scale > 0 {
				p.Label, p.Source, p.Along = m.Labels[k], "own", 1
				parts = append(parts, p)
			}
		}
	}
	return parts, nil
}
