// Package setup proposes how tables of a database can be protected, and writes what that takes: a policy, a
// configuration, grants, users and a unit of systemd.
//
// It reads the catalog, and no row of any table: what it proposes as public (domains, links) is what the schema says.
// What is secret, in which range, and how many rows everybody may know of, is for the owner to say.
package setup

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/policy"
)

// Catalog is what a database's schema says of its tables, in the order of their names.
type Catalog struct {
	Tables     []Table
	References []Reference
}

// Table is an ordinary or partitioned table outside of PostgreSQL's own schemas.
type Table struct {
	policy.QualifiedName
	Columns  []Column
	Key      []string // the primary key; nil: none
	Estimate int64    // how many rows PostgreSQL takes it to have; -1: nobody has analysed it
}

// Column is a column of a table.
type Column struct {
	Name, Type string
	NotNull    bool
	Values     []string // that the schema lets it have: an enumeration, true and false, a CHECK; nil: any
	From, To   string   // the whole numbers that a CHECK lets it have; empty: any
}

// Reference is a foreign key.
type Reference struct {
	From, To policy.QualifiedName
	On       [][2]string // columns of From, and of To that they equal
	NotNull  bool        // every row of From has one
}

const tablesSQL = `
SELECT n.nspname, c.relname, c.reltuples::bigint,
  coalesce((SELECT array_agg(a.attname::text ORDER BY k.o) FROM pg_index i,
    unnest(i.indkey::int2[]) WITH ORDINALITY AS k(n, o), pg_attribute a
    WHERE i.indrelid = c.oid AND i.indisprimary AND a.attrelid = c.oid AND a.attnum = k.n), '{}')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^pg_|^information_schema$|^fugu_'
ORDER BY 1, 2`

// columnsSQL has for each column its enumeration's labels, and the CHECKs that are about it alone.
const columnsSQL = `
SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
  coalesce((SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = a.atttypid),
    '{}'),
  coalesce((SELECT array_agg(pg_get_expr(k.conbin, k.conrelid) ORDER BY k.conname) FROM pg_constraint k
    WHERE k.conrelid = c.oid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]), '{}')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^pg_|^information_schema$|^fugu_'
  AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY 1, 2, a.attnum`

const referencesSQL = `
SELECT n.nspname, c.relname, fn.nspname, f.relname,
  (SELECT array_agg(a.attname::text ORDER BY o) FROM unnest(k.conkey) WITH ORDINALITY AS u(n, o), pg_attribute a
    WHERE a.attrelid = k.conrelid AND a.attnum = u.n),
  (SELECT array_agg(a.attname::text ORDER BY o) FROM unnest(k.confkey) WITH ORDINALITY AS u(n, o), pg_attribute a
    WHERE a.attrelid = k.confrelid AND a.attnum = u.n),
  NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
    AND NOT a.attnotnull)
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_class f ON f.oid = k.confrelid JOIN pg_namespace fn ON fn.oid = f.relnamespace
WHERE k.contype = 'f' AND k.conparentid = 0
ORDER BY 1, 2, k.conname`

// Read reads the catalog.
func Read(ctx context.Context, db *pgx.Conn) (*Catalog, error) {
	c := &Catalog{}
	fail := func(err error) (*Catalog, error) { return nil, fmt.Errorf("reading the catalog: %w", err) }

	// A query that failed says so when its rows are collected.
	rows, _ := db.Query(ctx, tablesSQL)
	var t Table
	if _, err := pgx.ForEachRow(rows, []any{&t.Schema, &t.Name, &t.Estimate, &t.Key}, func() error {
		c.Tables = append(c.Tables, t)
		t.Key = nil
		return nil
	}); err != nil {
		return fail(err)
	}

	var name policy.QualifiedName
	var col Column
	var labels, checks []string
	rows, _ = db.Query(ctx, columnsSQL)
	into := []any{&name.Schema, &name.Name, &col.Name, &col.Type, &col.NotNull, &labels, &checks}
	if _, err := pgx.ForEachRow(rows, into, func() error {
		own := col
		own.public(labels, checks)
		if t := c.Table(name); t != nil {
			t.Columns = append(t.Columns, own)
		}
		labels, checks = nil, nil
		return nil
	}); err != nil {
		return fail(err)
	}

	var r Reference
	var own, theirs []string
	rows, _ = db.Query(ctx, referencesSQL)
	into = []any{&r.From.Schema, &r.From.Name, &r.To.Schema, &r.To.Name, &own, &theirs, &r.NotNull}
	if _, err := pgx.ForEachRow(rows, into, func() error {
		r.On = nil
		for i := range own {
			r.On = append(r.On, [2]string{own[i], theirs[i]})
		}
		c.References = append(c.References, r)
		own, theirs = nil, nil
		return nil
	}); err != nil {
		return fail(err)
	}
	return c, nil
}

// Table finds a table; nil: there is none.
func (c *Catalog) Table(name policy.QualifiedName) *Table {
	i := slices.IndexFunc(c.Tables, func(t Table) bool { return t.QualifiedName == name })
	if i < 0 {
		return nil
	}
	return &c.Tables[i]
}

// Column finds a column; nil: there is none.
func (t *Table) Column(name string) *Column {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Columns[i]
}

// PostgreSQL prints a CHECK that lists values, or bounds whole numbers, in one of these ways.
var (
	listed  = regexp.MustCompile(`^\(\(?"?[^()]*"?\)?(?:::text)? = ANY \(\(?ARRAY\[(.*?)\](?:\)?::text\[\])?\)\)$`)
	literal = regexp.MustCompile(`^'((?:[^']|'')*)'::[a-z ]+$`)
	bounds  = regexp.MustCompile(`^\(\([^()]+ >= '?(-?\d+)'?(?:::\w+)?\) AND \([^()]+ <= '?(-?\d+)'?(?:::\w+)?\)\)$`)
)

// public takes in what the schema, which everybody may read, says that a column can be.
func (c *Column) public(labels, checks []string) {
	switch {
	case len(labels) > 0:
		c.Values = labels
	case c.Type == "boolean":
		c.Values = []string{"false", "true"}
	}
	for _, check := range checks {
		if m := bounds.FindStringSubmatch(check); m != nil && slices.Contains([]string{"smallint", "integer", "bigint"},
			c.Type) {
			c.From, c.To = m[1], m[2]
			continue
		}
		m := listed.FindStringSubmatch(check)
		if m == nil {
			continue
		}
		var values []string
		for _, part := range strings.Split(m[1], ", ") {
			v := literal.FindStringSubmatch(strings.TrimSuffix(strings.TrimPrefix(part, "("), ")::text"))
			if v == nil {
				if _, err := strconv.ParseInt(part, 10, 64); err != nil {
					values = nil
					break
				}
				values = append(values, part)
				continue
			}
			values = append(values, strings.ReplaceAll(v[1], "''", "'"))
		}
		if values != nil {
			c.Values = values
		}
	}
}
