package parser

import (
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// Piece is one statement of a text, at its place: behind as many blanks as there are characters before it.
type Piece struct {
	Text   string
	Params int // the highest parameter that it has
}

// maxPieces bounds what all pieces of a text take together, in bytes: each is as long as what stands before it.
const maxPieces = 16 << 20

// Pieces takes a text of several statements apart. nil: it is a single one, too long for that, or cannot be parsed.
func Pieces(sql string) []Piece {
	if guard(sql) != nil {
		return nil
	}
	parsed, err := pg.Parse(sql)
	if err != nil || len(parsed.Stmts) < 2 || len(parsed.Stmts)*len(sql) > maxPieces {
		return nil
	}

	var out []Piece

	// A piece has blanks for what stands before it, so that places in it are places in the text.
	for _, raw := range parsed.Stmts {
		before := utf8.RuneCountInString(sql[:raw.StmtLocation])
		p := Piece{Text: strings.Repeat(" ", before) + textOf(sql, raw)}
		if raw.Stmt.GetPrepareStmt() == nil { // whose parameters are its own
			tree.Inspect(raw.Stmt, func(m proto.Message) bool {
				if x, ok := m.(*pg.ParamRef); ok {
					p.Params = max(p.Params, int(x.Number))
				}
				return true
			})
		}
		out = append(out, p)
	}
	return out
}
