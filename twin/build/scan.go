package build

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// half is where the second half of a hash begins, which says nothing of the order of drawing.
const half = 16

// eachRow calls f with the class and the hash of each row of what ordered gives, in any order. A row of no class has
// -1. f must not keep the hash.
//
// PostgreSQL sends the two and counts nothing: to group by a bucket takes it three times as long as to send the row.
func eachRow(ctx context.Context, db pgx.Tx, ordered string, f func(class int, h []byte)) error {
	sql := `COPY (SELECT "fugu class", "fugu h" FROM ` + ordered + ` AS o) TO STDOUT (FORMAT binary)`
	r := &rowReader{each: f, header: true}
	tag, err := db.Conn().PgConn().CopyTo(ctx, r, sql)
	switch {
	case err != nil:
		return err
	case r.err != nil:
		return r.err
	case !r.ended || r.rows != tag.RowsAffected():
		return fmt.Errorf("%d rows of %d were sent", r.rows, tag.RowsAffected())
	}
	return nil
}

// rowReader takes rows of an int4 and a bytea apart, in COPY's binary format. An error is kept for the end: were it
// returned, it would end the connection, and not just the statement.
type rowReader struct {
	each          func(class int, h []byte)
	header, ended bool // the header is still to come; the trailer has come
	rest          []byte
	rows          int64
	err           error
}

// signature begins COPY's binary format, with no flag set and no extension.
const signature = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// Write takes what comes as PostgreSQL has cut it.
func (r *rowReader) Write(p []byte) (int, error) {
	data := p
	if len(r.rest) > 0 {
		data = append(r.rest, p...)
	}
	for r.err == nil && !r.ended {
		used := r.next(data)
		if used == 0 {
			break
		}
		data = data[used:]
	}
	r.rest = append(r.rest[:0], data...)
	return len(p), nil
}

var errNotCopy = errors.New("rows came in another form than that of COPY")

// next takes the header, a row or the trailer off the front of data, and returns how long it was; 0: more has to come.
func (r *rowReader) next(data []byte) int {
	if r.header {
		if len(data) < len(signature) {
			return 0
		}
		if !bytes.HasPrefix(data, []byte(signature)) {
			r.err = errNotCopy
		}
		r.header = false
		return len(signature)
	}
	if len(data) < 2 {
		return 0
	}
	if fields := int16(binary.BigEndian.Uint16(data)); fields == -1 {
		r.ended = true
		return 2
	} else if fields != 2 {
		r.err = errNotCopy
		return 0
	}
	class, at, ok := field(data, 2)
	if !ok {
		return 0
	}
	h, at, ok := field(data, at)
	if !ok {
		return 0
	}
	r.rows++
	switch {
	case len(h) != 2*half || class != nil && len(class) != 4:
		r.err = errNotCopy
	case class == nil:
		r.each(-1, h)
	default:
		r.each(int(int32(binary.BigEndian.Uint32(class))), h)
	}
	return at
}

// field returns a field of a row, nil for NULL, and where the next one begins; false: not all of it has come.
func field(data []byte, at int) (value []byte, next int, ok bool) {
	if len(data) < at+4 {
		return nil, 0, false
	}
	size := int(int32(binary.BigEndian.Uint32(data[at:])))
	at += 4
	if size < 0 {
		return nil, at, true
	}
	if len(data) < at+size {
		return nil, 0, false
	}
	return data[at : at+size], at + size, true
}

// histogram counts rows by class and by bucket: two bytes of a hash, parts of equal width of an order.
type histogram [][]int64

func newHistogram(classes int) histogram {
	h := make(histogram, classes)
	for i := range h {
		h[i] = make([]int64, 1<<16)
	}
	return h
}

// bucketOf is the bucket that a hash, or a half of it, is in.
func bucketOf(h []byte) int { return int(h[0])<<8 | int(h[1]) }

// cut finds the n-th smallest value of a class among those that were counted: all rows in the buckets before its own
// come before it, so that only those within it have to be held and put in order. They are a 65,536th part of the rows.
type cut struct {
	bucket int   // -1: n is 0
	nth    int64 // within the bucket, from 1
	held   [][]byte
}

// cutsAt are the cuts at the n-th smallest value of each class.
func cutsAt(counted histogram, n []int64) []cut {
	out := make([]cut, len(n))
	for class, left := range n {
		out[class].bucket = -1
		for bucket, rows := range counted[class] {
			if left > 0 && left <= rows {
				out[class].bucket, out[class].nth = bucket, left
			}
			left -= rows
		}
	}
	return out
}

// bounds are the first hash of the bucket, and one behind its last; no bytes if n is 0.
func (c *cut) bounds() (from, behind []byte) {
	switch c.bucket {
	case -1:
		return []byte{}, []byte{}
	case 1<<16 - 1:
		return []byte{0xff, 0xff}, bytes.Repeat([]byte{0xff}, 2*half+1)
	}
	return binary.BigEndian.AppendUint16(nil, uint16(c.bucket)), binary.BigEndian.AppendUint16(nil, uint16(c.bucket+1))
}

// hold keeps a value if it is in the bucket.
func (c *cut) hold(value []byte) {
	if bucketOf(value) == c.bucket {
		c.held = append(c.held, bytes.Clone(value))
	}
}

// value is the n-th smallest value, once all that were counted have been held; no bytes if n is 0.
func (c *cut) value() ([]byte, error) {
	if c.bucket < 0 {
		return []byte{}, nil
	}
	slices.SortFunc(c.held, bytes.Compare)
	if int64(len(c.held)) < c.nth {
		return nil, errors.New("rows are not those that were counted")
	}
	return c.held[c.nth-1], nil
}

// taken are the values within the bucket up to the n-th, behind a call of value.
func (c *cut) taken() [][]byte { return c.held[:c.nth] }
