package parser

import (
	"errors"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	pgerror "github.com/pganalyze/pg_query_go/v6/parser"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// source is the text that a tree was read from; it turns the tree's byte offsets into positions.
type source struct{ sql string }

// position returns the 1-based character position of a byte offset; 0 (none) for a negative one.
func (s *source) position(offset int32) int { return tree.Position(s.sql, offset) }

// refuse is the error of what cannot be answered, at a byte offset.
func (s *source) refuse(offset int32, hint, format string, args ...any) error {
	return sqlstate.New(sqlstate.NotAnswerable, format, args...).WithHint("%s", hint).At(s.position(offset))
}

// placed gives an error about a relation the place where the statement names it.
func placed(err error, position int) error {
	var known *sqlstate.Error
	if errors.As(err, &known) {
		return known.At(max(1, position))
	}
	return err
}

// location returns the byte offset at which the first part of n stands, -1 where nothing below n has one.
func location(n *pg.Node) int32 {
	best := int32(-1)
	tree.Inspect(n, func(m proto.Message) bool {
		// An unset location reads as 0, where no expression can start: a statement begins with a keyword.
		if l := tree.LocationOf(m); l > 0 && (best < 0 || l < best) {
			best = l
		}
		return true
	})
	return best
}

func charPosition(sql string, offset int) int { return utf8.RuneCountInString(sql[:offset]) + 1 }

// syntaxError turns an error of the parser's into PostgreSQL's 42601.
func syntaxError(sql string, err error) error {
	var pe *pgerror.Error
	if errors.As(err, &pe) {
		e := sqlstate.New(sqlstate.SyntaxError, "%s", pe.Message)
		if pe.Cursorpos > 0 { // PostgreSQL's scanner already counts in characters, from 1
			e = e.At(min(pe.Cursorpos, utf8.RuneCountInString(sql)+1))
		}
		return e
	}
	return sqlstate.New(sqlstate.SyntaxError, "the statement cannot be parsed").Because(err)
}
