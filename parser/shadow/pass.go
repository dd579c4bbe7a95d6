package shadow

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
	"fugu/sqlstate"
)

// Statement is what the masks have to know of a statement.
type Statement struct {
	Root  *pg.Node // is changed in place
	Text  string   // that it stands in
	Begin int32    // the offset of its first word in Text, in bytes
	First int      // the position of that word, in characters from 1
}

// pass is the work on one statement.
type pass struct {
	Statement
	changed bool
}

// refuse is the error that what stands at an offset of the text cannot be masked.
func (p *pass) refuse(offset int32, hint, format string, args ...any) error {
	return sqlstate.New(sqlstate.NotAnswerable, format, args...).WithHint("%s", hint).At(tree.Position(p.Text, offset))
}
