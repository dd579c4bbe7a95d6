package build

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
)

// columnTypes are the types of a table's columns that PostgreSQL itself does not have; of an array that of its
// elements.
const columnTypes = `SELECT DISTINCT ON (a.attnum) a.attname::text,
		t.oid::regtype::text, t.typtype::text, t.oid <> c.oid,
		CASE WHEN t.typbasetype BETWEEN 1 AND 16383 THEN format_type(t.typbasetype, t.typtypmod) END,
		ARRAY(SELECT e.enumlabel::text FROM pg_enum e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder),
		(SELECT x.extname::text FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
			WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e'
			AND d.refclassid = 'pg_extension'::regclass),
		n.nspname::text
	FROM pg_attribute a JOIN pg_type c ON c.oid = a.atttypid
		JOIN pg_type t ON t.oid = CASE WHEN c.typcategory = 'A' AND c.typelem <> 0 THEN c.typelem ELSE c.oid END
		JOIN pg_namespace n ON n.oid = t.typnamespace
	WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped AND t.oid >= 16384 ORDER BY a.attnum`

// userCollations are the columns of a table whose collation PostgreSQL itself does not have.
const userCollations = `SELECT coalesce(min(attname), '')::text FROM pg_attribute
	WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped AND attcollation >= 16384`

// typesSQL are the statements that make the types of the tables' columns in an empty database: enumerations as they
// are, those of extensions by their extension. Domains become what they are made of, as their checks may be anything.
func typesSQL(ctx context.Context, db querier, tables []dumped) (out []string, err error) {
	for _, d := range tables {
		var collated string
		if err := db.QueryRow(ctx, userCollations, d.oid).Scan(&collated); err != nil {
			return nil, fmt.Errorf("looking at the collations of %s: %w", d.as, err)
		} else if collated != "" {
			return nil, fmt.Errorf("column %s of %s has a collation of its database's own, which another one does "+
				"not have", parser.QuoteIdent(collated), d.as)
		}

		// A type that several columns have is made once, in the schema that it needs.
		rows, _ := db.Query(ctx, columnTypes, d.oid)
		var of, name, kind, in string
		var array bool
		var base, extension *string
		var labels []string
		_, err := pgx.ForEachRow(rows, []any{&of, &name, &kind, &array, &base, &labels, &extension, &in}, func() error {
			sql := ""
			switch {
			case extension != nil:
				sql = fmt.Sprintf("CREATE EXTENSION IF NOT EXISTS %s WITH SCHEMA %s",
					parser.QuoteIdent(*extension), parser.QuoteIdent(in))
			case kind == "e":
				sql = fmt.Sprintf("CREATE TYPE %s AS ENUM (%s)", name, literals(labels))
			case kind == "d" && base != nil && !array:
				i := slices.IndexFunc(d.columns, func(c column) bool { return c.name == of })
				d.columns[i].typ = *base
			default:
				return fmt.Errorf("column %s has the type %s, which another database does not have: leave the "+
					"column out (drop)", parser.QuoteIdent(of), name)
			}

			if sql != "" && !slices.Contains(out, sql) {
				if make := "CREATE SCHEMA IF NOT EXISTS " + parser.QuoteIdent(in); !slices.Contains(out, make) {
					out = append(out, make)
				}
				out = append(out, sql)
			}
			base, extension, labels = nil, nil, nil
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("looking at the types of %s: %w", d.as, err)
		}
	}
	return out, nil
}

// literals writes texts as literals of SQL.
func literals(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = parser.QuoteLiteral(t)
	}
	return strings.Join(out, ", ")
}
