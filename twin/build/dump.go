package build

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
	"fugu/policy"
)

// dumped is a table of a dump: a twin under the name of the table that it is of.
type dumped struct {
	*source
	as   policy.QualifiedName
	rows int64 // as the build of the twin says
	keys []foreignKey
}

// foreignKey leads from one twin to another.
type foreignKey struct {
	name        string
	columns, of []string
	more        string
	to          policy.QualifiedName // as the dump has it
}

// describeTwins reads what the twins of a family are made of. It is the twins' catalog that counts and not the tables':
// nothing of these is looked at.
func (p place) describeTwins(ctx context.Context, family []policy.Table) (out []dumped, left []string, err error) {
	for _, t := range family {
		d := dumped{as: t.Qualified()}
		own := policy.Table{Schema: t.Schema, Name: t.Name, Twin: &policy.Twin{}}
		if !p.apart {
			own.Schema = schema
		}
		if d.source, err = describe(ctx, p.tx, own); err != nil {
			return nil, nil, err
		}

		// A twin from before the policy would bring a column to where it is not to be.
		for _, column := range t.Twin.Drop {
			if _, has := d.column(column); has {
				return nil, nil, fmt.Errorf("the policy drops column %s of %s, and the twin that there is has it "+
					"still: build it again first",
					parser.QuoteIdent(column), d.as)
			}
		}

		notes, err := d.portable(ctx, p.tx)
		if err != nil {
			return nil, nil, err
		}
		left = append(left, notes...)
		out = append(out, d)
	}

	// Keys can lead to any of them, so they are read once all are known.
	for i := range out {
		if err := out[i].readForeignKeys(ctx, p.tx, out); err != nil {
			return nil, nil, err
		}
	}
	return out, left, nil
}

// readForeignKeys reads the foreign keys that lead to tables of the dump.
func (d *dumped) readForeignKeys(ctx context.Context, db querier, all []dumped) error {
	for _, onto := range all {
		rows, _ := db.Query(ctx, describeForeign, d.oid, onto.oid)
		keys, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (foreignKey, error) {
			k := foreignKey{to: onto.as}
			return k, row.Scan(&k.name, &k.columns, &k.of, &k.more)
		})
		if err != nil {
			return fmt.Errorf("looking at the foreign keys of %s: %w", d.as, err)
		}
		d.keys = append(d.keys, keys...)
	}
	return nil
}

// dumpSettings have another server read the dump as this connection writes it.
const dumpSettings = `SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SET check_function_bodies = off;
SET client_min_messages = warning;
SET DateStyle = 'ISO, YMD';
SET IntervalStyle = 'postgres';
SET lc_monetary = 'C';
SELECT pg_catalog.set_config('search_path', '', false);
`

// dump writes tables as SQL that psql takes. Rows are in the order in which the twin has them, which is random, and
// pass through as the server sends them; step is told how many there were so far.
func (p place) dump(ctx context.Context, w io.Writer, title string, types []string, tables []dumped,
	step func(rows int64)) error {
	var head strings.Builder
	for _, line := range strings.Split(title, "\n") {
		fmt.Fprintf(&head, "-- %s\n", strings.Map(printable, line))
	}
	head.WriteString("\nBEGIN;\n" + dumpSettings)
	for _, schema := range schemas(tables) {
		fmt.Fprintf(&head, "CREATE SCHEMA IF NOT EXISTS %s;\n", parser.QuoteIdent(schema))
	}
	for _, sql := range types {
		head.WriteString(sql + ";\n")
	}
	for _, d := range tables {
		head.WriteString("\n" + d.createSQL())
	}
	if _, err := io.WriteString(w, head.String()); err != nil {
		return fmt.Errorf("writing the dump: %w", err)
	}

	lines := &lineCounter{Writer: w, step: step}
	for _, d := range tables {
		if err := p.dumpRows(ctx, lines, d); err != nil {
			return err
		}
	}

	// Keys come after the rows: they are faster to make then, and foreign keys need all rows to be there.
	var tail strings.Builder
	for _, d := range tables {
		d.constrainSQL(&tail)
	}
	for _, d := range tables {
		for _, k := range d.keys {
			fmt.Fprintf(&tail, "ALTER TABLE ONLY %s ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)%s;\n",
				quoted(d.as), parser.QuoteIdent(k.name), list("", k.columns), quoted(k.to), list("", k.of), k.more)
		}
	}
	tail.WriteString("COMMIT;\n\n")
	for _, d := range tables {
		fmt.Fprintf(&tail, "ANALYZE %s;\n", quoted(d.as))
	}
	if _, err := io.WriteString(w, tail.String()); err != nil {
		return fmt.Errorf("writing the dump: %w", err)
	}
	return nil
}

// dumpRows writes the rows of one table.
func (p place) dumpRows(ctx context.Context, w io.Writer, d dumped) error {
	names := make([]string, len(d.columns))
	for i, c := range d.columns {
		names[i] = c.name
	}
	columns := " (" + list("", names) + ")"

	if _, err := fmt.Fprintf(w, "\nCOPY %s%s FROM stdin;\n", quoted(d.as), columns); err != nil {
		return fmt.Errorf("writing the dump: %w", err)
	}
	tag, err := p.tx.Conn().PgConn().CopyTo(ctx, w, "COPY "+d.qualified()+columns+" TO STDOUT")
	if err != nil {
		return fmt.Errorf("writing the rows of %s to the dump: %w", d.as, err)
	}

	// The certificate speaks of the rows that the build has counted, and of no others.
	if tag.RowsAffected() != d.rows {
		return fmt.Errorf("the twin of %s has %d rows, and its build says %d: somebody has changed it; build it again",
			d.as, tag.RowsAffected(), d.rows)
	}

	if _, err := io.WriteString(w, "\\.\n\n"); err != nil {
		return fmt.Errorf("writing the dump: %w", err)
	}
	return nil
}

// createSQL is the table with its columns and comments.
func (d dumped) createSQL() string {
	var out strings.Builder
	columns := make([]string, len(d.columns))
	for i, c := range d.columns {
		columns[i] = "\n    " + parser.QuoteIdent(c.name) + " " + c.typ
		if c.fallback != nil {
			columns[i] += " DEFAULT " + *c.fallback
		}
		if c.notNull {
			columns[i] += " NOT NULL"
		}
	}
	fmt.Fprintf(&out, "CREATE TABLE %s (%s\n);\n", quoted(d.as), strings.Join(columns, ","))

	// Comments are told like names: they are the owner's words about the table.
	if d.comment != nil {
		fmt.Fprintf(&out, "COMMENT ON TABLE %s IS %s;\n", quoted(d.as), parser.QuoteLiteral(*d.comment))
	}
	for _, c := range d.columns {
		if c.comment != nil {
			fmt.Fprintf(&out, "COMMENT ON COLUMN %s.%s IS "+
				"%s;\n", quoted(d.as), parser.QuoteIdent(c.name), parser.QuoteLiteral(*c.comment))
		}
	}
	return out.String()
}

// constrainSQL writes the table's checks, primary key and indexes.
func (d dumped) constrainSQL(out *strings.Builder) {
	for _, c := range d.checks {
		fmt.Fprintf(out, "ALTER TABLE ONLY %s ADD CONSTRAINT %s %s;\n", quoted(d.as), parser.QuoteIdent(c.name), c.sql)
	}
	if d.primary != nil {
		fmt.Fprintf(out, "ALTER TABLE ONLY %s ADD CONSTRAINT %s PRIMARY KEY (%s);\n", quoted(d.as),
			parser.QuoteIdent(d.primaryName), list("", d.primary))
	}
	for _, i := range d.indexes {
		unique := ""
		if i.unique {
			unique = "UNIQUE "
		}
		fmt.Fprintf(out, "CREATE %sINDEX %s ON %s%s;\n", unique, parser.QuoteIdent(i.name), quoted(d.as), i.sql)
	}
}

// quoted is a name as SQL has it.
func quoted(n policy.QualifiedName) string {
	return parser.QuoteIdent(n.Schema) + "." + parser.QuoteIdent(n.Name)
}

// schemas are those of the tables, each once.
func schemas(tables []dumped) (out []string) {
	for _, d := range tables {
		if !slices.Contains(out, d.as.Schema) {
			out = append(out, d.as.Schema)
		}
	}
	return out
}

// printable keeps a comment on its line.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}

// lineCounter tells from time to time how many lines have passed through it.
type lineCounter struct {
	io.Writer
	step        func(lines int64)
	lines, told int64
}

// linesATime is how many lines pass between two reports.
const linesATime = 50_000

func (c *lineCounter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.lines += int64(bytes.Count(b[:n], []byte{'\n'}))
	if c.lines-c.told >= linesATime {
		c.told = c.lines
		c.step(c.lines)
	}
	return n, err
}
