package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"fugu/parser"
	"fugu/policy"
	"fugu/upstream"
)

// standing is a line for each relation that a snapshot depends on: the table, reference or twin (t, r or w: $3) named
// $1.$2, the partitions and children of tables and references, and views over tables whose owners can read them. A
// twin has no oid in it, as it has another one whenever it is made again, and is the same to a snapshot. A view over
// what its owner cannot read shows nothing, and whoever may make relations can make such views: nobody is to have
// policies loaded again and again by that.
const standing = `WITH RECURSIVE
 named AS (SELECT c.oid, w.kind FROM unnest($1::text[], $2::text[], $3::text[]) AS w(s, n, kind)
   JOIN pg_namespace ns ON ns.nspname = w.s JOIN pg_class c ON c.relnamespace = ns.oid AND c.relname = w.n),
 family AS (SELECT oid, kind FROM named WHERE kind <> 'w'
   UNION SELECT i.inhrelid, kind FROM pg_inherits i JOIN family ON i.inhparent = family.oid),
 rules AS (SELECT r.ev_class AS reader, d.refobjid AS read FROM pg_rewrite r
   JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
   WHERE r.ev_class <> d.refobjid),
 views AS (SELECT reader AS oid FROM rules JOIN family ON oid = read AND kind = 't'
   UNION SELECT reader FROM rules JOIN views ON oid = read),
 known AS (SELECT oid, oid AS same FROM family
   UNION SELECT v.oid, v.oid FROM views v JOIN pg_class c USING (oid)
     WHERE EXISTS (SELECT FROM family f WHERE f.kind = 't' AND has_any_column_privilege(c.relowner, f.oid, 'SELECT'))
   UNION SELECT oid, NULL FROM named WHERE kind = 'w')
SELECT concat_ws(' ', k.same, quote_ident(n.nspname), quote_ident(c.relname), c.relkind, c.relowner, c.relacl,
   c.relrowsecurity, c.relispartition, c.relpartbound,
   (SELECT count(*) FROM pg_index x WHERE x.indrelid = c.oid AND x.indpred IS NOT NULL),
   (SELECT string_agg(concat_ws(' ', a.attnum, quote_ident(a.attname), a.atttypid, a.atttypmod, a.attcollation,
       a.attacl), ', ' ORDER BY a.attnum)
     FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped))
 FROM known k JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace
 ORDER BY n.nspname, c.relname, c.oid`

// State tells one state of the catalog from another, as far as a snapshot of the policies depends on it: which columns
// and partitions protected tables, references and twins have, which views are over them, and who may read all that. It
// takes no lock on any of these, and does not change with their rows.
func State(ctx context.Context, policies []*policy.Policy, reader *upstream.Reader) (string, error) {
	var schemas, names, kinds []string
	add := func(n policy.QualifiedName, kind string) {
		schemas, names, kinds = append(schemas, n.Schema), append(names, n.Name), append(kinds, kind)
	}

	// A policy's tables, their references, and the twins that they have or may come to have.
	for _, p := range policies {
		for _, t := range p.Tables {
			add(t.Qualified(), "t")
			if t.Reference.Name != "" {
				add(t.Reference, "r")
			}
			if t.Answers == policy.FromTwin {
				add(policy.QualifiedName{Schema: parser.TwinSchema, Name: t.Name}, "w")
			}
		}
	}

	rows, err := reader.Query(ctx, standing, [][]byte{textArray(schemas), textArray(names), textArray(kinds)}, nil)
	if err != nil {
		return "", fmt.Errorf("reading what the catalog says of protected tables: %w", err)
	}
	var lines strings.Builder
	for _, r := range rows {
		lines.WriteString(r[0].Text + "\n")
	}
	sum := sha256.Sum256([]byte(lines.String()))
	return hex.EncodeToString(sum[:]), nil
}
