package dataset

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/parser"
	"fugu/planner"
	"fugu/policy"
)

// Joined is a foreign key of a protected table to an ordinary one, over columns that have so many values in the
// reference.
type Joined struct {
	Table   *planner.Table
	Columns string // quoted, with commas
	To      string // the ordinary table, as policies write it
	Values  int64
}

// manyPartners is how many values a joined column may have in the reference before Joined tells of it: what stands
// beside so many values is one of 2^50 choices, so that 35 rows of each class count as unseen.
const manyPartners = 50

// ordinaryKeys is one row for each column of the foreign keys of table $1 to other tables than $2, in their order,
// with the key and the table that it goes to, of keys that the reference $3 has, too.
const ordinaryKeys = `SELECT c.oid, a.attname, n.nspname, r.relname FROM pg_catalog.pg_constraint c
		CROSS JOIN LATERAL pg_catalog.unnest(c.conkey) WITH ORDINALITY k(n, o)
		JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.n
		JOIN pg_catalog.pg_class r ON r.oid = c.confrelid
		JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace
	WHERE c.contype = 'f' AND c.conparentid = 0 AND c.conrelid = pg_catalog.to_regclass($1)
		AND NOT c.confrelid = ANY (SELECT pg_catalog.to_regclass(t) FROM pg_catalog.unnest($2::pg_catalog.text[]) t)
		AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute o
			WHERE o.attrelid = c.conrelid AND o.attnum = ANY (c.conkey) AND o.attname NOT IN (
				SELECT x.attname FROM pg_catalog.pg_attribute x WHERE x.attrelid = pg_catalog.to_regclass($3)
				AND NOT x.attisdropped))
	ORDER BY c.conname, k.o`

// Joined finds the foreign keys of a policy's tables to ordinary ones by which joins have much noise. What an ordinary
// table says beside a value may have been chosen by somebody who knows the reference, whoever may write to it now: so
// of as many rows as the columns have values it is not known where they belong.
func (s *Snapshot) Joined(ctx context.Context, p *policy.Policy, reader planner.Querier) (out []Joined, err error) {
	var protected []planner.Value
	for _, t := range s.Tables {
		protected = append(protected, planner.Value{Text: Quoted(t.Config.Qualified())})
	}

	for _, t := range s.Tables {
		if t.Policy != p || t.Table.Reference == "" || t.Config.Answers == policy.FromTwin {
			continue
		}
		values := [][]byte{[]byte(Quoted(t.Config.Qualified())), planner.Array(protected), []byte(t.Table.Reference)}
		rows, err := reader.Query(ctx, ordinaryKeys, values,
			[]uint32{pgtype.TextOID, pgtype.TextArrayOID, pgtype.TextOID})
		if err != nil {
			return nil, fmt.Errorf("looking for foreign keys of %s: %w", t.Table, err)
		}

		// A key's columns come in rows that follow each other.
		var columns []string
		for i, row := range rows {
			columns = append(columns, parser.QuoteIdent(row[1].Text))
			if i < len(rows)-1 && rows[i+1][0].Text == row[0].Text {
				continue
			}
			j := Joined{Table: t.Table, Columns: strings.Join(columns, ", "),
				To: policy.QualifiedName{Schema: row[2].Text, Name: row[3].Text}.String()}
			columns = nil
			if j.Values, err = t.values(ctx, reader, j.Columns); err != nil {
				return nil, err
			}
			if j.Values > manyPartners {
				out = append(out, j)
			}
		}
	}
	return out, nil
}

// values counts the combinations of values that columns have in the reference.
func (t *Protected) values(ctx context.Context, reader planner.Querier, columns string) (n int64, err error) {
	rows, err := reader.Query(ctx, "SELECT pg_catalog.count(*) FROM (SELECT DISTINCT "+columns+" FROM "+
		t.Table.Reference+") AS d", nil, nil)
	if err != nil {
		return 0, fmt.Errorf("counting the values of %s in the reference of %s: %w", columns, t.Table, err)
	}
	return strconv.ParseInt(rows[0][0].Text, 10, 64)
}
