// Package doubt finds in a database's catalog what may break what a policy's answers rest on, for the owner of the
// policy to judge. It forbids nothing, and what it says is for nobody else: for one question it looks at protected
// rows (see Overlap).
package doubt

import (
	"context"
	"fmt"

	"fugu/planner"
)

// Ask runs a statement with parameters in text form, and returns its rows.
type Ask func(ctx context.Context, sql string, params [][]byte) ([][]planner.Value, error)

// Kind says what a doubt is about.
type Kind string

// The kinds of doubts about a twin.
const (
	Itself   Kind = "itself"   // rows refer to rows of the same table
	Position Kind = "position" // a column says how many rows there are, or where a row stands
	Unique   Kind = "unique"   // a column finds a row that somebody knows
	Referred Kind = "referred" // ordinary rows show which rows there are
	Partner  Kind = "partner"  // each row has an ordinary row for itself
	Subjects Kind = "subjects" // several rows are about one subject
	Total    Kind = "total"    // an ordinary table has a total of the rows
)

// Doubt is one thing that may break what an answer rests on.
type Doubt struct {
	Kind           Kind
	Column         string // of the protected table; empty: it is about none, or about several
	What, Why, Fix string
}

// twin is about one table that has a twin: $1 is its name, $2 the columns that its twin leaves out, $3 the tables that
// go with it, $4 whether the policy says what the unit of a row is. It finds in the catalog what may break the
// assumption that rows are exchangeable, or show which rows were taken.
//
// (PostgreSQL joins literals that follow each other in lines of their own.)
const twin = `
WITH RECURSIVE t AS (SELECT to_regclass($1)::oid AS oid),
 family AS (SELECT to_regclass(n)::oid AS oid FROM unnest($3::text[]) AS n
   UNION SELECT inhrelid FROM pg_inherits JOIN family ON inhparent = oid),
 kept AS (SELECT a.* FROM pg_attribute a JOIN t ON t.oid = a.attrelid
   WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attname <> ALL ($2::text[])),
 keys AS (SELECT i.indrelid, array_agg(k.n ORDER BY k.n) AS columns, bool_or(i.indisprimary) AS main
   FROM pg_index i, unnest(i.indkey::int2[]) AS k(n) WHERE i.indisunique GROUP BY i.indexrelid, i.indrelid),
 links AS (SELECT c.conname, c.conrelid, c.confrelid,
     (SELECT array_agg(k ORDER BY k) FROM unnest(c.conkey) AS k) AS columns,
     CASE WHEN cardinality(c.conkey) = 1 THEN
       (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]) END AS alone
   FROM pg_constraint c WHERE c.contype = 'f' AND c.conparentid = 0)
SELECT 1, 'itself', coalesce(alone, ''), format('its rows refer to rows of the same table (%s)', conname),
   'the twin need not have the rows that are referred to', 'drop the column'
 FROM links, t
 WHERE conrelid = t.oid AND confrelid = t.oid AND EXISTS (SELECT FROM kept WHERE attnum = ANY (columns))
UNION ALL SELECT 2, 'position', attname,
   format('column %s may say how many rows there are, or stand for the order of them', quote_ident(attname)),
   'a twin has other rows, and tells by such a column which it has not', 'drop it'
 FROM kept
 WHERE attname ~* ('(^|_)(rank|ranking|rownum|row_number|running|cumulative|cum|ntile|percentile|quantile|of_class'
     '|seq|sequence)(_|$)')
   OR (attidentity <> '' OR EXISTS (SELECT FROM pg_attrdef d
       WHERE d.adrelid = attrelid AND d.adnum = attnum AND pg_get_expr(d.adbin, d.adrelid) ~ '^nextval'))
     AND NOT EXISTS (SELECT FROM keys WHERE indrelid = attrelid AND columns = ARRAY[attnum])
UNION ALL SELECT 3, 'unique', attname,
   format('column %s is unique, and no key that is made anew', quote_ident(attname)),
   'who knows a row finds it in the twin by it', 'drop it'
 FROM kept
 WHERE EXISTS (SELECT FROM keys WHERE indrelid = attrelid AND columns = ARRAY[attnum] AND NOT main)
   AND atttypid <> ALL ('{int2,int4,int8,uuid}'::regtype[])
UNION ALL SELECT 3, 'unique', attname,
   format('column %s is a key but for what the partitions go by, and none that is made anew', quote_ident(attname)),
   'who knows a row finds it in the twin by it, and a number says how many rows there are', 'drop it'
 FROM kept JOIN pg_partitioned_table p ON p.partrelid = attrelid
 WHERE NOT EXISTS (SELECT FROM links WHERE conrelid = attrelid AND columns = ARRAY[attnum])
   AND EXISTS (SELECT FROM keys WHERE indrelid = attrelid AND cardinality(columns) > 1
     AND (SELECT array_agg(k) FROM unnest(columns) AS k WHERE k <> ALL (p.partattrs::int2[])) = ARRAY[attnum])
UNION ALL SELECT 4, 'referred', '', format('rows of the ordinary table %s refer to its rows (%s)', conrelid::regclass,
   conname), 'they show which rows there are', 'link the table, or keep the guest from it'
 FROM links, t
 WHERE confrelid = t.oid AND conrelid NOT IN (SELECT oid FROM family)
UNION ALL SELECT 5, 'partner', coalesce(alone, ''), format('each of its rows has a row of the ordinary table %s for '
   'its own (%s)', confrelid::regclass, conname), 'it shows that the row is there', 'link the table, or drop the column'
 FROM links l, t
 WHERE conrelid = t.oid AND confrelid NOT IN (SELECT oid FROM family)
   AND EXISTS (SELECT FROM keys k WHERE k.indrelid = conrelid AND k.columns = l.columns)
UNION ALL SELECT 5, 'partner', coalesce(alone, ''), format('most of its rows have a row of the ordinary table %s for '
   'their own (%s), by the statistics of PostgreSQL', confrelid::regclass, conname),
   'those to which no row of the twin refers show what was left out',
   'drop the column, or keep the guest from that table'
 FROM links l, t
 WHERE conrelid = t.oid AND confrelid NOT IN (SELECT oid FROM family)
   AND NOT EXISTS (SELECT FROM keys k WHERE k.indrelid = conrelid AND k.columns = l.columns)
   AND EXISTS (SELECT FROM kept JOIN pg_class c ON c.oid = attrelid
     JOIN pg_stats s ON s.schemaname = c.relnamespace::regnamespace::name AND s.tablename = c.relname
       AND s.attname = kept.attname
     WHERE l.columns = ARRAY[attnum]
       AND CASE WHEN n_distinct < 0 THEN -n_distinct ELSE n_distinct / greatest(reltuples, 1) END > 0.5)
UNION ALL SELECT 6, 'subjects', coalesce(alone, ''),
   format('several of its rows may be about one row of %s (%s)', confrelid::regclass, conname),
   'a twin draws rows one by one, and rows of one subject are not like others',
   'if that is their subject, link the table to it and let it have the secret, drop the column, '
   'or accept with independent_rows: true that they are drawn one by one'
 FROM links l, t
 WHERE NOT $4::bool AND conrelid = t.oid AND confrelid NOT IN (SELECT oid FROM family)
   AND EXISTS (SELECT FROM kept WHERE attnum = ANY (l.columns))
   AND NOT EXISTS (SELECT FROM keys k WHERE k.indrelid = conrelid AND k.columns = l.columns)
UNION ALL SELECT 7, 'total', '', format('column %s of the ordinary table %s may be a total of its rows',
   quote_ident(a.attname), a.attrelid::regclass), 'who knows that solves the secret out of it',
   'drop the column, keep the guest from it, or declare it (public)'
 FROM pg_attribute a
 WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid NOT IN (SELECT oid FROM family)
   AND a.attrelid IN (SELECT confrelid FROM links, t WHERE conrelid = t.oid
     UNION SELECT conrelid FROM links, t WHERE confrelid = t.oid)
   AND (a.attname ~* '(^|_)(totals?|counts?|number|num|sums?|lifetime|sold|average|avg|turnover)(_|$)'
     OR a.attname IN (SELECT relname || plural FROM pg_class c, t, (VALUES (''), ('s'), ('es')) v (plural)
       WHERE c.oid = t.oid))
ORDER BY 1, 4`

// Twin says what may break the twin of a table, quoted and with its schema: that its rows are exchangeable, and that
// nothing beside it shows which were taken. left are the columns that the twin leaves out, family the tables that go
// with it, and accepted whether the policy says what the unit of a row is.
func Twin(ctx context.Context, ask Ask, table string, left, family []string, accepted bool) ([]Doubt, error) {
	params := [][]byte{[]byte(table), array(left), array(family), fmt.Append(nil, accepted)}
	rows, err := ask(ctx, twin, params)
	if err != nil {
		return nil, fmt.Errorf("looking in the catalog at %s: %w", table, err)
	}
	var out []Doubt
	for _, r := range rows {
		out = append(out, Doubt{Kind(r[1].Text), r[2].Text, r[3].Text, r[4].Text, r[5].Text})
	}
	return out, nil
}

// array writes texts as an array of PostgreSQL's.
func array(list []string) []byte {
	values := make([]planner.Value, len(list))
	for i, v := range list {
		values[i].Text = v
	}
	return planner.Array(values)
}
