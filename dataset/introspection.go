package dataset

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"fugu/parser"
	"fugu/parser/shadow"
	"fugu/upstream"
)

// loadIntrospection reads what information_schema's views are made of, so that they can show the protected tables, and the
// views over them. A view that reads what not everybody may read cannot be written out for the guest; but pg_authid is
// read as pg_roles.
func (s *Snapshot) loadIntrospection(ctx context.Context, reader *upstream.Reader) error {
	var tables []shadow.Root
	add := func(schema, name string) error {
		quoted := parser.QuoteIdent(schema) + "." + parser.QuoteIdent(name)
		rows, err := reader.Query(ctx, "SELECT to_regclass($1)::oid", [][]byte{[]byte(quoted)}, nil)
		if err != nil {
			return fmt.Errorf("reading the oid of %s: %w", quoted, err)
		}
		oid, err := strconv.ParseUint(rows[0][0].Text, 10, 32)
		if err != nil {
			return fmt.Errorf("reading the oid of %s: %w", quoted, err)
		}
		tables = append(tables, shadow.Root{Schema: schema, Name: name, OID: uint32(oid)})
		return nil
	}
	for _, t := range s.Tables {
		if err := add(t.Table.Schema, t.Table.Name); err != nil {
			return err
		}
	}
	for _, v := range s.views {
		if err := add(v.Schema, v.Name); err != nil {
			return err
		}
	}

	rows, err := reader.Query(ctx, `SELECT c.relname, pg_get_viewdef(c.oid) FROM pg_class c WHERE c.relnamespace = 'information_schema'::regnamespace AND c.relkind = 'v'
	  AND NOT EXISTS (SELECT FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
	    WHERE r.ev_class = c.oid AND d.refobjid NOT IN (c.oid, 'pg_authid'::regclass) AND NOT has_table_privilege('public', d.refobjid, 'SELECT'))`, nil, nil)
	if err != nil {
		return fmt.Errorf("reading the views of information_schema: %w", err)
	}
	definitions := map[string]string{}
	for _, r := range rows {
		definitions[r[0].Text] = r[1].Text
	}
	s.listing, err = shadow.NewIntrospection(tables, definitions)
	return err
}

var _ parser.Introspector = (*Snapshot)(nil)

// Introspection is what shows protected tables to those who ask what there is.
func (s *Snapshot) Introspection() *shadow.Introspection { return s.listing }

// loadHidden finds the columns that twins leave out, so that their tables show without them.
func (s *Snapshot) loadHidden(ctx context.Context, reader *upstream.Reader) error {
	if !slices.ContainsFunc(s.Tables, func(t *Protected) bool { return t.Table.Twin }) {
		return nil
	}
	var tables []shadow.HiddenColumns
	for _, t := range s.Tables {
		if !t.Table.Twin || len(t.Config.Twin.Drop) == 0 {
			continue
		}
		names := t.Config.Twin.Drop
		rows, err := reader.Query(ctx, "SELECT attrelid::text, attnum::text FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = ANY ($2::text[]) AND attnum > 0 AND NOT attisdropped",
			[][]byte{[]byte(Quoted(t.Config.Qualified())), textArray(names)}, nil)
		if err != nil {
			return fmt.Errorf("reading the columns that the twin of %s leaves out: %w", t.Table, err)
		}
		var h shadow.HiddenColumns
		for _, r := range rows {
			oid, _ := strconv.ParseUint(r[0].Text, 10, 32)
			number, _ := strconv.Atoi(r[1].Text)
			h.OID, h.Numbers = uint32(oid), append(h.Numbers, number)
		}
		if len(rows) != len(names) {
			return fmt.Errorf("%s:%d:%d: table %s: twin.drop names columns that it does not have", t.Policy.Source, t.Config.Twin.At.Line, t.Config.Twin.At.Column, t.Table)
		}
		tables = append(tables, h)
	}
	rows, err := reader.Query(ctx, "SELECT attname FROM pg_attribute WHERE attrelid = 'pg_catalog.pg_attribute'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum", nil, nil)
	if err != nil {
		return fmt.Errorf("reading the columns of pg_attribute: %w", err)
	}
	var attributes []string
	for _, r := range rows {
		attributes = append(attributes, r[0].Text)
	}
	if s.hidden, err = shadow.NewHidden(tables, attributes); err != nil {
		return err
	}
	for _, name := range s.hidden.HidingRelations() {
		s.watch(name)
	}
	return nil
}

var _ parser.Hider = (*Snapshot)(nil)

// Hidden are the columns that tables show without, as their twins have none.
func (s *Snapshot) Hidden() *shadow.Hidden { return s.hidden }
