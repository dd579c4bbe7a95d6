package parser

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/lex"
	"fugu/sqlstate"
)

// Limits of a statement that has to be parsed. libpg_query recurses on the C stack, and an overflow there kills the
// process: its parser does at about 22,000 nested operators, its deparser at about 4,500. Every level of nesting takes
// at least one token that is neither a comma nor a constant, so a limit on those is a limit on the depth.
const (
	maxBytes  = lex.MaxBytes
	maxTokens = 1500
)

// guardHint says which statements have a limit: those that name nothing of the kind go to the database unread.
const guardHint = "It names protected data, or functions or relations of the catalog that can show some. "

// guard refuses text that the parser could not survive, or could read otherwise than the server does.
func guard(sql string) error {
	if i := strings.IndexByte(sql, 0); i >= 0 {
		return sqlstate.New(sqlstate.SyntaxError, "a statement cannot hold a NUL byte").At(charPosition(sql, i))
	}
	if len(sql) > maxBytes {
		return sqlstate.New(sqlstate.ProgramLimitExceeded,
			"a statement that Fugu has to read can have at most %d bytes, this one has %d", maxBytes, len(sql)).
			WithHint(guardHint + "Load long lists of values into a temporary table.")
	}

	// Most texts are far from the limit, and need not be scanned for that.
	if atMost(sql) <= maxTokens {
		return nil
	}
	scan, err := pg.Scan(sql)
	if err != nil {
		return syntaxError(sql, err)
	}

	n := 0
	for _, t := range scan.Tokens {
		switch t.Token {
		case pg.Token_ASCII_44, pg.Token_SCONST, pg.Token_ICONST, pg.Token_FCONST, pg.Token_PARAM, pg.Token_SQL_COMMENT,
			pg.Token_C_COMMENT:
			continue
		}
		if n++; n > maxTokens {
			return sqlstate.New(sqlstate.StatementTooComplex,
				"a statement that Fugu has to read can have at most %d words and operators", maxTokens).
				WithHint(guardHint + "Split it, or use IN with a list of constants, which do not count.").
				At(charPosition(sql, int(t.Start)))
		}
	}
	return nil
}

// atMost bounds the number of tokens in a text from above, without scanning it: it counts the places where one could
// begin. None begins at a space, nor at a letter behind a letter: what a letter follows in one token ends at the end of
// the letters at the earliest (scan.l: ident_cont, and the exponents and prefixes of numbers).
func atMost(sql string) int {
	n := 0
	behind := false // a letter
	for i := range len(sql) {
		c := sql[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80
		if space := c == ' ' || c >= '\t' && c <= '\r'; !space && !(letter && behind) {
			n++
		}
		behind = letter
	}
	return n
}
