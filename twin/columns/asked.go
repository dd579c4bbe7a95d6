package columns

import (
	"fmt"

	"fugu/policy"
	"fugu/twin/class"
)

// Asked says for fugu check which columns of a table's twin are to be shown row by row, and warns where what a column
// hides of a row shows in the row's other columns.
func Asked(p *policy.Policy, t policy.Table) (shown, warnings []string) {
	for _, c := range t.Twin.Columns {
		if c.Obfuscate != nil {
			shown = append(shown, fmt.Sprintf("column %s of it is shown row by row: a value tells at most epsilon "+
				"%g of its own row, but for a chance of %g", c.Name, c.Obfuscate.Epsilon, c.Obfuscate.Delta))
			continue
		}
		shown = append(shown, fmt.Sprintf("column %s of it is shown row by row: by itself it does not tell %s of a "+
			"row", c.Name, c.Transport.Hide))
		for _, s := range p.Secrets {
			if s.Name == c.Transport.Hide && s.Table == t.Qualified() && tells(t, s.Proportion) {
				warnings = append(warnings, fmt.Sprintf("table %s: column %s is to hide %s of a row, and the twin "+
					"shows the columns that %s is a condition on: drop one of these", t.Qualified(), c.Name, s.Name,
					s.Name))
			}
		}
	}
	return shown, warnings
}

// tells reports whether the columns of a twin may show of a row whether a condition holds: none that it reads is
// dropped, for all that anybody can say. Where the condition reads whole rows, each column is one that it reads.
func tells(t policy.Table, condition string) bool {
	dropped, err := class.Mentions(condition, t.Name, t.Twin.Drop...)
	return err != nil || len(t.Twin.Drop) == 0 || !dropped
}
