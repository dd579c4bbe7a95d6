package build

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
)

// bound are the checks, indexes and defaults of a table that use something which the database has and PostgreSQL does
// not: functions, operators, types, collations. The types of the table's own columns do not count.
const bound = `WITH parts(class, oid, kind, name) AS (
		SELECT 'pg_constraint'::regclass, oid, 'check', conname::text
			FROM pg_constraint WHERE conrelid = $1 AND contype = 'c'
		UNION ALL SELECT 'pg_class'::regclass, indexrelid, 'index',
				(SELECT relname FROM pg_class x WHERE x.oid = indexrelid)
			FROM pg_index WHERE indrelid = $1
		UNION ALL SELECT 'pg_attrdef'::regclass, d.oid, 'default', attname FROM pg_attrdef d
			JOIN pg_attribute a ON a.attrelid = adrelid AND a.attnum = adnum WHERE adrelid = $1)
	SELECT kind, name FROM parts WHERE EXISTS (SELECT FROM pg_depend d
		WHERE d.classid = parts.class AND d.objid = parts.oid AND d.deptype = 'n' AND d.refobjid >= 16384
		AND d.refclassid NOT IN ('pg_class'::regclass, 'pg_constraint'::regclass)
		AND NOT (d.refclassid = 'pg_type'::regclass
			AND d.refobjid IN (SELECT atttypid FROM pg_attribute WHERE attrelid = $1)))
	ORDER BY kind, name`

// portable leaves out of a table's description what another database need not have, and what would run code of that
// database's own when rows come. It returns that, in words.
func (s *source) portable(ctx context.Context, db querier) (left []string, err error) {
	rows, _ := db.Query(ctx, bound, s.oid)
	var kind, name string

	_, err = pgx.ForEachRow(rows, []any{&kind, &name}, func() error {
		left = append(left, fmt.Sprintf("%s %s of %s, which uses what its database alone "+
			"has", kind, parser.QuoteIdent(name), s.qualified()))

		// A check or an index is left out as a whole, of a column only its default.
		named := func(d definition) bool { return d.name == name }
		switch kind {
		case "check":
			s.checks = slices.DeleteFunc(s.checks, named)
		case "index":
			s.indexes = slices.DeleteFunc(s.indexes, named)
		default:
			i := slices.IndexFunc(s.columns, func(c column) bool { return c.name == name })
			s.columns[i].fallback = nil
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking at what %s depends on: %w", s.qualified(), err)
	}
	return left, nil
}
