package dataset

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"fugu/parser"
	"fugu/upstream"
)

// viewsOver are the views over the tables $1, and over views over them, with their queries, column by column.
const viewsOver = `WITH RECURSIVE views AS (
	    SELECT to_regclass(n)::oid AS oid FROM unnest($1::text[]) AS n
	  UNION
	    SELECT r.ev_class FROM views
	      JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = views.oid
	        AND d.classid = 'pg_rewrite'::regclass
	      JOIN pg_rewrite r ON r.oid = d.objid)
	SELECT n.nspname, c.relname, pg_get_viewdef(c.oid), a.attname
	FROM views JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace
	  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	WHERE c.relkind = 'v' ORDER BY c.oid, a.attnum`

// loadViews finds the views that read protected tables: a cut can read them as if their query stood there.
func (s *Snapshot) loadViews(ctx context.Context, reader *upstream.Reader) error {
	rows, err := reader.Query(ctx, viewsOver, [][]byte{textArray(s.quoted())}, nil)
	if err != nil {
		return fmt.Errorf("reading the views over protected tables: %w", err)
	}
	for _, r := range rows {
		v := parser.Table{Schema: r[0].Text, Name: r[1].Text, View: r[2].Text}
		s.views = withColumn(s.views, v, r[3].Text)
	}
	for _, v := range s.views {
		s.watch(v.Name)
	}
	return nil
}

// quoted are the names of the protected tables, as SQL.
func (s *Snapshot) quoted() (names []string) {
	for _, t := range s.Tables {
		names = append(names, Quoted(t.Config.Qualified()))
	}
	return names
}

// withColumn adds a column to the last of the tables, if that is t, or t with it. The rows of one stand together.
func withColumn(tables []parser.Table, t parser.Table, column string) []parser.Table {
	if n := len(tables); n == 0 || tables[n-1].String() != t.String() {
		tables = append(tables, t)
	}
	last := &tables[len(tables)-1]
	last.Columns = append(last.Columns, column)
	return tables
}

// partitionsOf are the partitions of the tables $1, at any depth: the number of the table, the name, the condition of
// which rows of the table are in it, and its columns, one in a row. Those of a hash partition are told by a function
// that nothing evaluates on protected rows, and it is refused as such.
const partitionsOf = `WITH RECURSIVE parts AS (
	    SELECT t.k, to_regclass(t.n)::oid AS oid, 0 AS depth FROM unnest($1::text[]) WITH ORDINALITY AS t(n, k)
	  UNION
	    SELECT parts.k, c.oid, depth + 1 FROM parts JOIN pg_inherits i ON i.inhparent = parts.oid
	      JOIN pg_class c ON c.oid = i.inhrelid AND c.relispartition)
	SELECT parts.k - 1, n.nspname, c.relname, pg_get_partition_constraintdef(c.oid), a.attname
	FROM parts JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace
	  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
	WHERE depth > 0 AND pg_get_partition_constraintdef(c.oid) IS NOT NULL ORDER BY c.oid, a.attnum`

// loadPartitions finds the partitions of protected tables. The guest has no right on them either, and a statement that
// names one means the rows of the whole table that belong there: a view, to the reader of statements.
func (s *Snapshot) loadPartitions(ctx context.Context, reader *upstream.Reader) error {
	names := s.quoted()
	rows, err := reader.Query(ctx, partitionsOf, [][]byte{textArray(names)}, nil)
	if err != nil {
		return fmt.Errorf("reading the partitions of protected tables: %w", err)
	}

	var parts []parser.Table
	for _, r := range rows {
		whole, err := strconv.Atoi(r[0].Text)
		if err != nil {
			return fmt.Errorf("reading the partitions of protected tables: %w", err)
		}
		p := parser.Table{Schema: r[1].Text, Name: r[2].Text, Part: true,
			View: " FROM " + names[whole] + " WHERE " + r[3].Text}
		parts = withColumn(parts, p, r[4].Text)
	}

	// One that a policy names itself is what the policy says.
	for _, p := range parts {
		if s.Find(p.Schema, p.Name) != nil {
			continue
		}
		columns := make([]string, len(p.Columns))
		for i, c := range p.Columns {
			columns[i] = parser.QuoteIdent(c)
		}
		p.View = "SELECT " + strings.Join(columns, ", ") + p.View
		s.views = append(s.views, p)
		s.watch(p.Name)
	}
	return nil
}
