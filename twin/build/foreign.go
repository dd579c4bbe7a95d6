package build

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
	"fugu/policy"
)

// describeForeign are the foreign keys of a table that point at another: their names, their columns, those that they
// point at, and what the definition says behind these.
const describeForeign = `SELECT c.conname, own, refs,
	substr(pg_get_constraintdef(c.oid), 1 + length(format('FOREIGN KEY (%s) REFERENCES %s(%s)',
		(SELECT string_agg(quote_ident(x), ', ' ORDER BY n) FROM unnest(own) WITH ORDINALITY u(x, n)),
		c.confrelid::regclass,
		(SELECT string_agg(quote_ident(x), ', ' ORDER BY n) FROM unnest(refs) WITH ORDINALITY u(x, n)))))
	FROM pg_constraint c,
		LATERAL (SELECT array_agg(a.attname::text ORDER BY k.n) FROM unnest(c.conkey) WITH ORDINALITY k(a, n)
			JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.a) o(own),
		LATERAL (SELECT array_agg(a.attname::text ORDER BY k.n) FROM unnest(c.confkey) WITH ORDINALITY k(a, n)
			JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.a) r(refs)
	WHERE c.contype = 'f' AND c.conparentid = 0 AND c.conrelid = $1 AND c.confrelid = $2 ORDER BY c.conname`

// readForeign reads the foreign keys between the tables of a family.
func (f *family) readForeign(ctx context.Context, db pgx.Tx) error {
	for _, s := range f.sources[1:] {
		onto := f.find(s.Link.To)
		rows, _ := db.Query(ctx, describeForeign, s.oid, onto.oid)
		keys, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (foreign, error) {
			k := foreign{from: s, onto: onto}
			return k, row.Scan(&k.name, &k.own, &k.refs, &k.more)
		})
		if err != nil {
			return fmt.Errorf("looking at the foreign keys of %s: %w", s.qualified(), err)
		}
		f.foreign = append(f.foreign, slices.DeleteFunc(keys, func(k foreign) bool { return !k.follows() })...)
	}
	return nil
}

// follows reports whether the twin has both ends of a foreign key, and each of its columns is of the link.
func (k foreign) follows() bool {
	for i, own := range k.own {
		if !slices.Contains(k.from.Link.On, policy.LinkKey{Own: own, To: k.refs[i]}) {
			return false
		}
	}
	return k.from.keeps(k.own) && k.onto.keeps(k.refs)
}

// loosen takes the foreign keys from the twins of a family that are there, so that each can be replaced by itself.
func (f *family) loosen(ctx context.Context, at place) error {
	for _, s := range f.sources {
		name := at.name(s.Qualified())
		rows, _ := at.tx.Query(ctx,
			`SELECT conname FROM pg_constraint WHERE contype = 'f' AND conrelid = to_regclass($1)`, name)
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("looking at the twin of %s: %w", s.qualified(), err)
		}
		for _, key := range names {
			sql := fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s", name, parser.QuoteIdent(key))
			if _, err := at.tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("loosening the twin of %s: %w", s.qualified(), err)
			}
		}
	}
	return nil
}

// tie gives the twins of a family, once they have their names, the foreign keys that their tables have. A key that does
// not point at a unique column of the twin is left out: twins[i].Left says so.
func (f *family) tie(ctx context.Context, at place, twins []Twin) {
	for _, k := range f.foreign {
		sql := fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)%s",
			at.name(k.from.Qualified()), parser.QuoteIdent(k.name), list("", k.own),
			at.name(k.onto.Qualified()), list("", k.refs), k.more)
		if !attempt(ctx, at.tx, sql) {
			t := &twins[slices.Index(f.sources, k.from)]
			t.Left = append(t.Left, fmt.Sprintf("foreign key %s of %s", parser.QuoteIdent(k.name), k.from.qualified()))
		}
	}
}
