// Package lex looks at the words of a text before anybody parses it: whether it holds a name that matters, whether it
// may leave something behind in the session, whether it changes a setting that Fugu depends on.
//
// Most texts are none of Fugu's business. To find that out must cost almost nothing, so everything here is one pass
// over bytes that allocates nothing, in the steps of PostgreSQL's scan.l. It errs to one side: a text that is not
// understood holds the name, and lasts. What is decided is then the parser's, or the server's own, to confirm.
package lex

import "strings"

// MaxBytes is the length of the longest text that Fugu reads.
const MaxBytes = 1 << 20

// QuoteIdent writes a name so that PostgreSQL reads it as it is.
func QuoteIdent(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// Words are the names that make a text more than ordinary. To look for all of them is one pass over the text, however
// many they are.
type Words struct {
	whole   map[string]bool // names that are identifiers without quotes, folded
	lengths [256]uint64     // of those, in bytes, as a set of bits; by first byte, in either case
	awkward []string        // names that need quotes, as they stand between them
}

// maxIdent is NAMEDATALEN-1 of PostgreSQL, in bytes: an identifier is cut there, at the end of a character.
const maxIdent = 63

// NewWords returns the words with these names, each of 1 to maxIdent bytes.
func NewWords(names ...string) *Words {
	w := &Words{whole: map[string]bool{}}
	for _, n := range names {
		w.Add(n)
	}
	return w
}

// Add takes a name of 1 to maxIdent bytes.
func (w *Words) Add(name string) {
	for i := range len(name) {
		if c := class[name[i]]; c == other || i == 0 && c != letter {
			w.awkward = append(w.awkward, strings.ReplaceAll(name, `"`, `""`))
			return
		}
	}
	var b [maxIdent]byte
	n := string(fold(&b, name))
	w.whole[n] = true
	w.lengths[n[0]] |= 1 << len(n)
	if 'a' <= n[0] && n[0] <= 'z' {
		w.lengths[n[0]-0x20] |= 1 << len(n)
	}
}

// fold writes s in lower case as PostgreSQL does in UTF-8: letters above ASCII stay as they are.
func fold(b *[maxIdent]byte, s string) []byte {
	for i := range len(s) {
		b[i] = s[i]
		if 'A' <= s[i] && s[i] <= 'Z' {
			b[i] |= 0x20
		}
	}
	return b[:len(s)]
}

// Classes of bytes, after ident_start and ident_cont in PostgreSQL's scan.l.
const (
	other = iota
	letter
	digit
	dollar
)

var class = func() (c [256]byte) {
	for b := range c {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '_', b >= 0x80:
			c[b] = letter
		case b >= '0' && b <= '9':
			c[b] = digit
		case b == '$':
			c[b] = dollar
		}
	}
	return c
}()

// In reports whether a text holds any of the words as an identifier, in any case, quoted or not. A word in a string or
// a comment counts too, and so does every identifier with Unicode escapes, U&"...": the parser finds out.
func (w *Words) In(sql string) bool {
	for i := 0; i < len(sql); {
		first := class[sql[i]]
		if first == other {
			if sql[i] == '&' && i > 0 && sql[i-1]|0x20 == 'u' && i+1 < len(sql) && sql[i+1] == '"' {
				return true
			}
			i++
			continue
		}
		start, last := i, first
		for i++; i < len(sql) && class[sql[i]] != other; i++ {
			last = max(last, class[sql[i]])
		}

		// A run without dollar signs that begins with a letter is one name.
		if first == letter && last != dollar {
			if w.is(sql[start:i]) {
				return true
			}
		} else if w.within(sql[start:i]) {
			return true
		}
	}

	for _, a := range w.awkward {
		if ContainsFold(sql, a) {
			return true
		}
	}
	return false
}

// within looks for the words in a run of letters, digits and dollar signs that may be more than one token: a number or
// a parameter can end where a name begins, and a dollar sign is part of a name or of a quote, as in $tag$.
func (w *Words) within(run string) bool {
	for start := range len(run) {
		if class[run[start]] != letter || start > 0 && class[run[start-1]] == letter {
			continue
		}
		for end := start + 1; ; end++ {
			whole := end == len(run) || end-start > maxIdent
			if (whole || class[run[end]] == dollar) && w.is(run[start:end]) {
				return true
			}
			if whole {
				break
			}
		}
	}
	return false
}

// is reports whether an identifier is one of the words, or is cut to one.
func (w *Words) is(ident string) bool {
	if len(ident) <= maxIdent {
		return w.has(ident)
	}
	for n := maxIdent; n > maxIdent-4; n-- { // a character has at most four bytes
		if w.has(ident[:n]) {
			return true
		}
	}
	return false
}

func (w *Words) has(ident string) bool {
	if w.lengths[ident[0]]&(1<<len(ident)) == 0 {
		return false
	}
	var b [maxIdent]byte
	return w.whole[string(fold(&b, ident))]
}

// ContainsFold is strings.Contains without regard to case; word is not empty.
func ContainsFold(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if s[i]|0x20 == word[0]|0x20 && strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}
