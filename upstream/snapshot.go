package upstream

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/internal/hook"
	"fugu/parser"
	"fugu/planner"
	"fugu/sqlstate"
)

// Ordinary is an ordinary table that a statistics statement reads beside protected ones, with the columns it may use.
type Ordinary struct {
	Schema, Name string
	Columns      []string
}

// String is the qualified name as SQL has it.
func (o Ordinary) String() string {
	return parser.QuoteIdent(o.Schema) + "." + parser.QuoteIdent(o.Name)
}

// Snapshot is one moment of the database, in which ordinary tables cannot change while noise is calibrated to them and
// protected rows are read: analysts may write to ordinary tables.
type Snapshot struct {
	conn *pgconn.PgConn
	// Contents identifies what the ordinary tables hold: a hash of all their rows.
	Contents []string
}

// InSnapshot runs f on one moment of the database. The tables are locked against being replaced, and refused unless
// they still are plain tables: a view in the place of one would run its owner's functions with the reader's rights.
//
// So can a plain table: PostgreSQL's planner evaluates what is constant in the expressions of its indexes, partial
// ones' conditions, constraints and statistics, and its owner may make an index at any moment, also under the lock.
// Children that an owner attaches under the lock are not in what was hashed. So nobody owns one, the type of a column
// of it, or a function that it calls, but who may read every protected table anyway.
func (r *Reader) InSnapshot(
	ctx context.Context, tables []Ordinary, protected []Protected, f func(*Snapshot) error,
) error {
	var failed error
	err := r.with(ctx, func(c *pgconn.PgConn) error {
		if err := begin(ctx, c, ""); err != nil {
			return err
		}
		defer rollback(ctx, c)

		s := &Snapshot{conn: c}
		for _, t := range tables { // before the first query: the snapshot is taken then
			if _, err := c.Exec(ctx, "LOCK TABLE "+t.String()+" IN ACCESS SHARE MODE").ReadAll(); err != nil {
				return unreadable(t)
			}
		}

		for _, t := range tables {
			if err := s.open(ctx, t, protected); err != nil {
				return err
			}
		}
		failed = f(s)
		return nil
	})

	// What f has failed with is its own: it is no error of the reader's, whose text would be scrubbed.
	if err == nil {
		err = failed
	}
	return err
}

// open checks a table under its lock, and hashes its rows.
func (s *Snapshot) open(ctx context.Context, t Ordinary, protected []Protected) error {
	var schemas, names []planner.Value
	for _, p := range protected {
		schemas, names = append(schemas, planner.Value{Text: p.Schema}), append(names, planner.Value{Text: p.Name})
	}
	named := [][]byte{[]byte(t.String()), planner.Array(schemas), planner.Array(names)}
	rows, err := query(ctx, s.conn, plainTable, named, nil)
	if err != nil {
		return err
	}
	switch {
	case len(rows) != 1 || rows[0][0].Text != "t":
		return unreadable(t)
	case rows[0][1].Text != "t" && !hook.GuestCode:
		return sqlstate.New(sqlstate.NotAnswerable, "the table %s.%s cannot be read together with protected rows: "+
			"it, or code of it, belongs to a role that may not read these", t.Schema, t.Name).
			WithHint("Code of a table's owner can run when it is read. Aggregate the protected table in a subquery " +
				"and join the result; or let the owner of the protected tables own this one, and grant you " +
				"INSERT, UPDATE and DELETE.")
	}

	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = "t." + parser.QuoteIdent(c)
	}

	// The rows' lengths stand before them: no two tables are the same text.
	rows, err = query(ctx, s.conn, `SELECT encode(sha256(convert_to(coalesce(
	    string_agg(length(r) || ':' || r, '' ORDER BY r COLLATE "C"), ''), 'UTF8')), 'hex')
	  FROM (SELECT ROW(`+strings.Join(columns, ", ")+`)::text AS r FROM `+t.String()+` AS t) AS q`, nil, nil)
	if err != nil {
		return err
	}
	s.Contents = append(s.Contents, rows[0][0].Text)
	return nil
}

// plainTable tells of the relation named by its parameter whether it, with all its partitions and children, holds its
// rows itself, shows them to everybody alike, and is none of a guest's session alone; and whether all who own one, a
// type that users made of a column, or code that it runs, may read the protected tables, whose schemas and names are
// the others.
const plainTable = `WITH RECURSIVE down AS (SELECT to_regclass($1)::oid AS oid UNION SELECT inhrelid FROM pg_inherits
  JOIN down ON inhparent = down.oid),
  owners AS (SELECT c.relowner AS owner FROM down JOIN pg_class c USING (oid)
    UNION SELECT t.typowner FROM down JOIN pg_attribute a ON a.attrelid = down.oid JOIN pg_type t ON t.oid = a.atttypid
      WHERE a.attnum > 0 AND NOT a.attisdropped
    UNION SELECT x.owner FROM down JOIN ` + codeOwners + ` AS x ON x.of = down.oid),
  protected AS (SELECT c.oid FROM unnest($2::text[], $3::text[]) AS w(s, n) JOIN pg_namespace ns ON ns.nspname = w.s
    JOIN pg_class c ON c.relnamespace = ns.oid AND c.relname = w.n)
  SELECT bool_and(c.relkind IN ('r', 'p', 'm') AND NOT c.relrowsecurity AND c.relpersistence <> 't') AND count(*) > 0,
    (SELECT count(*) > 0 AND bool_and(has_table_privilege(owner, p.oid, 'SELECT')) FROM owners, protected p) FROM down
      JOIN pg_class c USING (oid)`

func unreadable(t Ordinary) error {
	return sqlstate.New(sqlstate.NotAnswerable, "the table %s.%s cannot be read together with protected rows",
		t.Schema, t.Name).
		WithHint("It must be a plain table without row-level security that the reader may SELECT from: " +
			"no view, foreign or temporary table.")
}

// Query runs a statement over references, ordinary tables or constants, and returns its rows in text form.
func (s *Snapshot) Query(
	ctx context.Context, sql string, params [][]byte, paramTypes []uint32,
) ([][]planner.Value, error) {
	rows, err := query(ctx, s.conn, sql, params, paramTypes)
	if err != nil {
		return nil, fmt.Errorf("reading beside protected rows: %w", scrub(ctx, err))
	}
	return rows, nil
}

// Statistics runs the questions, and hands F to done: see Reader.Statistics. A join on no equality has no other way
// than nested loops, which PostgreSQL takes for so dear, as they are off, that it would compile the statement.
func (s *Snapshot) Statistics(ctx context.Context, questions []Question, start []*big.Rat, done Done) error {
	if _, err := s.conn.Exec(ctx, "SET LOCAL jit = off"+alone()).ReadAll(); err != nil {
		return scrub(ctx, err)
	}
	return scrub(ctx, measure(ctx, s.conn, questions, start, done))
}

// Evaluate runs a statement over constants. PostgreSQL's error about them is passed on with its code.
func (s *Snapshot) Evaluate(
	ctx context.Context, sql string, params [][]byte, paramTypes []uint32,
) ([][]planner.Value, error) {
	out, err := query(ctx, s.conn, sql, params, paramTypes)
	return out, aboutText(err)
}
