package shadow

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/lex"
	"fugu/parser/tree"
)

// Suspects is the first look: whether a text has any word that could make it need the shadows.
func (s *Shadows) Suspects(sql string) bool { return s != nil && suspicious(sql, maskedWords) }

// Touches is the first look for the shadows and for an Introspection at once. It is all that other texts pay.
func (s *Shadows) Touches(sql string) bool { return s != nil && suspicious(sql, listedWords) }

// Mentions reports whether a text could need the shadows: whether it names what they stand for, or holds code of its
// own. It errs towards true.
func (s *Shadows) Mentions(sql string) bool {
	if !s.Suspects(sql) {
		return false
	}
	scan, err := pg.Scan(sql)
	return err != nil || speaks(sql, scan.Tokens) || ambiguous(sql, scan.Tokens)
}

// ambiguous reports whether a string may end elsewhere for the server than for Fugu. Sessions are pinned to
// standard_conforming_strings and UTF-8, but a function has settings of its own, and those of a session last until it
// is told to report them: with the one off, a backslash takes the quote behind it along; in encodings like GBK, it is
// the second half of a character.
func ambiguous(sql string, tokens []*pg.ScanToken) bool {
	for _, t := range tokens {
		text := sql[t.Start:t.End]
		if t.Token != pg.Token_SCONST || strings.HasPrefix(text, "$") {
			continue
		}
		for i := 1; i < len(text); i++ {
			if text[i] != '\'' || text[i-1] != '\\' {
				continue
			}
			before := strings.TrimRight(text[:i], `\`)
			if text[0] == '\'' || before[len(before)-1] >= 0x80 {
				return true
			}
		}
	}
	return false
}

// wordSet is which words a first look finds.
type wordSet bool

const (
	maskedWords wordSet = false // names of what is masked or refused
	listedWords wordSet = true  // and of what an Introspection changes
)

// suspicious is a first look at the words of a text, in strings and comments too: whether it has code of its own, names
// that are written with escapes, or words of a set.
func suspicious(sql string, words wordSet) bool {
	for i := 0; i < len(sql); {
		if c := sql[i] | 0x20; c < 'a' || c > 'z' {
			i++
			continue
		}

		start := i
		for i < len(sql) && wordBytes[sql[i]] {
			i++
		}

		// Most words are none of those looked for by their length alone, and are not folded.
		first := sql[start] | 0x20
		if n := i - start; n > maxWord || shadowLengths[first]>>n&1 == 0 && prefixesBy[first] == nil {
			continue
		}
		var folded [maxWord]byte
		for k := range i - start {
			folded[k] = sql[start+k]
			if c := folded[k]; c >= 'A' && c <= 'Z' {
				folded[k] = c | 0x20
			}
		}

		switch w := folded[:i-start]; string(w) {
		case "u":
			if strings.HasPrefix(sql[i:], `&"`) {
				return true
			}
		case "do":
			// Not the DO of ON CONFLICT, which long statements have.
			next := strings.ToLower(strings.TrimLeft(sql[i:min(len(sql), i+32)], " \t\r\n"))
			if !strings.HasPrefix(next, "nothing") && !strings.HasPrefix(next, "update") {
				return true
			}
		case "function", "procedure":
			return true
		default:
			if shadowWord(w) || words == listedWords && introspective(w) {
				return true
			}
		}
	}
	return false
}

// maxWord is the length to which PostgreSQL cuts identifiers; all names here are shorter.
const maxWord = 63

var wordBytes = func() (word [256]bool) {
	for c := range word {
		word[c] = c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_'
	}
	return word
}()

// shadowLengths are the lengths of the words that matter, by first byte, as sets of bits.
var shadowLengths = func() (lengths [256]uint64) {
	for _, w := range slices.Concat([]string{"u", "do", "function", "procedure", "ts_rewrite", informationSchema},
		slices.Collect(maps.Keys(shadowed)),
		slices.Collect(maps.Keys(shadowFunctions)), slices.Collect(maps.Keys(privilegeFunctions))) {
		lengths[w[0]] |= 1 << len(w)
	}
	return lengths
}()

// shadowWord reports whether an identifier is the name of anything that is masked or refused.
func shadowWord(w []byte) bool {
	if _, relation := shadowed[string(w)]; relation {
		return true
	}
	if _, function := shadowFunctions[string(w)]; function || string(w) == "ts_rewrite" {
		return true
	}
	// Most words begin in no such way.
	for _, p := range prefixesBy[w[0]] {
		if bytes.HasPrefix(w, []byte(p)) {
			return unknownStatistics(string(w)) || functionKind(string(w)) != openFunction
		}
	}
	return false
}

// prefixesBy are the beginnings of names that are known by their beginning, by their first byte.
var prefixesBy = func() (by [256][]string) {
	for _, p := range append([]string{"pg_stat_", "pg_statio_"}, shadowPrefixNames()...) {
		by[p[0]] = append(by[p[0]], p)
	}
	return by
}()

// speaks is the second look, at tokens: names, but not strings and comments, and code in strings.
func speaks(sql string, tokens []*pg.ScanToken) bool {
	for i, t := range tokens {
		text := strings.ToLower(sql[t.Start:t.End])

		// What runs code that is in a string is told by its first word: DO, but not ON CONFLICT DO; and CREATE
		// FUNCTION, but not EXECUTE FUNCTION of a trigger.
		switch t.Token {
		case pg.Token_UIDENT:
			return true
		case pg.Token_DO:
			if i+1 == len(tokens) || !slices.Contains([]pg.Token{pg.Token_NOTHING, pg.Token_UPDATE, pg.Token_ALSO,
				pg.Token_INSTEAD}, tokens[i+1].Token) {
				return true
			}
		case pg.Token_FUNCTION, pg.Token_PROCEDURE:
			if i > 0 && slices.Contains([]pg.Token{pg.Token_CREATE, pg.Token_REPLACE, pg.Token_SQL_COMMENT,
				pg.Token_C_COMMENT}, tokens[i-1].Token) {
				return true
			}
		case pg.Token_SCONST, pg.Token_USCONST, pg.Token_SQL_COMMENT, pg.Token_C_COMMENT:
		default:
			if name := strings.Trim(text, `"`); name != "" && shadowWord([]byte(name)) {
				return true
			}
		}
	}
	return false
}

// refuseDynamic refuses code that could run SQL which is put together when it runs, or that Fugu cannot read.
func (s *shadowing) refuseDynamic(root *pg.Node) error {
	var err error
	tree.Inspect(root, func(m proto.Message) bool {
		switch x := m.(type) {
		case *pg.DoStmt:
			if language, code := tree.Code(x.Args); !static(language, code) {
				err = s.refuse(s.Begin, bodyHint, "this DO block could read what Fugu cannot see")
			}
		case *pg.CreateFunctionStmt:
			if language, code := tree.Code(x.Options); x.SqlBody == nil && !static(language, code) {
				err = s.refuse(s.Begin, bodyHint, "this function could read what Fugu cannot see")
			}
		}
		return err == nil
	})
	return err
}

const bodyHint = "PL/pgSQL without EXECUTE, and SQL, are accepted where they name no statistics of the catalog."

// static reports whether code can run no SQL but what is written in it, and nothing of that is shadowed. In PL/pgSQL
// every way to run a text as SQL has the key word EXECUTE (manual, chapter 43.5.4).
func static(language, code string) bool {
	if language != "sql" && language != "plpgsql" || len(code) > lex.MaxBytes {
		return false
	}
	scan, err := pg.Scan(code)
	if err != nil || speaks(code, scan.Tokens) || ambiguous(code, scan.Tokens) && (suspicious(code, maskedWords) ||
		strings.Contains(strings.ToLower(code), "execute")) {
		return false
	}
	return language == "sql" || !slices.ContainsFunc(scan.Tokens,
		func(t *pg.ScanToken) bool { return t.Token == pg.Token_EXECUTE })
}
