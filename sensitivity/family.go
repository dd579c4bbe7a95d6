package sensitivity

import (
	"errors"
	"fmt"
)

// Covariance is a covariance matrix of F that is block diagonal up to a few rank-one terms:
//
//	Σ = diag(Blocks) + Σ_i Low_i.Weight · Low_i.Vector Low_i.Vectorᵀ
//
// Sums over the rows of disjoint groups have this shape: rows of different groups meet only through the class means.
type Covariance struct {
	Blocks []Block   // in the order of the components; their sizes add up to m
	Low    []RankOne // few
}

// Block is a symmetric matrix of Size × Size entries, row by row.
type Block struct {
	Size    int
	Entries []float64
}

// RankOne is Weight·v vᵀ, v with m entries; the weight may be negative.
type RankOne struct {
	Weight float64
	Vector []float64
}

// Family is f_θ, the distribution of F, along the values x of one secret.
type Family interface {
	Secret() string
	Span() Span
	// Mean returns E F under x: m entries, in F's units.
	Mean(x float64) []float64
	// Covariance returns Cov F under x, without any noise. All x have blocks of the same sizes.
	Covariance(x float64) Covariance
	// Affine reports whether Covariance is affine in x. Then Blocks and weights may be computed for x outside the
	// span too, and the vectors of Low are the same for all x.
	Affine() bool
}

// Bent is a family whose covariances are not affine, but known not to be far from it.
type Bent interface {
	Family
	// Bend returns ρ: for every x in [a,b] the covariance differs from the one on the straight line between those of a and b
	// by R with -diag(ρ) ≤ R ≤ diag(ρ), as quadratic forms. +Inf is more than can be bounded.
	Bend(a, b float64) []float64
}

// Known reports whether bounds over all of the family's pairs exist.
func Known(f Family) bool {
	_, bent := f.(Bent)
	return f.Affine() || bent
}

// bend returns Bend of [a,b]; nil for affine families.
func bend(f Family, a, b float64) ([]float64, error) {
	if f.Affine() {
		return nil, nil
	}
	x, ok := f.(Bent)
	if !ok {
		return nil, ErrNotAffine
	}
	rho := x.Bend(a, b)
	if len(rho) != f.Covariance(a).Len() {
		return nil, fmt.Errorf("the bend of %d components", len(rho))
	}
	for _, v := range rho {
		if !(v >= 0) {
			return nil, errors.New("a bend that is negative or no number")
		}
	}
	return rho, nil
}

// Len returns the number of components.
func (c Covariance) Len() int {
	m := 0
	for _, b := range c.Blocks {
		m += b.Size
	}
	return m
}

// At returns the covariance of two components.
func (c Covariance) At(k, l int) float64 {
	v, base := 0.0, 0
	for _, b := range c.Blocks {
		if i, j := k-base, l-base; i >= 0 && i < b.Size && j >= 0 && j < b.Size {
			v = b.Entries[i*b.Size+j]
		}
		base += b.Size
	}
	for _, t := range c.Low {
		v += t.Weight * t.Vector[k] * t.Vector[l]
	}
	return v
}

// Diagonal returns the variances.
func (c Covariance) Diagonal() []float64 {
	var out []float64
	for _, b := range c.Blocks {
		for j := range b.Size {
			out = append(out, b.Entries[j*b.Size+j])
		}
	}
	for _, t := range c.Low {
		for k := range min(len(out), len(t.Vector)) {
			out[k] += t.Weight * t.Vector[k] * t.Vector[k]
		}
	}
	return out
}

// Plus returns c + w·d, for covariances of the same blocks. They share the vectors of their low-rank terms with the sum.
func (c Covariance) Plus(w float64, d Covariance) Covariance {
	out := Covariance{Blocks: make([]Block, len(c.Blocks))}
	for i, b := range c.Blocks {
		out.Blocks[i] = Block{b.Size, make([]float64, len(b.Entries))}
		for j, v := range b.Entries {
			out.Blocks[i].Entries[j] = v + w*d.Blocks[i].Entries[j]
		}
	}
	out.Low = append(out.Low, c.Low...)
	for _, t := range d.Low {
		out.Low = append(out.Low, RankOne{w * t.Weight, t.Vector})
	}
	return out
}

// WithDiagonal returns c with w·v_k added to the variance of each component k.
func (c Covariance) WithDiagonal(w float64, v []float64) Covariance {
	out := Covariance{Blocks: make([]Block, len(c.Blocks)), Low: c.Low}
	k := 0
	for i, b := range c.Blocks {
		e := append([]float64(nil), b.Entries...)
		for j := range b.Size {
			e[j*b.Size+j] += w * v[k]
			k++
		}
		out.Blocks[i] = Block{b.Size, e}
	}
	return out
}
