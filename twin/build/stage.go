package build

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// schema is where twins are. It is the keeper's.
const schema = "fugu_twin"

// The tables of a build that is going on. They are made and dropped in its transaction, so that no other session ever sees
// them, nor how large they are.
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

// staged says which of the staged rows stand, and how often: all bytes are of a row's hash, by class.
type staged struct {
	last  [][]byte // the place of the last row taken; the first 16 bytes
	twice [][]byte // of those that stand once more the last, by the other 16 bytes
	each  []int64
}

// stage puts the rows that are taken, and few behind them, into a table of their own, in one scan.
func (f *family) stage(ctx context.Context, db pgx.Tx, class string, c counts, take []drawn) (staged, error) {
	out := staged{make([][]byte, len(take)), make([][]byte, len(take)), make([]int64, len(take))}
	bounds := make([]string, len(take))
	for i, d := range take {
		bounds[i] = fmt.Sprint(c.bound(i, d.take))
	}
	sql := fmt.Sprintf(`CREATE UNLOGGED TABLE %s AS SELECT o.* FROM (%s) AS o WHERE `+bucketOf(`"fugu h"`)+
		` <= (SELECT pg_catalog.current_setting('fugu.bounds')::pg_catalog.int4[])["fugu class" + 1]`, stagedName, f.root.ordered(class))
	if _, err := db.Exec(ctx, `SELECT pg_catalog.set_config('fugu.bounds', $1, true)`, "{"+strings.Join(bounds, ",")+"}"); err != nil {
		return out, fmt.Errorf("taking rows of %s: %w", f.root.qualified(), err)
	}
	if _, err := db.Exec(ctx, sql); err != nil {
		return out, fmt.Errorf("taking rows of %s: %w", f.root.qualified(), err)
	}

	for i, d := range take {
		if err := out.settle(ctx, db, i, d, c); err != nil {
			return out, fmt.Errorf("taking rows of %s: %w", f.root.qualified(), err)
		}
	}
	return out, nil
}

// settle finds the last row of a class that is taken, and the last that stands once more.
func (s *staged) settle(ctx context.Context, db pgx.Tx, class int, d drawn, c counts) error {
	s.each[class] = d.each
	s.last[class], s.twice[class] = []byte{}, []byte{} // which no hash is at or before
	if d.take == 0 {
		return nil
	}

	// All buckets before the bound are taken whole, so only within it rows have to be put in order.
	bound, before := c.bound(class, d.take), int64(0)
	for _, n := range c.ordered[class][:bound] {
		before += n
	}
	within := `SELECT pg_catalog.substr("fugu h", 1, 16) FROM ` + stagedName + ` WHERE "fugu class" = $1 AND ` + bucketOf(`"fugu h"`) + ` = $2 ORDER BY 1 OFFSET $3 LIMIT 1`
	if err := db.QueryRow(ctx, within, class, bound, d.take-before-1).Scan(&s.last[class]); err != nil {
		return err
	}
	if d.more == 0 {
		return nil
	}

	// Who stands once more is drawn by the other half of the hash, which says nothing of the order of drawing.
	const once = `SELECT pg_catalog.substr("fugu h", 17) FROM ` + stagedName + ` WHERE "fugu class" = $1 AND pg_catalog.substr("fugu h", 1, 16) <= $2 ORDER BY 1 OFFSET $3 LIMIT 1`
	return db.QueryRow(ctx, once, class, s.last[class], d.more-1).Scan(&s.twice[class])
}
