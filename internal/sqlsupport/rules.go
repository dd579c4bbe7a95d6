package sqlsupport

import (
	"fmt"
	"strings"

	"fugu/planner/row"
)

// rules says how each operation is kept from failing.
func rules() string {
	var b strings.Builder
	b.WriteString("\n### How operations are kept from failing\n\nWhat is not in the table cannot fail on a row, and is printed as it was written.\n\n| operation | where PostgreSQL would raise an error |\n|---|---|\n")
	for _, r := range row.Rules() {
		if r.Total != "" {
			fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(r.Name, "|", `\|`), strings.ReplaceAll(r.Total, "|", `\|`))
		}
	}
	return b.String()
}
