package build

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
)

// describeReferences are the foreign keys that point at the tables of a family.
const describeReferences = `SELECT c.conname, c.conrelid, c.conrelid::regclass::text, c.confrelid,
	ARRAY(SELECT a.attname::text FROM unnest(c.conkey) k JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k),
	coalesce((SELECT bool_or(has_table_privilege(g, c.conrelid, 'SELECT') OR has_any_column_privilege(g, c.conrelid, 'SELECT'))
		FROM unnest($2::text[]) g), false)
	FROM pg_constraint c WHERE c.contype = 'f' AND c.conparentid = 0 AND c.confrelid = ANY($1) ORDER BY c.conrelid, c.conname`

// reference is a foreign key that points at a table of a family.
type reference struct {
	name    string
	oid     uint32 // of the table that has it
	table   string
	to      uint32
	columns []string
	seen    bool // by a guest
}

// checkReferences refuses tables whose references would show which rows were taken. Old keys are gone from the twin: what
// refers to them has to follow by a link, or to go. An ordinary table that guests read and that refers to protected rows
// tells of each row that there is, and with its other columns which of them were taken.
func (f *family) checkReferences(ctx context.Context, db pgx.Tx, guests []string) error {
	oids := make([]uint32, len(f.sources))
	for i, s := range f.sources {
		oids[i] = s.oid
	}
	if guests == nil {
		guests = []string{}
	}
	rows, _ := db.Query(ctx, describeReferences, oids, guests)
	references, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r reference, err error) {
		return r, row.Scan(&r.name, &r.oid, &r.table, &r.to, &r.columns, &r.seen)
	})
	if err != nil {
		return fmt.Errorf("looking at foreign keys: %w", err)
	}

	for _, r := range references {
		of := slices.IndexFunc(f.sources, func(s *source) bool { return s.oid == r.oid })
		if of < 0 {
			if r.seen {
				return fmt.Errorf("table %s refers to protected rows (%s), and guests may read it: link it in the policy, "+
					"or revoke SELECT on it from them", r.table, parser.QuoteIdent(r.name))
			}
			continue
		}
		s := f.sources[of]
		for _, column := range r.columns {
			if s.keeps([]string{column}) && !f.follows(s, column, r.to) {
				return fmt.Errorf("column %s of %s refers to rows of the twin by their old keys (%s): rows have one way to the table "+
					"with the secret, the policy's link; leave the column out: drop", parser.QuoteIdent(column), s.qualified(), parser.QuoteIdent(r.name))
			}
		}
	}
	return nil
}

// follows reports whether a column is of the link to that table.
func (f *family) follows(s *source, column string, to uint32) bool {
	if s.Link == nil || f.find(s.Link.To).oid != to {
		return false
	}
	for _, on := range s.Link.On {
		if on.Own == column {
			return true
		}
	}
	return false
}
