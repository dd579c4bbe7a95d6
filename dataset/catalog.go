package dataset

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/parser"
	"fugu/planner"
	"fugu/sqlstate"
)

// Catalog is what one statement's names are looked up in: the snapshot, and the database for ordinary tables.
type Catalog struct {
	*Snapshot
	ctx    context.Context
	reader planner.Querier
	means  Meanings
}

// Catalog looks names up in the snapshot, and ordinary tables by reader; means may be nil.
func (s *Snapshot) Catalog(ctx context.Context, reader planner.Querier, means Meanings) Catalog {
	return Catalog{s, ctx, reader, means}
}

// ordinaryColumns are the columns of plain tables with the name $2, of the schema $1 or, where that is empty, of any;
// the schema public is first. The type of each is named where it is not one that anybody has: PostgreSQL's own, an
// enum, or a domain over these. A domain's values are read as those of the type below it. Last comes whether the column
// can have long values.
const ordinaryColumns = `WITH RECURSIVE plain AS (
	  SELECT oid FROM pg_type WHERE typtype = 'e' OR typtype = 'b' AND typnamespace = 'pg_catalog'::regnamespace
	  UNION SELECT d.oid FROM pg_type AS d JOIN plain ON d.typbasetype = plain.oid WHERE d.typtype = 'd')
	SELECT n.nspname, a.attname, CASE WHEN plain.oid IS NULL THEN format_type(a.atttypid, NULL) END,
	  a.attstorage <> 'p' FROM pg_class c
	JOIN pg_namespace n ON n.oid = c.relnamespace
	JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	LEFT JOIN plain ON plain.oid = a.atttypid
	WHERE c.relname = $2
	  AND CASE $1 WHEN '' THEN n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ELSE n.nspname = $1 END
	  AND c.relkind IN ('r', 'p', 'm') AND NOT c.relrowsecurity AND c.relpersistence <> 't'
	  AND has_table_privilege(c.oid, 'SELECT')
	ORDER BY n.nspname <> 'public', n.nspname, a.attnum`

// Ordinary finds a table that can be read beside protected rows. A name without a schema is looked for where the
// session finds it, if that is known, and else in all of them: whoever binds the statement finds out whether the
// session means the same one. None that is protected is ordinary.
func (c Catalog) Ordinary(schema, name string) (parser.Table, error) {
	in := []byte(c.schema(schema, name))
	rows, err := c.reader.Query(c.ctx, ordinaryColumns, [][]byte{in, []byte(name)},
		[]uint32{pgtype.TextOID, pgtype.TextOID})
	if err != nil {
		return parser.Table{}, err
	}
	if len(rows) > 0 {
		if _, ok := c.Snapshot.Table(rows[0][0].Text, name); ok {
			rows = nil
		}
	}
	if len(rows) == 0 || schema == "pg_catalog" || schema == "information_schema" {
		return parser.Table{}, sqlstate.New(sqlstate.NotAnswerable,
			"the relation %s cannot be read together with protected rows", strings.TrimPrefix(schema+"."+name, ".")).
			WithHint("It must be a plain table without row-level security that the reader may SELECT from. Anything " +
				"else can be joined above the aggregate: aggregate the protected table in a subquery first.")
	}

	// Of several tables of the name the first is taken.
	t := parser.Table{Schema: rows[0][0].Text, Name: name, Ordinary: true, Strange: map[string]string{}}
	for _, r := range rows {
		if r[0].Text != t.Schema {
			continue
		}
		t.Columns = append(t.Columns, r[1].Text)
		if !r[2].Null {
			t.Strange[r[1].Text] = r[2].Text
		}
		if r[3].Text == "t" {
			t.Long = append(t.Long, r[1].Text)
		}
	}
	return t, nil
}

// views asks whether the first relation with the name $2, of the schema $1 or, where that is empty, of any, is a view.
const views = `SELECT c.relkind IN ('v', 'm') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relname = $2 AND ($1 = '' OR n.nspname = $1)
	ORDER BY n.nspname <> 'public', n.nspname ~ '^pg_', n.nspname LIMIT 1`

// View reports whether a name is that of a view, so that nobody knows what it reads. A name without a schema is looked
// for where the session finds it, if that is known.
func (c Catalog) View(schema, name string) (bool, error) {
	in := []byte(c.schema(schema, name))
	rows, err := c.reader.Query(c.ctx, views, [][]byte{in, []byte(name)}, []uint32{pgtype.TextOID, pgtype.TextOID})
	return len(rows) > 0 && rows[0][0].Text == "t", err
}

// Meanings say in which schema the session finds a name, where that is not what is protected.
type Meanings map[string]string

// Key tells Meanings apart, in the cache of plans. No name has a NUL.
func (m Meanings) Key() string {
	var parts []string
	for name, schema := range m {
		parts = append(parts, name+"\x00"+schema)
	}
	slices.Sort(parts)
	return strings.Join(parts, "\x00\x00")
}

// Meanings reads the answer of a lookup.
func (s *Snapshot) Meanings(rows [][]string) Meanings {
	out := Meanings{}
	for _, r := range rows {
		t, ok := s.Table("", r[0])
		if len(r) == 2 && !(ok && t.Schema == r[1]) {
			out[r[0]] = r[1]
		}
	}
	return out
}

// schema is where a name is to be looked for: where the session finds it, if none is written and that is known.
func (c Catalog) schema(written, name string) string {
	if found, ok := c.means[name]; ok && written == "" {
		return found
	}
	return written
}

// Table finds a relation that is not ordinary, as the session means it.
func (c Catalog) Table(schema, name string) (parser.Table, bool) {
	return c.Snapshot.Table(c.schema(schema, name), name)
}

// Twin finds the table of which a name means the twin, as the session means it.
func (c Catalog) Twin(schema, name string) (parser.Table, bool) {
	return c.Snapshot.Twin(c.schema(schema, name), name)
}
