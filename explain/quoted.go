package explain

import (
	"math"
	"slices"

	"fugu/dataset"
	"fugu/quote"
	"fugu/sensitivity"
)

// Confidence is that of the intervals around released values, where nobody asks for another.
const Confidence = 0.95

// Quote says what is asked, how far the secrets move it, and the noise that hides that.
func Quote(r *quote.Request, m *quote.Quote) Explanation {
	x := Explanation{Dataset: r.Policy.Dataset, Components: m.Width,
		Calibration: m.Calibration, Certificates: m.Calibration.Certificates,
		Mechanism: string(m.Calibration.Kind), Chosen: string(r.Mechanism), Assumption: m.Calibration.Assumption,
		Epsilon: float64(r.Budget.Epsilon), Delta: float64(r.Budget.Delta), Cuts: cuts(r, m),
		Noise: noise(m)}
	if w := r.Policy.Privacy.Within; w != nil && m.Width > 0 {
		x.Relaxed = w.String()
	}
	if m.Estimated() {
		x.Estimation = float64(r.Policy.Privacy.Estimation.Delta)
	}

	// A secret may move F by several shifts: the widest counts.
	for _, s := range m.Shifts {
		along := sensitivity.Shift{Along: s.Along, Beside: make([]float64, len(s.Along))}
		e := Secret{s.Secret, s.Norm1(nil), s.Norm2(nil), along.Norm2(nil), s.Aside().Norm2(nil), most(m, s)}
		if n := len(x.Secrets); n > 0 && x.Secrets[n-1].Secret == s.Secret {
			x.Secrets[n-1].widen(e)
		} else {
			x.Secrets = append(x.Secrets, e)
		}
	}

	if m.Network != nil {
		x.Quilts = quilts(m.Network, m.Quilts)
	}
	for k, l := range m.Labels {
		x.Values = append(x.Values, Value{l.Column, l.Group, m.Calibration.SD[k], m.Expected[k],
			m.Inherent[k]})
	}
	return x
}

// most finds the value that a shift moves most, in units of what it varies by anyway; of values that do not vary, and
// of equals, the first. nil: it moves none.
func most(m *quote.Quote, s sensitivity.Shift) (out *Moved) {
	if len(m.Labels) == 1 {
		return nil // the norms say so
	}
	box, greatest := s.Box(), 0.0
	for k, l := range m.Labels {
		moves := math.Abs(s.Along[k]) + box[k]
		if share := moves / m.Inherent[k]; moves > 0 && share > greatest {
			greatest, out = share, &Moved{l.Column, l.Group, math.Abs(s.Along[k]), box[k]}
		}
	}
	return out
}

// cuts says what is asked below the cuts.
func cuts(r *quote.Request, m *quote.Quote) (out []Cut) {
	index := m.Index
	for i, c := range r.Cuts {
		e := Cut{Table: c.Table.String(), Cells: len(c.Cells), Model: m.Sources[i], Below: c.Statistics(),
			Bounds: m.Bounds[i]}

		// The index goes through all cuts, one after the other.
		here := len(c.Cells) * len(c.Aggregates)
		for _, k := range index[:here] {
			if _, ok := k.Public(); ok {
				e.Public++
			}
		}
		index = index[here:]

		for _, k := range c.Keys {
			e.Keys = append(e.Keys, k.Label)
		}
		for _, a := range c.Aggregates {
			e.Aggregates = append(e.Aggregates, a.Label)
		}
		out = append(out, e)
	}
	return out
}

// noise says of each column how much noise it has.
func noise(m *quote.Quote) []Noise {
	var out []Noise
	for k, l := range m.Labels {
		i := slices.IndexFunc(out, func(n Noise) bool { return n.Column == l.Column })
		if i < 0 {
			i = len(out)
			out = append(out, Noise{Column: l.Column, SDMin: math.Inf(1)})
		}
		n := &out[i]
		n.Components++
		n.SDMin, n.SDMax = math.Min(n.SDMin, m.Calibration.SD[k]), math.Max(n.SDMax, m.Calibration.SD[k])
		n.HalfWidth = math.Max(n.HalfWidth, m.Calibration.Noise.HalfWidth(k, Confidence))
		n.Inherent = math.Max(n.Inherent, m.Inherent[k])
	}

	// JSON has no infinity.
	for i, e := range m.Errors() {
		if out[i].Error = e.Share; math.IsInf(e.Share, 1) {
			out[i].Error = -1
		}
	}
	return out
}

// quilts says how secret parameters are hidden.
func quilts(n *dataset.Network, quilts []sensitivity.Quilt) []Quilt {
	var out []Quilt
	for _, q := range quilts {
		out = append(out, Quilt{q.Attribute, n.Names(q.Near), n.Names(q.Quilt), q.Influence, q.Width})
	}
	return out
}
