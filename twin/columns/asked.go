package columns

import (
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
	"fugu/policy"
)

// Asked says for fugu check which columns of a table's twin are to be shown row by row, and warns where what a column
// hides of a row shows in the row's other columns.
func Asked(p *policy.Policy, t policy.Table) (lines []string) {
	for _, c := range t.Twin.Columns {
		if c.Obfuscate != nil {
			lines = append(lines, fmt.Sprintf("   column %s of it is shown row by row: a value tells at most epsilon "+
				"%g of its own row, but for a chance of %g", c.Name, c.Obfuscate.Epsilon, c.Obfuscate.Delta))
			continue
		}
		lines = append(lines, fmt.Sprintf("   column %s of it is shown row by row: by itself it does not tell %s of a "+
			"row", c.Name, c.Transport.Hide))
		for _, s := range p.Secrets {
			if s.Name == c.Transport.Hide && s.Table == t.Qualified() && !readsAny(s.Proportion, t.Twin.Drop) {
				lines = append(lines, fmt.Sprintf("warning: table %s: column %s is to hide %s of a row, and the twin "+
					"shows the columns that %s is a condition on: drop one of these", t.Qualified(), c.Name, s.Name,
					s.Name))
			}
		}
	}
	return lines
}

// readsAny reports whether a condition reads one of the columns. One that cannot be read as SQL does, as far as anybody
// knows.
func readsAny(condition string, names []string) bool {
	parsed, err := pg.Parse("SELECT (" + condition + ")")
	if err != nil || len(parsed.Stmts) == 0 {
		return true
	}
	found := false
	tree.Inspect(parsed.Stmts[0].Stmt, func(m proto.Message) bool {
		if ref, ok := m.(*pg.ColumnRef); ok {
			found = found || slices.Contains(names, ref.Fields[len(ref.Fields)-1].GetString_().GetSval())
		}
		return !found
	})
	return found
}
