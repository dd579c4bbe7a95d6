package dataset

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fugu/parser"
	"fugu/parser/shadow"
	"fugu/upstream"
)

// loadShadows reads what the shadows of the protected tables need: their oids, those of the databases beside this one that
// hold some too, and the columns that the catalog's relations have in this version of PostgreSQL.
func (s *Snapshot) loadShadows(ctx context.Context, reader *upstream.Reader, beside []string) (err error) {
	var databases []shadow.Database
	for _, name := range beside {
		rows, err := reader.Query(ctx, "SELECT oid FROM pg_database WHERE datname = $1", [][]byte{[]byte(name)}, nil)
		if err != nil || len(rows) != 1 {
			return errors.Join(fmt.Errorf("reading the oid of database %s", name), err)
		}
		oid, err := strconv.ParseUint(rows[0][0].Text, 10, 32)
		if err != nil {
			return fmt.Errorf("reading the oid of database %s: %w", name, err)
		}
		databases = append(databases, shadow.Database{Name: name, OID: uint32(oid)})
	}
	var roots []shadow.Root
	for _, t := range s.Tables {
		rows, err := reader.Query(ctx, "SELECT to_regclass($1)::oid", [][]byte{[]byte(Quoted(t.Config.Qualified()))}, nil)
		if err != nil {
			return fmt.Errorf("reading the oid of %s: %w", t.Table, err)
		}
		oid, err := strconv.ParseUint(rows[0][0].Text, 10, 32)
		if err != nil {
			return fmt.Errorf("reading the oid of %s: %w", t.Table, err)
		}
		roots = append(roots, shadow.Root{Schema: t.Table.Schema, Name: t.Table.Name, OID: uint32(oid), Rows: t.Table.Rows, Twin: t.Table.Twin})
	}
	names := "{" + strings.Join(shadow.Relations(), ",") + "}"
	rows, err := reader.Query(ctx, `SELECT w.name, a.attname, format_type(a.atttypid, a.atttypmod) FROM unnest($1::text[]) AS w(name)
	  JOIN pg_attribute a ON a.attrelid = to_regclass('pg_catalog.' || w.name) WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum`,
		[][]byte{[]byte(names)}, nil)
	if err != nil {
		return fmt.Errorf("reading the columns of the catalog's relations: %w", err)
	}
	columns := map[string][]shadow.Column{}
	for _, r := range rows {
		columns[r[0].Text] = append(columns[r[0].Text], shadow.Column{Name: r[1].Text, Type: r[2].Text})
	}
	s.Masks, err = shadow.New(roots, columns, databases...)
	return err
}

var _ parser.Shadower = (*Snapshot)(nil)

// Shadows are what stands between clients and the catalog's values that depend on protected rows.
func (s *Snapshot) Shadows() *shadow.Shadows { return s.Masks }
