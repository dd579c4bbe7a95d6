package parser

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
)

// Edit is a change of a text where it stands: the word put takes the place of cut bytes at an offset.
type Edit struct {
	At, Cut int
	Put     string
}

// Splice is a client's text in which nothing but names was changed, so that it is sent as the client's own would be.
type Splice struct {
	Text  string
	Edits []Edit // of the client's text, in order
	// Plain: all of it are SELECT, INSERT, UPDATE, DELETE and MERGE, in which no string is code, nor a name.
	Plain  bool
	client string
}

// Spliced changes a text. The edits are in order, and do not overlap.
func Spliced(sql string, edits []Edit) Splice {
	var b strings.Builder
	n := len(sql)
	for _, e := range edits {
		n += len(e.Put) - e.Cut
	}
	b.Grow(n)
	at := 0
	for _, e := range edits {
		b.WriteString(sql[at:e.At])
		b.WriteString(e.Put)
		at = e.At + e.Cut
	}
	b.WriteString(sql[at:])
	return Splice{Text: b.String(), Edits: edits, client: sql}
}

// At gives the position in the client's text of one in the spliced text, both in characters from 1; 0 stays 0.
func (s *Splice) At(position int32) int32 {
	if position < 1 {
		return 0
	}
	offset := 0 // in bytes, of the spliced text
	for range position - 1 {
		_, n := utf8.DecodeRuneInString(s.Text[offset:])
		offset += n
	}
	moved := 0
	for _, e := range s.Edits {
		begin := e.At + moved
		if offset < begin {
			break
		}
		if offset < begin+len(e.Put) { // within what the client did not write
			return int32(charPosition(s.client, e.At))
		}
		moved += len(e.Put) - e.Cut
	}
	return int32(charPosition(s.client, min(offset-moved, len(s.client))))
}

// Rename makes a text's statements mean twins by edits alone; ok is false where there is more to them. That it is the
// same as what they became is not believed but read: the text has to be that of their trees, every field of them.
func Rename(sql string, statements []*Statement) (out Splice, ok bool) {
	parsed := &pg.ParseResult{}
	var edits []Edit
	twins, plain := false, true
	for _, s := range statements {
		if s.Setting != nil || !s.Ordinary() && !s.onlyRenamed() {
			return Splice{}, false
		}
		twins = twins || s.renamed
		plain = plain && plainly(s.root.Stmt)
		edits = append(edits, s.edits...)
		parsed.Version, parsed.Stmts = s.version, append(parsed.Stmts, &pg.RawStmt{Stmt: s.root.Stmt})
	}
	if !twins {
		return Splice{}, false
	}

	// Some nodes stand in a tree in several places: a = of UPDATE t SET (x, y) = (...) is of each column.
	slices.SortFunc(edits, func(a, b Edit) int { return cmp.Compare(a.At, b.At) })
	edits = slices.Compact(edits)
	for i := 1; i < len(edits); i++ {
		if edits[i].At < edits[i-1].At+max(1, edits[i-1].Cut) {
			return Splice{}, false
		}
	}
	out = Spliced(sql, edits)
	out.Plain = plain
	same, err := tree.Reads(out.Text, parsed)
	return out, err == nil && same
}

// onlyRenamed reports whether nothing is asked of Fugu but the names of twins.
func (s *Statement) onlyRenamed() bool {
	return s.renamed && len(s.Cuts)+len(s.Virtual) == 0 && s.Plain == nil && s.Explain == NoExplain && s.Execute == nil &&
		s.Show == ""
}

// plainly reports whether a statement is of the kinds in which a constant is a value, whatever it is.
func plainly(root *pg.Node) bool {
	switch root.GetNode().(type) {
	case *pg.Node_SelectStmt, *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_MergeStmt:
		return true
	}
	return false
}

// rename notes the edit of a name that stands at an offset with these qualifiers, empty where it has none: the schema
// of twins takes the place of the last.
func (t *twinning) rename(location int32, database, schema string) {
	at := int(location)
	switch {
	case t.inBody || at <= 0 || at >= len(t.src.sql):
		t.loose = true
		return
	case database == "" && schema == "":
		t.edits = append(t.edits, Edit{At: at, Put: TwinSchema + "."})
		return
	}
	if database != "" {
		n := wordIs(t.src.sql[at:], database)
		if n == 0 {
			t.loose = true
			return
		}
		at += n + 1 // and the point
	}
	if n := wordIs(t.src.sql[at:], schema); n > 0 {
		t.edits = append(t.edits, Edit{At: at, Cut: n, Put: TwinSchema})
		return
	}
	t.loose = true
}

// wordIs is the length of the name that a text begins with if it is the wanted one, right before a point; otherwise 0.
func wordIs(text, want string) int {
	n := strings.IndexByte(text, '.')
	if strings.HasPrefix(text, `"`) {
		n = len(QuoteIdent(want)) // as one writes it; a point may be in it
	}
	if n <= 0 || n >= len(text) || text[n] != '.' || identifier(text[:n]) != want {
		return 0
	}
	return n
}
