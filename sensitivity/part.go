package sensitivity

import (
	"math"
	"slices"

	"fugu/privacy/rowsum"
)

// Part is the shift of some components of F alone, at[i] being the i-th; at ascends.
func (s Shift) Part(at []int) Shift {
	out := s
	out.Along, out.Beside, out.Error = picked(s.Along, at), picked(s.Beside, at), picked(s.Error, at)
	place := places(at, len(s.Along))
	out.Unseen = nil
	for _, u := range s.Unseen {
		if u = u.part(place); len(u.At) > 0 {
			out.Unseen = append(out.Unseen, u)
		}
	}
	if s.Scatter != nil {
		c := *s.Scatter
		c.Variance, c.Second, c.Extent = picked(c.Variance, at), picked(c.Second, at), picked(c.Extent, at)
		c.Cell, c.Layer = picked(c.Cell, at), picked(c.Layer, at)
		out.Scatter = &c
	}
	return out
}

// part is what unseen rows add to the components that have a place, -1 being none.
func (u Unseen) part(place []int) Unseen {
	out := Unseen{Rows: u.Rows, Sign: u.Sign}
	for i, k := range u.At {
		if place[k] < 0 {
			continue
		}
		out.At, out.Cell, out.Size = append(out.At, place[k]), append(out.Cell, u.Cell[i]), append(out.Size, u.Size[i])
		if u.Shown != nil {
			out.Shown = append(out.Shown, u.Shown[i])
		}
	}
	return out
}

// Part is the family of some components of F alone, at[i] being the i-th; at ascends.
func Part(f Family, at []int) Family {
	p := part{f, at}
	if b, ok := f.(Bent); ok {
		return bentPart{p, b}
	}
	return p
}

type part struct {
	Family
	at []int
}

type bentPart struct {
	part
	bent Bent
}

// Mean implements Family.
func (p part) Mean(x float64) []float64 { return picked(p.Family.Mean(x), p.at) }

// Covariance implements Family.
func (p part) Covariance(x float64) Covariance { return p.Family.Covariance(x).part(p.at) }

// Bend implements Bent: what bounds a quadratic form bounds it where the other components are 0.
func (p bentPart) Bend(a, b float64) func([]float64) []float64 {
	of, m := p.bent.Bend(a, b), p.Family.Covariance(a).Len()
	return func(scale []float64) []float64 {
		if scale == nil {
			return picked(of(nil), p.at)
		}
		all := slices.Repeat([]float64{math.Inf(1)}, m) // the rest: no matter how much
		for i, k := range p.at {
			all[k] = scale[i]
		}
		return picked(of(all), p.at)
	}
}

// Cumulants implements Shaped, of a family that does.
func (p part) Cumulants(x float64, w []float64) (third, fourth float64, known bool) {
	s, ok := p.Family.(Shaped)
	if !ok {
		return 0, 0, false
	}
	all := make([]float64, p.Family.Covariance(x).Len())
	for i, k := range p.at {
		all[k] = w[i]
	}
	return s.Cumulants(x, all)
}

// Rows implements Summed, of a family that does.
func (p part) Rows(k int) *rowsum.Sum {
	if s, ok := p.Family.(Summed); ok {
		return s.Rows(p.at[k])
	}
	return nil
}

// part is the covariance of some components.
func (c Covariance) part(at []int) Covariance {
	var out Covariance
	place := places(at, c.Len())
	base := 0

	// Of each block what is left of it; none where all of it is gone.
	for _, b := range c.Blocks {
		var in []int
		for i := range b.Size {
			if place[base+i] >= 0 {
				in = append(in, i)
			}
		}

		base += b.Size
		if len(in) == 0 {
			continue
		}

		kept := Block{Size: len(in)}
		for _, i := range in {
			for _, j := range in {
				kept.Entries = append(kept.Entries, b.Entries[i*b.Size+j])
			}
		}

		out.Blocks = append(out.Blocks, kept)
	}

	for _, t := range c.Low {
		out.Low = append(out.Low, RankOne{t.Weight, picked(t.Vector, at)})
	}
	for _, e := range c.Off {
		if i, j := place[e.Row], place[e.Col]; i >= 0 && j >= 0 {
			out.Off = append(out.Off, Entry{i, j, e.Value})
		}
	}
	return out
}

// places says of each of m components where in at it is, or -1.
func places(at []int, m int) []int {
	out := make([]int, m)
	for k := range out {
		out[k] = -1
	}
	for i, k := range at {
		out[k] = i
	}
	return out
}

func picked[T any](of []T, at []int) []T {
	if of == nil {
		return nil
	}
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = of[k]
	}
	return out
}
