package planner

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"fugu/parser"
)

// maxPoints bounds the combinations of public values by which the cells of a cut are told.
const maxPoints = 1 << 12

// Layer says of which rows the cells of one grouping set are, so that those of different cuts can be compared: a row
// that Frame holds for is in the cell of its Point. Where one of its values is not public nobody knows which cell it is
// in, if any; but the Manner says what that depends on.
type Layer struct {
	Frame  string   // what is read, and the conditions that do not speak of Axes alone: equal for equal ones
	Axes   []string // columns with public values, in order
	Manner []string // of each axis: all that is asked about its value; Mixed where that depends on other axes, too
	Cells  map[string]int
}

// Manners that are no expressions.
const (
	Grouped = "=" // grouped by as it is: a value that is not public is in no cell
	Mixed   = "?" // asked about together with others: two of them are not equal
)

// Layers describes the cells, a layer for each grouping set; none where public values do not say of which rows they
// are.
func (b *Bound) Layers(ctx context.Context, q Querier) ([]Layer, error) {
	if !b.sources.single() || len(b.Ordinary) > 0 || b.Table.Link != nil {
		return nil, nil
	}

	// What speaks of public columns alone says which points a cell is of; the other conditions are the frame.
	var public []parser.Expr // keys, then conditions
	for _, k := range b.forms.keys {
		if public = append(public, k); !b.public(k) {
			return nil, nil
		}
	}
	rest := []string{b.Table.String()}
	for _, c := range b.conjuncts() {
		if b.public(c) {
			public = append(public, c)
		} else {
			rest = append(rest, b.sql(c))
		}
	}
	slices.Sort(rest[1:])
	axes, ok := b.axes(public)
	if !ok {
		return nil, nil
	}
	points, err := b.points(ctx, q, axes, public[len(b.Keys):])
	if err != nil {
		return nil, err
	}

	// A point is in the cell of its keys, of those that the set groups by.
	cells := map[string]int{}
	for i, c := range b.Cells {
		cells[strconv.Itoa(c.Set)+":"+indexKey(c.Keys)] = i
	}
	sets := b.sets()
	out := make([]Layer, len(sets))
	for s, set := range sets {
		out[s] = Layer{Frame: strings.Join(rest, " AND "), Axes: axes, Manner: b.manner(axes, set, public)}
		out[s].Cells = map[string]int{}
		for _, p := range points {
			keys := slices.Clone(p[len(axes):])
			for k := range keys {
				if !slices.Contains(set, k) {
					keys[k] = Value{Null: true}
				}
			}
			if i, ok := cells[strconv.Itoa(s)+":"+indexKey(keys)]; ok {
				out[s].Cells[Point(p[:len(axes)])] = i
			}
		}
	}
	return out, nil
}

// axes are the columns of expressions, in order; false if they have too many points.
func (b *Bound) axes(public []parser.Expr) ([]string, bool) {
	var axes []string
	for _, e := range public {
		for _, c := range columns(e) {
			if !slices.Contains(axes, c.Name) {
				axes = append(axes, c.Name)
			}
		}
	}
	slices.Sort(axes)

	size := 1
	for _, a := range axes {
		if size *= len(b.Table.Domains[a]); size > maxPoints {
			return nil, false
		}
	}
	return axes, true
}

// manner says what a grouping set asks about each axis: by the keys in it, and by the conditions behind the keys.
func (b *Bound) manner(axes []string, set []int, public []parser.Expr) []string {
	out := make([]string, len(axes))
	for i, a := range axes {
		for k, e := range public {
			of := columns(e)
			isAxis := func(c parser.Column) bool { return c.Name == a }
			if k < len(b.Keys) && !slices.Contains(set, k) || !slices.ContainsFunc(of, isAxis) {
				continue
			}

			// A key that is the axis itself says all; a condition on the axis alone is told by its text.
			_, plain := e.(parser.Column)
			switch {
			case plain && k < len(b.Keys):
				out[i] = Grouped
			case out[i] == Grouped:
			case out[i] == Mixed || slices.ContainsFunc(of, func(c parser.Column) bool { return c.Name != a }):
				out[i] = Mixed
			default:
				out[i] += b.sql(e) + ";"
			}
		}
	}
	return out
}

// points lists the combinations of public values for which the conditions hold, each with the keys that it has. It is
// PostgreSQL that evaluates them; no row has a part in it.
func (b *Bound) points(ctx context.Context, q Querier, axes []string, conditions []parser.Expr) ([][]Value, error) {
	if len(axes) == 0 {
		return [][]Value{nil}, nil
	}
	var values []string
	for _, a := range axes {
		values = append(values, "("+columnSQL(a, b.sources.root)+")::pg_catalog.text")
	}
	for _, k := range b.keys() {
		values = append(values, "("+k+")::pg_catalog.text")
	}
	where := forms{where: conditions}.whereSQL(b.number)
	return q.Query(ctx, parser.SelectSQL(values, b.valuesOf(b.sources.root, axes), where, nil), nil, nil)
}

// Row names the row function that an aggregate is the sum of, with the limits that hold for a Base; and says how much
// one row can add to it. ok reports whether it is such a sum.
func (b *Bound) Row(aggregate int, limits []Limit) (name string, most float64, ok bool) {
	a := b.Aggregates[aggregate]
	if a.Sampled != nil || !a.Extensive || len(a.Terms) != 1 || !a.Linear() {
		return "", 0, false
	}

	// The limits are part of the name: of other ones, the function is another.
	most = 1
	for _, i := range b.Terms[a.Terms[0]].Factors {
		x := b.Bases[i]
		name += " * " + strings.Join(x.args, ",") + " given " + strings.Join(x.given, ",")
		if x.Indicator {
			continue
		}
		low, _ := limits[i].Low.Float64()
		high, _ := limits[i].High.Float64()
		most *= max(low, -low, high, -high)
		name += " " + x.exact() + " in " + limits[i].Low.RatString() + ".." + limits[i].High.RatString()
	}
	return name, most, true
}
