package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// counts are what a build knows of the rows of the table before it draws.
type counts struct {
	classes  []int64 // how many rows each class has
	contents []byte  // a digest of which rows are of which class
	edges    []edge  // by class, for what is likely to be drawn
	sieve    sieve   // the rows that the edges may take
}

// contains reports whether the rows are those that a draw was made of, by the order that has the key and the classes of
// then.
func (s *source) contains(ctx context.Context, db pgx.Tx, key []byte, d Draw) (bool, error) {
	var seen counts
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) (err error) {
		seen, err = s.look(ctx, tx, key, s.rows(d.Class, nil), make([]edge, len(d.Noisy)))
		return err
	})
	var pe *pgconn.PgError
	if errors.As(err, &pe) || errors.Is(err, errNoClass) {
		return false, nil
	}
	return err == nil && bytes.Equal(seen.contents, d.Contents), err
}

// errNoClass is about a row that is of none of the classes.
var errNoClass = errors.New("rows with a value that the policy does not list as a category, or whose combination of " +
	"values no public count has")

// tally counts the rows of each class: PostgreSQL does it, beside nothing else that takes time.
func (s *source) tally(ctx context.Context, db pgx.Tx, rows string, classes int) ([]int64, error) {
	out := make([]int64, classes)
	err := inParallel(ctx, db, func() error {
		found, _ := db.Query(ctx, `SELECT "fugu class", pg_catalog.count(*) FROM `+rows+` AS t GROUP BY 1`)

		// A row of no class would be left out of the twin without a word.
		var class *int32
		var n int64
		_, err := pgx.ForEachRow(found, []any{&class, &n}, func() error {
			if class == nil || *class < 0 || int(*class) >= classes {
				return errNoClass
			}
			out[*class] = n
			class = nil
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("counting the rows of %s: %w", s.qualified(), err)
	}
	return out, nil
}

// look goes through all rows in one scan, of as many classes as there are edges, and has the edges see theirs.
// PostgreSQL sends what rows are hashed by, and who builds hashes it: a hash is ten times as dear there.
func (s *source) look(ctx context.Context, db pgx.Tx, key []byte, rows string, edges []edge) (c counts, err error) {
	counted, hashes, stray := newHistogram(len(edges)), newHistogram(len(edges)), false
	c.edges, c.sieve = edges, newSieve(s.Rows)
	p := s.placer(key)
	err = eachRow(ctx, db, s.sent(), rows, func(class int, id []byte) {
		if class < 0 || class >= len(edges) {
			stray = true
			return
		}
		h, number := p.place(id)
		bucket := int(h[0])<<8 | int(h[1])
		counted[class][bucket]++
		// The digest is a sum, so that the order of the scan does not matter, of 24 bits of each hash.
		hashes[class][bucket] += int64(h[2]) | int64(h[3])<<8 | int64(h[4])<<16
		if edges[class].see(h[:]) {
			c.sieve.add(number)
		}
	})
	if err == nil && stray {
		err = errNoClass
	}
	if err != nil {
		return counts{}, fmt.Errorf("reading the rows of %s: %w", s.qualified(), err)
	}

	sum := newDigest()
	c.classes = make([]int64, len(edges))
	for class := range edges {
		for bucket, n := range counted[class] {
			if c.classes[class] += n; n > 0 {
				sum.add(class, bucket, n, hashes[class][bucket])
			}
		}
	}
	c.contents = sum.bytes()
	return c, nil
}

// histogram has a number for each class and each bucket: two bytes of a hash.
type histogram [][]int64

func newHistogram(classes int) histogram {
	h := make(histogram, classes)
	for i := range h {
		h[i] = make([]int64, 1<<16)
	}
	return h
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

// checkSame refuses a second look at rows that are others than at the first.
func checkSame(first, second []int64) error {
	if !slices.Equal(first, second) {
		return errOthers
	}
	return nil
}
