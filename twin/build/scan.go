package build

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// eachRow calls f with the class and the identity of each row, in any order. A row of no class has -1. f must not keep
// the identity, which comes as the type of the key is sent in binary: a whole number in 8 bytes, a uuid in 16, or a
// text.
//
// PostgreSQL sends the two and counts nothing: to group by a bucket takes it three times as long as to send the row.
func eachRow(ctx context.Context, db pgx.Tx, id, rows string, f func(class int, id []byte)) error {
	sql := `COPY (SELECT "fugu class", ` + id + ` FROM ` + rows + ` AS t) TO STDOUT (FORMAT binary)`
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

// rowReader takes rows of an int4 and an identity apart, in COPY's binary format. An error is kept for the end: were it
// returned, it would end the connection, and not just the statement.
type rowReader struct {
	each          func(class int, id []byte)
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

	// The trailer is a row of -1 fields.
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

	// A field that has not come whole is waited for, with the row that it is of.
	class, at, ok := field(data, 2)
	if !ok {
		return 0
	}
	id, at, ok := field(data, at)
	if !ok {
		return 0
	}

	r.rows++
	switch {
	case id == nil || class != nil && len(class) != 4:
		r.err = errNotCopy
	case class == nil:
		r.each(-1, id)
	default:
		r.each(int(int32(binary.BigEndian.Uint32(class))), id)
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
