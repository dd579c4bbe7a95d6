package build

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// What a statement over hashed rows is told in parameters: none of it is to stand in a statement's text, and workers
// have a parameter wherever they need it, which is not so of a subquery.
const (
	hashHead  = "$1" // what is hashed before the identity of a row
	lastTaken = "$2" // by class, the hash of the last row that is taken; no bytes, which are before all, if none is
	sieveOf   = "$3" // of the rows that may be taken
)

// takenName is what the statement is prepared as.
const takenName = "fugu taken"

// isTaken is the SQL of whether a row t is one of those that are taken of its class.
const isTaken = `t."fugu h" <= (` + lastTaken + `)[t."fugu class" + 1]`

// mayBeTaken is the SQL of whether a row t, whose primary key is a whole number, is in the sieve of so many rows.
func mayBeTaken(rows int64) string {
	return fmt.Sprintf(`pg_catalog.get_bit(%s, (t."fugu id"::pg_catalog.int8 & %d)::pg_catalog.int4) > 0`, sieveOf,
		maskOf(rows))
}

// setTaken says which rows are taken, for the rest of the transaction: as the key of the order of drawing is said.
func setTaken(ctx context.Context, db pgx.Tx, rows sieve, last [][]byte) error {
	const set = `SELECT pg_catalog.set_config('fugu.last', $1::pg_catalog.bytea[]::pg_catalog.text, true),
		pg_catalog.set_config('fugu.sieve', pg_catalog.encode($2::pg_catalog.bytea, 'base64'), true)`
	_, err := db.Exec(ctx, set, last, []byte(rows))
	if err != nil {
		return fmt.Errorf("setting which rows are taken: %w", err)
	}
	return nil
}
