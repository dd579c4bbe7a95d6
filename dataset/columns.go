package dataset

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
	"fugu/sqlstate"
	"fugu/upstream"
)

func loadColumns(ctx context.Context, reader *upstream.Reader, table string) ([]planner.Column, error) {
	rows, err := reader.Query(ctx, `SELECT a.attname, format_type(a.atttypid, a.atttypmod),
	    CASE WHEN a.attcollation NOT IN (0, 'pg_catalog."default"'::regcollation)
	      THEN quote_ident(n.nspname) || '.' || quote_ident(l.collname) END
	  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
	  LEFT JOIN (pg_collation l JOIN pg_namespace n ON n.oid = l.collnamespace) ON l.oid = a.attcollation
	  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
		[][]byte{[]byte(table)}, nil)
	if err != nil {
		return nil, fmt.Errorf("reading its columns: %w", err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("it does not exist, or is not a table")
	}
	columns := make([]planner.Column, len(rows))
	for i, r := range rows {
		columns[i] = planner.Column{Name: r[0].Text, Type: r[1].Text, Collation: r[2].Text}
	}
	return columns, nil
}

// loadLong finds the columns of a table that may have values which PostgreSQL stores out of line, beside the row: those
// of which the reference has one of a hundred bytes, as it would have to be many that are shorter. What no row of the
// reference has few rows of the table have. Where that is not known it is all that PostgreSQL may store so, but for
// columns whose values the policy lists.
func (t *Protected) loadLong(ctx context.Context, reader *upstream.Reader) error {
	rows, err := reader.Query(ctx, `SELECT attname, EXISTS (SELECT FROM pg_attribute r
	    WHERE r.attrelid = to_regclass(nullif($2, '')) AND r.attname = a.attname AND r.attnum > 0
	      AND NOT r.attisdropped)
	  FROM pg_attribute a WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
	    AND a.attstorage <> 'p' ORDER BY a.attnum`,
		[][]byte{[]byte(Quoted(t.Config.Qualified())), []byte(t.Table.Reference)},
		[]uint32{pgtype.TextOID, pgtype.TextOID})
	if err != nil {
		return fmt.Errorf("reading which of its columns can be long: %w", err)
	}
	var names, sizes []string
	for _, r := range rows {
		if name := r[0].Text; len(t.Table.Domains[name]) > 0 {
			continue
		} else if r[1].Text == "t" {
			names = append(names, name)
			sizes = append(sizes, "coalesce(max(pg_column_size(t."+parser.QuoteIdent(name)+")), 0) >= 100")
		} else {
			t.Syntax.Long = append(t.Syntax.Long, name)
		}
	}
	if len(names) == 0 {
		return nil
	}

	// A reference that cannot be read says so where its classes are counted.
	long, err := reader.Query(ctx, "SELECT "+strings.Join(sizes, ", ")+" FROM "+t.Table.Reference+" AS t", nil, nil)
	for i, name := range names {
		if err != nil || long[0][i].Text == "t" {
			t.Syntax.Long = append(t.Syntax.Long, name)
		}
	}
	return nil
}

// sameColumns refuses a reference with a column of another type, or another collation, than the table's: 7/2 is 3 of
// integers and 3.5 of numerics, so that an expression would select other rows in the one than in the other, and noise
// would be calibrated to a statement that is not asked. A domain counts as what it is over.
func sameColumns(ctx context.Context, reader *upstream.Reader, t policy.Table) error {
	if t.Reference.Name == "" {
		return nil
	}
	const attribute = `SELECT a.attname, coalesce(nullif(t.typbasetype, 0), t.oid) AS typ, a.attcollation
	  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
	  WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid = `
	rows, err := reader.Query(ctx, `SELECT o.attname, format_type(r.typ, NULL), format_type(o.typ, NULL), r.typ = o.typ
	  FROM (`+attribute+`to_regclass($1)) o JOIN (`+attribute+`to_regclass($2)) r USING (attname)
	  WHERE r.typ <> o.typ OR r.attcollation <> o.attcollation ORDER BY 1`,
		[][]byte{[]byte(Quoted(t.Qualified())), []byte(Quoted(t.Reference))}, nil)
	if err != nil {
		return fmt.Errorf("comparing its columns with the reference's: %w", err)
	}

	// One finding is enough: the others show when it is mended.
	if len(rows) > 0 {
		r := rows[0]
		if r[3].Text == "t" {
			return fmt.Errorf("column %s of the reference %s has another collation", r[0].Text, t.Reference)
		}
		return fmt.Errorf("column %s of the reference %s is %s, and of the table %s: ALTER TABLE %s ALTER %s TYPE %s",
			r[0].Text, t.Reference, r[1].Text, r[2].Text, Quoted(t.Reference), parser.QuoteIdent(r[0].Text), r[2].Text)
	}
	return nil
}

// lacking says which columns the reference does not have, if that is why a statement on it has failed. The statement is
// made of the policy's text alone, and the reference is public: whoever loads a policy may know.
func (t *Protected) lacking(ctx context.Context, reader *upstream.Reader, failed error) error {
	if !upstream.InterruptedBy(failed, sqlstate.UndefinedColumn) {
		return failed
	}
	const names = "SELECT attname FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped AND attrelid = to_regclass"
	rows, err := reader.Query(ctx, names+"($1) EXCEPT "+names+"($2) ORDER BY 1",
		[][]byte{[]byte(Quoted(t.Config.Qualified())), []byte(Quoted(t.Config.Reference))}, nil)
	if err != nil || len(rows) == 0 {
		return failed
	}

	columns := make([]string, len(rows))
	for i, r := range rows {
		columns[i] = parser.QuoteIdent(r[0].Text)
	}
	return fmt.Errorf("a secret speaks of a column that the reference %s does not have, which is one of %s: add it "+
		"there, or name another reference", t.Config.Reference, strings.Join(columns, ", "))
}

// textArray is the array of the words that a parameter takes.
func textArray(words []string) []byte {
	values := make([]planner.Value, len(words))
	for i, w := range words {
		values[i].Text = w
	}
	return planner.Array(values)
}
