package build

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
	"fugu/parser"
)

// describeReferences are the foreign keys that point at the tables of a family.
const describeReferences = `SELECT c.conname, c.conrelid, c.conrelid::regclass::text, c.confrelid,
	ARRAY(SELECT a.attname::text
		FROM unnest(c.conkey) k JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k),
	coalesce((SELECT bool_or(has_table_privilege(g, c.conrelid, 'SELECT')
			OR has_any_column_privilege(g, c.conrelid, 'SELECT'))
		FROM unnest($2::text[]) g), false)
	FROM pg_constraint c WHERE c.contype = 'f' AND c.conparentid = 0 AND c.confrelid = ANY($1)
	ORDER BY c.conrelid, c.conname`

// reference is a foreign key that points at a table of a family.
type reference struct {
	name    string
	oid     uint32 // of the table that has it
	table   string
	to      uint32
	columns []string
	seen    bool // by a guest
}

// checkReferences refuses tables whose references would show which rows were taken. Old keys are gone from the twin:
// what refers to them has to follow by a link, or to go. An ordinary table that guests read and that refers to
// protected rows tells of each row that there is, and with its other columns which of them were taken.
func (f *family) checkReferences(ctx context.Context, db pgx.Tx, guests []string) error {
	// The database knows all foreign keys that lead to these tables, or from them. No guests are an empty list, and not
	// NULL.
	rows, _ := db.Query(ctx, describeReferences, f.oids(), append([]string{}, guests...))
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
				return fmt.Errorf("table %s refers to protected rows (%s), and guests may read it: link it in the "+
					"policy, or revoke SELECT on it from them", r.table, parser.QuoteIdent(r.name))
			}
			continue
		}
		s := f.sources[of]
		for _, column := range r.columns {
			if s.keeps([]string{column}) && !f.follows(s, column, r.to) {
				return fmt.Errorf("column %s of %s refers to rows of the twin by their old keys (%s): rows have one "+
					"way to the table with the secret, the policy's link; leave the column out: drop",
					parser.QuoteIdent(column), s.qualified(), parser.QuoteIdent(r.name))
			}
		}
	}
	return nil
}

// oids are the family's tables as the catalog knows them.
func (f *family) oids() []uint32 {
	out := make([]uint32, len(f.sources))
	for i, s := range f.sources {
		out[i] = s.oid
	}
	return out
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

// describePartners are the foreign keys with which tables of a family point at ordinary ones that a guest may read.
const describePartners = `SELECT c.conname, c.conrelid, c.confrelid::regclass::text,
	ARRAY(SELECT a.attname::text
		FROM unnest(c.conkey) k JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k)
	FROM pg_constraint c
	WHERE c.contype = 'f' AND c.conparentid = 0 AND c.conrelid = ANY($1) AND c.confrelid <> ALL ($1)
	  AND EXISTS (SELECT FROM unnest($2::text[]) g WHERE has_table_privilege(g, c.confrelid, 'SELECT')
	    OR has_any_column_privilege(g, c.confrelid, 'SELECT'))
	ORDER BY c.conrelid, c.conname`

// checkPartners refuses ordinary tables that guests read and of which each protected row has a row for its own. Which
// of those no row of the twin points at says which rows were not taken, and what else stands in them how many of these
// are of each class. A column that gets new values points at nobody's row.
func (f *family) checkPartners(ctx context.Context, db pgx.Tx, keys map[*source]fresh, guests []string) error {
	rows, _ := db.Query(ctx, describePartners, f.oids(), append([]string{}, guests...))
	partners, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r reference, err error) {
		return r, row.Scan(&r.name, &r.oid, &r.table, &r.columns)
	})
	if err != nil {
		return fmt.Errorf("looking at foreign keys to ordinary tables: %w", err)
	}

	// A column that the twin has not, or gets new values in, points at nobody's row.
	for _, r := range partners {
		s := f.sources[slices.IndexFunc(f.sources, func(s *source) bool { return s.oid == r.oid })]
		if hook.TwinPartners || !s.keeps(r.columns) || keys[s].distinct(r.columns) || !s.tells(r.columns) {
			continue
		}
		return fmt.Errorf("each row of %s has a row of the ordinary table %s for its own (%s), and guests may read "+
			"that: it would show which rows are not in the twin; leave the column out (drop), or revoke SELECT on "+
			"%[2]s from them", s.qualified(), r.table, parser.QuoteIdent(r.name))
	}
	return nil
}

// tells reports whether no two rows have the same values in the columns.
func (s *source) tells(columns []string) bool {
	return slices.ContainsFunc(append(s.unique, s.primary), func(key []string) bool {
		missing := func(name string) bool { return !slices.Contains(columns, name) }
		return len(key) > 0 && !slices.ContainsFunc(key, missing)
	})
}
