package build

import (
	"context"
	"fmt"
	"slices"

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

// stage puts all rows with their class and their identity into a table of their own, if to read the table itself is
// dear: where equal rows are counted, which sorts it, and where rows are on other servers, which may not give the same
// ones twice. A build reads rows three times; those of other tables it reads where they are. It returns the SQL of the
// rows. Columns that the twin does not need stay behind.
func (s *source) stage(ctx context.Context, db pgx.Tx, class string, columns []string) (rows string, err error) {
	rows = s.rows(class, columns)
	if !s.countsEqual() && !s.foreign {
		return rows, nil
	}
	if _, err := makeTable(ctx, db, `UNLOGGED TABLE `+stagedName, `SELECT * FROM `+rows+` AS t`); err != nil {
		return "", fmt.Errorf("reading the rows of %s: %w", s.qualified(), err)
	}
	return stagedName, nil
}

// settle tells PostgreSQL, for copies, which is the last row of each class that is taken, and the last that stands once
// more.
func (j *job) settle(ctx context.Context, c counts, take []drawn) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("taking rows of %s: %w", j.family.root.qualified(), err)
		}
	}()
	each := make([]int64, len(take))
	for i, d := range take {
		each[i] = d.each
	}

	// A second look is needed if something else was drawn than was likely; or else with a chance of less than 10^-14
	// for each class.
	seen := c
	for spread := firstSpread; ; spread *= 8 {
		if sameEdges(seen.edges, take) {
			last, twice, found, err := settleAll(seen.edges)
			if err != nil {
				return err
			} else if found {
				return setCopies(ctx, j.tx, seen.sieve, last, twice, each)
			}
		}
		seen, err = j.family.root.look(ctx, j.tx, j.key, j.family.rows, edgesAt(c.classes, take, spread))
		if err == nil {
			err = checkSame(c.classes, seen.classes)
		}
		if err != nil {
			return err
		}
	}
}

// firstSpread is how many standard deviations around the rows that are looked for a build holds rows.
const firstSpread = 8.0

// settleAll settles all edges; found: every one of them.
func settleAll(edges []edge) (last, twice [][]byte, found bool, err error) {
	last, twice, found = make([][]byte, len(edges)), make([][]byte, len(edges)), true
	for i := range edges {
		var within bool
		if last[i], twice[i], within, err = edges[i].settle(); err != nil {
			return nil, nil, false, err
		}
		found = found && within
	}
	return last, twice, found, nil
}

// sameEdges reports whether the edges are those of what is drawn.
func sameEdges(edges []edge, take []drawn) bool {
	return slices.EqualFunc(edges, take, func(e edge, d drawn) bool { return e.take == d.take && e.more == d.more })
}

// setCopies has the rows up to the last of each class stand: each of them as often as it says, and once more those up
// to the last by the second half of the hash. The copies of a class are rows of a table, "fugu g" of each row that is
// up to "fugu last", of every row where that is NULL: workers can join with it, and the planner sees how many there
// are.
func setCopies(ctx context.Context, db pgx.Tx, rows sieve, last, twice [][]byte, each []int64) error {
	if err := setTaken(ctx, db, rows, last); err != nil {
		return err
	}
	const room = `CREATE UNLOGGED TABLE ` + copiesName + ` ("fugu class" int4, "fugu g" int8, "fugu last" bytea)`
	if _, err := db.Exec(ctx, room); err != nil {
		return err
	}
	const fill = `INSERT INTO ` + copiesName + ` SELECT class - 1, g, CASE WHEN g > n THEN twice END
		FROM unnest($1::int8[], $2::bytea[]) WITH ORDINALITY AS c(n, twice, class), generate_series(1, n + 1) AS g`
	if _, err := db.Exec(ctx, fill, each, twice); err != nil {
		return err
	}
	_, err := db.Exec(ctx, `ANALYZE `+copiesName)
	return err
}
