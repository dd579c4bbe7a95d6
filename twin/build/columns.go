package build

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/parser"
	"fugu/policy"
	"fugu/twin"
	"fugu/twin/class"
	"fugu/twin/columns"
)

// shownColumns works out, from the table's reference, by which law each column is shown that the policy has shown row
// by row, before anything is paid for. Nothing in the table would say the law: it is to be known, and of a protected
// row it would tell.
func (s *source) shownColumns(ctx context.Context, db pgx.Tx, spec twin.Spec, keys fresh, guests []string) (
	laws []columns.Law, err error) {
	if len(s.Twin.Columns) == 0 {
		return nil, nil
	}

	for _, c := range s.Twin.Columns {
		if err := s.checkShown(c.Name, keys); err != nil {
			return nil, fmt.Errorf("column %s, which is to be shown row by row: %w", parser.QuoteIdent(c.Name), err)
		}
	}

	// A reference can be written to by others, so it is looked at before anything of it is believed.
	if err := s.checkReference(ctx, db, guests); err != nil {
		return nil, fmt.Errorf("the reference %s, by which columns are shown: %w", s.Reference, err)
	}

	for _, c := range s.Twin.Columns {
		law, err := s.shownColumn(ctx, db, spec, c)
		if err != nil {
			return nil, fmt.Errorf("column %s, which is to be shown row by row: %w", parser.QuoteIdent(c.Name), err)
		}
		laws = append(laws, law)
	}
	return laws, nil
}

// shownColumn is the law of one column.
func (s *source) shownColumn(ctx context.Context, db pgx.Tx, spec twin.Spec, c policy.Column) (columns.Law, error) {
	// What the twin tells of its secrets and public counts would contradict what the column shows.
	switch read, err := class.Reads(spec, s.Name, c.Name); {
	case err != nil:
		return columns.Law{}, err
	case read:
		return columns.Law{}, errors.New("a secret's condition or a public count reads it: what the twin tells of " +
			"that is blurred already, and would not be what its rows show. Drop the column, or leave it as it is")
	}

	outcome := "0"
	if c.Transport != nil {
		i := slices.IndexFunc(spec.Secrets, func(x twin.Secret) bool { return x.Name == c.Transport.Hide })
		p := spec.Secrets[i].Proportion
		outcome = fmt.Sprintf("CASE WHEN (%s) THEN %d WHEN (%s) IS NULL THEN %d ELSE %d END", p, twin.True, p,
			twin.Null, twin.False)
	}
	counts, err := s.countReference(ctx, db, c.Name, outcome)
	if err != nil {
		return columns.Law{}, fmt.Errorf("counting its values in the reference: %w", err)
	}
	return columns.New(c, counts)
}

// Obfuscated are the laws by which the obfuscated columns of a table's twin would be shown today, by what its reference
// has. It reads the reference alone, and keeps nothing: a law by which a column was shown before stays.
func Obfuscated(ctx context.Context, db querier, t policy.Table) (laws []columns.Law, err error) {
	s := source{Table: t}
	for _, c := range t.Twin.Columns {
		if c.Obfuscate == nil {
			continue
		}
		counts, err := s.countReference(ctx, db, c.Name, "0")
		if err != nil {
			return nil, fmt.Errorf("counting the values of column %s in the reference: %w",
				parser.QuoteIdent(c.Name), err)
		}
		law, err := columns.New(c, counts)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", parser.QuoteIdent(c.Name), err)
		}
		laws = append(laws, law)
	}
	return laws, nil
}

// checkShown refuses a column whose true values show elsewhere in the twin, or that cannot have others.
func (s *source) checkShown(name string, keys fresh) error {
	c, ok := s.column(name)
	switch _, key := keys[name]; {
	case !ok:
		return errors.New("the table has no such column")
	case key:
		return errors.New("it is a key that the twin counts anew, or that a link leads to: it shows nothing of its own")
	case c.base == "":
		return errors.New("its type is not PostgreSQL's own, and the type's code would run: drop it")
	}
	for _, other := range s.kept() {
		for from, to := range map[*column]*column{&c: &other, &other: &c} {
			if slices.Contains(to.from, from.name) {
				return fmt.Errorf("column %s is generated from %s, and both are in the twin: drop one of them",
					parser.QuoteIdent(to.name), parser.QuoteIdent(from.name))
			}
		}
	}
	return nil
}

// referenceLooks is what has to be so of a reference that is read beside protected rows: it is a plain table, whose
// owner no guest can act as. A view, or an index over a function, would run its owner's code with the keeper's rights.
// $1 is the reference, $2 the guests, $3 the table, $4 the columns that are shown.
const referenceLooks = `SELECT c.relkind IN ('r', 'p', 'm'),
	NOT EXISTS (SELECT FROM unnest($2::text[]) g WHERE pg_has_role(g, c.relowner, 'MEMBER')),
	has_table_privilege(c.oid, 'SELECT'),
	coalesce((SELECT min(n) FROM unnest($4::text[]) n WHERE NOT EXISTS (
		SELECT FROM pg_attribute a JOIN pg_attribute b ON (a.attname, a.atttypid, a.atttypmod)
			= (b.attname, b.atttypid, b.atttypmod)
		WHERE a.attrelid = c.oid AND b.attrelid = $3::text::regclass AND a.attname = n)), '')
	FROM pg_class c WHERE c.oid = to_regclass($1)`

// checkReference refuses a reference that is not there, or not to be trusted, or has other columns.
func (s *source) checkReference(ctx context.Context, db pgx.Tx, guests []string) error {
	var plain, own, readable bool
	var other string
	names := make([]string, len(s.Twin.Columns))
	for i, c := range s.Twin.Columns {
		names[i] = c.Name
	}

	// One look answers all of it, so that nothing changes between two questions.
	err := db.QueryRow(ctx, referenceLooks, quoted(s.Reference), append([]string{}, guests...), s.qualified(),
		names).Scan(&plain, &own, &readable, &other)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return errors.New("there is no such table")
	case err != nil:
		return err
	case !plain:
		return errors.New("it is no table: what a view is made of would run with the keeper's rights; make a table " +
			"of it")
	case !own:
		return errors.New("it belongs to a role that guests can be: give it another owner")
	case !readable:
		return errors.New("the keeper may not read it: GRANT SELECT on it to the keeper's role")
	case other != "":
		return fmt.Errorf("it has no column %s of the table's type", parser.QuoteIdent(other))
	}
	return nil
}

// countReference counts the reference's rows by value and outcome.
func (s *source) countReference(ctx context.Context, db querier, column, outcome string) ([]columns.Count, error) {
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT value, outcome, pg_catalog.count(*) FROM (
		SELECT (t.%s)::pg_catalog.text COLLATE pg_catalog."C" AS value, %s AS outcome FROM %s AS t) AS counted
		GROUP BY 1, 2`, parser.QuoteIdent(column), outcome, quoted(s.Reference)))
	if err != nil {
		return nil, err
	}

	// A NULL is a value like another, and has no text.
	at := map[policy.Value]int{}
	var out []columns.Count
	var value *string
	var of int
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&value, &of, &n}, func() error {
		v := policy.Value{IsNull: value == nil}
		if value != nil {
			v.Text = *value
		}
		i, ok := at[v]
		if !ok {
			i = len(out)
			at[v] = i
			out = append(out, columns.Count{Value: v})
		}
		out[i].Rows[of] = n
		return nil
	})
	return out, err
}
