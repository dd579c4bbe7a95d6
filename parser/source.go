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
//
// Each constant of a statement asks for its position. So characters are counted once, and again only from the beginning
// of the block that an offset is in: counted from the text's beginning, a list of 200,000 numbers took seconds.
type source struct {
	sql string
	// before are the characters before each block of blockBytes bytes.
	before []int
}

const blockBytes = 512

func newSource(sql string) *source {
	s := &source{sql: sql, before: make([]int, 1, len(sql)/blockBytes+1)}
	for at := blockBytes; at <= len(sql); at += blockBytes {
		s.before = append(s.before, s.before[len(s.before)-1]+countCharacters(sql[at-blockBytes:at]))
	}
	return s
}

// countCharacters counts the beginnings of characters in a piece of a text, which may begin and end within one.
func countCharacters(piece string) (n int) {
	for i := range len(piece) {
		if utf8.RuneStart(piece[i]) {
			n++
		}
	}
	return n
}

// position returns the 1-based character position of a byte offset; 0 (none) for a negative one.
func (s *source) position(offset int32) int {
	if offset < 0 || int(offset) > len(s.sql) {
		return 0
	}
	block := int(offset) / blockBytes
	return s.before[block] + countCharacters(s.sql[block*blockBytes:offset]) + 1
}

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
