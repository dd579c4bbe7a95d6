package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"fugu/parser"
	"fugu/parser/shadow"
	"fugu/policy"
	"fugu/upstream"
)

// loadShadows reads what the shadows of the protected tables need: their oids, those of the databases beside this one
// that hold some too, and the columns that the catalog's relations have in this version of PostgreSQL.
func (s *Snapshot) loadShadows(ctx context.Context, reader *upstream.Reader, tables []shadow.Root,
	beside []string) (err error) {
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

	roots := slices.Clone(tables)
	for i, t := range s.Tables {
		roots[i].Rows, roots[i].Twin = t.Table.Rows, t.Table.Twin
		roots[i].Whole = roots[i].Whole && t.Table.Twin && t.Table.AtLeast == 0
	}

	// Masks name columns, of which every version of PostgreSQL has others.
	names := "{" + strings.Join(shadow.Relations(), ",") + "}"
	rows, err := reader.Query(ctx, `SELECT w.name, a.attname, format_type(a.atttypid, a.atttypmod)
	  FROM unnest($1::text[]) AS w(name) JOIN pg_attribute a ON a.attrelid = to_regclass('pg_catalog.' || w.name)
	  WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum`, [][]byte{[]byte(names)}, nil)
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

// shadowRoots are the protected tables, in order, as the catalog has them.
func (s *Snapshot) shadowRoots(ctx context.Context, reader *upstream.Reader) (out []shadow.Root, err error) {
	for _, t := range s.Tables {
		root, err := shadowRoot(ctx, reader, t.Table.Schema, t.Table.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, root)
	}
	return out, nil
}

// shadowRoot finds the OID of a relation, and whether it has partitions. It may be a view in a schema that is not the
// reader's to use, such as one that a guest has made, so that the name is not looked up as in a statement.
func shadowRoot(ctx context.Context, reader *upstream.Reader, schema, name string) (shadow.Root, error) {
	quoted := Quoted(policy.QualifiedName{Schema: schema, Name: name})
	out := shadow.Root{Schema: schema, Name: name}
	rows, err := reader.Query(ctx, `SELECT c.oid, EXISTS (SELECT FROM pg_partitioned_table WHERE partrelid = c.oid)
	  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2`,
		[][]byte{[]byte(schema), []byte(name)}, []uint32{pgtype.TextOID, pgtype.TextOID})
	if err == nil && len(rows) != 1 {
		err = errors.New("there is no such relation")
	}
	if err != nil {
		return out, fmt.Errorf("reading the oid of %s: %w", quoted, err)
	}
	oid, err := strconv.ParseUint(rows[0][0].Text, 10, 32)
	if err != nil {
		return out, fmt.Errorf("reading the oid of %s: %w", quoted, err)
	}
	out.OID, out.Whole = uint32(oid), rows[0][1].Text == "t"
	return out, nil
}

var _ parser.Shadower = (*Snapshot)(nil)

// Shadows are what stands between clients and the catalog's values that depend on protected rows.
func (s *Snapshot) Shadows() *shadow.Shadows { return s.Masks }

// writableViews are the views of information_schema with their queries, but those over what not everybody may read.
const writableViews = `SELECT c.relname, pg_get_viewdef(c.oid) FROM pg_class c
	WHERE c.relnamespace = 'information_schema'::regnamespace AND c.relkind = 'v'
	  AND NOT EXISTS (SELECT FROM pg_rewrite r
	      JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
	        AND d.refclassid = 'pg_class'::regclass
	    WHERE r.ev_class = c.oid AND d.refobjid NOT IN (c.oid, 'pg_authid'::regclass)
	      AND NOT has_table_privilege('public', d.refobjid, 'SELECT'))`

// loadIntrospection finds what information_schema is to show: the protected tables, and the views over them.
func (s *Snapshot) loadIntrospection(ctx context.Context, reader *upstream.Reader, tables []shadow.Root) (err error) {
	shown := slices.Clone(tables)
	for _, v := range s.views {
		root, err := shadowRoot(ctx, reader, v.Schema, v.Name)
		if err != nil {
			return err
		}
		shown = append(shown, root)
	}

	s.listing, err = shadow.NewIntrospection(shown)
	return err
}

var _ parser.Introspector = Catalog{}

// Introspection is what shows protected tables to those who ask what there is.
func (s *Snapshot) Introspection() *shadow.Introspection { return s.listing }

// Definitions reads what information_schema's views are made of, so that they can show what is protected. A view that
// reads what not everybody may read cannot be written out for the guest, and stays as PostgreSQL shows it; but
// pg_authid is read as pg_roles.
func (c Catalog) Definitions() (map[string]string, error) {
	rows, err := c.reader.Query(c.ctx, writableViews, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the views of information_schema: %w", err)
	}
	definitions := map[string]string{}
	for _, r := range rows {
		definitions[r[0].Text] = r[1].Text
	}
	return definitions, nil
}

// loadHidden finds the columns that twins leave out, so that their tables show without them.
func (s *Snapshot) loadHidden(ctx context.Context, reader *upstream.Reader) error {
	if !slices.ContainsFunc(s.Tables, func(t *Protected) bool { return t.Table.Twin }) {
		return nil
	}
	var tables []shadow.HiddenColumns
	for _, t := range s.Tables {
		if !t.Table.Twin {
			continue
		}
		h, err := t.notOfTheTwin(ctx, reader)
		if err != nil {
			return err
		}
		tables = append(tables, h)
	}

	// Its columns are other ones in other versions of PostgreSQL.
	rows, err := reader.Query(ctx, `SELECT attname FROM pg_attribute
	  WHERE attrelid = 'pg_catalog.pg_attribute'::regclass AND attnum > 0 AND NOT attisdropped
	  ORDER BY attnum`, nil, nil)
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

	// Statements that read any of these have to be looked at.
	for _, name := range s.hidden.HidingRelations() {
		s.watch(name)
	}
	return nil
}

// twinless asks for the oid of table $1, the numbers of those of the columns $2, and of the others that a sequence
// numbers: the twin has no sequence.
const twinless = `SELECT c.oid::text,
	  (SELECT string_agg(a.attnum::text, ' ') FROM pg_attribute a
	    WHERE a.attrelid = c.oid AND a.attname = ANY ($2::text[]) AND a.attnum > 0 AND NOT a.attisdropped),
	  (SELECT string_agg(a.attnum::text, ' ') FROM pg_attribute a
	    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	    WHERE a.attrelid = c.oid AND a.attname <> ALL ($2::text[]) AND a.attnum > 0 AND NOT a.attisdropped
	      AND (a.attidentity <> '' OR EXISTS (SELECT FROM pg_depend x JOIN pg_class q ON q.oid = x.refobjid
	        WHERE q.relkind = 'S' AND x.classid = 'pg_attrdef'::regclass AND x.objid = d.oid
	          AND x.refclassid = 'pg_class'::regclass)))
	FROM pg_class c WHERE c.oid = to_regclass($1)`

// notOfTheTwin is what the table has and its twin has not.
func (t *Protected) notOfTheTwin(ctx context.Context, reader *upstream.Reader) (out shadow.HiddenColumns, err error) {
	names := slices.Concat(t.Config.Twin.Drop, t.Lacking)
	rows, err := reader.Query(ctx, twinless, [][]byte{[]byte(Quoted(t.Config.Qualified())), textArray(names)}, nil)
	if err == nil && len(rows) != 1 {
		err = errors.New("there is no such table")
	}
	if err != nil {
		return out, fmt.Errorf("reading what the twin of %s leaves out: %w", t.Table, err)
	}
	oid, err := strconv.ParseUint(rows[0][0].Text, 10, 32)
	if err != nil {
		return out, fmt.Errorf("reading the oid of %s: %w", t.Table, err)
	}
	out.OID = uint32(oid)

	// Two lists of numbers: the columns, and those of them that a sequence belongs to.
	for i, list := range []*[]int{&out.Numbers, &out.Sequenced} {
		for _, text := range strings.Fields(rows[0][1+i].Text) {
			n, err := strconv.Atoi(text)
			if err != nil {
				return out, fmt.Errorf("reading the columns that the twin of %s leaves out: %w", t.Table, err)
			}
			*list = append(*list, n)
		}
	}

	if len(out.Numbers) != len(names) {
		return out, t.Policy.Misfit(t.Config.Twin.At, "table %s: twin.drop names columns that it does not have",
			t.Table)
	}
	return out, nil
}

var _ parser.Hider = (*Snapshot)(nil)

// Hidden are the columns that tables show without, as their twins have none.
func (s *Snapshot) Hidden() *shadow.Hidden { return s.hidden }
