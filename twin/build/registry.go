package build

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/parser"
	"fugu/policy"
	"fugu/sqlstate"
)

// schema is where twins are. It is the keeper's.
const schema = parser.TwinSchema

// registry is the table that says which twins there are, for analysts too: all of it may be published.
const registry = parser.TwinRegistry

const makeRegistry = `CREATE TABLE IF NOT EXISTS ` + registry + ` (
	dataset text NOT NULL, table_schema text NOT NULL, table_name text NOT NULL,
	built timestamptz NOT NULL, rows int8 NOT NULL, sampled int8 NOT NULL,
	classes text[] NOT NULL, told int8[] NOT NULL, taken int8[] NOT NULL,
	epsilon float8 NOT NULL, delta float8 NOT NULL, assumption text NOT NULL, generation int4 NOT NULL,
	law text NOT NULL, shape text NOT NULL,
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
	Sampled int64     `json:"sampled"` // different rows among them; of a linked table Rows
	Classes []string  `json:"classes"` // none of a linked table
	Told    []int64   `json:"told"`    // noisy counts by class
	Taken   []int64   `json:"taken"`   // rows taken by class
	// rows: how far Told may be off, by class; nil: a twin of before that was said
	Noise   []float64 `json:"told_error"`
	Epsilon float64   `json:"epsilon"`        // what it costs; of a linked table that of its root
	Delta   float64   `json:"delta"`          // likewise
	Assumes string    `json:"assumption"`     // what it rests on
	Nth     int       `json:"generation"`     // how often it was drawn
	Law     string    `json:"-"`              // the fingerprint of its law
	Shape   string    `json:"-"`              // the fingerprint of how its tables look
	Left    []string  `json:"left,omitempty"` // what of the table the twin does not have, in words: of a build alone

	Columns []ShownColumn `json:"columns,omitempty"` // that are shown row by row through a channel
}

const twinColumns = `dataset, table_schema, table_name, built, rows, sampled, classes, told, taken,
	epsilon, delta, assumption, generation, law, shape, noise`

// Twins returns the twins that there are.
func Twins(ctx context.Context, db querier) ([]Twin, error) {
	if there, err := exists(ctx, db, registry); err != nil || !there {
		return nil, err
	}
	shown, err := shownBy(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("reading how columns of twins are shown: %w", err)
	}
	rows, _ := db.Query(ctx, `SELECT `+strings.TrimSuffix(twinColumns, "noise")+noiseOf+` FROM `+registry+
		` AS t ORDER BY dataset, table_schema, table_name`)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Twin, err error) {
		defer func() { t.Columns = shown[policy.QualifiedName{Schema: t.Schema, Name: t.Table}] }()
		return t, row.Scan(&t.Dataset, &t.Schema, &t.Table, &t.Built, &t.Rows, &t.Sampled, &t.Classes, &t.Told,
			&t.Taken, &t.Epsilon, &t.Delta, &t.Assumes, &t.Nth, &t.Law, &t.Shape, &t.Noise)
	})
}

// noiseOf reads noise, where a registry of before has no such column either.
const noiseOf = `(SELECT pg_catalog.array_agg(n::pg_catalog.float8 ORDER BY i)
	FROM pg_catalog.jsonb_array_elements_text(NULLIF(pg_catalog.to_jsonb(t) -> 'noise', 'null'))
		WITH ORDINALITY AS x(n, i))`

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
	Begin(ctx context.Context) (pgx.Tx, error)
}

// exists reports whether there is a table of a quoted name.
func exists(ctx context.Context, db querier, name string) (there bool, err error) {
	err = db.QueryRow(ctx, `SELECT pg_catalog.to_regclass($1) IS NOT NULL`, name).Scan(&there)
	return there, err
}

// enter writes a line of the registry.
func enter(ctx context.Context, db pgx.Tx, t Twin) error {
	const sql = `INSERT INTO ` + registry + ` (` + twinColumns +
		`) VALUES ($1, $2, $3, pg_catalog.now(), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		ON CONFLICT (table_schema, table_name) DO UPDATE SET dataset = excluded.dataset,
		built = excluded.built, rows = excluded.rows, sampled = excluded.sampled,
		classes = excluded.classes, told = excluded.told, taken = excluded.taken,
		epsilon = excluded.epsilon, delta = excluded.delta,
		assumption = excluded.assumption, generation = excluded.generation, law = excluded.law, shape = excluded.shape,
		noise = excluded.noise`
	_, err := db.Exec(ctx, sql, t.Dataset, t.Schema, t.Table, t.Rows, t.Sampled, orEmpty(t.Classes), orEmpty(t.Told),
		orEmpty(t.Taken), t.Epsilon, t.Delta, t.Assumes, t.Nth, t.Law, t.Shape, t.Noise)
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

// lockRegistry keeps other builds out until the end of the transaction.
const lockRegistry = `LOCK TABLE ` + registry + ` IN SHARE ROW EXCLUSIVE MODE`

// is reports whether PostgreSQL's error is of that code.
func is(err error, code sqlstate.Code) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == string(code)
}
