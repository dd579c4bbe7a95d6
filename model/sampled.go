package model

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"fugu/planner"
	"fugu/sqlstate"
)

// Sampled is the model of those aggregates of a cut that are no functions of sums: percentiles, and numbers, sums and
// means of distinct values. Their distribution follows from that of their argument in the classes of a secret, and what
// is said of it needs no assumption but the model of rows: how far coupled datasets (see Moments.Coupled) are apart,
// but for a probability.
//
// The classes' distributions are the reference's up to what its size leaves open (see coverage), and that is part of
// the bound: half of the failure is the reference's, half the datasets'.
type Sampled struct {
	Components []Component
	Expected   []float64  // of each component: of the reference, scaled to the table's rows
	Inherent   []float64  // what it varies by, roughly
	Lattice    []float64  // a bound on the step of the lattice it lives on
	Typical    []*big.Rat // what stands in where no protected row is in a cell

	cut    *planner.Bound
	totals []Totals
	cells  [][]*argument // cell, aggregate; nil: no sampled aggregate, or nothing known
}

// argument is the distribution of an aggregate's argument in one cell.
type argument struct {
	sampled *planner.Sampled
	lo, hi  float64 // within which values are taken
	values  []float64
	rows    [][][]float64 // secret, class, value: rows of the reference
	all     []float64     // value: rows of the whole reference
}

// MeasureSampled scans the reference once for each sampled aggregate. limits are those of the cut's bases.
func MeasureSampled(ctx context.Context, ref planner.Querier, c *planner.Bound, totals []Totals,
	limits []planner.Limit) (*Sampled, error) {
	s := &Sampled{cut: c, totals: totals, cells: make([][]*argument, len(c.Cells))}
	for cell := range s.cells {
		s.cells[cell] = make([]*argument, len(c.Aggregates))
	}

	for a, agg := range c.Aggregates {
		if agg.Sampled == nil {
			continue
		}
		if err := s.read(ctx, ref, a, limits); err != nil {
			return nil, fmt.Errorf("reading the distribution of %s in the reference: %w", agg.Label, err)
		}
	}

	// The protected table has so many times the rows of the reference.
	scale := float64(c.Table.Rows) / (totals[0].Outside + sumOf(totals[0].Size))
	for cell := range s.cells {
		for a, x := range s.cells[cell] {
			if x != nil {
				s.take(Component{cell, a}, x, scale)
			}
		}
	}
	return s, nil
}

// take adds a component, of the table's rows of which the reference has one in scale.
func (s *Sampled) take(k Component, x *argument, scale float64) {
	expected, inherent := x.describe(scale)
	s.Components = append(s.Components, k)
	s.Expected, s.Inherent = append(s.Expected, expected), append(s.Inherent, inherent)
	s.Lattice = append(s.Lattice, x.lattice())

	typical := new(big.Rat)
	if !s.cut.Aggregates[k.Aggregate].Extensive {
		typical.SetFloat64(expected)
	}
	s.Typical = append(s.Typical, typical)
}

// read takes in the distribution of one aggregate's argument.
func (s *Sampled) read(ctx context.Context, ref planner.Querier, aggregate int, limits []planner.Limit) error {
	c := s.cut
	rows, err := ref.Query(ctx, c.Distribution(aggregate), nil, nil)
	if err != nil {
		return err
	}
	r := reading{Sampled: s, aggregate: aggregate, of: c.Aggregates[aggregate].Sampled}
	r.places = make([]map[string]int, len(c.Cells))
	if i := c.Argument(aggregate); i >= 0 {
		r.lo, _ = limits[i].Low.Float64()
		r.hi, _ = limits[i].High.Float64()
	}

	// Where no rows are no values, and that is a number, every cell has a distribution.
	if !r.of.Percentile() && r.of.Kind != planner.DistinctMean {
		for cell := range c.Cells {
			if err := r.start(cell); err != nil {
				return err
			}
		}
	}

	index := c.Index()
	for _, row := range rows {
		if cell, ok := index.Find(row[:c.Head()]); ok {
			if err := r.add(cell, row[c.Head():]); err != nil {
				return err
			}
		}
	}

	for cell := range s.cells {
		if x := s.cells[cell][aggregate]; x != nil {
			x.finish()
		}
	}
	return nil
}

// reading is a scan of the reference for one aggregate.
type reading struct {
	*Sampled
	aggregate int
	of        *planner.Sampled
	lo, hi    float64          // within which values are taken
	places    []map[string]int // cell: of each value, by what tells it from others
}

// start gives a cell the distribution in which nothing has been counted.
func (r *reading) start(cell int) error {
	x := &argument{sampled: r.of, lo: r.lo, hi: r.hi}
	r.places[cell] = map[string]int{}
	for i := range r.totals {
		x.rows = append(x.rows, make([][]float64, len(r.totals[i].Size)))
	}
	for _, v := range r.of.Domain {
		if _, err := x.place(r.places[cell], v.Text, v.Text); err != nil {
			return sqlstate.New(sqlstate.ModelUnfit, "a public value of %s is not a number",
				r.cut.Aggregates[r.aggregate].Label)
		}
	}
	r.cells[cell][r.aggregate] = x
	return nil
}

// add counts one group of the reference's rows: those of one class of each secret that have one value.
func (r *reading) add(cell int, row []planner.Value) error {
	var class []int
	for _, sec := range r.cut.Table.Secrets {
		if sec.Number != nil {
			class = append(class, 0)
			continue
		}
		class = append(class, sec.Class(row[0]))
		row = row[1:]
	}

	// A value that is NULL counts nowhere.
	value, text := row[0], row[1]
	n, err := number(row[2])
	if err != nil {
		return err
	}
	if value.Null {
		return nil
	}

	// A cell is begun with its first value.
	if r.cells[cell][r.aggregate] == nil {
		if err := r.start(cell); err != nil {
			return err
		}
	}
	x := r.cells[cell][r.aggregate]
	if text.Null {
		text = value
	}
	if r.of.Domain != nil {
		if _, ok := r.places[cell][text.Text]; !ok {
			return nil // it is no public value, and does not count
		}
	}

	at, err := x.place(r.places[cell], text.Text, value.Text)
	if err != nil {
		return err
	}
	x.all[at] += n
	for i, k := range class {
		if k >= 0 {
			x.grow(i, k, at)[at] += n
		}
	}
	return nil
}

// place finds a value, or takes it in.
func (x *argument) place(places map[string]int, text, value string) (int, error) {
	if at, ok := places[text]; ok {
		return at, nil
	}
	v := 0.0
	if x.sampled.Kind != planner.DistinctCount {
		var err error
		if v, err = number(planner.Value{Text: value}); err != nil {
			return 0, err
		}
	}
	places[text] = len(x.values)
	x.values, x.all = append(x.values, math.Max(x.lo, math.Min(x.hi, v))), append(x.all, 0)
	return places[text], nil
}

func (x *argument) grow(secret, class, at int) []float64 {
	list := x.rows[secret][class]
	for len(list) <= at {
		list = append(list, 0)
	}
	x.rows[secret][class] = list
	return list
}

// finish gives every class all of the values.
func (x *argument) finish() {
	for i := range x.rows {
		for k := range x.rows[i] {
			if n := len(x.values); n > 0 {
				x.grow(i, k, n-1)
			}
		}
	}
}

// ascending returns the values of a number of rows each, in order.
func (x *argument) ascending(rows []float64) []valued {
	var out []valued
	for i, n := range rows {
		if n > 0 {
			out = append(out, valued{x.values[i], n})
		}
	}
	slices.SortFunc(out, byValue)
	return out
}

// Apart returns the W within which each component stays between coupled datasets, but for a probability of failure that
// one of them does not. A secret mean has no such coupling, and rows that are drawn from the reference without
// replacement are not independent (PV004).
func (s *Sampled) Apart(ctx context.Context, secret int, psi Psi, failure float64) ([]float64, error) {
	label := s.cut.Aggregates[s.Components[0].Aggregate].Label
	switch {
	case s.cut.Table.Secrets[secret].Number != nil:
		return nil, sqlstate.New(sqlstate.ModelUnfit, "secret %s is a mean, and nothing bounds how %s of two "+
			"datasets of different means differ", psi.Name, label).
			WithHint("Ask for counts, sums and averages.")
	case psi.FromReference:
		return nil, sqlstate.New(sqlstate.ModelUnfit, "nothing bounds how %s of datasets that are drawn from the "+
			"reference differ", label).
			WithHint(
				"Ask for counts, sums and averages; or the owner of the policy can leave drawn: from-reference out.")
	case !(failure > 0):
		return nil, sqlstate.New(sqlstate.ModelUnfit, "%s can be bounded but for a probability only, and delta is 0",
			label).
			WithHint("Set fugu.delta above 0.")
	}

	// What may fail is divided among the components, and between both datasets.
	out := make([]float64, len(s.Components))
	each := failure / float64(2*len(s.Components))
	for i, k := range s.Components {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x := s.cells[k.Cell][k.Aggregate]
		out[i] = x.boundComponent(psi, float64(s.cut.Table.Rows), x.rows[secret], s.totals[secret].Size, each)
		if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return nil, fmt.Errorf("how far %s of coupled datasets are apart is not finite", label)
		}
	}
	return out, nil
}

// boundComponent bounds how far one component is apart: failure is that of the reference and of the datasets each.
func (x *argument) boundComponent(psi Psi, rows float64, of [][]float64, sizes []float64, failure float64) float64 {
	if x.sampled.Percentile() {
		values := make([][]valued, len(of))
		for c := range of {
			values[c] = x.ascending(of[c])
		}
		return newQuantile(psi, rows, x.sampled.Fraction, x.lo, x.hi, values, sizes, failure).width(failure)
	}

	// Distinct values are bounded on each part of Ψ by itself, and the worst part holds for all.
	w := 0.0
	for _, part := range psi.parts() {
		v := newVariety(part, rows, x.values, x.sampled.Domain != nil, of, sizes, failure)
		m := v.moved(failure)
		switch x.sampled.Kind {
		case planner.DistinctCount:
			w = math.Max(w, m.count(v.named))
		case planner.DistinctSum:
			w = math.Max(w, m.sum(v, x.lo, x.hi))
		default:
			w = math.Max(w, m.mean(v, x.lo, x.hi)+4e-14*math.Max(math.Abs(x.lo), math.Abs(x.hi)))
		}
	}
	return w
}

// describe says what the reference shows, where the table has scale times its rows: the aggregate's value, and what it
// varies by. Neither counts for privacy.
func (x *argument) describe(scale float64) (expected, inherent float64) {
	n := sumOf(x.all) * scale
	if x.sampled.Percentile() {
		list := x.ascending(x.all)
		at := func(p float64) float64 {
			left := p * sumOf(x.all)
			for _, v := range list {
				if left -= v.rows; left <= 0 {
					return v.value
				}
			}

			return list[len(list)-1].value
		}

		// A sample's percentile is as far off as one of its rank, which is binomial.
		p := x.sampled.Fraction
		off := math.Sqrt(p * (1 - p) / n)
		return at(p), (at(math.Min(1, p+off)) - at(math.Max(0, p-off))) / 2
	}

	// Whether a value occurs at all is one trial for each.
	var number, variance, sum, squares float64
	for i, r := range x.all {
		there := -math.Expm1(-r * scale)
		number, variance = number+there, variance+there*(1-there)
		sum, squares = sum+there*x.values[i], squares+there*(1-there)*x.values[i]*x.values[i]
	}

	switch x.sampled.Kind {
	case planner.DistinctCount:
		return number, math.Sqrt(variance)
	case planner.DistinctSum:
		return sum, math.Sqrt(squares)
	}
	return sum / number, math.Sqrt(squares) / number
}

// lattice bounds the step of the lattice on which the values, and so their percentiles and sums, lie: it divides every
// difference of two, and of sums every value, too.
func (x *argument) lattice() float64 {
	if x.sampled.Kind == planner.DistinctCount {
		return 1
	}

	step := math.Inf(1)
	sorted := slices.Sorted(slices.Values(x.values))
	for i, v := range sorted {
		if i > 0 && v > sorted[i-1] {
			step = math.Min(step, v-sorted[i-1])
		}
		if v != 0 && !x.sampled.Percentile() {
			step = math.Min(step, math.Abs(v))
		}
	}

	if math.IsInf(step, 1) { // nothing has been seen that it could divide
		step = math.Max(1, math.Max(math.Abs(x.lo), math.Abs(x.hi)))
	}

	// An average divides by how many values there are.
	if x.sampled.Kind == planner.DistinctMean {
		step /= math.Max(1, float64(len(x.values)))
	}
	return step
}
