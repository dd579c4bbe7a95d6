package build

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// schema is where twins are. It is the keeper's.
const schema = "fugu_twin"

// The tables of a build that is going on. They are made and dropped in its transaction, so that no other session ever
// sees them, nor how large they are.
const (
	stagedName = schema + `."~ staged"`
	laidName   = schema + `."~ laid %d"` // by the table's index in its family
)

// drawn is how much of a class stands in the twin.
type drawn struct {
	take int64 // rows that are taken: the first in the order of drawing
	each int64 // how often each of them stands
	more int64 // how many of them stand once more
}

// staged says which of the staged rows stand, and how often, by class. No bytes are before those of any row.
type staged struct {
	last  [][]byte // the hash of the last row taken
	twice [][]byte // of those that stand once more the last, by the second half of the hash
	each  []int64
}

// stage puts all rows with their class and their hash into a table of their own, in the one scan of the protected table
// that a build makes: a hash takes longer than to write the row.
func (s *source) stage(ctx context.Context, db pgx.Tx, class string) error {
	for _, sql := range []string{
		// Hashing is dearer than the planner takes it to be, and worth a second processor.
		`SET LOCAL parallel_tuple_cost = 0`,
		`CREATE UNLOGGED TABLE ` + stagedName + ` AS ` + s.ordered(class),
		`SET LOCAL parallel_tuple_cost TO DEFAULT`,
	} {
		if _, err := db.Exec(ctx, sql); err != nil {
			return fmt.Errorf("reading the rows of %s: %w", s.qualified(), err)
		}
	}
	return nil
}

// settle finds the last row of each class that is taken, and the last that stands once more.
func (s *source) settle(ctx context.Context, db pgx.Tx, c counts, take []drawn) (out staged, err error) {
	taken, more := make([]int64, len(take)), make([]int64, len(take))
	for i, d := range take {
		taken[i], more[i] = d.take, d.more
		out.each = append(out.each, d.each)
	}
	if out.last, err = smallest(ctx, db, `"fugu h"`, bucketOf(`"fugu h"`), nil, c.ordered, taken); err != nil {
		return out, fmt.Errorf("taking rows of %s: %w", s.qualified(), err)
	}

	// Who stands once more is drawn by the other half of the hash, which says nothing of the order of drawing.
	const half, part = `pg_catalog.substr("fugu h", 17)`, `pg_catalog.get_byte("fugu h", 16)`
	among := make([][]int64, len(take))
	for i := range among {
		among[i] = make([]int64, 256)
	}
	rows, _ := db.Query(ctx, `SELECT "fugu class", `+part+`, pg_catalog.count(*) FROM `+stagedName+`
		WHERE "fugu h" <= ($1::pg_catalog.bytea[])["fugu class" + 1] GROUP BY 1, 2`, out.last)
	var class, bucket int
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&class, &bucket, &n}, func() error {
		among[class][bucket] = n
		return nil
	}); err != nil {
		return out, fmt.Errorf("taking rows of %s: %w", s.qualified(), err)
	}
	if out.twice, err = smallest(ctx, db, half, part, out.last, among, more); err != nil {
		return out, fmt.Errorf("taking rows of %s: %w", s.qualified(), err)
	}
	return out, nil
}

// smallest returns of each class the n-th smallest value of the staged rows, which are counted by bucket; no bytes
// where n is 0. upTo, if it is given, has only rows looked at whose hash is not behind the class's.
//
// All rows in the buckets before that of the n-th come before it, so that only those within it have to be put in order.
func smallest(ctx context.Context, db pgx.Tx, value, bucket string, upTo [][]byte, counted [][]int64, n []int64) (
	[][]byte, error) {
	out, buckets, within := make([][]byte, len(n)), make([]int64, len(n)), make([]int64, len(n))
	for class, left := range n {
		out[class], buckets[class] = []byte{}, -1
		for b, rows := range counted[class] {
			if left > 0 && left <= rows {
				buckets[class], within[class] = int64(b), left
			}
			left -= rows
		}
	}
	condition, args := "", []any{buckets, within}
	if upTo != nil {
		condition, args = ` AND "fugu h" <= ($3::pg_catalog.bytea[])["fugu class" + 1]`, append(args, upTo)
	}
	rows, _ := db.Query(ctx, `SELECT class, value FROM (
		SELECT "fugu class" AS class, `+value+` AS value,
			pg_catalog.row_number() OVER (PARTITION BY "fugu class" ORDER BY `+value+`) AS nth
		FROM `+stagedName+` WHERE `+bucket+` = ($1::pg_catalog.int8[])["fugu class" + 1]`+condition+`) AS o
		WHERE nth = ($2::pg_catalog.int8[])[class + 1]`, args...)
	var class int
	var found []byte
	_, err := pgx.ForEachRow(rows, []any{&class, &found}, func() error {
		out[class] = append(out[class], found...)
		return nil
	})
	return out, err
}
