package build

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
	"fugu/policy"
)

// source is a table as PostgreSQL's catalog describes it.
type source struct {
	policy.Table
	oid         uint32
	comment     *string
	foreign     bool // some of its rows are on another server
	columns     []column
	primary     []string // columns of the primary key; nil: there is none
	primaryName string
	unique      [][]string // columns of each other unique constraint or plain unique index
	checks      []definition
	indexes     []definition

	named [][2]string // the indexes of the new twin: as they are called until it is published, and then
}

// column is one column of a source.
type column struct {
	name, typ string // typ as SQL writes it, with its modifiers and collation
	base      string // the type's own name in pg_catalog; empty of another schema's
	notNull   bool
	fallback  *string // its DEFAULT, unless that comes from a sequence or is generated
	comment   *string
	from      []string // of a generated column, those that it is generated from
	room      int      // how many characters it has room for; 0: any number, or it is of no type of characters
}

// definition is a check or an index: SQL behind the name, and the columns that it speaks of.
type definition struct {
	name, sql string
	unique    bool
	columns   []string
}

func (s *source) qualified() string { return s.Qualified().String() }

// column returns a column by its name.
func (s *source) column(name string) (column, bool) {
	i := slices.IndexFunc(s.columns, func(c column) bool { return c.name == name })
	if i < 0 {
		return column{}, false
	}
	return s.columns[i], true
}

// kept are the columns that the twin has.
func (s *source) kept() (out []column) {
	for _, c := range s.columns {
		if s.Twin == nil || !slices.Contains(s.Twin.Drop, c.name) {
			out = append(out, c)
		}
	}
	return out
}

// keeps reports whether the twin has all of the columns.
func (s *source) keeps(columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool {
		return !slices.ContainsFunc(s.kept(), func(c column) bool { return c.name == name })
	})
}

// The parts of a description. search_path has to be pg_catalog alone, so that other names come with their schema.
const (
	describeTable = `SELECT c.oid, obj_description(c.oid, 'pg_class'), EXISTS (
			WITH RECURSIVE part(oid) AS (SELECT c.oid
				UNION SELECT i.inhrelid FROM pg_inherits i JOIN part p ON p.oid = i.inhparent)
			SELECT FROM part JOIN pg_class x ON x.oid = part.oid WHERE x.relkind = 'f')
		FROM pg_class c WHERE c.oid = $1::text::regclass AND c.relkind IN ('r', 'p', 'f')`

	// A sequence belongs to the true table, and its values would say how many rows that ever had.
	describeColumns = `SELECT a.attname, format_type(a.atttypid, a.atttypmod)
		|| CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || a.attcollation::regcollation ELSE '' END,
		CASE WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname ELSE '' END, a.attnotnull,
		CASE WHEN a.attgenerated = '' AND NOT EXISTS (
				SELECT FROM pg_depend x JOIN pg_class q ON q.oid = x.refobjid AND q.relkind = 'S'
				WHERE x.classid = 'pg_attrdef'::regclass AND x.objid = d.oid AND x.refclassid = 'pg_class'::regclass)
			THEN pg_get_expr(d.adbin, d.adrelid) END,
		col_description(a.attrelid, a.attnum),
		ARRAY(SELECT f.attname::text
			FROM pg_depend x JOIN pg_attribute f ON f.attrelid = x.refobjid AND f.attnum = x.refobjsubid
			WHERE a.attgenerated <> '' AND x.classid = 'pg_attrdef'::regclass AND x.objid = d.oid
			AND x.refclassid = 'pg_class'::regclass AND x.refobjid = a.attrelid AND x.refobjsubid <> a.attnum),
		coalesce(information_schema._pg_char_max_length(information_schema._pg_truetypid(a, t),
			information_schema._pg_truetypmod(a, t)), 0)
	FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
		LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`

	// Deferrable constraints and partial indexes do not keep values apart at every moment; expressions are no columns.
	describeKeys = `SELECT i.indisprimary, (SELECT relname::text FROM pg_class x WHERE x.oid = i.indexrelid),
		ARRAY(SELECT a.attname::text FROM unnest(i.indkey[:i.indnkeyatts - 1]) WITH ORDINALITY k(n, o)
		JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.n ORDER BY k.o)
	FROM pg_index i
	WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND NOT 0 = ANY(i.indkey)
	ORDER BY i.indisprimary DESC, i.indexrelid`

	describeChecks = `SELECT c.conname, pg_get_constraintdef(c.oid), false,
		ARRAY(SELECT a.attname::text
			FROM unnest(c.conkey) k JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k ORDER BY k)
	FROM pg_constraint c WHERE c.conrelid = $1 AND c.contype = 'c' ORDER BY c.conname`

	// The predicate of a partial index is left out: how many rows meet it shows in its size. An index that belongs to a
	// constraint depends on no column itself, and an expression is of columns that are not among its own.
	describeIndexes = `SELECT x.relname, substr(def, strpos(def, ' USING ' || m.amname || ' (')), i.indisunique,
		ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum > 0
			AND (a.attnum = ANY (i.indkey) OR EXISTS (SELECT FROM pg_depend d
				WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
				AND d.refclassid = 'pg_class'::regclass AND d.refobjid = i.indrelid AND d.refobjsubid = a.attnum))
			ORDER BY a.attnum)
	FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam,
		LATERAL (SELECT CASE WHEN i.indpred IS NULL THEN whole
				ELSE left(whole, -length(' WHERE ' || pg_get_expr(i.indpred, i.indrelid, true))) END
			FROM pg_get_indexdef(i.indexrelid, 0, true) whole) d(def)
	WHERE i.indrelid = $1 AND NOT i.indisprimary AND i.indisvalid ORDER BY x.relname`
)

// describe reads what a table is made of.
func describe(ctx context.Context, db pgx.Tx, t policy.Table) (*source, error) {
	s := &source{Table: t}
	err := db.QueryRow(ctx, describeTable, s.qualified()).Scan(&s.oid, &s.comment, &s.foreign)
	if err != nil {
		return nil, fmt.Errorf("looking at table %s: %w", s.qualified(), err)
	}

	rows, _ := db.Query(ctx, describeColumns, s.oid)
	s.columns, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c column, err error) {
		return c, row.Scan(&c.name, &c.typ, &c.base, &c.notNull, &c.fallback, &c.comment, &c.from, &c.room)
	})
	if err != nil {
		return nil, fmt.Errorf("looking at the columns of %s: %w", s.qualified(), err)
	}
	if err := s.readKeys(ctx, db); err != nil {
		return nil, fmt.Errorf("looking at the keys of %s: %w", s.qualified(), err)
	}
	if s.checks, err = definitions(ctx, db, describeChecks, s.oid); err != nil {
		return nil, fmt.Errorf("looking at the checks of %s: %w", s.qualified(), err)
	}
	if s.indexes, err = definitions(ctx, db, describeIndexes, s.oid); err != nil {
		return nil, fmt.Errorf("looking at the indexes of %s: %w", s.qualified(), err)
	}

	// A column that is to be left out and is called otherwise would be in the twin.
	for _, name := range s.Twin.Drop {
		if _, ok := s.column(name); !ok {
			return nil, fmt.Errorf("the policy drops column %s, which table %s does not have", parser.QuoteIdent(name),
				s.qualified())
		}
	}
	if len(s.kept()) == 0 {
		return nil, fmt.Errorf("the policy drops every column of table %s", s.qualified())
	}
	return s, nil
}

// readKeys reads the primary key and what else is unique.
func (s *source) readKeys(ctx context.Context, db pgx.Tx) error {
	rows, _ := db.Query(ctx, describeKeys, s.oid)
	var primary bool
	var name string
	var columns []string
	_, err := pgx.ForEachRow(rows, []any{&primary, &name, &columns}, func() error {
		if primary {
			s.primary, s.primaryName = columns, name
		} else {
			s.unique = append(s.unique, columns)
		}
		columns = nil
		return nil
	})
	return err
}

func definitions(ctx context.Context, db pgx.Tx, sql string, oid uint32) ([]definition, error) {
	rows, _ := db.Query(ctx, sql, oid)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (d definition, err error) {
		return d, row.Scan(&d.name, &d.sql, &d.unique, &d.columns)
	})
}

// list writes names as SQL, separated by commas, each behind a prefix.
func list(prefix string, names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = prefix + parser.QuoteIdent(name)
	}
	return strings.Join(quoted, ", ")
}
