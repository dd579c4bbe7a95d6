package build

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/internal/hook"
	"fugu/parser"
	"fugu/policy"
)

// lay makes a table of the family as its twin has it: each row as often as it stands, in random order, with new keys.
// It returns how many rows there are.
//
// The order is by a hash of what only the key of the order of drawing gives: nobody can compute it, and a build that
// was killed gives the same. How many copies there are is public, but for linked tables, where it follows from the rows
// taken. The rows are hashed and sorted once, by parallel workers where there are any, and numbered as they leave the
// sort.
func (f *family) lay(ctx context.Context, db pgx.Tx, s *source, keys map[*source]fresh, show []released) (
	rows int64, err error) {
	if s != f.root {
		show = nil
	}
	columns, numbered := s.laidColumns(keys[s], show)
	children := f.children(s)

	// OFFSET 0 has the sort done before anything is computed of its rows; a window of all rows keeps their order.
	from := f.copies(s, keys, show) + ` ORDER BY "fugu o" OFFSET 0`
	if numbered || len(children) > 0 {
		from = `SELECT pg_catalog.row_number() OVER () AS "fugu n", r.* FROM (` + from + `) AS r`
	}
	if len(children) > 0 {
		columns = append(columns, `"fugu n"`)
	}
	// The tables that are linked to this one have to find each copy by its old key, and get the new one.
	for _, child := range children {
		for _, on := range child.Link.On {
			old := "r." + parser.QuoteIdent(on.To) + " AS " + parser.QuoteIdent("fugu old "+on.To)
			if !slices.Contains(columns, old) {
				columns = append(columns, old)
			}
		}
	}
	from = `SELECT ` + strings.Join(columns, ", ") + ` FROM (` + from + `) AS r`
	if len(children) > 0 {
		if from, err = f.layAside(ctx, db, s, from); err != nil {
			return 0, err
		}
	}

	names := make([]string, 0, len(columns))
	for _, c := range s.kept() {
		names = append(names, c.name)
	}
	table := fmt.Sprintf(`TABLE %s WITH (%s)`, newName(s), twinStorage)
	query := fmt.Sprintf(`SELECT %s FROM (%s) AS r`, list("", names), from)
	if s == f.root && len(children) == 0 {
		rows, err = s.makeOfTaken(ctx, db, table, query)
	} else {
		rows, err = makeTable(ctx, db, table, query)
	}
	if err == nil {
		err = f.checkRoom(s, keys[s], rows)
	}
	if err != nil {
		return 0, fmt.Errorf("writing the twin of %s: %w", s.qualified(), err)
	}
	return rows, nil
}

// laidColumns are the SQL of the columns of a twin, and of keys that it has not but which others are linked to; and
// whether any of them is a number of its row.
func (s *source) laidColumns(keys fresh, show []released) (columns []string, numbered bool) {
	for _, c := range s.columns {
		k, fresh := keys[c.name]
		name := parser.QuoteIdent(c.name)
		number := slices.IndexFunc(show, func(x released) bool { return x.Column == c.name })
		switch {
		case number >= 0:
			columns = append(columns, show[number].value(s)+"::"+c.typ+" AS "+name)
		case fresh && k.of != "":
			columns = append(columns, parser.QuoteIdent("fugu new "+c.name)+"::"+c.typ+" AS "+name)
		case fresh && !hook.TwinOldKeys:
			columns = append(columns, "("+k.value(s, c.name)+")::"+c.typ+" AS "+name)
			numbered = true
		case s.keeps([]string{c.name}) || fresh:
			columns = append(columns, name)
		}
	}
	return columns, numbered
}

// carried are the columns of the family's first table that its twin cannot be written without: those that it has, but
// for keys that are made anew whatever they were. All others would be sorted for nothing.
func (f *family) carried(s *source, keys fresh) (out []string) {
	for _, c := range s.columns {
		_, anew := keys[c.name]
		linked := slices.ContainsFunc(f.children(s), func(child *source) bool {
			return slices.ContainsFunc(child.Link.On, func(on policy.LinkKey) bool { return on.To == c.name })
		})
		if anew && (linked || !c.notNull || hook.TwinOldKeys) || !anew && s.keeps([]string{c.name}) {
			out = append(out, c.name)
		}
	}
	return out
}

// makeTable makes a table of the rows of a query, and returns how many there are. INSERT would do without workers.
func makeTable(ctx context.Context, db pgx.Tx, table, query string) (rows int64, err error) {
	err = inParallel(ctx, db, func() error {
		tag, err := db.Exec(ctx, `CREATE `+table+` AS `+query)
		rows = tag.RowsAffected()
		return err
	})
	return rows, err
}

// makeOfTaken is makeTable for a query over hashed rows.
func (s *source) makeOfTaken(ctx context.Context, db pgx.Tx, table, query string) (rows int64, err error) {
	execute, err := s.prepareTaken(ctx, db, query)
	if err != nil {
		return 0, err
	}
	rows, err = makeTable(ctx, db, table, execute)
	// A prepared statement outlives its transaction, also one that has failed.
	return rows, errors.Join(err, db.Conn().PgConn().Deallocate(ctx, takenName))
}

// prepareTaken prepares a query over hashed rows, and returns what executes it. It is planned for any parameters: to
// plan with the values would write them into the plan, which workers are sent as a text.
func (s *source) prepareTaken(ctx context.Context, db pgx.Tx, query string) (execute string, err error) {
	for _, sql := range []string{
		`SET LOCAL plan_cache_mode = force_generic_plan`,
		fmt.Sprintf(`PREPARE "%s" (bytea, bytea[], bytea) AS %s`, takenName, query),
	} {
		if _, err := db.Exec(ctx, sql); err != nil {
			return "", err
		}
	}

	before := ""
	if s.plainKey() {
		before = "("
	}
	return fmt.Sprintf(`EXECUTE "%s" (%s, pg_catalog.current_setting('fugu.last')::pg_catalog.bytea[],
		pg_catalog.decode(pg_catalog.current_setting('fugu.sieve'), 'base64'))`, takenName, orderSetting(before)), nil
}

// inParallel runs f, whose statements are worth another processor: what they compute of rows, and that they order them,
// is dearer than the planner takes it to be. Who gathers the rows has enough to do.
func inParallel(ctx context.Context, db pgx.Tx, f func() error) error {
	set := func(cost, participation string) error {
		_, err := db.Exec(ctx, `SET LOCAL parallel_tuple_cost TO `+cost)
		if err == nil {
			_, err = db.Exec(ctx, `SET LOCAL parallel_leader_participation TO `+participation)
		}
		return err
	}
	if err := set("0", "off"); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return set("DEFAULT", "DEFAULT")
}

// checkRoom refuses keys that are too long for a column of a table or of one that is linked to it, once it has so many
// rows: they would be cut off, and be no keys any more.
func (f *family) checkRoom(s *source, keys fresh, rows int64) error {
	digits := len(strconv.FormatInt(rows, 10))
	for _, c := range s.kept() {
		if k, ok := keys[c.name]; ok && k.of == "" && c.room > 0 && digits > c.room {
			return fmt.Errorf("column %s has no room for numbers of %d rows", parser.QuoteIdent(c.name), rows)
		}
	}
	for _, child := range f.children(s) {
		for _, on := range child.Link.On {
			if c, _ := child.column(on.Own); c.room > 0 && digits > c.room {
				return fmt.Errorf("column %s of %s has no room for numbers of %d rows", parser.QuoteIdent(c.name),
					child.qualified(), rows)
			}
		}
	}
	return nil
}

// copies is the SQL of the copies of rows of a table, for links with the new keys, and with "fugu o", by which they are
// put in order.
func (f *family) copies(s *source, keys map[*source]fresh, show []released) string {
	if s == f.root {
		return f.copiesOfRoot(keys[s], show)
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
		random, s.qualified(), f.laid(s.Link.To), strings.Join(on, " AND "))
}

// copiesOfRoot is copies of the family's first table. Of columns that are shown by a channel its rows also have what
// that goes by.
//
// PostgreSQL's own hash, though nothing that withstands an attack, is enough for a second hash of 16 secret bytes which
// show nowhere: all that anybody sees of it is who comes before whom. Of 10,000,000 rows two are equal with a
// probability of 3·10^-6, so that it is not worth half a row more in the sort to say which comes first.
func (f *family) copiesOfRoot(keys fresh, show []released) string {
	columns, by := f.carried(f.root, keys), ""
	if len(show) > 0 {
		by = `, t."fugu class", t."fugu h"`
	}
	return `SELECT pg_catalog.hashtextextended(
			pg_catalog.encode(pg_catalog.substr(t."fugu h", 17), 'hex'), c."fugu g") AS "fugu o"` + by +
		and(columns) + `
		FROM ` + f.root.hashed(f.rows, columns) + ` AS t JOIN ` + copiesName + ` AS c ON c."fugu class" = t."fugu class"
			AND (c."fugu last" IS NULL OR pg_catalog.substr(t."fugu h", 17) <= c."fugu last")
		WHERE ` + isTaken
}

// layAside writes the rows of a table that others are linked to into a table of its own first, and returns the SQL of
// them, in their order.
func (f *family) layAside(ctx context.Context, db pgx.Tx, s *source, rows string) (string, error) {
	aside := f.laid(s.Qualified())
	make := makeTable
	if s == f.root {
		make = s.makeOfTaken
	}
	_, err := make(ctx, db, `UNLOGGED TABLE `+aside, rows)
	if err == nil {
		_, err = db.Exec(ctx, `ANALYZE `+aside)
	}
	if err != nil {
		return "", fmt.Errorf("laying the rows of %s: %w", s.qualified(), err)
	}
	return `SELECT * FROM ` + aside + ` ORDER BY "fugu n"`, nil
}

// laid is the table in which the rows of a table of the family are put aside.
func (f *family) laid(of fmt.Stringer) string {
	i := slices.IndexFunc(f.sources, func(s *source) bool { return s.Qualified().String() == of.String() })
	return fmt.Sprintf(laidName, i)
}
