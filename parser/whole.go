package parser

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"fugu/parser/tree"
)

// ReadWhole changes a SELECT of ours so that which blocks it reads, and how often, does not depend on protected rows.
// Everybody sees which blocks the server has in memory: of an ordinary table block by block, and of a protected one by
// how many of their own are there no more, or by the time that it took. Left alone, PostgreSQL stops reading a table
// where a join has found what it looks for, never begins where nobody looks, or begins anew for each row, and reads a
// long value only where somebody asks for it.
//
// So ordinary tables are read from end to end, once, before anything else, and so are protected ones where there are
// several. A protected table that stands alone is read once anyway: there, the long values of each of its rows are
// read, whatever else the row holds.
//
// Each table that is read first becomes a WITH query that is materialized, which PostgreSQL keeps in the memory of the
// session, or in a file of its own. The offset counts its rows, and is evaluated before the first row of the SELECT is
// asked for (PostgreSQL's nodeLimit.c).
func ReadWhole(sql string, ordinary, protected []Table) (string, error) {
	// A protected table that is alone is read once as it is.
	whole := ordinary
	if len(protected) > 1 {
		whole, protected = slices.Concat(ordinary, protected), nil
	}
	protected = slices.DeleteFunc(slices.Clone(protected), func(t Table) bool { return len(t.Long) == 0 })
	if len(whole)+len(protected) == 0 {
		return sql, nil
	}

	parsed, err := pg.Parse(sql)
	if err != nil {
		return "", fmt.Errorf("reading tables whole: %w", err)
	}
	if s := parsed.Stmts[0].Stmt.GetSelectStmt(); s == nil || s.LimitOffset != nil || s.WithClause != nil {
		return "", errors.New("reading tables whole: it is no plain SELECT")
	}

	for _, t := range protected {
		if err := readLong(parsed, t); err != nil {
			return "", fmt.Errorf("reading long values of %s: %w", t, err)
		}
	}
	with, rows := materialize(parsed, whole)
	text, err := deparse(parsed.Stmts[0].Stmt, parsed.Version, 1, nil)
	if err != nil || len(with) == 0 {
		return text, err
	}
	return "WITH " + strings.Join(with, ", ") + " " + text + " OFFSET (" + strings.Join(rows, " + ") + ") * 0", nil
}

// materialize has a statement name WITH queries in the place of tables, and returns these and what counts their rows.
func materialize(parsed proto.Message, tables []Table) (with, rows []string) {
	for i, t := range tables {
		// Of a table that was written in two ways the second finds nothing more to name.
		name := "fugu whole " + strconv.Itoa(i+1)
		var read []string
		for _, n := range t.in(parsed) {
			rv := n.GetRangeVar()
			rv.Schemaname, rv.Relname = "", name
			read = append(read, columnsOf(parsed, rv.Alias)...)
		}
		slices.Sort(read)
		with = append(with, QuoteIdent(name)+" AS MATERIALIZED ("+t.query(slices.Compact(read))+")")
		rows = append(rows, "(SELECT pg_catalog.count(*) FROM "+QuoteIdent(name)+")")
	}
	return with, rows
}

// readLong has a statement read all values of those columns of a protected table that it reads, where one is long.
func readLong(parsed proto.Message, t Table) error {
	for _, n := range t.in(parsed) {
		alias := n.GetRangeVar().Alias
		read := columnsOf(parsed, alias)
		if !t.reads(read) {
			continue
		}
		sub, err := pg.Parse("SELECT FROM (" + t.query(read) + ") AS x")
		if err != nil {
			return err
		}
		n.Node = sub.Stmts[0].Stmt.GetSelectStmt().FromClause[0].Node
		n.GetRangeSubselect().Alias = alias
	}
	return nil
}

// in are the places in FROM where a statement of ours names the table.
func (t Table) in(parsed proto.Message) (places []*pg.Node) {
	tree.Inspect(parsed, func(m proto.Message) bool {
		if n, ok := m.(*pg.Node); ok && n.GetRangeVar().GetSchemaname() == t.Schema &&
			n.GetRangeVar().GetRelname() == t.Name {
			places = append(places, n)
		}
		return true
	})
	return places
}

// columnsOf are the columns of a relation that a statement of ours reads, each once: there every relation has an alias
// of its own, by which its columns are called.
func columnsOf(parsed proto.Message, alias *pg.Alias) (read []string) {
	tree.Inspect(parsed, func(m proto.Message) bool {
		c, ok := m.(*pg.ColumnRef)
		if ok && len(c.Fields) == 2 && c.Fields[0].GetString_().GetSval() == alias.GetAliasname() {
			read = append(read, tree.LastString(c.Fields))
		}
		return true
	})
	slices.Sort(read)
	return slices.Compact(read)
}

// reads reports whether one of the columns can have long values.
func (t Table) reads(columns []string) bool {
	return slices.ContainsFunc(columns, func(c string) bool { return slices.Contains(t.Long, c) })
}

// query reads columns of a table. Where one can have long values, none of what it returns is stored out of line: the
// columns of each row are made one value first, in which PostgreSQL has nothing that stands elsewhere
// (ExecEvalWholeRowVar), and the offsets keep it from taking the queries together.
func (t Table) query(columns []string) string {
	from := " FROM " + QuoteIdent(t.Schema) + "." + QuoteIdent(t.Name) + " AS t"
	if !t.reads(columns) {
		return "SELECT " + fields("t", columns) + from
	}
	row := "q" // a column would come before the row
	for slices.Contains(columns, row) {
		row += "q"
	}
	rows := "SELECT " + row + " AS r FROM (SELECT " + fields("t", columns) + from + " OFFSET 0) AS " + row + " OFFSET 0"
	return "SELECT " + fields("(w.r)", columns) + " FROM (" + rows + ") AS w"
}

// fields lists columns of a row.
func fields(row string, columns []string) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = row + "." + QuoteIdent(c)
	}
	return strings.Join(out, ", ")
}
