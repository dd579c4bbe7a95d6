// Package told is what a client may know of twins: whether they are built, and what the registry of builds says of them
// to whoever may read it. It makes no twin, and reads no row of one.
package told

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/dataset"
	"fugu/explain"
	"fugu/parser"
	"fugu/twin"
	"fugu/upstream"
)

// Class is what may be known of one class of a twin's rows; of a table that comes with another there is no class.
type Class struct {
	Table, Built, Class string
	// as PostgreSQL writes numbers; empty: none. How many different rows a table has that comes with another is not
	// told.
	Rows, Sampled, Told, Taken string
	Epsilon, Delta, Assumption string
	CountError                 float64  // of the count of few rows by drawing: times the root of the count
	ToldError                  *float64 // of told, by noise; nil: the twin was built before that was said
	Known                      bool     // there is a class
}

// Classes asks, as the client may, what the registry says of the twins of the policies' tables. ask runs a statement in
// the client's session.
func Classes(ctx context.Context, reader *upstream.Reader, snap *dataset.Snapshot,
	ask func(context.Context, string) ([][]string, error)) (out []Class, err error) {
	if there, err := Made(ctx, reader, "fugu twins"); err != nil || !there {
		return nil, err
	}
	rows, err := ask(ctx, `SELECT t.table_schema, t.table_name, t.built, t.rows,
	    CASE WHEN c.i IS NOT NULL THEN t.sampled END, c.class, c.told, c.taken,
	    pg_catalog.to_jsonb(t) -> 'noise' ->> (c.i - 1)::pg_catalog.int4, t.epsilon, t.delta, t.assumption, c.i
	  FROM `+parser.TwinRegistry+` AS t LEFT JOIN LATERAL ROWS FROM (pg_catalog.unnest(t.classes),
	    pg_catalog.unnest(t.told), pg_catalog.unnest(t.taken)) WITH ORDINALITY AS c(class, told, taken, i) ON true
	  ORDER BY t.table_schema, t.table_name, c.i`)
	if err != nil {
		return nil, err
	}

	// A twin of a policy that is not served any more is no business of this one's.
	for _, r := range rows {
		t := snap.Find(r[0], r[1])
		if t == nil || !t.Table.Twin {
			continue
		}
		c := Class{Table: t.Table.String(), Built: r[2], Rows: r[3], Sampled: r[4], Class: r[5], Told: r[6],
			Taken: r[7], Epsilon: r[9], Delta: r[10], Assumption: r[11], Known: r[12] != ""}
		told, _ := strconv.ParseInt(c.Told, 10, 64)
		taken, _ := strconv.ParseInt(c.Taken, 10, 64)
		c.CountError = twin.DrawingError(told, taken)
		if off, err := strconv.ParseFloat(r[8], 64); err == nil {
			c.ToldError = &off
		}
		out = append(out, c)
	}
	return out, nil
}

// Made reports whether builds have made a relation in the schema of twins: a twin, or a list of theirs. The reader can
// look there without reading a row.
func Made(ctx context.Context, reader *upstream.Reader, name string) (bool, error) {
	rows, err := reader.Query(ctx, "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "+
		"WHERE n.nspname = $1 AND c.relname = $2", [][]byte{[]byte(parser.TwinSchema), []byte(name)},
		[]uint32{pgtype.TextOID, pgtype.TextOID})
	return len(rows) > 0, err
}

// Explain says for EXPLAIN (PRIVACY) what the twins of tables are.
func Explain(tables []*dataset.Protected, classes []Class) (out []explain.Twin) {
	for _, t := range tables {
		e := explain.Twin{Dataset: t.Policy.Dataset, Table: t.Table.String(), AtLeast: t.Table.AtLeast}
		for _, c := range classes {
			if c.Table != e.Table {
				continue
			}
			e.Epsilon, e.Delta, e.Assumption = json.Number(c.Epsilon), json.Number(c.Delta), c.Assumption
			e.Rows, e.Sampled = json.Number(c.Rows), json.Number(c.Sampled)
			if c.Known {
				e.Classes = append(e.Classes, explain.Class{Class: c.Class, Told: json.Number(c.Told),
					Taken: json.Number(c.Taken), CountError: c.CountError, ToldError: c.ToldError})
			}
		}
		out = append(out, e)
	}
	return out
}
