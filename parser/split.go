package parser

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/sqlstate"
)

// Split takes a text of several statements apart at the semicolons between them.
func Split(sql string) ([]string, error) {
	parts, err := pg.SplitWithScanner(sql, true)
	if err != nil {
		return nil, sqlstate.New(sqlstate.SyntaxError, "the text cannot be read as SQL").Because(err)
	}
	return parts, nil
}
