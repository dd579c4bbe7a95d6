package sensitivity

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"fugu/privacy/rowsum"
)

// Covariance is a covariance matrix of F that is block diagonal up to a few entries and rank-one terms:
//
//	Σ = diag(Blocks) + Off + Offᵀ + Σ_i Low_i.Weight · Low_i.Vector Low_i.Vectorᵀ
//
// Sums over the rows of disjoint groups have this shape: rows of different groups meet only through the class means.
// Where a row is in several groups, as in those of GROUPING SETS, these meet in Off.
type Covariance struct {
	Blocks []Block   // in the order of the components; their sizes add up to m
	Low    []RankOne // few
	Off    []Entry   // between components of different blocks
}

// Entry is what two components have in common, Row < Col; entries of one place add up.
type Entry struct {
	Row, Col int
	Value    float64
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
	// Bend returns ρ: for every x in [a,b] the covariance differs from the one on the straight line between those of a
	// and b by R with -diag(ρ) ≤ R ≤ diag(ρ), as quadratic forms. +Inf is more than can be bounded. That holds whatever
	// the positive scales are; ρ_k is small in squares of scale_k. nil: the scales are about F's own standard
	// deviations.
	Bend(a, b float64) func(scale []float64) []float64
}

// Shaped is a family of which it can be known how far F is from normal.
type Shaped interface {
	Family
	// Cumulants returns the third and the fourth cumulant of Σ_k w_k F_k under x, which are 0 of a normal F; false:
	// they are not known.
	Cumulants(x float64, w []float64) (third, fourth float64, known bool)
}

// Summed is a family of which the law of single components may be known, where they are sums over rows.
type Summed interface {
	Family
	// Rows returns the sum that component k is; nil: it is none.
	Rows(k int) *rowsum.Sum
}

// Known reports whether bounds over all of the family's pairs exist.
func Known(f Family) bool {
	_, bent := f.(Bent)
	return f.Affine() || bent
}

// bend returns Bend of [a,b] in scales; nil for affine families.
func bend(f Family, a, b float64, scale []float64) ([]float64, error) {
	if f.Affine() {
		return nil, nil
	}
	x, ok := f.(Bent)
	if !ok {
		return nil, ErrNotAffine
	}
	rho := x.Bend(a, b)(scale)
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
	for _, e := range c.Off {
		if e.Row == min(k, l) && e.Col == max(k, l) {
			v += e.Value
		}
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

// Plus returns c + w·d. d has the blocks of c, or blocks of one component each. They share the vectors of their
// low-rank terms with the sum.
func (c Covariance) Plus(w float64, d Covariance) Covariance {
	if len(d.Blocks) != len(c.Blocks) {
		v := make([]float64, 0, len(d.Blocks))
		for _, b := range d.Blocks {
			v = append(v, b.Entries[0])
		}
		return c.WithDiagonal(w, v).Plus(w, Covariance{Blocks: c.empty(), Low: d.Low, Off: d.Off})
	}

	out := Covariance{Blocks: c.empty()}
	for i, b := range c.Blocks {
		for j, v := range b.Entries {
			out.Blocks[i].Entries[j] = v + w*d.Blocks[i].Entries[j]
		}
	}

	// What is not in blocks is kept as terms, and not multiplied out.
	out.Low = append(out.Low, c.Low...)
	for _, t := range d.Low {
		out.Low = append(out.Low, RankOne{w * t.Weight, t.Vector})
	}
	out.Off = append(out.Off, c.Off...)
	for _, e := range d.Off {
		out.Off = append(out.Off, Entry{e.Row, e.Col, w * e.Value})
	}
	return out
}

// empty returns blocks of zeros of the sizes of c's.
func (c Covariance) empty() []Block {
	total := 0
	for _, b := range c.Blocks {
		total += len(b.Entries)
	}
	all, out := make([]float64, total), make([]Block, len(c.Blocks))
	for i, b := range c.Blocks {
		n := len(b.Entries)
		out[i], all = Block{b.Size, all[:n:n]}, all[n:]
	}
	return out
}

// merged returns Off with one entry for each place.
func (c Covariance) merged() []Entry {
	all := slices.Clone(c.Off)
	slices.SortStableFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Col, b.Col))
	})
	var out []Entry
	for _, e := range all {
		if n := len(out); n > 0 && out[n-1].Row == e.Row && out[n-1].Col == e.Col {
			out[n-1].Value += e.Value
		} else {
			out = append(out, e)
		}
	}
	return out
}

// per is c with each component in its unit.
func (c Covariance) per(unit []float64) Covariance {
	out, base := Covariance{Blocks: c.empty()}, 0
	for i, b := range c.Blocks {
		for n, v := range b.Entries {
			out.Blocks[i].Entries[n] = v / unit[base+n/b.Size] / unit[base+n%b.Size]
		}
		base += b.Size
	}
	for _, t := range c.Low {
		v := slices.Clone(t.Vector)
		for k := range v {
			v[k] /= unit[k]
		}
		out.Low = append(out.Low, RankOne{t.Weight, v})
	}
	for _, e := range c.Off {
		out.Off = append(out.Off, Entry{e.Row, e.Col, e.Value / unit[e.Row] / unit[e.Col]})
	}
	return out
}

// Whole returns c as one block. Vectors and entries are of its components.
func (c Covariance) Whole() Covariance {
	m := c.Len()
	all := Block{m, make([]float64, m*m)}
	base := 0
	for _, b := range c.Blocks {
		for i := range b.Size {
			copy(all.Entries[(base+i)*m+base:], b.Entries[i*b.Size:(i+1)*b.Size])
		}
		base += b.Size
	}

	// Low-rank terms and single entries can join any two components.
	for _, t := range c.Low {
		for i, v := range t.Vector {
			for j, w := range t.Vector {
				all.Entries[i*m+j] += t.Weight * (v * w)
			}
		}
	}

	for _, e := range c.Off {
		all.Entries[e.Row*m+e.Col] += e.Value
		all.Entries[e.Col*m+e.Row] += e.Value
	}
	return Covariance{Blocks: []Block{all}}
}

// meet returns the pairs of components that have an entry other than 0 besides the rank-one terms.
func (c Covariance) meet() (pairs [][2]int) {
	base := 0
	for _, b := range c.Blocks {
		for i := range b.Size {
			for j := i + 1; j < b.Size; j++ {
				if b.Entries[i*b.Size+j] != 0 {
					pairs = append(pairs, [2]int{base + i, base + j})
				}
			}
		}
		base += b.Size
	}
	for _, e := range c.Off {
		pairs = append(pairs, [2]int{e.Row, e.Col})
	}
	return pairs
}

// WithDiagonal returns c with w·v_k added to the variance of each component k.
func (c Covariance) WithDiagonal(w float64, v []float64) Covariance {
	out := Covariance{Blocks: c.empty(), Low: c.Low, Off: c.Off}
	k := 0
	for i, b := range c.Blocks {
		copy(out.Blocks[i].Entries, b.Entries)
		for j := range b.Size {
			out.Blocks[i].Entries[j*b.Size+j] += w * v[k]
			k++
		}
	}
	return out
}

// ErrNotAffine says that the family's covariances are not affine in the secret's value, so that no bound here holds.
var ErrNotAffine = errors.New("the covariances are not affine in the secret's value")
