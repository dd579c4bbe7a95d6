package build

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
)

// newName is where the twin of a table is until it is published.
func newName(s *source) string { return fmt.Sprintf(`%s."~ new %d"`, schema, s.oid) }

// create makes the table of a twin, without rows.
func (s *source) create(ctx context.Context, db pgx.Tx) error {
	var columns []string
	for _, c := range s.kept() {
		columns = append(columns, parser.QuoteIdent(c.name)+" "+c.typ)
	}
	sql := fmt.Sprintf("CREATE TABLE %s (%s) WITH (%s)", newName(s), strings.Join(columns, ", "), twinStorage)
	if _, err := db.Exec(ctx, sql); err != nil {
		return fmt.Errorf("making the twin of %s: %w", s.qualified(), err)
	}
	return nil
}

// twinStorage is how a twin is kept: nobody updates it, so that its rows need no room beside them, and no vacuum moves
// anything.
const twinStorage = "autovacuum_enabled = off"

// describeAnew gives the table of a twin what its columns have beside their types: defaults, NOT NULL and comments.
func (s *source) describeAnew(ctx context.Context, db pgx.Tx) error {
	var changes, statements []string
	for _, c := range s.kept() {
		name := parser.QuoteIdent(c.name)
		if c.fallback != nil {
			changes = append(changes, fmt.Sprintf("ALTER %s SET DEFAULT %s", name, *c.fallback))
		}
		if c.notNull {
			changes = append(changes, fmt.Sprintf("ALTER %s SET NOT NULL", name))
		}
		if c.comment != nil {
			statements = append(statements, fmt.Sprintf("COMMENT ON COLUMN %s.%s IS %s", newName(s), name,
				parser.QuoteLiteral(*c.comment)))
		}
	}

	if len(changes) > 0 {
		// In one statement the rows are looked at once.
		statements = append(statements, "ALTER TABLE "+newName(s)+" "+strings.Join(changes, ", "))
	}

	if s.comment != nil {
		statements = append(statements, fmt.Sprintf("COMMENT ON TABLE %s IS %s", newName(s),
			parser.QuoteLiteral(*s.comment)))
	}

	for _, sql := range statements {
		if _, err := db.Exec(ctx, sql); err != nil {
			return fmt.Errorf("making the twin of %s: %w", s.qualified(), err)
		}
	}
	return nil
}

// constrain adds what the table has of checks, keys and indexes, as far as it holds of the twin, once the rows are
// there. What it leaves out it returns, in words.
func (s *source) constrain(ctx context.Context, db pgx.Tx, keys fresh) (left []string, err error) {
	for _, c := range s.checks {
		if !s.keeps(c.columns) {
			continue
		}
		add := fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s %s", newName(s), parser.QuoteIdent(c.name), c.sql)
		if !attempt(ctx, db, add) { // a check on a key that was counted anew
			left = append(left, fmt.Sprintf("check %s of %s, which does not hold of new keys, or of values that are "+
				"drawn", parser.QuoteIdent(c.name), s.qualified()))
		}
	}

	// The key of a table whose rows stand more than once can be none of the twin's.
	if s.primary != nil && s.keeps(s.primary) && keys.distinct(s.primary) {
		index := s.indexName("of the primary key")
		key := fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s PRIMARY KEY (%s)", newName(s), index, list("", s.primary))
		if _, err := db.Exec(ctx, key); err != nil {
			return nil, fmt.Errorf("the primary key of the twin of %s: %w", s.qualified(), err)
		}
		s.named = append(s.named, [2]string{index, parser.QuoteIdent(s.primaryName)})
	} else if s.primary != nil && s.keeps(s.primary) {
		left = append(left, fmt.Sprintf("the primary key of %s, whose values stand more than once in a twin",
			s.qualified()))
	}

	// An index on what the twin does not have is no loss that anybody asks about; another that fails is told of.
	for n, i := range s.indexes {
		if !s.keeps(i.columns) {
			continue
		}
		unique := ""
		if i.unique && keys.distinct(i.columns) && slices.ContainsFunc(s.unique,
			func(u []string) bool { return sameNames(u, i.columns) }) {
			unique = "UNIQUE "
		}
		index := s.indexName(strconv.Itoa(n))
		if !attempt(ctx, db, fmt.Sprintf("CREATE %sINDEX %s ON %s%s", unique, index, newName(s), i.sql)) {
			left = append(left, fmt.Sprintf("index %s of %s", parser.QuoteIdent(i.name), s.qualified()))
			continue
		}
		s.named = append(s.named, [2]string{index, parser.QuoteIdent(i.name)})
	}

	// A twin that nobody has analyzed is planned for as if it were empty.
	if _, err := db.Exec(ctx, "ANALYZE "+newName(s)); err != nil {
		return nil, fmt.Errorf("the statistics of the twin of %s: %w", s.qualified(), err)
	}
	return left, nil
}

// indexName is what an index of a table is called, by its number or what it is of, until it is published and the one
// before is gone.
func (s *source) indexName(which string) string {
	return parser.QuoteIdent(fmt.Sprintf("~ index %s of %d", which, s.oid))
}

// attempt runs a statement, and reports whether it went; where it failed it is as if it had not been tried.
func attempt(ctx context.Context, db pgx.Tx, sql string) bool {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sql)
		return err
	}) == nil
}

func sameNames(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
