package integration

import (
	"context"
	"strings"
	"testing"

	"fugu/test/patient"
)

// A statement is refused where the client's own search_path would give it another meaning than PostgreSQL's own
// functions, operators and types, and answered where it would not.
func TestOverloads(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	const plant = `CREATE SCHEMA planted; GRANT USAGE ON SCHEMA planted TO PUBLIC;
	  CREATE FUNCTION planted.lower(varchar) RETURNS text LANGUAGE sql AS $$ SELECT 'planted' $$;
	  CREATE FUNCTION planted.upper(text) RETURNS text LANGUAGE sql AS $$ SELECT 'planted' $$;
	  CREATE FUNCTION planted.count(int) RETURNS bigint LANGUAGE sql AS $$ SELECT 1::bigint $$;
	  CREATE FUNCTION planted.same(int, int) RETURNS bool LANGUAGE sql AS $$ SELECT true $$;
	  CREATE OPERATOR planted.= (LEFTARG = int, RIGHTARG = int, FUNCTION = planted.same);
	  CREATE FUNCTION planted.far(inet, inet) RETURNS bool LANGUAGE sql AS $$ SELECT true $$;
	  CREATE OPERATOR planted.< (LEFTARG = inet, RIGHTARG = inet, FUNCTION = planted.far);
	  CREATE DOMAIN planted.date AS text;`
	if err := db.cluster.Exec(t.Context(), "adult", "DROP SCHEMA IF EXISTS planted CASCADE;"+plant); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.cluster.Exec(context.WithoutCancel(t.Context()), "adult",
			"DROP SCHEMA planted CASCADE"); err != nil {
			t.Error(err)
		}
	})
	c := serve(t, options{}).connect(t)
	const last, first = "public, planted", "planted, pg_catalog, public"
	for _, x := range []struct{ path, sql, refused string }{
		{"public", "SELECT count(*) FROM adult WHERE lower(sex::varchar) = 'male' AND age = 39", ""},
		{last, "SELECT count(*) FROM adult WHERE lower(sex::varchar) = 'male'", "function lower"},
		{last, "SELECT count(*) FROM adult WHERE lower(sex) = 'male'", ""},
		{last, "SELECT count(*) FROM adult WHERE upper(sex) = 'MALE'", ""}, // PostgreSQL's own comes first
		{first, "SELECT count(*) FROM adult WHERE upper(sex) = 'MALE'", "function upper"},
		{last, "SELECT count(*) FROM adult WHERE age = 39", ""},
		{first, "SELECT count(*) FROM adult WHERE age = 39", "operator ="},
		{first, "SELECT count(*) FROM adult WHERE age IN (39, 40)", "operator ="},
		{first, "SELECT count(*) FROM adult WHERE age < 39", ""},
		{last, "SELECT count(age) FROM adult", "function count"},
		{last, "SELECT count(*) FROM adult WHERE sex::date > '2020-01-01'", ""},
		{first, "SELECT count(*) FROM adult WHERE sex::date > '2020-01-01'", "type date"},
	} {
		rows(t, c, "SET search_path = "+x.path)
		_, err := c.Exec(t.Context(), x.sql)
		switch pe := pgError(err); {
		case x.refused == "" && err != nil:
			t.Errorf("%s with %s: %v", x.sql, x.path, err)
		case x.refused != "" && (pe == nil || pe.Code != "PV001" || !strings.Contains(pe.Message, x.refused) ||
			pe.Position == 0):
			t.Errorf("%s with %s: %v, want %s refused", x.sql, x.path, err, x.refused)
		}
	}
}
