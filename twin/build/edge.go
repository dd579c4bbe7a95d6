package build

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// edge finds the last row of a class that is taken, and the last that stands once more: among those taken, by the
// second half of the hash. It sees all rows and holds those alone that may be one of the two.
type edge struct {
	take, more int64
	last       window   // of hashes: where the last that is taken should be
	twice      window   // of second halves: where the last that stands once more should be
	before     int64    // how many rows come before the first window: they are taken
	held       [][]byte // the hashes that are in it
	below      int64    // how many of the rows before it have a second half before the second window
	halves     [][]byte // the second halves of theirs that are in it
}

// half is where the second half of a hash begins, which says nothing of the order of drawing.
const half = 16

// edgesAt are the edges of classes that have so many rows, for what is drawn of them. A window is so many standard
// deviations wide to either side.
func edgesAt(rows []int64, drawn []drawn, spread float64) []edge {
	out := make([]edge, len(drawn))
	for i, d := range drawn {
		out[i] = edge{take: d.take, more: d.more, last: windowOf(d.take, rows[i], spread),
			twice: windowOf(d.more, d.take, spread)}
	}
	return out
}

// window is a range of halves of hashes, by their first eight bytes: from and to are in it.
type window struct{ from, to uint64 }

// windowOf is where the n-th smallest of so many halves is, but for a chance that spread makes small: it is so many
// standard deviations to either side of where it is expected. They are the bits of a hash, as if drawn uniformly. A
// window holds about 2·spread·√rows rows at most, so that who builds holds few of any table.
func windowOf(n, rows int64, spread float64) window {
	w := window{0, math.MaxUint64}
	if rows == 0 {
		return w
	}
	p := float64(n) / float64(rows)
	around := spread*math.Sqrt(p*max(0, 1-p)/float64(rows)) + 2*spread/float64(rows)
	if from := p - around; from > 0 {
		w.from = uint64(math.Ldexp(from, 64))
	}
	if to := p + around; to < 1 {
		w.to = uint64(math.Ldexp(to, 64))
	}
	return w
}

// holds reports whether a half is in the window.
func (w window) holds(x uint64) bool { return w.from <= x && x <= w.to }

// whole reports whether nothing is outside of the window.
func (w window) whole() bool { return w == window{0, math.MaxUint64} }

// firstOf are the eight bytes of a half by which windows go.
func firstOf(half []byte) uint64 { return binary.BigEndian.Uint64(half) }

// see takes in a row of the class, and reports whether it may be one of those that are taken.
func (e *edge) see(h []byte) bool {
	x := firstOf(h)
	switch {
	case e.take == 0 || x > e.last.to:
		return false
	case x >= e.last.from:
		e.held = append(e.held, bytes.Clone(h))
	default:
		e.before++
		y := firstOf(h[half:])
		switch {
		case e.more == 0 || y > e.twice.to:
		case y < e.twice.from:
			e.below++
		default:
			e.halves = append(e.halves, bytes.Clone(h[half:]))
		}
	}
	return true
}

// settle returns the hash of the last row taken, and the second half of the last of them that stands once more, once
// all rows of the class were seen; no bytes where there is none. within: both are among those that were held.
func (e *edge) settle() (last, twice []byte, within bool, err error) {
	if e.take == 0 {
		return []byte{}, []byte{}, true, nil
	}

	slices.SortFunc(e.held, bytes.Compare)
	left := e.take - e.before
	if left < 1 || left > int64(len(e.held)) {
		return nil, nil, false, e.checkWindow(e.last)
	}
	taken := e.held[:left]
	last = taken[left-1]
	if e.more == 0 {
		return last, []byte{}, true, nil
	}

	// The same among the rows taken: those within the window were held, and those below it only counted.
	below, halves := e.below, slices.Clone(e.halves)
	for _, h := range taken {
		switch x := h[half:]; {
		case e.twice.holds(firstOf(x)):
			halves = append(halves, x)
		case firstOf(x) < e.twice.from:
			below++
		}
	}
	if e.more <= below || e.more > below+int64(len(halves)) {
		return last, nil, false, e.checkWindow(e.twice)
	}
	slices.SortFunc(halves, bytes.Compare)
	return last, halves[e.more-below-1], true, nil
}

// errOthers is about rows that are not the same twice in one transaction.
var errOthers = errors.New("rows are not those that were counted")

// checkWindow refuses rows among which one is not there that had to be in a window that has all.
func (e *edge) checkWindow(w window) error {
	if w.whole() {
		return errOthers
	}
	return nil
}
