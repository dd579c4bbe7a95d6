package planner

import (
	"context"
	"slices"

	"fugu/parser"
)

// maxKept bounds the cells that a plan keeps for itself; more are found anew for each binding.
const maxKept = 500

// maxShared bounds the cells that a table keeps for further plans, over all lists. A policy with many group keys has
// more orders of them than memory.
const maxShared = 10 * maxCells

// shared reports whether the cells are those of declared columns alone: plans that group by the same ones share a list,
// and there are only so many of those.
func (b *Bound) shared() bool {
	if b.Sets != nil || !b.sources.single() || len(b.forms.where) > 0 {
		return false
	}
	for _, k := range b.forms.keys {
		if _, ok := b.declared(k); !ok {
			return false
		}
	}
	return true
}

// cells lists the product of what the parts of the keys can be, in each grouping set.
func (b *Bound) cells(ctx context.Context, q Querier) ([]Cell, error) {
	name := ""
	for _, k := range b.keys() {
		name += k + ";"
	}

	// Keys of the table alone have the same combinations in each statement.
	if b.shared() {
		if combinations, ok := b.Table.Kept.Combinations.Load(name); ok {
			return cellsOf(combinations), nil
		}
	}
	parts, err := b.parts(ctx, q)
	if err != nil {
		return nil, err
	}

	// Each part may be large by itself: the product is looked at before it is made.
	cells := []Cell{}
	for s, set := range b.sets() {
		var of []part
		for _, p := range parts {
			keys, rows := p.of(set)
			if len(keys) == 0 {
				continue
			}
			of = append(of, part{keys, rows})
			if len(cells)+product(of) > maxCells {
				return nil, b.tooMany(max(b.cut.Position, 1))
			}
		}
		for i := range product(of) {
			cells = append(cells, Cell{Set: s, Keys: b.combination(of, i)})
		}
	}

	if b.shared() {
		combinations := make([][]Value, len(cells))
		for i, c := range cells {
			combinations[i] = c.Keys
		}
		b.Table.Kept.Combinations.Store(name, combinations, len(cells), maxShared)
	}
	return cells, nil
}

// product is how many combinations parts have together: one, if there are none.
func product(parts []part) int {
	n := 1
	for _, p := range parts {
		n *= len(p.rows)
	}
	return n
}

// combination is number i of the combinations of parts, the last part's rows being the fastest. Other keys are NULL.
func (b *Bound) combination(parts []part, i int) []Value {
	out := make([]Value, len(b.Keys))
	for k := range out {
		out[k].Null = true
	}
	for _, p := range slices.Backward(parts) {
		row := p.rows[i%len(p.rows)]
		for j, k := range p.keys {
			out[k] = row[j]
		}
		i /= len(p.rows)
	}
	return out
}

// cellsOf are the cells of the only grouping set, by the values of its keys.
func cellsOf(combinations [][]Value) []Cell {
	cells := make([]Cell, len(combinations))
	for i, keys := range combinations {
		cells[i].Keys = keys
	}
	return cells
}

// Index returns the cells by their keys.
func (b *Bound) Index() Index {
	ix := make(Index, len(b.Cells))
	all := make([]int, len(b.Keys))
	for i := range all {
		all[i] = i
	}
	for i, cell := range b.Cells {
		head := make([]Value, len(cell.Keys))
		for k, v := range cell.Keys {
			head[k] = b.Keys[k].spelled(v)
		}
		if b.Sets != nil {
			head = append(head, b.Grouping(parser.Grouping{Keys: all}, cell))
		}
		ix[indexKey(head)] = i
	}
	return ix
}
