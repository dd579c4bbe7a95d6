package build

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
	"fugu/policy"
)

// channelsTable is the table that says by which channels columns of twins are shown, for analysts too: with a channel
// counts can be inverted.
const channelsTable = parser.TwinColumns

const makeChannels = `CREATE TABLE IF NOT EXISTS ` + channelsTable + ` (
	table_schema text NOT NULL, table_name text NOT NULL, column_name text NOT NULL,
	promise jsonb NOT NULL, channel jsonb NOT NULL, PRIMARY KEY (table_schema, table_name, column_name),
	FOREIGN KEY (table_schema, table_name) REFERENCES ` + registry + ` ON DELETE CASCADE)`

// ShownColumn is what may be known of a column of a twin that is shown row by row, but for the channel itself.
type ShownColumn struct {
	Column    string            `json:"column"`
	Obfuscate *policy.Obfuscate `json:"obfuscate,omitempty"`
	Transport *policy.Transport `json:"transport,omitempty"`
	Rows      int64             `json:"reference_rows"`
	Radius    float64           `json:"radius,omitempty"`  // of Obfuscate, in ℓ1
	Leakage   float64           `json:"leakage,omitempty"` // of Obfuscate, in nats
	Promise   string            `json:"promise"`           // for people
}

// entry is a probability of a channel in channelsTable.
type entry struct {
	Outcome *string `json:"outcome"` // of the secret that is hidden; nil: whatever it is
	From    *string `json:"from"`    // nil: NULL
	To      *string `json:"to"`
	Weight  uint64  `json:"weight"` // of channel.Whole
}

// promise is what may be known of the column.
func (s released) promise() ShownColumn {
	return ShownColumn{Column: s.Column, Obfuscate: s.Obfuscate, Transport: s.Transport, Rows: s.Rows,
		Radius: s.Radius, Leakage: s.Leakage, Promise: s.Words()}
}

// entries are the probabilities of the channel. Of an outcome that no class of the twin has they are left out.
func (s released) entries() (out []entry) {
	text := func(v policy.Value) *string {
		if v.IsNull {
			return nil
		}
		return &v.Text
	}
	for outcome, matrix := range s.Channels {
		var of *string
		if s.Transport != nil {
			name := s.Transport.Hide + "=" + [...]string{"true", "false", "null"}[outcome]
			of = &name
		}
		if !slices.Contains(s.outcomes, outcome) {
			continue
		}
		for x, row := range matrix {
			for _, e := range row {
				out = append(out, entry{of, text(s.Values[x]), text(s.Values[e.Output]), e.Weight})
			}
		}
	}
	return out
}

// enterColumns says by which channels the columns of the root's twin are shown, and of no others.
func (j *job) enterColumns(ctx context.Context) error {
	root := j.family.root
	if _, err := j.at.tx.Exec(ctx, `DELETE FROM `+channelsTable+` WHERE table_schema = $1 AND table_name = $2`,
		root.Schema, root.Name); err != nil {
		return fmt.Errorf("entering how columns are shown: %w", err)
	}
	for _, s := range j.released {
		promise, err := json.Marshal(s.promise())
		if err != nil {
			return err
		}
		matrix, err := json.Marshal(s.entries())
		if err != nil {
			return err
		}
		if _, err := j.at.tx.Exec(ctx, `INSERT INTO `+channelsTable+` VALUES ($1, $2, $3, $4::jsonb, $5::jsonb)`,
			root.Schema, root.Name, s.Column, string(promise), string(matrix)); err != nil {
			return fmt.Errorf("entering how column %s is shown: %w", parser.QuoteIdent(s.Column), err)
		}
	}
	return nil
}

// shownBy are the columns of twins that are shown row by row, by schema and table.
func shownBy(ctx context.Context, db querier) (map[policy.QualifiedName][]ShownColumn, error) {
	var there bool
	if err := db.QueryRow(ctx, `SELECT pg_catalog.to_regclass($1) IS NOT NULL`,
		channelsTable).Scan(&there); err != nil ||
		!there {
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
