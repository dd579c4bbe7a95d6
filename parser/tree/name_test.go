package tree_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	pg "github.com/pganalyze/pg_query_go/v6"

	"fugu/parser/tree"
	"fugu/test/pgcluster"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

// An output column has the name that the server gives it.
func TestColumnName(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), pgcluster.Shared(t).DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })

	for _, expression := range []string{"1", "-length(x)", "x", "r.x", "a[1]", "(r).x", `x COLLATE "C"`, "x::int",
		"1::int8", "'1'::pg_catalog.text", "lower(x)::varchar", "CASE WHEN true THEN 1 END",
		"CASE WHEN true THEN 1 ELSE x::int END", "count(*) OVER ()", "pg_catalog.lower(x)", "EXISTS (SELECT)",
		"ARRAY(SELECT 1)", "ARRAY[1, 2]", "1 = ANY (SELECT 1)", "(SELECT 1)", "(SELECT x)", "(SELECT 1 AS one)",
		"(SELECT 1 AS one UNION SELECT 1 AS two)", "nullif(x, 'a')", "coalesce(x, 'a')", "least(1, 2)",
		"greatest(1, 2)", "ROW(1, 2)", "(1, 2)", "current_date", "current_time(3)", "localtimestamp", "current_user",
		"x IS NULL", "x || 'a'", "NOT true"} {
		sql := "SELECT " + expression + " FROM (VALUES ('1', ARRAY[1])) AS r(x, a)"
		answer, err := conn.Query(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		answer.Close()
		if err := answer.Err(); err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}

		parsed, err := pg.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		target := parsed.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget()
		if got, want := tree.ColumnName(target.Val), answer.FieldDescriptions()[0].Name; got != want {
			t.Errorf("%s is called %q, and by the server %q", expression, got, want)
		}
	}
}
