package parser

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

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

// Inline writes values, in their text form, in the place of the parameters of sql, of which the first has that number:
// for statements that take no parameters. A parameter that has no value is an error. It reads sql token by token as
// PostgreSQL does, and the literals it writes mean the same whatever standard_conforming_strings says.
func Inline(sql string, first int, values [][]byte) (string, error) {
	scan, err := pg.Scan(sql)
	if err != nil {
		return "", fmt.Errorf("writing values into a statement: %w", err)
	}

	var b strings.Builder
	at := 0

	// What stands between two parameters is taken over as it is.
	for _, t := range scan.Tokens {
		if t.Token != pg.Token_PARAM {
			continue
		}
		n, err := strconv.Atoi(sql[t.Start+1 : t.End])
		if err != nil || n < first || n-first >= len(values) {
			return "", errors.New("writing values into a statement: a parameter has none")
		}
		b.WriteString(sql[at:t.Start])
		b.WriteString(literal(string(values[n-first])))
		at = int(t.End)
	}
	b.WriteString(sql[at:])
	return b.String(), nil
}

// literal writes an escape string constant (manual, section 4.1.2.2), set off from what stands before it.
func literal(s string) string {
	return " E'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// Beginning is the offset of the first token of a text behind offset, and the last line of the comment that stands
// before it, which people take for a title; empty where there is none, or it is not of the form -- TEXT.
func Beginning(sql string, offset int) (at int, title string) {
	at = beginning(sql, offset)
	lines := strings.Split(strings.TrimSpace(sql[offset:at]), "\n")
	if text, ok := strings.CutPrefix(strings.TrimSpace(lines[len(lines)-1]), "--"); ok {
		title = strings.TrimSpace(text)
	}
	return at, title
}

// beginning is the offset at which the first token of a text behind offset stands: what is before is white space and
// comments.
func beginning(sql string, offset int) int {
	for {
		rest := strings.TrimLeft(sql[offset:], " \t\n\v\f\r")
		offset = len(sql) - len(rest)

		// A comment that does not end is the rest of the text: there is no token.
		switch {
		case strings.HasPrefix(rest, "--"):
			n := strings.IndexAny(rest, "\n\r")
			if n < 0 {
				return offset
			}
			offset += n
		case strings.HasPrefix(rest, "/*"):
			n := comment(rest)
			if n < 0 {
				return offset
			}
			offset += n
		default:
			return offset
		}
	}
}

// comment is the length of the comment that a text begins with, and which may have others within it; -1: it does not
// end.
func comment(text string) int {
	for depth, i := 0, 0; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "/*":
			depth, i = depth+1, i+1
		case "*/":
			depth, i = depth-1, i+1
		}
		if depth == 0 {
			return i + 1
		}
	}
	return -1
}
