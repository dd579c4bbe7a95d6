package build

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/parser"
	"fugu/sqlstate"
)

// publish puts the new tables of a family in the place of those that are there, and says so in the registry. It takes
// effect with the transaction: readers see the old twin or the new one.
func (f *family) publish(ctx context.Context, at place, all, twins []Twin, guests []string, reader string) error {
	// What stands in a twin's place and is no twin is somebody's, and stays.
	for _, s := range f.sources {
		if err := at.free(ctx, all, s.Qualified()); err != nil {
			return err
		}
	}

	// All old ones go before a new one comes, and one that stays is to stand in nobody's way.
	if err := f.loosen(ctx, at); err != nil {
		return err
	}
	replaced := make([]bool, len(f.sources))
	for i, s := range slices.Backward(f.sources) {
		var err error
		if replaced[i], err = replace(ctx, at, s); err != nil {
			return err
		}
	}

	// The list says of each twin what it is from the moment that the twin can be read.
	for i, s := range f.sources {
		statements, err := at.rename(ctx, s, replaced[i], guests)
		if err != nil {
			return err
		}
		for _, sql := range statements {
			if _, err := at.tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("publishing the twin of %s: %w", s.qualified(), err)
			}
		}
		if err := enter(ctx, at.tx, twins[i]); err != nil {
			return err
		}
	}

	// Guests may read it now. Foreign keys only adorn it: one that does not fit is left out.
	if err := f.grant(ctx, at, guests, reader); err != nil {
		return err
	}
	f.tie(ctx, at, twins)
	return f.tidy(ctx, at.tx)
}

// rename are the statements that give a new table and its indexes their names, unless its rows have gone to the old
// one.
func (p place) rename(ctx context.Context, s *source, replaced bool, guests []string) (statements []string, err error) {
	if replaced {
		return nil, nil
	}
	in, from := schema, newName(s)
	if p.apart {
		if err := p.makeSchema(ctx, s, guests); err != nil {
			return nil, err
		}
		in = parser.QuoteIdent(s.Schema)
		statements = append(statements, fmt.Sprintf("ALTER TABLE %s SET SCHEMA %s", from, in))
		from = in + strings.TrimPrefix(from, schema)
	}
	statements = append(statements, fmt.Sprintf("ALTER TABLE %s RENAME TO %s", from, parser.QuoteIdent(s.Name)))
	for _, n := range s.named {
		statements = append(statements, fmt.Sprintf("ALTER INDEX %s.%s RENAME TO %s", in, n[0], n[1]))
	}
	return statements, nil
}

// sameColumns tells whether two tables have the same columns, in order.
const sameColumns = `SELECT (SELECT array_agg((attname, atttypid, atttypmod)::text ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped)
	= (SELECT array_agg((attname, atttypid, atttypmod)::text ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = $2::text::regclass AND attnum > 0 AND NOT attisdropped)`

// replace drops a twin that is there. Where views of analysts' own depend on it, it stays, and its rows are replaced;
// then readers wait for the end of the build, and it reports true.
func replace(ctx context.Context, at place, s *source) (filled bool, err error) {
	db, name := at.tx, at.name(s.Qualified())
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "DROP TABLE IF EXISTS "+name)
		return err
	})

	var pe *pgconn.PgError
	if !errors.As(err, &pe) || pe.Code != string(sqlstate.DependentObjectsExist) {
		return false, err
	}

	// The new rows have to fit what depends on the old ones.
	var same bool
	if err := db.QueryRow(ctx, sameColumns, name, newName(s)).Scan(&same); err != nil {
		return false, err
	} else if !same {
		return false, fmt.Errorf("the twin of %s has other columns now, and other objects depend on it (%s); drop "+
			"these", s.qualified(), pe.Detail)
	}

	statements := []string{"TRUNCATE " + name, fmt.Sprintf("INSERT INTO %s SELECT * FROM %s", name, newName(s)),
		"DROP TABLE " + newName(s), "ANALYZE " + name}
	for _, sql := range statements {
		if _, err := db.Exec(ctx, sql); err != nil {
			return false, fmt.Errorf("replacing the rows of the twin of %s, on which other objects depend (%s); drop "+
				"these, or make them fit: %w", s.qualified(), pe.Detail, err)
		}
	}
	return true, nil
}

// tidy drops what the build has put aside.
func (f *family) tidy(ctx context.Context, db pgx.Tx) error {
	names := []string{stagedName, copiesName}
	for _, s := range f.sources {
		names = append(names, f.laid(s.Qualified()))
	}
	for _, name := range names {
		if _, err := db.Exec(ctx, "DROP TABLE IF EXISTS "+name); err != nil {
			return fmt.Errorf("tidying up: %w", err)
		}
	}
	return nil
}
