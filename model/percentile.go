package model

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// maxGrid is how many values of a percentile's argument are looked at: more would make the bound tighter by less than
// the share of the rows that lies between two of them.
const maxGrid = 512

// quantile bounds how a percentile π of the rows of one cell moves between coupled datasets.
//
// Q is the percentile of the selected rows of D, of values x, kept within the bounds [lo, hi]. With the row function
// g_t = 1[selected] (1[x ≤ t] - π), G(t) its sum over the rows, and G(t⁻) the same of 1[x < t],
//
//	Q > t implies G(t) < 2,   Q < t implies G(t⁻) > -2,
//
// for percentile_disc (Q ≤ t if and only if at least π of the rows are) and percentile_cont (Q lies between the two
// values next to that place) alike; 2 rows cover the interpolation and PostgreSQL's arithmetic in double precision.
// Where no row is selected, both G are 0, so that this holds whatever Q is taken for.
//
// On a grid t_0 = lo < ... < t_m = hi, if t_i ≤ Q < t_(i+1) and Q' > t_j, j > i, then G'(t_j) - G(t_(i+1)⁻) < 4. That
// is
//
//	Σ 1[t_(i+1) ≤ x ≤ t_j] over the rows that D and D' share
//	+ Σ g(t_j) over those of D' alone - Σ g(t_(i+1)⁻) over those of D alone,
//
// a sum of independent terms, which is less than 4 with a probability that Chernoff's bound gives. So Q' ≤ Q + max_i
// (t_j(i) - t_i), where the probabilities of all i add up. Only those i count at which Q may lie at all, under any
// value of the secret: by the same bound on G alone.
type quantile struct {
	psi      Psi
	rows     float64 // n
	fraction float64
	grid     []float64
	classes  []ordered
	slope    float64 // s at which the last bound held
}

// ordered are a class's reference rows on a grid.
type ordered struct {
	coverage
	below, upTo []float64 // of each point of the grid, the selected rows with a smaller value, and with one no larger
	selected    float64
}

// valued is a value with the number of a class's selected rows that have it.
type valued struct{ value, rows float64 }

// byValue orders values, least first.
func byValue(a, b valued) int { return cmp.Compare(a.value, b.value) }

// newQuantile lays out the grid. values has for each class its values in ascending order, sizes the rows of the class's
// reference, selected or not; failure is the probability that the reference misleads.
func newQuantile(psi Psi, rows, fraction, lo, hi float64, values [][]valued, sizes []float64,
	failure float64) *quantile {
	q := &quantile{psi: psi, rows: rows, fraction: fraction, grid: gridOf(lo, hi, values), slope: .05}
	for c, list := range values {
		o := ordered{coverage: newCoverage(sizes[c], failure/float64(len(values))), below: make([]float64, len(q.grid)),
			upTo: make([]float64, len(q.grid))}
		sums := make([]float64, len(list)+1)
		for i, v := range list {
			sums[i+1] = sums[i] + v.rows
		}
		for i, t := range q.grid {
			o.below[i] = sums[sort.Search(len(list), func(k int) bool { return list[k].value >= t })]
			o.upTo[i] = sums[sort.Search(len(list), func(k int) bool { return list[k].value > t })]
		}
		o.selected = sums[len(list)]
		q.classes = append(q.classes, o)
	}
	return q
}

// gridOf chooses lo, hi and at most maxGrid values between, about as many rows apart.
func gridOf(lo, hi float64, values [][]valued) []float64 {
	var all []valued
	total := 0.0
	for _, list := range values {
		for _, v := range list {
			all, total = append(all, v), total+v.rows
		}
	}

	slices.SortFunc(all, byValue)

	// More values than the grid may have are thinned: one in so many rows.
	different := 0
	for i, v := range all {
		if i == 0 || v.value != all[i-1].value {
			different++
		}
	}

	step := 0.0
	if different > maxGrid {
		step = total / maxGrid
	}
	grid, since := []float64{lo}, 0.0
	for _, v := range all {
		if since += v.rows; since >= step && v.value > grid[len(grid)-1] && v.value < hi {
			grid, since = append(grid, v.value), 0
		}
	}

	if hi > lo {
		grid = append(grid, hi)
	}
	return grid
}

// up is ln E e^(-s g(t)) of one row, at most, for each class, and t the point at of the grid.
func (q *quantile) up(at int) func(s float64, out []float64) {
	h, u := make([]float64, len(q.classes)), make([]float64, len(q.classes))
	for c, o := range q.classes {
		h[c], u[c] = o.least(o.upTo[at]), o.most(o.selected-o.upTo[at])
	}
	return func(s float64, out []float64) {
		for c := range out {
			out[c] = math.Log(1 - h[c]*(1-math.Exp(-s*(1-q.fraction))) + u[c]*math.Expm1(s*q.fraction))
		}
	}
}

// down is ln E e^(s g(t⁻)) likewise.
func (q *quantile) down(at int) func(s float64, out []float64) {
	h, u := make([]float64, len(q.classes)), make([]float64, len(q.classes))
	for c, o := range q.classes {
		h[c], u[c] = o.most(o.below[at]), o.least(o.selected-o.below[at])
	}
	return func(s float64, out []float64) {
		for c := range out {
			out[c] = math.Log(1 + h[c]*math.Expm1(s*(1-q.fraction)) - u[c]*(1-math.Exp(-s*q.fraction)))
		}
	}
}

// alone reports whether the sum over D of a row function is beyond 2 with at most the probability e^target: moment is
// its exponential one.
func (q *quantile) alone(target float64, moment func(s float64, out []float64)) bool {
	own, none := make([]float64, len(q.classes)), make([]float64, len(q.classes))
	return tail(target, &q.slope, func(s float64) float64 {
		moment(s, own)
		return 2*s + q.psi.couple(q.rows, own, own, none)
	})
}

// reaches reports whether t_i ≤ Q < t_(i+1) and Q' > t_j happen together with at most the probability e^target.
func (q *quantile) reaches(i, j int, target float64) bool {
	k := len(q.classes)
	shared, first, second := make([]float64, k), make([]float64, k), make([]float64, k)
	between := make([]float64, k)
	for c, o := range q.classes {
		between[c] = o.least(o.upTo[j] - o.below[i+1])
	}
	left, entered := q.down(i+1), q.up(j)
	return tail(target, &q.slope, func(s float64) float64 {
		for c, p := range between {
			shared[c] = math.Log1p(-p * (1 - math.Exp(-s)))
		}
		left(s, first)
		entered(s, second)
		return 4*s + q.psi.couple(q.rows, shared, first, second)
	})
}

// width returns the W within which the percentiles of coupled datasets are, but for a probability of failure.
func (q *quantile) width(failure float64) float64 {
	w := 0.0
	for _, part := range q.psi.parts() {
		own := *q
		own.psi = part
		w = math.Max(w, own.widest(failure))
	}
	// Values are compared in double precision, and in PostgreSQL with 15 digits.
	return w + 4e-14*math.Max(math.Abs(q.grid[0]), math.Abs(q.grid[len(q.grid)-1]))
}

// widest is width for pairs that are close together: what is not likely under one of them is hardly so under another.
func (q *quantile) widest(failure float64) float64 {
	last := len(q.grid) - 1
	// Four times Q or Q' is out of where it may lie, and then in either order one event for each point there.
	ends := math.Log(failure / 8)
	from := sort.Search(last, func(i int) bool { return !q.alone(ends, q.down(i+1)) })
	to := sort.Search(last, func(i int) bool { return q.alone(ends, q.up(i)) })
	target := math.Log(failure / 4 / float64(max(1, to-from+1)))
	w, j := 0.0, from
	for i := from; i < to; i++ {
		for j = max(j, i+1); j < to && !q.reaches(i, j, target); j++ {
		}
		w = math.Max(w, q.grid[j]-q.grid[i])
	}
	return w
}
