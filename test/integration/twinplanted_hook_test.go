//go:build fuguhooks

package integration

import (
	"context"
	"strings"
	"testing"
	"time"

	"fugu/internal/hook"
	"fugu/test/patient"
)

// plantedTwin is a table in the place of a twin that is not built, as an analyst makes one through Fugu. The planner
// evaluates what is constant in the condition of its index, with the rights of whoever reads the table: of the reader.
var plantedTwin = []string{
	"CREATE SCHEMA fugu_twin",
	`CREATE FUNCTION fugu_twin.look() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
	  IF pg_catalog.has_table_privilege('public.visits', 'SELECT') THEN
	    PERFORM pg_catalog.pg_notify('seen', pg_catalog.count(*)::text) FROM public.visits WHERE kind = 'trial';
	  END IF;
	  RETURN 1; END $$`,
	`CREATE TABLE fugu_twin.planted (id int, name text, ward text, age int, cost numeric(9, 2), weight float8,
	  admitted date, insured bool, smoker bool)`,
	"INSERT INTO fugu_twin.planted (age) SELECT 30 FROM generate_series(1, 1000)",
	"CREATE INDEX ON fugu_twin.planted (age) WHERE age > fugu_twin.look()",
	"GRANT USAGE ON SCHEMA fugu_twin TO clinic_reader",
	"GRANT SELECT ON fugu_twin.planted TO clinic_reader",
	`CREATE VIEW fugu_twin."fugu twins" AS SELECT 'public' AS table_schema, 'patients' AS table_name,
	  ARRAY[1::int8] AS told, ARRAY[1::int8] AS taken`,
	`GRANT SELECT ON fugu_twin."fugu twins" TO clinic_reader`,
	"ALTER TABLE fugu_twin.planted RENAME TO patients",
	"LISTEN seen",
}

// A guest that may make schemas takes the place of twins before they are built: the table in the place of one, and the
// view in the place of the list of them, have the reader count rows that nobody may see, and say how many there are.
// Where any of that belongs to somebody who may not read the table itself, nothing is read.
func TestPlantedTwin(t *testing.T) {
	patient.Test(t)
	serveClinic(t) // which makes the roles
	roles := "CREATE ROLE clinic_keeper LOGIN; CREATE ROLE clinic_guest LOGIN; CREATE ROLE clinic_reader LOGIN;"
	tables := strings.NewReplacer(roles, "", "DATABASE clinic TO clinic_keeper", "DATABASE planted TO clinic_guest").
		Replace(clinicSQL)
	if err := clinic.CreateDatabase(t.Context(), "planted", ""); err != nil {
		t.Fatal(err)
	}
	if err := clinic.Exec(t.Context(), "planted", tables); err != nil {
		t.Fatal(err)
	}
	for _, undone := range []bool{false, true} {
		hook.GuestCode = undone
		t.Cleanup(func() { hook.GuestCode = false })
		does(t, connect(t, clinic.DSN("postgres", "planted")), "DROP SCHEMA IF EXISTS fugu_twin CASCADE")
		f := serve(t, options{guest: clinic.DSN("clinic_guest", "planted"),
			reader: clinic.DSN("clinic_reader", "planted"), policyText: clinicPolicy})
		c := connect(t, strings.Replace(f.dsn("alice"), "/adult", "/planted", 1))
		for _, sql := range plantedTwin {
			if _, err := c.Exec(t.Context(), sql); err != nil {
				t.Errorf("%s: %v", sql, err)
			}
		}
		_, err := values(t, c, "SELECT count(*) FROM patients") // where it is answered, by the analyst's own rows
		wait, stop := context.WithTimeout(t.Context(), time.Second)
		n, _ := c.WaitForNotification(wait)
		stop()
		if told := n != nil && n.Payload == "24"; told != undone || (code(err) == "PV004") == undone {
			t.Errorf("defence off %t: %v, %v; of visits there are 24", undone, n, err)
		}
	}
}
