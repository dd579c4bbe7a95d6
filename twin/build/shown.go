package build

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
	"fugu/policy"
	"fugu/twin/columns"
)

// channelsTable is the table that says by which channels columns of twins are shown, for analysts too: with a channel
// counts can be inverted.
const channelsTable = parser.TwinColumns

const makeChannels = `CREATE TABLE IF NOT EXISTS ` + channelsTable + ` (
	table_schema text NOT NULL, table_name text NOT NULL, column_name text NOT NULL,
	promise jsonb NOT NULL, channel jsonb NOT NULL, PRIMARY KEY (table_schema, table_name, column_name))`

// forgetColumns has nothing said of how columns of a table's twin are shown; there may be no such list yet.
func forgetColumns(ctx context.Context, db pgx.Tx, t policy.QualifiedName) error {
	there, err := exists(ctx, db, channelsTable)
	if err == nil && there {
		_, err = db.Exec(ctx, `DELETE FROM `+channelsTable+` WHERE table_schema = $1 AND table_name = $2`,
			t.Schema, t.Name)
	}
	if err != nil {
		return fmt.Errorf("taking back how columns of %s are shown: %w", t, err)
	}
	return nil
}

// ShownColumn is what may be known of a column of a twin that is shown row by row, but for the channel itself.
type ShownColumn struct {
	Column    string            `json:"column"`
	Obfuscate *policy.Obfuscate `json:"obfuscate,omitempty"`
	Transport *policy.Transport `json:"transport,omitempty"`
	Rows      int64             `json:"reference_rows"`
	Radius    float64           `json:"radius,omitempty"`  // of Obfuscate, in ℓ1
	Leakage   float64           `json:"leakage,omitempty"` // of Obfuscate, in nats
	Promise   string            `json:"promise"`           // for people

	// Distribution is what one shown value tells of the law of an obfuscated column; nil for twins that were built
	// before it was worked out.
	Distribution *columns.Distribution `json:"distribution,omitempty"`
}

// shownBy are the columns of twins that are shown row by row, by schema and table.
func shownBy(ctx context.Context, db querier) (map[policy.QualifiedName][]ShownColumn, error) {
	if there, err := exists(ctx, db, channelsTable); err != nil || !there {
		return nil, err
	}
	rows, _ := db.Query(ctx, `SELECT table_schema, table_name, promise::pg_catalog.text FROM `+channelsTable+
		` ORDER BY table_schema, table_name, column_name`)
	out := map[policy.QualifiedName][]ShownColumn{}
	var name policy.QualifiedName
	var text string
	_, err := pgx.ForEachRow(rows, []any{&name.Schema, &name.Name, &text}, func() error {
		var c ShownColumn
		err := json.Unmarshal([]byte(text), &c)
		out[name] = append(out[name], c)
		return err
	})
	return out, err
}
