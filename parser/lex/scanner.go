package lex

import "strings"

// scanner finds the words of a text and where its statements end, as PostgreSQL's scan.l does with
// standard_conforming_strings on. Strings, comments, numbers and operators are passed over.
type scanner struct{ rest string }

type token int

const (
	noToken        token = iota // the text is over
	wordToken                   // an identifier, quoted or not, or a keyword
	endOfStatement              // a semicolon
	awkwardToken                // not known: it does not end, or has Unicode escapes
)

// next gives the next token, and the word that it is.
func (s *scanner) next() (word, token) {
	for len(s.rest) > 0 {
		c := s.rest[0]

		// What stands in comments and strings is no word of the statement. One that does not end is awkward: the
		// server may read on where this does not.
		switch {
		case c == ';':
			s.rest = s.rest[1:]
			return word{}, endOfStatement
		case strings.HasPrefix(s.rest, "--"):
			s.skip(strings.IndexAny(s.rest, "\n\r"))
		case strings.HasPrefix(s.rest, "/*"):
			if !s.comment() {
				return word{}, awkwardToken
			}
		case c == '\'':
			if !s.quoted('\'', noEscapes) {
				return word{}, awkwardToken
			}
		case c == '"':
			whole := s.rest
			if !s.quoted('"', noEscapes) {
				return word{}, awkwardToken
			}
			return word{whole[1 : len(whole)-len(s.rest)-1], true}, wordToken
		case c == '$':
			if !s.dollar() {
				return word{}, awkwardToken
			}
		case class[c] == letter:
			w := s.identifier()

			// E before a string changes how it ends, and U& may spell a name in another way.
			switch {
			case strings.HasPrefix(s.rest, "'") && len(w) == 1 && w[0]|0x20 == 'e':
				if !s.quoted('\'', backslashEscapes) {
					return word{}, awkwardToken
				}
				continue
			case strings.HasPrefix(s.rest, "&") && len(w) == 1 && w[0]|0x20 == 'u':
				return word{}, awkwardToken
			}
			return word{w, false}, wordToken
		default: // digits too: a name may begin where a number ends, and is found then
			s.rest = s.rest[1:]
		}
	}
	return word{}, noToken
}

// skip drops n bytes; all, if n is negative.
func (s *scanner) skip(n int) {
	if n < 0 {
		n = len(s.rest)
	}
	s.rest = s.rest[n:]
}

// identifier takes a word without quotes.
func (s *scanner) identifier() string {
	n := 1
	for n < len(s.rest) && class[s.rest[n]] != other {
		n++
	}
	w := s.rest[:n]
	s.rest = s.rest[n:]
	return w
}

// comment drops a comment, and those within it; it is false where it does not end.
func (s *scanner) comment() bool {
	for depth, i := 0, 0; i+1 < len(s.rest); i++ {
		switch s.rest[i : i+2] {
		case "/*":
			depth, i = depth+1, i+1
		case "*/":
			depth, i = depth-1, i+1
		}
		if depth == 0 {
			s.rest = s.rest[i+1:]
			return true
		}
	}
	return false
}

// escapes says whether a backslash in quotes takes what is behind it along: in strings that begin with E alone.
type escapes bool

const (
	noEscapes        escapes = false
	backslashEscapes escapes = true
)

// quoted drops what stands in quotes, in which a quote is written twice, or escaped.
func (s *scanner) quoted(quote byte, e escapes) bool {
	for i := 1; i < len(s.rest); i++ {
		switch {
		case e == backslashEscapes && s.rest[i] == '\\':
			i++
		case s.rest[i] != quote:
		case i+1 < len(s.rest) && s.rest[i+1] == quote:
			i++
		default:
			s.rest = s.rest[i+1:]
			return true
		}
	}
	return false
}

// dollar drops a parameter, or a string in dollar quotes.
func (s *scanner) dollar() bool {
	n := 1
	for n < len(s.rest) && (class[s.rest[n]] == letter || n > 1 && class[s.rest[n]] == digit) {
		n++
	}
	if n == len(s.rest) || s.rest[n] != '$' {
		s.rest = s.rest[1:]
		return true
	}
	tag := s.rest[:n+1]
	end := strings.Index(s.rest[n+1:], tag)
	if end < 0 {
		return false
	}
	s.skip(n + 1 + end + len(tag))
	return true
}
