package lex

import "strings"

// shapeBytes is how long a text can be that is known by its shape.
const shapeBytes = 16 << 10

// constant is a string's content or a whole number in a text: n bytes at an offset, for which its shape has stand.
type constant struct{ at, n, stand int }

// constants finds those constants of a text that can be exchanged for others without its having other tokens (scan.l):
// what stands between quotes and has no backslash, and numbers of up to nine digits, which are integers. The others are
// left alone. ok is false where the text has what is read by more rules than these: then it is parsed.
func constants(sql string) (found []constant, ok bool) {
	if len(sql) > shapeBytes || strings.IndexByte(sql, 0) >= 0 {
		return nil, false
	}
	for i := 0; i < len(sql); {
		before := byte(' ')
		if i > 0 {
			before = sql[i-1]
		}
		switch c := sql[i]; {
		case c == '\\':
			return nil, false
		case strings.HasPrefix(sql[i:], "--"), strings.HasPrefix(sql[i:], "/*"):
			s := scanner{sql[i:]}
			if c == '-' {
				s.skip(strings.IndexAny(s.rest, "\n\r"))
			} else if !s.comment() {
				return nil, false
			}
			i = len(sql) - len(s.rest)
		case c == '"':
			end := strings.IndexByte(sql[i+1:], '"') // a quote within is written twice, as two names would be
			if end < 0 || before == '&' {
				return nil, false
			}
			i += end + 2
		case c == '\'':
			end := strings.IndexByte(sql[i+1:], '\'')
			if end < 0 || before == '&' || class[before] != other || strings.IndexByte(sql[i+1:i+1+end], '\\') >= 0 {
				return nil, false // E, B, X, N and U& in front have rules of their own
			}
			found = append(found, constant{i + 1, end, 0})
			i += end + 2
		case c == '$':
			n := digits(sql[i+1:])
			if n == 0 || i+1+n < len(sql) && class[sql[i+1+n]] != other {
				return nil, false // dollar quotes
			}
			i += 1 + n
		case class[c] == letter:
			for i++; i < len(sql) && class[sql[i]] != other; i++ {
			}
		case class[c] == digit:
			end := i
			for end < len(sql) && (class[sql[end]] != other || sql[end] == '.') {
				end++
			}
			if n := digits(sql[i:end]); n == end-i && n <= 9 && before != '.' {
				found = append(found, constant{i, n, 1})
			}
			i = end
		default:
			i++
		}
	}
	return found, true
}

// digits is the number of digits that a text begins with.
func digits(text string) int {
	n := 0
	for n < len(text) && class[text[n]] == digit {
		n++
	}
	return n
}

// Shape is a text without its constants. Texts of one shape have the same tokens but for the values of constants, so
// that PostgreSQL's grammar, which looks at the kinds of tokens, reads them as the same tree but for those values.
type Shape struct {
	Text      string
	constants []constant // of the text that it is of
}

// ShapeOf returns the shape of a text; ok is false for one that has none: it is to be parsed.
func ShapeOf(sql string) (shape Shape, ok bool) {
	found, ok := constants(sql)
	if !ok {
		return Shape{}, false
	}
	var b strings.Builder
	b.Grow(len(sql))
	at := 0
	for _, c := range found {
		b.WriteString(sql[at:c.at])
		b.WriteString("0"[:c.stand])
		at = c.at + c.n
	}
	b.WriteString(sql[at:])
	return Shape{b.String(), found}, true
}

// In moves offsets in the text, in order and none of them within a constant, to the shape.
func (s Shape) In(offsets []int) []int {
	out := make([]int, len(offsets))
	i, gone := 0, 0
	for k, at := range offsets {
		for ; i < len(s.constants) && s.constants[i].at < at; i++ {
			gone += s.constants[i].n - s.constants[i].stand
		}
		out[k] = at - gone
	}
	return out
}

// Out moves offsets in the shape, in order, to the text.
func (s Shape) Out(offsets []int) []int {
	out := make([]int, len(offsets))
	i, gone := 0, 0
	for k, at := range offsets {
		for ; i < len(s.constants) && s.constants[i].at-gone < at; i++ {
			gone += s.constants[i].n - s.constants[i].stand
		}
		out[k] = at + gone
	}
	return out
}
