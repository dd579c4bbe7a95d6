package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"crypto/sha256"
	"encoding/binary"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// counts are the numbers of rows of each class, in all and by their place in the order of drawing.
type counts struct {
	classes  []int64
	ordered  histogram
	contents []byte // a digest of which rows are of which class
}

// unchanged reports whether the rows that a draw was made of are those that there are now, each of the class that it
// was of then. Where classes were others, the rows are counted by those; where that fails, they are not known to be the
// same.
func (s *source) unchanged(ctx context.Context, db pgx.Tx, d, now Draw) (same bool, err error) {
	contents := now.Contents
	if d.Class != now.Class {
		err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			c, err := s.count(ctx, tx, "("+s.ordered(d.Class, nil)+")", len(d.Noisy))
			contents = c.contents
			return err
		})
		var pe *pgconn.PgError
		if errors.As(err, &pe) || errors.Is(err, errNoClass) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return bytes.Equal(contents, d.Contents), nil
}

// errNoClass is about a row that is of none of the classes.
var errNoClass = errors.New("rows with a value that the policy does not list as a category, or whose combination of " +
	"values no public count has")

// count counts the rows of each class of what ordered gives, in one scan.
func (s *source) count(ctx context.Context, db pgx.Tx, ordered string, classes int) (counts, error) {
	out := counts{classes: make([]int64, classes), ordered: newHistogram(classes)}
	hashes, stray := newHistogram(classes), false
	err := eachRow(ctx, db, ordered, func(class int, h []byte) {
		if class < 0 || class >= classes {
			stray = true
			return
		}
		bucket := bucketOf(h)
		out.classes[class]++
		out.ordered[class][bucket]++
		// The digest is a sum, so that the order of the scan does not matter, of 24 bits of each hash.
		hashes[class][bucket] += int64(h[2]) | int64(h[3])<<8 | int64(h[4])<<16
	})
	if err == nil && stray {
		err = errNoClass
	}
	if err != nil {
		return counts{}, fmt.Errorf("counting the rows of %s: %w", s.qualified(), err)
	}

	sum := newDigest()
	for class := range classes {
		for bucket, n := range out.ordered[class] {
			if n > 0 {
				sum.add(class, bucket, n, hashes[class][bucket])
			}
		}
	}
	out.contents = sum.bytes()
	return out, nil
}

// digest is a fingerprint of which rows are of which class, by their hashes: another set of rows, or a row of another
// class, has another one, but for a chance of about 2^-24 for each bucket that changed. It says nothing
// of other columns.
type digest [sha256.Size]byte

func newDigest() *digest { return &digest{} }

// add takes in a bucket of a class: how many rows it has, and the sum of their hashes. Buckets may come in any order.
func (d *digest) add(class, bucket int, rows, hashes int64) {
	var b [32]byte
	for i, v := range []int64{int64(class), int64(bucket), rows, hashes} {
		binary.BigEndian.PutUint64(b[8*i:], uint64(v))
	}
	for i, x := range sha256.Sum256(b[:]) {
		d[i] ^= x
	}
}

func (d *digest) bytes() []byte { return d[:] }
