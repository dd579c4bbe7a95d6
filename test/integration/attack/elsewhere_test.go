//go:build fuguhooks

package attack

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// What a name says of another database is refused as PostgreSQL refuses it of a table that anybody may read: by its
// code, its words and its place. Answered, it would be of a table that was not asked for.
func TestNamesOfOtherDatabases(t *testing.T) {
	f := serve(t, worlds[0], options{})
	through, direct := f.connect(t, ""), f.world.as(t, "fugu_guest")
	refused := func(c *pgx.Conn, sql string) pgconn.PgError {
		_, err := c.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		var e *pgconn.PgError
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", sql, err)
			return pgconn.PgError{}
		}
		return pgconn.PgError{Code: e.Code, Message: e.Message, Position: e.Position}
	}
	for _, sql := range []string{
		"SELECT count(*) FROM other.public.NAME",
		"SELECT count(*) FROM other.public.NAME n, w400.public.NAME",
		"SELECT region, count(other.public.NAME.region) FROM NAME GROUP BY 1",
		"COPY other.public.NAME TO STDOUT",
		"EXPLAIN SELECT count(*) FROM other.public.NAME",
		"SELECT (SELECT count(*) FROM other.public.NAME) FROM plain",
		"SELECT relpages FROM other.pg_catalog.pg_class WHERE relname = 'NAME'",
	} {
		got := refused(through, strings.ReplaceAll(sql, "NAME", "customer"))
		want := refused(direct, strings.ReplaceAll(sql, "NAME", "plain"))
		want.Message = strings.ReplaceAll(want.Message, "plain", "customer")
		if want.Position == 0 { // of COPY it says no place
			got.Position = 0
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", sql, got, want)
		}
	}

	// The database that it is in a name may say.
	if _, ok := number(t, through, "SELECT count(w400.public.customer.region) FROM w400.public.customer"); !ok {
		t.Error("the budget is spent")
	}
}
