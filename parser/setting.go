package parser

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// ownSetting is x of fugu.x, however that is written; other settings' names are "".
func ownSetting(name string) (string, bool) {
	own, ok := strings.CutPrefix(strings.ToLower(name), "fugu.")
	if !ok {
		return "", false
	}
	return own, true
}

// setting reads SET fugu.x; other settings give nil.
func setting(src *source, raw *pg.RawStmt, set *pg.VariableSetStmt) *Setting {
	name, ok := ownSetting(set.Name)
	if !ok {
		return nil
	}
	out := &Setting{Name: name, Default: set.Kind != pg.VariableSetKind_VAR_SET_VALUE,
		Position: src.position(int32(beginning(src.sql, int(raw.StmtLocation))))}
	var words []string
	for _, n := range set.Args {
		c, err := (&reader{src: src}).constant(n, n.GetAConst())
		if err != nil {
			continue
		}
		words = append(words, c.(Const).Text)
	}
	out.Value = strings.Join(words, ", ")
	return out
}
