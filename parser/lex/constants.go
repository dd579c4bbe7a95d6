package lex

import "strings"

// MaxConstants is how long a text can be, in bytes, whose constants are found.
const MaxConstants = 16 << 10

// Constant is a string's content or a whole number in a text: Len bytes at an offset, in whose place the text's shape
// has Stand bytes.
type Constant struct{ At, Len, Stand int }

// Constants finds those constants of a text that can be exchanged for others without its having other tokens (scan.l):
// what stands between quotes and has no backslash, and numbers of up to nine digits, which are integers. The others are
// left alone. ok is false where the text has what is read by more rules than these: then it is parsed.
func Constants(sql string) (found []Constant, ok bool) {
	if len(sql) > MaxConstants || strings.IndexByte(sql, 0) >= 0 {
		return nil, false
	}
	for i := 0; i < len(sql); {
		// What a token means can depend on the byte before it.
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
			found = append(found, Constant{i + 1, end, 0})
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
				found = append(found, Constant{i, n, 1})
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
func Shape(sql string, found []Constant) string {
	var b strings.Builder
	b.Grow(len(sql))
	at := 0
	for _, c := range found {
		b.WriteString(sql[at:c.At])
		b.WriteString("0"[:c.Stand])
		at = c.At + c.Len
	}
	b.WriteString(sql[at:])
	return b.String()
}
