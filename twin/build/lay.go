package build

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
	"fugu/parser"
)

// lay writes the rows of a table of the family as its twin has them: each as often as it stands, in random order, with
// new keys. It returns how many there are.
//
// The order is by a hash of what only the key of the order of drawing gives: nobody can compute it, and a build that
// was killed gives the same. How many copies there are is public, but for linked tables, where it follows from the rows
// taken. The rows are sorted once, and numbered as they leave the sort.
func (f *family) lay(ctx context.Context, db pgx.Tx, s *source, keys map[*source]fresh, st staged) (int64, error) {
	from, order, args := f.copies(s, st)

	// The tables that are linked to this one have to find each copy by its old key, and get the new one.
	children := f.children(s)
	numbered := len(children) > 0
	var columns, old []string
	for _, c := range s.columns {
		if k, ok := keys[s][c.name]; ok && k.of == "" && !hook.TwinOldKeys {
			columns = append(columns, k.value(s, c.name)+" AS "+parser.QuoteIdent(c.name))
			numbered = true
		} else if ok {
			columns = append(columns, parser.QuoteIdent("fugu new "+c.name)+" AS "+parser.QuoteIdent(c.name))
		} else if s.keeps([]string{c.name}) {
			columns = append(columns, parser.QuoteIdent(c.name))
		}
	}
	for _, child := range children {
		for _, on := range child.Link.On {
			name := "r." + parser.QuoteIdent(on.To) + " AS " + parser.QuoteIdent("fugu old "+on.To)
			if !slices.Contains(old, name) {
				old = append(old, name)
			}
		}
	}
	// OFFSET 0 has the sort done before anything is computed of its rows.
	rows := from + ` ORDER BY ` + order + ` OFFSET 0`
	if numbered {
		if err := makeNumbers(ctx, db); err != nil {
			return 0, err
		}
		number := `pg_catalog.nextval(` + parser.QuoteLiteral(numbersName) + `)`
		rows = `SELECT ` + number + ` AS "fugu n", r.* FROM (` + rows + `) AS r`
	}

	if len(children) > 0 {
		all := slices.Concat([]string{`"fugu n"`}, columns, old)
		return f.layAside(ctx, db, s, `SELECT `+strings.Join(all, ", ")+` FROM (`+rows+`) AS r`, args)
	}
	names := make([]string, 0, len(columns))
	for _, c := range s.kept() {
		names = append(names, c.name)
	}
	insert := fmt.Sprintf(`INSERT INTO %s (%s) SELECT %[2]s FROM (SELECT %s FROM (%s) AS r) AS r`,
		newName(s), list("", names), strings.Join(columns, ", "), rows)
	tag, err := db.Exec(ctx, insert, args...)
	if err != nil {
		return 0, fmt.Errorf("writing the twin of %s: %w", s.qualified(), err)
	}
	return tag.RowsAffected(), nil
}

// numbersName is the sequence that rows are numbered by as they are laid. row_number() puts every row aside once more,
// and takes several times as long.
const numbersName = schema + `."~ numbers"`

// makeNumbers has the numbers begin with 1.
func makeNumbers(ctx context.Context, db pgx.Tx) error {
	for _, sql := range []string{
		`DROP SEQUENCE IF EXISTS ` + numbersName,
		// Numbers of the cache need no entry in the log; no other session takes any.
		`CREATE SEQUENCE ` + numbersName + ` CACHE 65536`,
	} {
		if _, err := db.Exec(ctx, sql); err != nil {
			return fmt.Errorf("making the numbers of rows: %w", err)
		}
	}
	return nil
}

// copies is the SQL of the copies of rows of a table, for links with the new keys, and by what they are put in order.
func (f *family) copies(s *source, st staged) (sql, order string, args []any) {
	if s == f.root {
		// PostgreSQL's own hash, though nothing that withstands an attack, is enough for a second hash of 16 secret
		// bytes which show nowhere: all that anybody sees of it is who comes before whom. Of 10,000,000 rows two are
		// equal with a probability of 3·10^-6, so that it is not worth half a row more in the sort to say which comes
		// first.
		const shuffled = `pg_catalog.hashtextextended(pg_catalog.encode(pg_catalog.substr("fugu h", 17), 'hex'), "fugu g")`
		return `SELECT t.*, ` + shuffled + ` AS "fugu o"
			FROM (SELECT s.*, pg_catalog.generate_series(1, ($2::pg_catalog.int8[])["fugu class" + 1] +
				CASE WHEN pg_catalog.substr("fugu h", 17) <= ($3::pg_catalog.bytea[])["fugu class" + 1]
					THEN 1 ELSE 0 END) AS "fugu g"
				FROM ` + stagedName + ` AS s WHERE "fugu h" <= ($1::pg_catalog.bytea[])["fugu class" + 1]) AS t`,
			`"fugu o"`, []any{st.last, st.each, st.twice}
	}

	var on, add []string
	for _, k := range s.Link.On {
		on = append(on, "t."+parser.QuoteIdent(k.Own)+" = p."+parser.QuoteIdent("fugu old "+k.To))
		add = append(add, "p."+parser.QuoteIdent(k.To)+" AS "+parser.QuoteIdent("fugu new "+k.Own))
	}
	names := make([]string, len(s.columns))
	for i, c := range s.columns {
		names[i] = c.name
	}
	if s.primary != nil {
		names = s.primary
	}
	// What an analyst may know of a row, its old key, is hashed with the secret key: its place shows nothing of it.
	row := `pg_catalog.convert_to(ROW(` + list("t.", names) + `)::pg_catalog.text, 'UTF8')`
	random := secretOf(`pg_catalog.int8send(p."fugu n") || `+row, "place", s, "")
	return fmt.Sprintf(`SELECT t.*, %s, %s AS "fugu o" FROM %s AS t JOIN %s AS p ON %s`, strings.Join(add, ", "),
		random, s.qualified(), f.laid(s.Link.To), strings.Join(on, " AND ")), `"fugu o"`, nil
}

// layAside writes the rows of a table that others are linked to into a table of its own first, with what links need.
func (f *family) layAside(ctx context.Context, db pgx.Tx, s *source, laid string, args []any) (int64, error) {
	aside := f.laid(s.Qualified())
	kept := make([]string, 0, len(s.columns))
	for _, c := range s.kept() {
		kept = append(kept, c.name)
	}

	// A parameter cannot stand in CREATE TABLE AS, so the table is made without rows, and filled.
	room := fmt.Sprintf(`CREATE UNLOGGED TABLE %s AS %s WITH NO DATA`, aside, withoutParameters(laid))
	if _, err := db.Exec(ctx, room); err != nil {
		return 0, fmt.Errorf("making room for the twin of %s: %w", s.qualified(), err)
	}
	if _, err := db.Exec(ctx, `INSERT INTO `+aside+` `+laid, args...); err != nil {
		return 0, fmt.Errorf("laying the rows of %s: %w", s.qualified(), err)
	}
	if _, err := db.Exec(ctx, `ANALYZE `+aside); err != nil {
		return 0, fmt.Errorf("laying the rows of %s: %w", s.qualified(), err)
	}
	tag, err := db.Exec(ctx, fmt.Sprintf(`INSERT INTO %s (%s) SELECT %[2]s FROM %[3]s ORDER BY "fugu n"`,
		newName(s), list("", kept), aside))
	if err != nil {
		return 0, fmt.Errorf("writing the twin of %s: %w", s.qualified(), err)
	}
	return tag.RowsAffected(), nil
}

// withoutParameters puts empty values in the place of parameters: for the types of a statement's columns alone.
func withoutParameters(sql string) string {
	return strings.NewReplacer("$1::pg_catalog.bytea[]", "NULL::pg_catalog.bytea[]",
		"$2::pg_catalog.int8[]", "NULL::pg_catalog.int8[]",
		"$3::pg_catalog.bytea[]", "NULL::pg_catalog.bytea[]").Replace(sql)
}

// laid is the table in which the rows of a table of the family are put aside.
func (f *family) laid(of fmt.Stringer) string {
	i := slices.IndexFunc(f.sources, func(s *source) bool { return s.Qualified().String() == of.String() })
	return fmt.Sprintf(laidName, i)
}
