package parser

import (
	"errors"
	"strings"
	"testing"

	"fugu/sqlstate"
)

// inClinic is a catalog of the database clinic, in which the table account is answered from its twin.
type inClinic struct{ twinned }

func (inClinic) Database() string { return "clinic" }

// A name that says another database is refused as PostgreSQL refuses it, wherever it stands, and one that says this one
// means what it does without.
func TestNamesOfOtherDatabases(t *testing.T) {
	for _, c := range []struct{ sql, name, where string }{
		{"SELECT count(*) FROM other.public.adult", `"other.public.adult"`, "other"},
		{"SELECT 'ä', (SELECT count(*) FROM Clinics.public.adult)", `"clinics.public.adult"`, "Clinics"},
		{"COPY other.public.account TO STDOUT", `"other.public.account"`, "other"},
		{"CREATE TABLE other.public.adults AS SELECT count(*) FROM adult", `"other.public.adults"`, "other"},
		{"SELECT count(other.public.adult.age) FROM adult", "other.public.adult.age", "other"},
		{"SELECT other.public.account.* FROM account", "other.public.account.*", "other"},
		{"SELECT * FROM other.fugu.budget", `"other.fugu.budget"`, "other"},
		{"SELECT * FROM other.pg_catalog.pg_class", `"other.pg_catalog.pg_class"`, "other"},
	} {
		_, err := Parse(c.sql, inClinic{twinned{adult}})
		var e *sqlstate.Error
		if !errors.As(err, &e) || e.Code != sqlstate.FeatureNotSupported ||
			e.Message != "cross-database references are not implemented: "+c.name ||
			e.Position != len([]rune(c.sql[:strings.Index(c.sql, c.where)]))+1 {
			t.Errorf("%s: %v", c.sql, err)
		}
	}
	for _, sql := range []string{
		"SELECT count(*) FROM clinic.public.adult",
		"SELECT count(clinic.public.adult.age) FROM adult",
		"SELECT clinic.public.account.id FROM clinic.public.account",
	} {
		statements, err := Parse(sql, inClinic{twinned{adult}})
		if err != nil || len(statements[0].Cuts)+len(statements[0].Twins) != 1 {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
