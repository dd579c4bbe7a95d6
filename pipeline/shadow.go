package pipeline

import (
	"context"
	"fmt"
	"strconv"

	"fugu/parser"
	"fugu/upstream"
)

// loadShadows reads what the shadows of the protected tables need: their oids, and the columns that the catalog's
// relations have in this version of PostgreSQL.
func (s *Snapshot) loadShadows(ctx context.Context, reader *upstream.Reader) (err error) {
	var roots []parser.ShadowRoot
	for _, t := range s.tables {
		rows, err := reader.Query(ctx, "SELECT to_regclass($1)::oid", [][]byte{[]byte(Quoted(t.config.Qualified()))}, nil)
		if err != nil {
			return fmt.Errorf("reading the oid of %s: %w", t.table, err)
		}
		oid, err := strconv.ParseUint(rows[0][0].Text, 10, 32)
		if err != nil {
			return fmt.Errorf("reading the oid of %s: %w", t.table, err)
		}
		roots = append(roots, parser.ShadowRoot{Schema: t.table.Schema, Name: t.table.Name, OID: uint32(oid), Rows: t.table.Rows})
	}
	columns := map[string][]parser.ShadowColumn{}
	for _, name := range parser.ShadowedRelations() {
		rows, err := reader.Query(ctx, `SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
		  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, [][]byte{[]byte("pg_catalog." + name)}, nil)
		if err != nil {
			return fmt.Errorf("reading the columns of pg_catalog.%s: %w", name, err)
		}
		for _, r := range rows {
			columns[name] = append(columns[name], parser.ShadowColumn{Name: r[0].Text, Type: r[1].Text})
		}
	}
	s.shadows, err = parser.NewShadows(roots, columns)
	return err
}

var _ parser.Shadower = (*Snapshot)(nil)

// Shadows are what stands between clients and the catalog's values that depend on protected rows.
func (s *Snapshot) Shadows() *parser.Shadows { return s.shadows }
