package dataset

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/parser"
	"fugu/planner"
	"fugu/upstream"
)

// loadLacking finds the columns that the table got after its twin was built, which are no columns of statements until
// it is made again. A twin that is not built yet will have them all.
func (t *Protected) loadLacking(ctx context.Context, reader *upstream.Reader) error {
	rows, err := reader.Query(ctx, `SELECT a.attname FROM pg_class c
	  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
	  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped WHERE c.relname = $2`,
		[][]byte{[]byte(parser.TwinSchema), []byte(t.Config.Name)}, []uint32{pgtype.TextOID, pgtype.TextOID})
	if err != nil {
		return fmt.Errorf("reading the columns of its twin: %w", err)
	}
	if len(rows) == 0 {
		return nil
	}
	has := map[string]bool{}
	for _, r := range rows {
		has[r[0].Text] = true
	}

	// What the policy drops is known by the policy.
	var kept []planner.Column
	for _, c := range t.Table.Columns {
		if has[c.Name] || slices.Contains(t.Config.Twin.Drop, c.Name) {
			kept = append(kept, c)
		} else {
			t.Lacking = append(t.Lacking, c.Name)
		}
	}
	t.Table.Columns = kept
	return nil
}

// known are the columns of statements, and those that there will be once the twin is made again.
func (t *Protected) known() []string { return slices.Concat(t.Syntax.Columns, t.Lacking) }
