package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"fugu/planner"
)

// Contents identifies what a table that is public holds, in whatever order its rows lie: their number, and a hash of
// its columns' names and types and of all rows. table is qualified and quoted. The rows' hashes are sorted and hashed
// in 256 parts, since PostgreSQL can hold no value above 1 GB.
func (r *Reader) Contents(ctx context.Context, table string) (rows int64, hash string, err error) {
	columns, err := r.Query(ctx, `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
	  WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
		[][]byte{[]byte(table)}, nil)
	if err != nil {
		return 0, "", fmt.Errorf("reading the columns of %s: %w", table, err)
	}

	parts, err := r.Query(ctx, `SELECT sum(n), encode(sha256(string_agg(h, '' ORDER BY part)), 'hex') FROM (
	    SELECT get_byte(h, 0) AS part, count(*) AS n, sha256(string_agg(h, '' ORDER BY h)) AS h
	    FROM (SELECT sha256(convert_to(t::text, 'UTF8')) AS h FROM `+table+` AS t) AS q GROUP BY 1) AS q`, nil, nil)
	if err != nil {
		return 0, "", fmt.Errorf("hashing the rows of %s: %w", table, err)
	}

	// Each value is written with its length, so that no two lists of values read alike.
	sum := sha256.New()
	for _, row := range append(columns, parts...) {
		for _, v := range row {
			fmt.Fprintf(sum, "%d:%s;", len(v.Text), v.Text)
		}
	}

	if n := parts[0][0]; n != (planner.Value{Null: true}) {
		if rows, err = strconv.ParseInt(n.Text, 10, 64); err != nil {
			return 0, "", fmt.Errorf("hashing the rows of %s: %w", table, err)
		}
	}
	return rows, hex.EncodeToString(sum.Sum(nil)), nil
}
