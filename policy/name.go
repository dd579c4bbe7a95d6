package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"fugu/internal/strictyaml"
)

// QualifiedName names a table as PostgreSQL stores the name: folded, without quotes.
type QualifiedName struct {
	Schema, Name string
}

// String writes the name as SQL, quoted where it must be.
func (q QualifiedName) String() string { return quoteIdent(q.Schema) + "." + quoteIdent(q.Name) }

// maxIdent is NAMEDATALEN-1; PostgreSQL cuts longer names, which is no way to say what is protected.
const maxIdent = 63

// ParseName reads `table` (of schema public) or `schema.table`. Each part is folded to lower case unless it is in
// double quotes (PostgreSQL manual, section 4.1.1).
func ParseName(s string) (QualifiedName, error) {
	first, rest, err := ident(s)
	switch {
	case err != nil:
		return QualifiedName{}, err
	case rest == "":
		return QualifiedName{Schema: "public", Name: first}, nil
	case rest[0] != '.':
		return QualifiedName{}, errors.New("a name with other characters must be in double quotes")
	}

	// What follows the dot is the table, and the end.
	second, rest, err := ident(rest[1:])
	switch {
	case err != nil:
		return QualifiedName{}, err
	case strings.HasPrefix(rest, "."):
		return QualifiedName{}, errors.New("a name has at most two parts, schema and table")
	case rest != "":
		return QualifiedName{}, errors.New("a name with other characters must be in double quotes")
	}
	return QualifiedName{Schema: first, Name: second}, nil
}

func parseColumn(s string) (string, error) {
	name, rest, err := ident(s)
	if err == nil && rest != "" {
		err = errors.New("a column is named without its table, and a name with other characters must be in double " +
			"quotes")
	}
	return name, err
}

// ident reads one identifier from the front of s.
func ident(s string) (name, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		name, rest, err = quotedIdent(s[1:])
	} else {
		n := 0
		for n < len(s) && identByte(s[n], n == 0) {
			n++
		}
		name, rest = foldASCII(s[:n]), s[n:]
	}
	switch {
	case err != nil:
		return "", "", err
	case name == "":
		return "", "", errors.New("a name starts with a letter or an underscore, or is in double quotes")
	case strings.ContainsRune(name, 0):
		return "", "", errors.New("a name has no NUL character")
	case len(name) > maxIdent:
		return "", "", fmt.Errorf("a name has at most %d bytes", maxIdent)
	}
	return name, rest, nil
}

func quotedIdent(s string) (name, rest string, err error) {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			return "", "", errors.New("a double quote is not closed")
		}
		b.WriteString(s[:i])
		s = s[i+1:]
		if !strings.HasPrefix(s, `"`) {
			return b.String(), s, nil
		}
		b.WriteByte('"')
		s = s[1:]
	}
}

// identByte follows ident_start and ident_cont of PostgreSQL's lexer: every byte above ASCII is a letter.
func identByte(c byte, first bool) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c >= 0x80:
		return true
	case c >= '0' && c <= '9', c == '$':
		return !first
	}
	return false
}

// foldASCII leaves letters above ASCII alone, as PostgreSQL does in a multi-byte encoding.
func foldASCII(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' {
			return c - 'A' + 'a'
		}
		return c
	}, s)
}

func quoteIdent(s string) string {
	plain := s != ""
	for i := range len(s) {
		plain = plain && identByte(s[i], i == 0) && (s[i] < 'A' || s[i] > 'Z')
	}
	if plain {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// systemSchema reports whether a schema belongs to PostgreSQL or to the proxy's own virtual tables.
func systemSchema(schema string) bool {
	return strings.HasPrefix(schema, "pg_") || schema == "information_schema" || schema == "fugu"
}

// entryName and valueName read a name as SQL does. A capital letter in a name whose only quotes are YAML's would be
// folded, which whoever wrote the quotes hardly meant.
func entryName[N any](r *strictyaml.Report, e strictyaml.Entry, parse func(string) (N, error)) (N, bool) {
	return sqlName(e.Key, e.Quoted, parse,
		func(hint, format string, args ...any) { r.Add(e.At, hint, format, args...) })
}

func valueName[N any](v *strictyaml.Value, parse func(string) (N, error)) (N, bool) {
	text, ok := v.Text()
	if !ok {
		var none N
		return none, false
	}
	return sqlName(text, v.Quoted, parse, v.Bad)
}

func sqlName[N any](text string, quoted bool, parse func(string) (N, error),
	bad func(hint, format string, args ...any)) (N, bool) {
	name, err := parse(text)
	switch {
	case err != nil:
		bad("", "%q is not a name in SQL: %v", text, err)
	case quoted && foldASCII(text) != text && !hasQuote(text):
		bad(`write '"Name"' to keep the capitals, or the name in lower case`,
			"%q: the quotes are YAML's, and SQL would fold the capitals", text)
	default:
		return name, true
	}
	var none N
	return none, false
}

func hasQuote(s string) bool { return strings.Contains(s, `"`) }

var labelPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$`)

const labelRule = "a name of at most 63 letters, digits, _, - and ., not starting with - or ."

// Position is a line and column in the policy file, each from 1.
type Position = strictyaml.Position
