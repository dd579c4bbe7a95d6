package planner

import (
	"context"
	"slices"

	"fugu/parser"
)

// maxKept bounds the cells that a plan keeps for itself; more are found anew for each binding.
const maxKept = 500

// maxShared bounds the cells that a table keeps for further plans, over all lists. A policy with many group keys has more
// orders of them than memory.
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
	if b.shared() {
		if combinations, ok := b.Table.Kept.Combinations.Load(name); ok {
			return cellsOf(combinations), nil
		}
	}
	parts, err := b.parts(ctx, q)
	if err != nil {
		return nil, err
	}
	cells := []Cell{}
	for s, set := range b.sets() {
		n := 1
		var keys [][]int
		var rows [][][]Value
		for _, p := range parts {
			if k, r := p.of(set); len(k) > 0 {
				keys, rows = append(keys, k), append(rows, r)
				if n *= len(r); n+len(cells) > maxCells {
					return nil, b.tooMany(max(b.cut.Position, 1))
				}
			}
		}
		for i := range n {
			cell := Cell{Set: s, Keys: make([]Value, len(b.Keys))}
			for k := range cell.Keys {
				cell.Keys[k].Null = true
			}
			rest := i
			for p := range slices.Backward(rows) {
				row := rows[p][rest%len(rows[p])]
				for j, k := range keys[p] {
					cell.Keys[k] = row[j]
				}
				rest /= len(rows[p])
			}
			cells = append(cells, cell)
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
