package model

import (
	"math"

	"fugu/sensitivity"
	"fugu/sqlstate"
)

// Coupled is Shifts without any assumption on how F is distributed: the rows of the table are those of the model,
// nothing more. Two datasets D and D' whose shares differ by w are coupled to differ in k = nw rows: k rows of one
// class are replaced by rows of another, each drawn for itself. So
//
//	F(D) - F(D') = Σ (h(X_i) - h(X'_i)), i = 1..k,  with mean k(m_d - m_c) and covariance k(C_d + C_c)
//
// for counts and sums: the mean is what Shifts gives, and the rest is the Shift's Scatter. For an average, whose terms
// are not a sum over rows, Beside bounds all of it. Either holds but for a probability; failure is that of the Scatter
// and of the averages each. Shares of a distribution: each row is replaced with probability w.
//
// Rows drawn from the reference without replacement deviate no more than with replacement [Hoeffding 1963, Theorem 4,
// since the bounds come from exponential moments of convex functions of the sum].
//
// A secret mean has no such coupling (PV004).
func (m *Moments) Coupled(secret int, psi Psi, errors, failure float64) ([]sensitivity.Shift, error) {
	c := &m.secrets[secret]
	if c.cross != nil {
		return nil, sqlstate.New(sqlstate.ModelUnfit, "secret %s is a mean, and nothing bounds how two datasets of "+
			"different means differ unless an assumption is accepted", psi.Name).
			WithHint("The owner of the policy can accept it: assume: [translation].")
	}

	moved, err := m.movements(secret, psi, errors)
	if err != nil {
		return nil, err
	}
	averages, err := m.averages()
	if err != nil {
		return nil, err
	}

	// Sums move by their means, and by the chance of the rows that are drawn anew: the scatter.
	paths := m.Paths(secret, psi)
	out := make([]sensitivity.Shift, len(moved))
	for i := range moved {
		out[i] = moved[i].Shift
		out[i].Scatter = &sensitivity.Scatter{Rows: 1, Failure: failure}
		if psi.Distribution {
			out[i].Scatter.Rows = 2
		}
		if averages > 0 {
			out[i].Scatter.Beside = failure
		}
		m.replacement(c, psi, paths, i).scatter(m, out[i].Scatter)
	}

	// Averages are bounded as a whole, each by itself.
	for j, k := range m.Components {
		if m.total(k) >= 0 {
			continue
		}
		widest := m.widest(k)
		far := false
		for i := range out {
			r := m.replacement(c, psi, paths, i)
			along, beside, ok := r.average(m, k, -math.Log(failure/float64(events*averages)))
			ok = ok && math.Abs(along)+beside <= widest && m.cover == 0 // that rests on the reference's variances
			if !ok {
				along, beside = 0, widest
			}
			far = far || !ok
			out[i].Along[j], out[i].Beside[j] = along, beside+moved[i].widened[j]
		}

		for i := range out { // a convex combination of edges is at most widest if each of them is
			if far && psi.Simplex != nil {
				out[i].Along[j], out[i].Beside[j] = 0, widest+moved[i].widened[j]
			}
		}
	}
	return out, nil
}

// averages counts the components that are no totals, and refuses those of which nothing bounds how they differ.
func (m *Moments) averages() (n int, err error) {
	for _, k := range m.Components {
		if m.total(k) >= 0 {
			continue
		}
		n++
		if _, _, ok := m.quotient(k); !ok {
			return 0, sqlstate.New(sqlstate.ModelUnfit, "nothing bounds how %s of coupled datasets differs unless "+
				"an assumption is accepted", m.aggregate(k).Label).
				WithHint("Ask for counts, sums and averages; or the owner of the policy can accept an assumption: " +
					"assume: [translation].")
		}
	}
	return n, nil
}

// events is the number of one-sided events in a bound of an average.
const events = 10

// replacement is what a coupling of the farthest pairs replaces: the rows that leave and enter each class, at most, and
// what the shares can be.
type replacement struct {
	c           *classes
	n           float64
	along       []float64   // mean movement: n Σ along_c m_c
	rows        []float64   // rows of each class that are drawn anew, at most
	any         float64     // rows drawn anew that can be of any class
	vectors     [][]float64 // the extreme vectors of shares; nil: those of the simplex
	simplex     *Simplex
	independent bool // every row is drawn for itself: shares of a distribution
}

func (m *Moments) replacement(c *classes, psi Psi, paths []*Path, edge int) replacement {
	r := replacement{c: c, n: m.rows(), simplex: psi.Simplex, independent: psi.Distribution,
		along: make([]float64, len(c.Size)), rows: make([]float64, len(c.Size))}
	if psi.Simplex != nil {
		i, j := pair(edge, len(c.Size))
		r.along[i], r.along[j] = -psi.Simplex.Within, psi.Simplex.Within
		r.any = 2 * r.n * psi.Simplex.Within
		return r
	}
	p := paths[edge]
	for j, a := range p.along {
		r.along[j] = p.span.Within * a
		r.rows[j] = r.n * math.Abs(r.along[j])
	}
	r.vectors = [][]float64{p.shares(p.span.From), p.shares(p.span.To)}
	return r
}

// pair returns the classes of an edge, in the order of edges.
func pair(edge, classes int) (i, j int) {
	for i := range classes {
		if rest := classes - 1 - i; edge >= rest {
			edge -= rest
			continue
		}
		return i, i + 1 + edge
	}
	return 0, 0
}

// total returns Σ over the rows that are drawn anew of a quantity of their classes, at most.
func (r replacement) total(of func(class int) float64) float64 {
	total, most := 0.0, 0.0
	for j := range r.rows {
		v := of(j)
		total += r.rows[j] * v
		most = math.Max(most, v)
	}
	return total + r.any*most
}

// bounds returns the least and greatest Σ p_c v_c over the vectors of shares.
func (r replacement) bounds(v []float64) (low, high float64) {
	if r.simplex != nil {
		return r.simplex.bounds(v)
	}
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range r.vectors {
		x := dot(p, v)
		low, high = math.Min(low, x), math.Max(high, x)
	}
	return low, high
}

func dot(a, b []float64) float64 {
	total := 0.0
	for i, x := range a {
		total += x * b[i]
	}
	return total
}

// middle is a vector of shares about which averages are taken.
func (r replacement) middle() []float64 {
	if r.simplex != nil {
		return scaled(r.c.Size, 1/sumOf(r.c.Size))
	}
	out := make([]float64, len(r.c.Size))
	for _, p := range r.vectors {
		for i := range out {
			out[i] += p[i] / 2
		}
	}
	return out
}

// variance bounds Σ Var of a functional of one row over the rows drawn anew. Where rows are drawn anew by chance, that
// is no more than the second moment of the difference of the two.
func (r replacement) variance(terms int, f []weighted) float64 {
	v := r.total(func(class int) float64 { return math.Max(0, r.c.variance(class, terms, f)) })
	if r.independent {
		v += r.farthest(f)
	}
	return v
}

// farthest bounds k d² for the k replaced rows, d the difference of a functional's means between the classes that rows
// go to and come from.
func (r replacement) farthest(f []weighted) float64 {
	v := r.c.means(f)
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range v {
		low, high = math.Min(low, x), math.Max(high, x)
	}
	return (sumOf(r.rows) + r.any) / 2 * (high - low) * (high - low)
}

// scatter fills in what the sums that are components leave to chance; averages have none of their own.
func (r replacement) scatter(m *Moments, s *sensitivity.Scatter) {
	nt := m.terms
	cells, layers := map[int]int{}, map[int]int{}
	for _, k := range m.Components {
		variance, second, extent := 0.0, 0.0, 0.0
		if t := m.total(k); t >= 0 {
			f := []weighted{{t, 1}}
			variance = r.variance(nt, f)
			second = r.total(func(class int) float64 { return r.c.product(class, nt, f, f) })
			extent = m.extent(k)
			if m.cover > 0 {
				variance, second = r.covered(m, k, extent)
			}
		}
		s.Variance, s.Second = append(s.Variance, variance), append(s.Second, second)
		s.Extent = append(s.Extent, extent)
		s.Cell = append(s.Cell, ordinal(cells, k.Cell))
		s.Layer = append(s.Layer, ordinal(layers, m.cut.Layer(k.Cell)))
	}
}

// average bounds how an average F = S/N moves between coupled datasets, as a·along + r, |a| ≤ 1, |r| ≤ beside. With φ
// the average at the middle, and U = Σ (x - φ y) over the rows drawn anew, signed,
//
//	F - F' = [U - (F' - φ)(N - N')]/N,   F' - φ = Σ' (x - φ y)/N',
//
// where Bernstein's inequality bounds U, N - N', N, N' and Σ', each but for probability e^-t on either side. It is not
// ok where a cell may have no row.
func (r replacement) average(m *Moments, k Component, t float64) (along, beside float64, ok bool) {
	nt := m.terms
	sum, count, _ := m.quotient(k)
	mu := r.c.mix(r.middle())
	if mu[count] <= 0 {
		return 0, 0, false
	}
	phi := mu[sum] / mu[count]
	rest, one := []weighted{{sum, 1}, {count, -phi}}, []weighted{{count, 1}}
	spread, extent, terms := m.spread(k, phi), m.largest(m.aggregate(k).Terms[0]), 1.0
	if m.cut.Joined() {
		spread *= 2 // it bounds a size there, and differences are wanted
	}
	if r.independent {
		terms = 2
	}

	each := func(f []weighted) []float64 { // the greatest variance of one row, by class, with the means' own
		out := make([]float64, len(r.c.Size))
		for j := range out {
			out[j] = math.Max(0, r.c.variance(j, nt, f))
		}
		return out
	}

	all := func(f []weighted) float64 {
		_, v := r.bounds(each(f))
		if r.independent {
			v += r.farthest(f) / math.Max((sumOf(r.rows)+r.any)/2, math.SmallestNonzeroFloat64) / 4
		}
		return r.n * v
	}

	// Bernstein's inequality, for U and N - N' first, then for N and Σ'.
	moved, size := bernstein(t, r.variance(nt, rest), terms*spread), bernstein(t, r.variance(nt, one), terms*extent)
	low, high := r.bounds(r.c.column(count))
	off := bernstein(t, all(one), extent)
	least, most := r.n*low-off, r.n*high+off
	if least <= 0 {
		return 0, 0, false
	}

	left, right := r.bounds(r.c.means(rest))
	drift := (r.n*math.Max(math.Abs(left), math.Abs(right)) + bernstein(t, all(rest), spread)) / least

	d, e := dot(r.along, r.c.means(rest)), math.Abs(dot(r.along, r.c.means(one)))
	if r.simplex != nil { // the count moves along any edge while U moves along this one
		v := r.c.means(one)
		low, high := v[0], v[0]
		for _, x := range v {
			low, high = math.Min(low, x), math.Max(high, x)
		}
		e = r.simplex.Within * (high - low)
	}

	along = d / mu[count]
	beside = math.Max(math.Abs(r.n*d/least-along), math.Abs(r.n*d/most-along)) + (moved+drift*(r.n*e+size))/least
	return along, beside, true
}

// bernstein returns x with Pr(|Σ| ≥ x) ≤ 2e^-t for a sum of independent centred variables, each at most b in size, of
// total variance v.
func bernstein(t, v, b float64) float64 { return b*t/3 + math.Sqrt(b*t/3*(b*t/3)+2*t*v) }
