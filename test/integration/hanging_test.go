package integration

import (
	"context"
	"slices"
	"strings"
	"testing"

	"fugu/test/patient"
)

// late are relations that hang on vault.person in every way there is, and ordinary ones beside them. They are made
// after the policies were loaded.
const late = `CREATE SCHEMA late; GRANT USAGE ON SCHEMA late TO fugu_guest;
	CREATE INDEX person_late ON vault.person (lower(name));
	CREATE SEQUENCE vault.late_counting OWNED BY vault.person.city;

	CREATE TABLE late.elder (LIKE vault.person);
	ALTER TABLE vault.person INHERIT late.elder;
	CREATE TABLE late.cousin () INHERITS (late.elder);
	CREATE TABLE late.child () INHERITS (vault.person);
	CREATE TABLE late.grandchild (PRIMARY KEY (id)) INHERITS (late.child);

	CREATE VIEW late.first AS SELECT id, born FROM vault.person;
	CREATE VIEW late.second AS SELECT id FROM late.first;
	CREATE MATERIALIZED VIEW late.third AS SELECT id FROM late.second;
	CREATE INDEX third_id ON late.third (id);
	CREATE VIEW late.fourth AS SELECT * FROM late.third;
	CREATE MATERIALIZED VIEW late.fifth AS SELECT * FROM late.fourth;

	CREATE TABLE late.parted (id int, PRIMARY KEY (id)) PARTITION BY RANGE (id);
	CREATE TABLE late.part PARTITION OF late.parted FOR VALUES FROM (0) TO (1);
	CREATE RULE counts AS ON INSERT TO late.parted DO ALSO SELECT count(*) FROM vault.person;

	CREATE TABLE late.ordinary (id serial PRIMARY KEY, note text REFERENCES vault.person (email));
	CREATE VIEW late.over AS SELECT id FROM late.ordinary;
	CREATE MATERIALIZED VIEW late.kept AS SELECT * FROM late.over;
	CREATE TABLE late.beside () INHERITS (late.ordinary);`

const forgetLate = `ALTER TABLE vault.person NO INHERIT late.elder; DROP SCHEMA late CASCADE;
	DROP INDEX vault.person_late; DROP SEQUENCE vault.late_counting`

// hanging are the names of the relations that hang on vault.person, without views, which have no size; and those with
// statistics of it.
var hanging = strings.Fields(`vault.person vault.person_pkey vault.person_email_key vault.person_city vault.person_late
	vault.person_id_seq vault.late_counting toast:vault.person toastindex:vault.person
	late.elder toast:late.elder toastindex:late.elder late.cousin toast:late.cousin toastindex:late.cousin
	late.child toast:late.child toastindex:late.child
	late.grandchild late.grandchild_pkey toast:late.grandchild toastindex:late.grandchild
	late.third late.third_id late.fifth late.parted late.parted_pkey late.part late.part_pkey
	pg_statistic toast:pg_statistic toastindex:pg_statistic
	toast:pg_statistic_ext_data toastindex:pg_statistic_ext_data`)

// What hangs on a protected table is masked, in whatever way it does and however far, from the moment that it is there;
// and nothing else is.
func TestWhatHangsOnATable(t *testing.T) {
	patient.Test(t)
	c := connect(t, servePeople(t, options{}))
	truth := connect(t, people.cluster.DSN("postgres", "people"))
	t.Cleanup(func() {
		err := people.cluster.Exec(context.WithoutCancel(t.Context()), "people", forgetLate)
		if err != nil {
			t.Error(err)
		}
	})
	if err := people.cluster.Exec(t.Context(), "people", late); err != nil {
		t.Fatal(err)
	}

	// What is masked has no size; what is empty has one.
	var got []string
	for _, name := range strings.Fields(rows(t, c, `SELECT c.oid::regclass::text FROM pg_class c
	  WHERE c.relkind <> 'v' AND pg_relation_size(c.oid) IS NULL
	    AND (c.relnamespace <> 'pg_catalog'::regnamespace OR c.relname = 'pg_statistic')`)) {
		// TOAST tables and their indexes have the oid of their owner for a name.
		name = strings.Trim(name, "\"[]\n")
		if number, ok := strings.CutPrefix(name, "pg_toast.pg_toast_"); ok {
			oid, index, _ := strings.Cut(number, "_")
			name = "toast" + index + ":" + strings.Trim(rows(t, truth, "SELECT $1::text::oid::regclass", oid), "\"[]\n")
		}
		got = append(got, name)
	}
	for _, name := range hanging {
		if !slices.Contains(got, name) {
			t.Errorf("%s hangs on a protected table, and is not masked", name)
		}
	}
	for _, name := range got {
		if !slices.Contains(hanging, name) {
			t.Errorf("%s is ordinary, and is masked", name)
		}
	}
}
