package parser

import (
	"cmp"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
)

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

// onlyRenamed reports whether all that Fugu has to do is to name twins.
func (s *Statement) onlyRenamed() bool {
	return s.renamed && len(s.Cuts)+len(s.Virtual) == 0 && s.Plain == nil && s.Explain == NoExplain &&
		s.Execute == nil &&
		s.Show == ""
}

// plainly reports whether a statement has one of the kinds in which every constant is a value.
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

	// A name that is not where the parser says, as it is written otherwise, is left to the deparser.
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
