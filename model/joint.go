package model

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"fugu/internal/hook"
	"fugu/planner"
	"fugu/sensitivity"
)

// Joint is f_θ of F made of several cuts over one root, and of cuts in which a row of the root stands in several cells:
// how their terms vary together, which the moments of each do not tell.
type Joint struct {
	parts []*Moments
	cross []cross
}

// cross are the moments E h_a h_bᵀ of the terms of two parts by secret, class and pair of cells, per reference row of
// the class.
type cross struct {
	a, b    int // a ≤ b; the same part where its cells overlap
	moments []map[overlap][]float64
	meet    [][2]int // components of a and b whose cells overlap
}

// overlap is a pair of cells and a class.
type overlap struct{ a, b, class int }

// Join measures how parts vary together: one scan of the reference for each pair of them. Parts over different roots do
// not belong into one Joint.
func Join(ctx context.Context, ref planner.Querier, parts ...*Moments) (*Joint, error) {
	j := &Joint{parts: parts}
	for a := range parts {
		for b := a; b < len(parts); b++ {
			if a == b && !parts[a].Overlapping() {
				continue
			}
			c, err := measureCross(ctx, ref, parts[a], parts[b])
			if err != nil {
				return nil, err
			}
			c.a, c.b = a, b
			c.pair(parts[a], parts[b])
			j.cross = append(j.cross, c)
		}
	}
	return j, nil
}

func measureCross(ctx context.Context, ref planner.Querier, a, b *Moments) (cross, error) {
	var out cross
	sql, ok := planner.CrossMoments(a.cut, b.cut)
	if !ok {
		return out, fmt.Errorf("joint moments: statements over %s and %s", a.cut.Table, b.cut.Table)
	}
	rows, err := ref.Query(ctx, sql, nil, nil)
	if err != nil {
		return out, err
	}

	// Products of two statements' terms, summed over the rows of the reference by the cells of both and by class.
	out.moments = make([]map[overlap][]float64, len(a.secrets))
	for i := range out.moments {
		out.moments[i] = map[overlap][]float64{}
	}
	left, right := a.cut.Index(), b.cut.Index()
	for _, row := range rows {
		i, okA := left.Find(row[:a.cut.Head()])
		row = row[a.cut.Head():]
		k, okB := right.Find(row[:b.cut.Head()])
		row = row[b.cut.Head():]
		if !okA || !okB {
			continue // keys that are not public
		}

		var class []int
		for s, secret := range a.cut.Table.Secrets {
			if a.secrets[s].cross != nil {
				class = append(class, 0)
				continue
			}
			class = append(class, secret.Class(row[0]))
			row = row[1:]
		}

		v := make([]float64, len(row))
		for n := range v {
			if v[n], err = number(row[n]); err != nil {
				return out, err
			}
		}

		for s, c := range class {
			if c < 0 {
				continue
			}
			at := overlap{i, k, c}
			if out.moments[s][at] == nil {
				out.moments[s][at] = make([]float64, len(v))
			}
			plus(out.moments[s][at], scaled(v, 1/a.secrets[s].Size[c]))
		}
	}
	return out, nil
}

// pair finds the components whose cells overlap, each pair once and none in one cell.
func (c *cross) pair(a, b *Moments) {
	overlapping := map[int]map[int]bool{}
	for _, of := range c.moments {
		for o := range of {
			if overlapping[o.a] == nil {
				overlapping[o.a] = map[int]bool{}
			}
			overlapping[o.a][o.b] = true
		}
	}

	in := map[int][]int{} // of each cell of b
	for j, l := range b.Components {
		in[l.Cell] = append(in[l.Cell], j)
	}

	// Within one set of components each pair is met from both sides, and counts once.
	for i, k := range a.Components {
		for _, cell := range slices.Sorted(maps.Keys(overlapping[k.Cell])) {
			for _, j := range in[cell] {
				if c.a != c.b || cell != k.Cell && i < j {
					c.meet = append(c.meet, [2]int{i, j})
				}
			}
		}
	}
}

// Families is f_θ of all parts along each of the secret's Paths. It is the parts' own family where there
// is one whose cells do not overlap.
func (j *Joint) Families(secret int, psi Psi) []sensitivity.Family {
	if len(j.parts) == 1 && len(j.cross) == 0 {
		return j.parts[0].Families(secret, psi)
	}
	var out []sensitivity.Family
	for i := range j.parts[0].Paths(secret, psi) {
		f := &jointPath{joint: j, secret: secret}
		for _, m := range j.parts {
			f.paths = append(f.paths, m.Paths(secret, psi)[i])
		}
		if hook.LooseSets {
			out = append(out, struct{ sensitivity.Family }{f}) // no Bent
			continue
		}
		out = append(out, f)
	}
	return out
}

// jointPath is f_θ of a Joint along a Path.
type jointPath struct {
	joint  *Joint
	secret int
	paths  []*Path // of the parts
}

func (f *jointPath) Secret() string         { return f.paths[0].Secret() }
func (f *jointPath) Span() sensitivity.Span { return f.paths[0].Span() }

func (f *jointPath) Mean(x float64) []float64 {
	var out []float64
	for _, p := range f.paths {
		out = append(out, p.Mean(x)...)
	}
	return out
}

func (f *jointPath) Affine() bool {
	for _, p := range f.paths {
		if !p.Affine() {
			return false
		}
	}
	return true
}

// Covariance adds to the parts' own second moments those between cells: all shares and rank-one terms are the same.
func (f *jointPath) Covariance(x float64) sensitivity.Covariance {
	return f.together(x, f.paths[0].weights(x), func(p *Path) sensitivity.Covariance { return p.covariance(x) })
}

// Estimation is that of the parts, with what their errors have in common.
func (f *jointPath) Estimation(x float64) sensitivity.Covariance {
	return f.together(x, f.paths[0].unknown(x), func(p *Path) sensitivity.Covariance { return p.estimation(x) })
}

// FewRows is that of the parts.
func (f *jointPath) FewRows(x float64) (out []float64) {
	for _, p := range f.paths {
		out = append(out, p.FewRows(x)...)
	}
	return out
}

// together puts covariances of the parts together, in which the second moments of the classes have these weights.
func (f *jointPath) together(x float64, weights []float64,
	covariance func(*Path) sensitivity.Covariance) sensitivity.Covariance {
	var offsets []int
	total := 0
	for _, p := range f.paths {
		offsets = append(offsets, total)
		total += len(p.m.Components)
	}

	// Parts are blocks, but for what the classes' shares move in all of them at once.
	var out sensitivity.Covariance
	for i, p := range f.paths {
		own := covariance(p)
		out.Blocks = append(out.Blocks, own.Blocks...)
		for l, low := range own.Low {
			if i == 0 {
				out.Low = append(out.Low, sensitivity.RankOne{Weight: low.Weight, Vector: make([]float64, total)})
			}
			copy(out.Low[l].Vector[offsets[i]:], low.Vector)
		}
	}

	// Cells of different parts that share rows vary together.
	for _, c := range f.joint.cross {
		a, b := f.paths[c.a], f.paths[c.b]
		left, right := a.gradients(x), b.gradients(x)
		for _, pair := range c.meet {
			i, j := pair[0], pair[1]
			v := 0.0
			for class, w := range weights {
				at := overlap{a.m.Components[i].Cell, b.m.Components[j].Cell, class}
				v += w * c.product(f.secret, at, left[i], right[j], a.m.terms, b.m.terms)
			}

			out.Off = append(out.Off, sensitivity.Entry{Row: offsets[c.a] + i, Col: offsets[c.b] + j, Value: v})
		}
	}

	if total <= maxWhole {
		return out.Whole()
	}
	return out
}

// maxWhole is up to how many components a Joint is one block, as whole has it: it takes the third power of time.
const maxWhole = 64

func (c *cross) product(secret int, at overlap, g, h []weighted, termsA, termsB int) float64 {
	moments := c.moments[secret][at]
	if moments == nil {
		return 0
	}
	total := 0.0
	for _, a := range g {
		for _, b := range h {
			total += a.weight * b.weight * moments[a.term%termsA*termsB+b.term%termsB]
		}
	}
	return total
}
