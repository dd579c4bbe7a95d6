package build

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
	"fugu/policy"
)

// readers are the roles that read twins, or the list of them.
func (k *Keeper) readers() []string {
	if k.Reader == "" || slices.Contains(k.Guests, k.Reader) {
		return k.Guests
	}
	return append(slices.Clone(k.Guests), k.Reader)
}

// grantees are the roles that have any right on a table, or on a column of it, but its owner. 0 is PUBLIC.
const grantees = `SELECT DISTINCT a.grantee,
		CASE a.grantee WHEN 0 THEN '' ELSE pg_catalog.pg_get_userbyid(a.grantee)::text END
	FROM pg_catalog.pg_class c, LATERAL (
		SELECT grantee FROM pg_catalog.aclexplode(c.relacl)
		UNION SELECT x.grantee FROM pg_catalog.pg_attribute t, LATERAL pg_catalog.aclexplode(t.attacl) x
			WHERE t.attrelid = c.oid) a
	WHERE c.oid = $1::text::regclass AND a.grantee <> c.relowner ORDER BY 1`

// grant lets guests read the twins whose rows are shown, and the reader alone those whose rows are not listed. What
// anybody else was granted on these, by a policy that said otherwise or by default, is revoked.
func (f *family) grant(ctx context.Context, at place, guests []string, reader string) error {
	for _, s := range f.sources {
		name, readers := at.name(s.Qualified()), guests
		if s.Twin.Rows == policy.Aggregate {
			readers = nil
			if reader != "" {
				readers = []string{reader}
			}
		}
		counts := reader != "" && s.Twin.Rows != policy.Aggregate && f.counted(s)
		if counts {
			readers = append(slices.Clone(guests), reader)
		}

		rows, _ := at.tx.Query(ctx, grantees, name)
		type grantee struct {
			OID  uint32
			Name string
		}
		have, err := pgx.CollectRows(rows, pgx.RowToStructByPos[grantee])
		if err != nil {
			return fmt.Errorf("reading who may read the twin of %s: %w", s.qualified(), err)
		}

		// Where rows are not listed the reader alone keeps a right, and where they are it has none, unless it counts
		// them. Whom else the owner has let read those that are shown is the owner's affair.
		var statements []string
		for _, g := range have {
			role := parser.QuoteIdent(g.Name)
			if g.OID == 0 {
				role = "PUBLIC"
			}
			listed := s.Twin.Rows != policy.Aggregate && (g.Name != reader || counts)
			if !listed && (g.OID == 0 || !slices.Contains(readers, g.Name)) {
				statements = append(statements, fmt.Sprintf("REVOKE ALL ON %s FROM %s", name, role))
			}
		}

		for _, role := range readers {
			statements = append(statements, fmt.Sprintf("GRANT SELECT ON %s TO %s", name, parser.QuoteIdent(role)))
		}
		for _, sql := range statements {
			if _, err := at.tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("letting the twin of %s be read: %w", s.qualified(), err)
			}
		}
	}
	return nil
}

// counted reports whether rows that are not listed go with the source's: enough of the source's have to be there then.
func (f *family) counted(s *source) bool {
	return slices.ContainsFunc(f.sources, func(o *source) bool {
		if o.Twin.Rows != policy.Aggregate {
			return false
		}
		for o.Link != nil {
			if o = f.find(o.Link.To); o == s {
				return true
			}
		}
		return false
	})
}
