package build

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/parser"
	"fugu/sqlstate"
)

// registry is the table that says which twins there are, for analysts too: all of it may be published.
const registry = parser.TwinRegistry

const makeRegistry = `CREATE TABLE IF NOT EXISTS ` + registry + ` (
	dataset text NOT NULL, table_schema text NOT NULL, table_name text NOT NULL, built timestamptz NOT NULL, rows int8 NOT NULL, sampled int8 NOT NULL,
	classes text[] NOT NULL, told int8[] NOT NULL, taken int8[] NOT NULL,
	epsilon float8 NOT NULL, delta float8 NOT NULL, assumption text NOT NULL, generation int4 NOT NULL, law text NOT NULL, shape text NOT NULL,
	noise float8[], PRIMARY KEY (table_schema, table_name))`

// addNoise is for a registry of before twins said how far their numbers may be off.
const addNoise = `ALTER TABLE ` + registry + ` ADD COLUMN noise float8[]`

// Twin is a line of the registry.
type Twin struct {
	Dataset string    `json:"dataset"`
	Schema  string    `json:"table_schema"` // of the protected table
	Table   string    `json:"table_name"`
	Built   time.Time `json:"built"`
	Rows    int64     `json:"rows"`
	Sampled int64     `json:"sampled"`        // different rows among them; of a linked table Rows
	Classes []string  `json:"classes"`        // none of a linked table
	Told    []int64   `json:"told"`           // noisy counts by class
	Taken   []int64   `json:"taken"`          // rows taken by class
	Noise   []float64 `json:"told_error"`     // rows: how far Told may be off, by class; nil: a twin of before that was said
	Epsilon float64   `json:"epsilon"`        // what it costs; of a linked table that of its root
	Delta   float64   `json:"delta"`          // likewise
	Assumes string    `json:"assumption"`     // what it rests on
	Nth     int       `json:"generation"`     // how often it was drawn
	Law     string    `json:"-"`              // the fingerprint of its law
	Shape   string    `json:"-"`              // the fingerprint of how its tables look
	Left    []string  `json:"left,omitempty"` // what of the table the twin does not have, in words: of a build alone
}

const twinColumns = `dataset, table_schema, table_name, built, rows, sampled, classes, told, taken, epsilon, delta, assumption, generation, law, shape, noise`

// Twins returns the twins that there are.
func Twins(ctx context.Context, db querier) ([]Twin, error) {
	var there bool
	if err := db.QueryRow(ctx, `SELECT pg_catalog.to_regclass($1) IS NOT NULL`, registry).Scan(&there); err != nil || !there {
		return nil, err
	}
	rows, _ := db.Query(ctx, `SELECT `+strings.TrimSuffix(twinColumns, "noise")+noiseOf+` FROM `+registry+` AS t ORDER BY dataset, table_schema, table_name`)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Twin, err error) {
		return t, row.Scan(&t.Dataset, &t.Schema, &t.Table, &t.Built, &t.Rows, &t.Sampled, &t.Classes, &t.Told, &t.Taken, &t.Epsilon, &t.Delta, &t.Assumes, &t.Nth, &t.Law, &t.Shape, &t.Noise)
	})
}

// noiseOf reads noise, where a registry of before has no such column either.
const noiseOf = `(SELECT pg_catalog.array_agg(n::pg_catalog.float8 ORDER BY i)
	FROM pg_catalog.jsonb_array_elements_text(NULLIF(pg_catalog.to_jsonb(t) -> 'noise', 'null')) WITH ORDINALITY AS x(n, i))`

// sayNoise says in the registry how far the numbers of a twin of before may be off.
func sayNoise(ctx context.Context, db pgx.Tx, t Twin) error {
	_, err := db.Exec(ctx, `UPDATE `+registry+` SET noise = $3 WHERE table_schema = $1 AND table_name = $2`,
		t.Schema, t.Table, t.Noise)
	if err != nil {
		return fmt.Errorf("entering how far the twin of %s.%s may be off: %w", t.Schema, t.Table, err)
	}
	return nil
}

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// publish puts the new tables of a family in the place of those that are there, and says so in the registry. It takes
// effect with the transaction: readers see the old twin or the new one.
func (f *family) publish(ctx context.Context, at place, all, twins []Twin, guests []string, reader string) error {
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
	if err := f.grant(ctx, at, guests, reader); err != nil {
		return err
	}
	f.tie(ctx, at, twins)
	return f.tidy(ctx, at.tx)
}

// rename are the statements that give a new table and its indexes their names, unless its rows have gone to the old one.
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

// replace drops a twin that is there. Where views of analysts' own depend on it, it stays, and its rows are replaced; then
// readers wait for the end of the build, and it reports true.
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
	var same bool
	if err := db.QueryRow(ctx, sameColumns, name, newName(s)).Scan(&same); err != nil {
		return false, err
	} else if !same {
		return false, fmt.Errorf("the twin of %s has other columns now, and other objects depend on it (%s); drop these", s.qualified(), pe.Detail)
	}
	statements := []string{"TRUNCATE " + name, fmt.Sprintf("INSERT INTO %s SELECT * FROM %s", name, newName(s)),
		"DROP TABLE " + newName(s), "ANALYZE " + name}
	for _, sql := range statements {
		if _, err := db.Exec(ctx, sql); err != nil {
			return false, fmt.Errorf("replacing the rows of the twin of %s, on which other objects depend (%s); drop these, or make them fit: %w", s.qualified(), pe.Detail, err)
		}
	}
	return true, nil
}

// tidy drops what the build has put aside.
func (f *family) tidy(ctx context.Context, db pgx.Tx) error {
	names := []string{"SEQUENCE IF EXISTS " + numbersName, "TABLE IF EXISTS " + stagedName}
	for _, s := range f.sources {
		names = append(names, "TABLE IF EXISTS "+f.laid(s.Qualified()))
	}
	for _, name := range names {
		if _, err := db.Exec(ctx, "DROP "+name); err != nil {
			return fmt.Errorf("tidying up: %w", err)
		}
	}
	return nil
}

// enter writes a line of the registry.
func enter(ctx context.Context, db pgx.Tx, t Twin) error {
	const sql = `INSERT INTO ` + registry + ` (` + twinColumns + `) VALUES ($1, $2, $3, pg_catalog.now(), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		ON CONFLICT (table_schema, table_name) DO UPDATE SET dataset = excluded.dataset, built = excluded.built, rows = excluded.rows, sampled = excluded.sampled,
		classes = excluded.classes, told = excluded.told, taken = excluded.taken, epsilon = excluded.epsilon, delta = excluded.delta,
		assumption = excluded.assumption, generation = excluded.generation, law = excluded.law, shape = excluded.shape,
		noise = excluded.noise`
	_, err := db.Exec(ctx, sql, t.Dataset, t.Schema, t.Table, t.Rows, t.Sampled, orEmpty(t.Classes), orEmpty(t.Told), orEmpty(t.Taken), t.Epsilon, t.Delta, t.Assumes, t.Nth, t.Law, t.Shape, t.Noise)
	if err != nil {
		return fmt.Errorf("entering the twin of %s.%s: %w", t.Schema, t.Table, err)
	}
	return nil
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
