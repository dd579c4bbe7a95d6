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

// Repeated is how many rows of a reference have a key that another row of it has as well.
type Repeated struct {
	Table, Columns string // as SQL writes them
	Rows, Of       int64
}

// uniqueKeys are the columns of what is unique in the table $1, key by key, and whether the reference $2 has each of
// them.
const uniqueKeys = `SELECT i.indexrelid, a.attname, EXISTS (SELECT FROM pg_catalog.pg_attribute r
		WHERE r.attrelid = pg_catalog.to_regclass($2) AND r.attname = a.attname AND NOT r.attisdropped)
	FROM pg_catalog.pg_index i
		CROSS JOIN LATERAL pg_catalog.unnest(i.indkey[:i.indnkeyatts - 1]) WITH ORDINALITY k(n, o)
		JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.n
	WHERE i.indrelid = pg_catalog.to_regclass($1) AND i.indisunique AND i.indpred IS NULL AND NOT 0 = ANY (i.indkey)
	ORDER BY i.indisprimary DESC, i.indexrelid, k.o`

// Repeated counts, for each key of a policy's tables, the rows of the reference that share it with another. Such rows
// are several of one subject, two years of the same customers say: a model takes them for independent, and itself for
// surer than it is; and a row that is linked to one of them finds two.
func (s *Snapshot) Repeated(ctx context.Context, p *policy.Policy, reader planner.Querier) (out []Repeated, err error) {
	for _, t := range s.Tables {
		if t.Policy != p || t.Table.Reference == "" {
			continue
		}

		keys, err := t.keys(ctx, s, reader)
		if err != nil {
			return nil, err
		}

		// Keys that no rows share are not worth a word.
		for _, columns := range keys {
			r, err := t.repeated(ctx, reader, columns)
			if err != nil {
				return nil, err
			}
			if r.Rows > 0 {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// keys are what names one row of a table, each once: what is unique in it and in the reference can be, and what other
// tables of the policy are linked to.
func (t *Protected) keys(ctx context.Context, s *Snapshot, reader planner.Querier) (out [][]string, err error) {
	names := [][]byte{[]byte(Quoted(t.Config.Qualified())), []byte(t.Table.Reference)}
	rows, err := reader.Query(ctx, uniqueKeys, names, []uint32{pgtype.TextOID, pgtype.TextOID})
	if err != nil {
		return nil, fmt.Errorf("looking for the keys of %s: %w", t.Table, err)
	}

	seen := map[string]bool{}
	add := func(columns []string) {
		if id := strings.Join(columns, "\x00"); len(columns) > 0 && !seen[id] {
			seen[id] = true
			out = append(out, columns)
		}
	}

	// The columns of a key come in rows that follow each other; all of them have to be there.
	var columns []string
	there := true
	for i, row := range rows {
		columns, there = append(columns, parser.QuoteIdent(row[1].Text)), there && row[2].Text == "t"
		if i < len(rows)-1 && rows[i+1][0].Text == row[0].Text {
			continue
		}
		if there {
			add(columns)
		}
		columns, there = nil, true
	}

	for _, o := range s.Tables {
		if o.Policy != t.Policy || o.Config.Link == nil || o.Config.Link.To != t.Config.Qualified() {
			continue
		}
		var onto []string
		for _, on := range o.Config.Link.On {
			onto = append(onto, parser.QuoteIdent(on.To))
		}
		add(onto)
	}
	return out, nil
}

// repeated counts the reference's rows with a value of columns that stands there more than once. NULL is like no other.
func (t *Protected) repeated(ctx context.Context, reader planner.Querier, columns []string) (Repeated, error) {
	list := strings.Join(columns, ", ")
	r := Repeated{Table: t.Table.String(), Columns: list}
	sql := fmt.Sprintf(`
		SELECT coalesce(pg_catalog.sum(n) FILTER (WHERE whole AND n > 1), 0), coalesce(pg_catalog.sum(n), 0)
		FROM (SELECT pg_catalog.count(*) AS n, ROW(%[1]s) IS NOT NULL AS whole FROM %[2]s GROUP BY %[1]s) AS k`,
		list, t.Table.Reference)
	rows, err := reader.Query(ctx, sql, nil, nil)
	if err != nil {
		return r, fmt.Errorf("counting the rows of the reference of %s by %s: %w", t.Table, list, err)
	}
	if r.Rows, err = strconv.ParseInt(rows[0][0].Text, 10, 64); err != nil {
		return r, err
	}
	r.Of, err = strconv.ParseInt(rows[0][1].Text, 10, 64)
	return r, err
}
