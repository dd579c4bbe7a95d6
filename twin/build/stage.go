package build

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// The tables of a build that is going on. They are made and dropped in its transaction, so that no other session ever
// sees them, nor how large they are.
const (
	stagedName = schema + `."~ staged"`
	copiesName = schema + `."~ copies"`
	laidName   = schema + `."~ laid %d"` // by the table's index in its family
)

// drawn is how much of a class stands in the twin.
type drawn struct {
	take int64 // rows that are taken: the first in the order of drawing
	each int64 // how often each of them stands
	more int64 // how many of them stand once more
}

// stage puts all rows with their class and their hash into a table of their own, in the one scan of the protected table
// that a build makes: a hash takes longer than to write the row. Columns that the twin does not need stay behind.
func (s *source) stage(ctx context.Context, db pgx.Tx, class string, keys fresh) error {
	var columns []string
	for _, c := range s.columns {
		if _, fresh := keys[c.name]; fresh || s.keeps([]string{c.name}) {
			columns = append(columns, c.name)
		}
	}
	if _, err := makeTable(ctx, db, `CREATE UNLOGGED TABLE `+stagedName+` AS `+s.ordered(class, columns)); err != nil {
		return fmt.Errorf("reading the rows of %s: %w", s.qualified(), err)
	}
	return nil
}

// settle finds the last row of each class that is taken, and the last that stands once more, by the second half of the
// hash, and tells PostgreSQL, for copies.
func (s *source) settle(ctx context.Context, db pgx.Tx, c counts, take []drawn) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("taking rows of %s: %w", s.qualified(), err)
		}
	}()
	taken, more, each := make([]int64, len(take)), make([]int64, len(take)), make([]int64, len(take))
	for i, d := range take {
		taken[i], more[i], each[i] = d.take, d.more, d.each
	}

	// A look at a few rows of each class is enough, if they are those that may be the last. That they are not is less
	// likely than 10^-14, and then the next look is at more.
	cuts := cutsAt(c.ordered, taken)
	for spread := 8.0; ; spread *= 8 {
		edges := make([]edge, len(take))
		for i := range edges {
			edges[i] = edge{cut: cuts[i], window: windowOf(more[i], taken[i], spread)}
		}
		if err := lookAtEdges(ctx, db, edges); err != nil {
			return err
		}
		last, twice := make([][]byte, len(take)), make([][]byte, len(take))
		found := true
		for i := range edges {
			var within bool
			if last[i], twice[i], within, err = edges[i].settle(more[i]); err != nil {
				return err
			}
			found = found && within
		}
		if found {
			return setCopies(ctx, db, last, twice, each)
		}
	}
}

// lastTaken is the SQL of the hash of the last row that is taken of the class of a row t; no bytes, which are before
// those of any row, if none is. It is a setting of the transaction, as the key is.
const lastTaken = `(SELECT pg_catalog.current_setting('fugu.last')::pg_catalog.bytea[])[t."fugu class" + 1]`

// setCopies has the rows up to the last of each class stand: each of them as often as it says, and once more those up
// to the last by the second half of the hash. The copies of a class are rows of a table, "fugu g" of each row that is
// up to "fugu last": workers can join with it, and the planner sees how many there are.
func setCopies(ctx context.Context, db pgx.Tx, last, twice [][]byte, each []int64) error {
	const setLast = `SELECT pg_catalog.set_config('fugu.last', $1::pg_catalog.bytea[]::pg_catalog.text, true)`
	if _, err := db.Exec(ctx, setLast, last); err != nil {
		return err
	}
	const room = `CREATE UNLOGGED TABLE ` + copiesName + ` ("fugu class" int4, "fugu g" int8, "fugu last" bytea)`
	if _, err := db.Exec(ctx, room); err != nil {
		return err
	}
	all := bytes.Repeat([]byte{0xff}, half)
	const fill = `INSERT INTO ` + copiesName + ` SELECT class - 1, g, CASE WHEN g <= n THEN $1::bytea ELSE twice END
		FROM unnest($2::int8[], $3::bytea[]) WITH ORDINALITY AS c(n, twice, class), generate_series(1, n + 1) AS g`
	if _, err := db.Exec(ctx, fill, all, each, twice); err != nil {
		return err
	}
	_, err := db.Exec(ctx, `ANALYZE `+copiesName)
	return err
}
