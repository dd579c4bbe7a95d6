package parser

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// ReadWhole has a SELECT of ours read tables from end to end, once, before it reads anything else, and go on with what
// it has read. Everybody sees which blocks of an ordinary table the server has in memory, and PostgreSQL stops reading
// one where a join has found what it looks for, or never begins where nobody looks: that is told by protected rows.
//
// Each table becomes a WITH query that is materialized, which PostgreSQL keeps in the memory of the session. The offset
// counts its rows, and is evaluated before the first row of the SELECT is asked for (PostgreSQL's nodeLimit.c).
func ReadWhole(sql string, tables []Table) (string, error) {
	if len(tables) == 0 {
		return sql, nil
	}
	parsed, err := pg.Parse(sql)
	if err != nil {
		return "", fmt.Errorf("reading tables whole: %w", err)
	}
	if s := parsed.Stmts[0].Stmt.GetSelectStmt(); s == nil || s.LimitOffset != nil || s.WithClause != nil {
		return "", errors.New("reading tables whole: it is no plain SELECT")
	}

	// A table that the client wrote in two ways comes twice. Its first WITH query takes the place of every name of it;
	// the second is read for the offset alone.
	var with, rows []string
	for i, t := range tables {
		name := "fugu whole " + strconv.Itoa(i+1)
		tree.Inspect(parsed, func(m proto.Message) bool {
			if r, ok := m.(*pg.RangeVar); ok && r.Schemaname == t.Schema && r.Relname == t.Name {
				r.Schemaname, r.Relname = "", name
			}
			return true
		})

		columns := make([]string, len(t.Columns))
		for j, c := range t.Columns {
			columns[j] = "t." + QuoteIdent(c)
		}
		with = append(with, QuoteIdent(name)+" AS MATERIALIZED (SELECT "+strings.Join(columns, ", ")+" FROM "+
			QuoteIdent(t.Schema)+"."+QuoteIdent(t.Name)+" AS t)")
		rows = append(rows, "(SELECT pg_catalog.count(*) FROM "+QuoteIdent(name)+")")
	}

	text, err := deparse(parsed.Stmts[0].Stmt, parsed.Version, 1, nil)
	if err != nil {
		return "", err
	}
	return "WITH " + strings.Join(with, ", ") + " " + text + " OFFSET (" + strings.Join(rows, " + ") + ") * 0", nil
}
