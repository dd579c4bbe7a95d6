package model

import (
	"context"
	"errors"
	"math"

	"fugu/planner"
	"fugu/sensitivity"
)

// Given is F once the public statistics Z of its table are known to have the value z. Under the value x of a secret
// proportion the joint distribution is taken for normal, so that [Seeman, Reimherr & Slavković; the conditional law of
// a normal vector]
//
//	E[F|z] = μ_F + Σ_FZ Σ_ZZ⁻¹ (z - μ_Z)      Cov[F|z] = Σ_FF - Σ_FZ Σ_ZZ⁻¹ Σ_ZF
//
// and all of μ and Σ are affine in x. In the basis of known, E[F|z] is a sum of b_j(t)·r_j(t)/v_j(t) with affine b, r,
// v: of the form αt + β + γ/v, whose derivative is monotone.
type Given struct {
	m      *Moments
	public *Public
	cross  []cross // of m with each of the public moments
}

// ErrPublic is the error for statistics whose distribution given the public ones is not known.
var ErrPublic = errors.New("only counts, sums and averages of single rows have a model given public statistics")

// Given conditions the moments on a table's public statistics.
func (m *Moments) Given(ctx context.Context, ref planner.Querier, p *Public) (*Given, error) {
	g := &Given{m: m, public: p}
	if m.cut.Joined() || m.cut.Sets != nil {
		return nil, ErrPublic
	}
	for _, k := range m.Components {
		if f := m.aggregate(k).Name; f != "count" && f != "sum" && f != "avg" {
			return nil, ErrPublic
		}
	}
	for _, z := range p.moments {
		x, err := measureCross(ctx, ref, m, z)
		if err != nil {
			return nil, err
		}
		g.cross = append(g.cross, x)
	}
	return g, nil
}

// line is one linear functional of F given z along a span, t from 0 to 1: its mean m0 + t·m1 + Σ_j (b0+t·b1)_j
// r_j(t)/v_j(t).
type line struct {
	m0, m1 float64
	b0, b1 []float64
	k      *known
}

// value is the mean at t.
func (l *line) value(t float64) float64 {
	out := l.m0 + t*l.m1
	for j := range l.b0 {
		out += (l.b0[j] + t*l.b1[j]) * (l.k.r0[j] + t*l.k.r1[j]) / (l.k.v0[j] + t*l.k.v1[j])
	}
	return out
}

// slopes bounds the derivative of the mean by t over [a, b]: each term's is monotone, so it lies between its ends.
func (l *line) slopes(a, b float64) (low, high float64) {
	low, high = l.m1, l.m1
	for j := range l.b0 {
		at := func(t float64) float64 {
			b, r, v := l.b0[j]+t*l.b1[j], l.k.r0[j]+t*l.k.r1[j], l.k.v0[j]+t*l.k.v1[j]
			return (l.b1[j]*r+b*l.k.r1[j])/v - b*r*l.k.v1[j]/(v*v)
		}
		x, y := at(a), at(b)
		low, high = low+math.Min(x, y), high+math.Max(x, y)
	}
	return low, high
}

// line derives the functional that is the sum of a term of F.
func (g *Given) line(secret int, k *known, term int) *line {
	c, n := &g.m.secrets[secret], g.m.rows()
	from, to := k.span.From, k.span.To
	ends := func(one, zero float64) (at0, slope float64) {
		return n * (from*one + (1-from)*zero), n * (to - from) * (one - zero)
	}

	// Ends of the span, between which everything is straight.
	l := &line{k: k}
	l.m0, l.m1 = ends(c.mean[1][term], c.mean[0][term])
	if k.basis == nil {
		return l
	}

	places := g.public.places()
	_, r := k.basis.Dims()
	l.b0, l.b1 = make([]float64, r), make([]float64, r)
	for i, a := range places {
		cov := [2]float64{}
		for class := range cov {
			cov[class] = g.cross[a.cut].second(secret, class, g.m, g.public.moments[a.cut], term,
				a.term) - c.mean[class][term]*k.vectors[class][i]
		}
		c0, c1 := ends(cov[1], cov[0])
		for j := range r {
			l.b0[j] += k.basis.At(i, j) * c0
			l.b1[j] += k.basis.At(i, j) * c1
		}
	}
	return l
}

// givenBoxes is into how many parts a span is cut where slopes are bounded: each part's bound is proven, and more parts
// are tighter.
const givenBoxes = 64

// givenFamily is f_θ given the public statistics along the values of a secret proportion. It does not embed the Path:
// what bounds the bend of the unconditional covariance says nothing of the conditional one.
type givenFamily struct {
	path   *Path
	g      *Given
	k      *known
	secret int
}

// Families are F given the public statistics, over each of the secret's spans: their covariance is not affine in the
// secret. Averages by the delta method.
func (g *Given) Families(secret int, psi Psi) ([]sensitivity.Family, error) {
	var out []sensitivity.Family
	for edge, path := range g.m.Paths(secret, psi) {
		k, err := g.public.along(secret, psi, edge)
		if err != nil {
			return nil, err
		}
		out = append(out, &givenFamily{path, g, k, secret})
	}
	return out, nil
}

// Secret implements sensitivity.Family.
func (f *givenFamily) Secret() string { return f.path.Secret() }

// Span implements sensitivity.Family.
func (f *givenFamily) Span() sensitivity.Span { return f.path.Span() }

// Affine implements sensitivity.Family.
func (f *givenFamily) Affine() bool { return false }

// FewRows is that of the path without what is public.
func (f *givenFamily) FewRows(x float64) []float64 { return f.path.FewRows(x) }

func (f *givenFamily) at(x float64) float64 {
	return (x - f.k.span.From) / (f.k.span.To - f.k.span.From)
}

// Mean implements sensitivity.Family.
func (f *givenFamily) Mean(x float64) []float64 {
	var out []float64
	value := func(term int) float64 { return f.g.line(f.secret, f.k, term).value(f.at(x)) }
	for _, k := range f.g.m.Components {
		if t := f.g.m.total(k); t >= 0 {
			out = append(out, value(t))
		} else {
			sum, count, _ := f.g.m.quotient(k)
			out = append(out, value(sum)/value(count))
		}
	}
	return out
}

// Covariance implements sensitivity.Family.
func (f *givenFamily) Covariance(x float64) sensitivity.Covariance {
	out, t := f.path.Covariance(x), f.at(x)
	mu := f.path.expected(x)
	still := make([]float64, len(mu))
	for j := range f.k.v0 {
		low := sensitivity.RankOne{Weight: -1 / (f.k.v0[j] + t*f.k.v1[j]), Vector: make([]float64,
			len(f.g.m.Components))}
		for i, k := range f.g.m.Components {
			gradient, _ := f.g.m.gradient(k, mu, still)
			for _, w := range gradient {
				l := f.g.line(f.secret, f.k, w.term)
				low.Vector[i] += w.weight * (l.b0[j] + t*l.b1[j])
			}
		}
		out.Low = append(out.Low, low)
	}
	return out
}

// Shifts says how far a secret proportion moves F given the public statistics, with what unseen rows change and the
// errors that the unconditional movement has, and what a row more of the reference changes in the regression on Z; and
// what sampling alone makes of each component.
func (g *Given) Shifts(secret int, psi Psi, standardErrors float64) (shifts []sensitivity.Shift, sd []float64,
	err error) {
	sd = make([]float64, len(g.m.Components))
	for edge, path := range g.m.Paths(secret, psi) {
		k, err := g.public.along(secret, psi, edge)
		if err != nil {
			return nil, nil, err
		}
		s, err := g.shift(secret, psi, k, path, standardErrors, sd)
		if err != nil {
			return nil, nil, err
		}
		shifts = append(shifts, s)
	}
	return shifts, sd, nil
}

// shift is Shifts for one span; sd grows to the largest standard deviations there.
func (g *Given) shift(secret int, psi Psi, k *known, path *Path, standardErrors float64,
	sd []float64) (sensitivity.Shift, error) {
	m := g.m
	n, width := len(m.Components), k.span.To-k.span.From
	low, high := g.slopes(secret, k)
	c := &m.secrets[secret]
	rows, deviation := [][]unseen{make([]unseen, n), make([]unseen, n)}, make([]float64, n)

	// Bounds at both ends and in the middle, each with what the reference does not show of the public statistics too.
	ends := []float64{k.span.From, (k.span.From + k.span.To) / 2, k.span.To}
	for _, x := range ends {
		t := (x - k.span.From) / width
		r, d := path.unseen(x), path.Deviation(x)
		more := g.leverage(k, t, width)
		v := path.Covariance(x).Diagonal()
		for i, comp := range m.Components {
			gradient, _ := m.gradient(comp, path.expected(x), path.moving())
			f := g.regression(secret, psi, k, gradient, x)
			for class := range rows {
				r[class][i].own *= more
				r[class][i].rest = (r[class][i].rest + f.rows[class]) * more
			}

			deviation[i] = math.Max(deviation[i], (d[i]+f.deviation)*more)
			sd[i] = math.Max(sd[i], math.Sqrt(math.Max(0, v[i]-f.explained)))
		}
		widen(rows, r)
	}
	s, err := m.between(c, psi.Name, k.span, low, high, rows, nil, deviation, standardErrors)
	return s.Shift, err
}

// regressed is what the regression of a functional of F on Z adds to the errors of its slope, and takes from its
// variance.
type regressed struct {
	rows                 [2]float64 // what one row more of each class changes
	deviation, explained float64
}

// regression takes the functional with these weights, whose coefficients on Z are B = Σ_FZ Σ_ZZ⁻¹. The slope of its
// mean has -Bμ_Z' - B'μ_Z. A row of the reference is in one cell of each public statistic at most, so one more of a
// class with the share p changes that by the largest of B h + p B' h over the cells; the standard errors are added up.
func (g *Given) regression(secret int, psi Psi, k *known, weights []weighted, x float64) regressed {
	var out regressed
	if k.basis == nil {
		return out
	}
	t := (x - k.span.From) / (k.span.To - k.span.From)
	m, r := k.basis.Dims()
	b, slope := make([]float64, r), make([]float64, r)
	for _, w := range weights {
		l := g.line(secret, k, w.term)
		for j := range b {
			b[j] += w.weight * (l.b0[j] + t*l.b1[j])
			slope[j] += w.weight * l.b1[j]
		}
	}

	// In the basis the public components vary independently, so that each is a regression of its own.
	coefficients, turning := make([]float64, m), make([]float64, m)
	for j := range b {
		v := k.v0[j] + t*k.v1[j]
		out.explained += b[j] * b[j] / v
		for i := range coefficients {
			coefficients[i] += k.basis.At(i, j) * b[j] / v
			turning[i] += k.basis.At(i, j) * (slope[j]*v - b[j]*k.v1[j]) / (v * v) / (k.span.To - k.span.From)
		}
	}

	// What rows that the reference does not show change in the coefficients' combination of Z: B of how its mean moves,
	// and how B moves of the mean itself, of which a class has its share.
	c := &g.m.secrets[secret]
	shares := [2]float64{1 - x, x}
	steady, moving := g.public.mostOf(coefficients), g.public.mostOf(turning)
	for l := range steady {
		for class := range out.rows {
			out.rows[class] += g.m.rows() * (steady[l] + shares[class]*moving[l]) / c.Size[class]
		}
	}

	// And how far its standard errors take it.
	i := 0
	for _, z := range g.public.moments {
		path := z.Paths(secret, psi)[k.edge]
		level := path.Estimation(x).Diagonal()
		for j, d := range path.Deviation(x) {
			out.deviation += math.Abs(coefficients[i])*d + math.Abs(turning[i])*math.Sqrt(math.Max(0, level[j]))
			i++
		}
	}
	return out
}

// mostOf bounds |Σ_i a_i h_i| over the rows, for each public cut.
func (p *Public) mostOf(a []float64) []float64 {
	out := make([]float64, len(p.moments))
	i := 0
	for l, m := range p.moments {
		for _, k := range m.Components {
			out[l] = math.Max(out[l], math.Abs(a[i])*m.largest(m.total(k)%m.terms))
			i++
		}
		// A cell's aggregates add up.
		out[l] *= float64(len(m.cut.Aggregates))
	}
	return out
}

// leverage is by what factor the errors of a row's residual from the regression on Z grow because Σ_FZ and Σ_ZZ, too,
// are estimates: a row more, h, changes the slope of Σ_FZ a, a = Σ_ZZ⁻¹ (z - μ_Z), by its residual times |h·a| +
// |h·a'|, and as much again at most by being measured from the mean.
func (g *Given) leverage(k *known, t, width float64) float64 {
	if k.basis == nil {
		return 1
	}
	m, r := k.basis.Dims()
	a, slope := make([]float64, m), make([]float64, m)
	for j := range r {
		z, v := k.r0[j]+t*k.r1[j], k.v0[j]+t*k.v1[j]
		for i := range a {
			a[i] += k.basis.At(i, j) * z / v
			slope[i] += k.basis.At(i, j) * (k.r1[j]/v - z*k.v1[j]/(v*v)) / width
		}
	}

	// Both the weights and how they change with the secret are estimates.
	out := 1.0
	for _, v := range [][]float64{a, slope} {
		for _, most := range g.public.mostOf(v) {
			out += 2 * most
		}
	}
	return out
}

// slopes bounds the derivative of each component's mean over the secret's span.
func (g *Given) slopes(secret int, k *known) (low, high []float64) {
	for _, comp := range g.m.Components {
		terms := []int{g.m.total(comp)}
		if sum, count, ok := g.m.quotient(comp); ok {
			terms = []int{sum, count}
		}
		var lines []*line
		for _, t := range terms {
			lines = append(lines, g.line(secret, k, t))
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for b := range givenBoxes {
			x, y := slopesOf(lines, float64(b)/givenBoxes, float64(b+1)/givenBoxes)
			lo, hi = math.Min(lo, x), math.Max(hi, y)
		}
		width := k.span.To - k.span.From
		low, high = append(low, lo/width), append(high, hi/width)
	}
	return low, high
}

// slopesOf bounds the derivative over [a, b] of a line, or of the quotient of two: (s' - φ c')/c with φ = s/c.
func slopesOf(lines []*line, a, b float64) (low, high float64) {
	low, high = lines[0].slopes(a, b)
	if len(lines) == 1 {
		return low, high
	}
	ds := interval{low, high}
	dc := interval{}
	dc.low, dc.high = lines[1].slopes(a, b)
	s := interval{lines[0].value(a), lines[0].value(a)}.plus(ds.times(interval{0, b - a}))
	c := interval{lines[1].value(a), lines[1].value(a)}.plus(dc.times(interval{0, b - a}))
	if !(c.low > 0) {
		return math.Inf(-1), math.Inf(1)
	}
	over := interval{1 / c.high, 1 / c.low}
	out := ds.plus(s.times(over).times(dc).times(interval{-1, -1})).times(over)
	return out.low, out.high
}

type interval struct{ low, high float64 }

func (x interval) plus(y interval) interval { return interval{x.low + y.low, x.high + y.high} }

func (x interval) times(y interval) interval {
	a, b, c, d := x.low*y.low, x.low*y.high, x.high*y.low, x.high*y.high
	return interval{math.Min(math.Min(a, b), math.Min(c, d)), math.Max(math.Max(a, b), math.Max(c, d))}
}
