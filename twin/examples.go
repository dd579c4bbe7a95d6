package twin

import (
	"math"
	"slices"
)

// examples are counts that the promise speaks of: the listed ones, or some that are spread over the range.
func (s Spec) examples(d domain) (out [][]int64) {
	classes := d.classes
	if s.Public != nil {
		return s.celledExamples(d)
	}
	if pairs, err := s.pairs(); err == nil {
		for _, pair := range pairs {
			out = append(out, pair[0], pair[1])
		}
		return out
	}

	// Of a range, tables whose first class has few rows, half of what it can have, and many.
	for _, f := range []float64{.1, .5, .9} {
		first := classes[0].Least + int64(f*float64(classes[0].Most-classes[0].Least))
		counts, left := make([]int64, len(classes)), s.Rows-first
		room := int64(0)
		for c, class := range classes[1:] {
			counts[c+1] = class.Least
			left, room = left-class.Least, room+class.Most-class.Least
		}

		counts[0] = first
		// The others share what is left by the room that they have; the rounding is the last one's.
		rest := float64(left)
		for c, class := range classes[1:] {
			more := min(class.Most-class.Least,
				int64(math.Ceil(rest*float64(class.Most-class.Least)/float64(max(1, room)))), left)
			counts[c+1], left = counts[c+1]+more, left-more
		}

		counts[0] += left
		out = append(out, counts)
	}
	return out
}

// celledExamples divides the examples of a table without public cells over the cells, by their rows.
func (s Spec) celledExamples(d domain) (out [][]int64) {
	bare := s
	bare.Public = nil
	whole, _ := bare.domain() // which was possible
	for _, table := range bare.examples(whole) {
		var counts []int64
		shares := make([]float64, len(table))
		for o, rows := range table {
			shares[o] = float64(rows) / float64(s.Rows)
		}
		for i, cell := range d.cells {
			classes := d.classes[i*len(table) : (i+1)*len(table)]
			counts = append(counts, nearest(classes, cell.Rows, Spec{Rows: cell.Rows}.whole(shares))...)
		}
		out = append(out, counts)
	}
	return out
}

// nearest is the vector in the bounds of the classes that is nearest to raw, of so many rows in all: every entry
// lowered by as much and clamped, and by one less the first of those that make up the rows.
func nearest(classes []Class, rows int64, raw []int64) []int64 {
	lowered := func(by int64) (out []int64, total int64) {
		out = make([]int64, len(raw))
		for c, class := range classes {
			out[c] = min(max(raw[c]-by, class.Least), class.Most)
			total += out[c]
		}
		return out, total
	}

	// The sum falls with what all are lowered by: by halving, the most by which it is still enough.
	low, high := slices.Min(raw)-rows, slices.Max(raw)+1 // lowered by these all are at their most, or at their least
	for low+1 < high {
		mid := low + (high-low)/2
		if _, total := lowered(mid); total >= rows {
			low = mid
		} else {
			high = mid
		}
	}

	out, total := lowered(low)
	next, _ := lowered(low + 1)
	for c := range out {
		if total > rows && next[c] < out[c] {
			out[c], total = out[c]-1, total-1
		}
	}
	return out
}
