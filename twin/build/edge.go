package build

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
)

// edge is what is looked at of a class to find its last row that is taken, and the last that stands once more: among
// those taken, by the second half of the hash.
type edge struct {
	cut             // the bucket of the last row taken, all of whose rows are held
	window          // of second halves
	below  int64    // how many rows of the buckets before it have a second half before the window
	halves [][]byte // those of the buckets before it that are in the window
}

// window is a range of second halves, from one to before another.
type window struct{ from, to []byte }

// windowOf is where the n-th smallest of so many second halves is, but for a chance that spread makes small: it is so
// many standard deviations to either side of where it is expected. They are the bits of a hash, as if drawn uniformly.
// A window holds about 2·spread·√rows rows at most, so that who builds holds few of any table.
func windowOf(n, rows int64, spread float64) window {
	if n == 0 {
		return window{[]byte{}, []byte{}}
	}
	p := float64(n) / float64(rows)
	around := spread*math.Sqrt(p*(1-p)/float64(rows)) + 2*spread/float64(rows)
	w := window{[]byte{}, bytes.Repeat([]byte{0xff}, half+1)} // before and behind all halves
	if from := p - around; from > 0 {
		w.from = binary.BigEndian.AppendUint64(nil, uint64(math.Ldexp(from, 64)))
	}
	if to := p + around; to < 1 {
		w.to = binary.BigEndian.AppendUint64(nil, uint64(math.Ldexp(to, 64)))
	}
	return w
}

// holds reports whether a second half is in the window.
func (w window) holds(x []byte) bool {
	return bytes.Compare(w.from, x) <= 0 && bytes.Compare(x, w.to) < 0
}

// settle returns the hash of the last row taken, and the second half of the last of them that stands once more, of more
// that do; no bytes where there is none. within: that one is among those that were looked at.
func (e *edge) settle(more int64) (last, twice []byte, within bool, err error) {
	if last, err = e.value(); err != nil || more == 0 {
		return last, []byte{}, true, err
	}
	below, halves := e.below, e.halves
	for _, h := range e.taken() {
		switch x := h[half:]; {
		case e.window.holds(x):
			halves = append(halves, x)
		case bytes.Compare(x, e.from) < 0:
			below++
		}
	}
	if more <= below || more > below+int64(len(halves)) {
		if len(e.from) == 0 && len(e.to) > half {
			return nil, nil, false, errors.New("rows are not those that were counted")
		}
		return last, nil, false, nil
	}
	slices.SortFunc(halves, bytes.Compare)
	return last, halves[more-below-1], true, nil
}

// The rows that edges are about, by settings of the transaction, as the key is: arrays by class.
const (
	setEdges = `SELECT pg_catalog.set_config('fugu.bucket', $1::pg_catalog.bytea[]::pg_catalog.text, true),
		pg_catalog.set_config('fugu.behind', $2::pg_catalog.bytea[]::pg_catalog.text, true),
		pg_catalog.set_config('fugu.from', $3::pg_catalog.bytea[]::pg_catalog.text, true),
		pg_catalog.set_config('fugu.to', $4::pg_catalog.bytea[]::pg_catalog.text, true)`

	ofEdge     = `(SELECT pg_catalog.current_setting('fugu.%s')::pg_catalog.bytea[])["fugu class" + 1]`
	secondHalf = `pg_catalog.substr("fugu h", 17)`
	atTheEdge  = `(SELECT * FROM ` + stagedName + ` WHERE "fugu h" < %[2]s AND ("fugu h" >= %[1]s OR ` + secondHalf +
		` >= %[3]s AND ` + secondHalf + ` < %[4]s))`
	belowTheEdge = `SELECT "fugu class", pg_catalog.count(*) FROM ` + stagedName + ` WHERE "fugu h" < %[1]s AND ` +
		secondHalf + ` < %[2]s GROUP BY 1`
)

// lookAtEdges has PostgreSQL send the rows that edges are about, and count those below: of all others nothing is sent.
func lookAtEdges(ctx context.Context, db pgx.Tx, edges []edge) error {
	var bounds [4][][]byte
	for _, e := range edges {
		from, behind := e.bounds()
		for i, b := range [][]byte{from, behind, e.from, e.to} {
			bounds[i] = append(bounds[i], b)
		}
	}
	if _, err := db.Exec(ctx, setEdges, bounds[0], bounds[1], bounds[2], bounds[3]); err != nil {
		return err
	}
	of := func(name string) string { return fmt.Sprintf(ofEdge, name) }

	return inParallel(ctx, db, func() error {
		there := fmt.Sprintf(atTheEdge, of("bucket"), of("behind"), of("from"), of("to"))
		err := eachRow(ctx, db, there, func(class int, h []byte) {
			e := &edges[class]
			if bucketOf(h) == e.bucket {
				e.hold(h)
			} else {
				e.halves = append(e.halves, bytes.Clone(h[half:]))
			}
		})
		if err != nil {
			return err
		}
		rows, _ := db.Query(ctx, fmt.Sprintf(belowTheEdge, of("bucket"), of("from")))
		var class int
		var n int64
		_, err = pgx.ForEachRow(rows, []any{&class, &n}, func() error {
			edges[class].below = n
			return nil
		})
		return err
	})
}
