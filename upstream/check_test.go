package upstream

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"fugu/examples/adult"
)

// schema is what each case starts from. OTHER and GUEST are roles of the case's own; GUEST is what the guest connects as.
const schema = `
	CREATE ROLE GUEST LOGIN; CREATE ROLE OTHER; CREATE ROLE READER LOGIN;
	CREATE TABLE adult (age int, income text);
	CREATE TABLE adult_reference (LIKE adult);
	CREATE TABLE country (name text);
	GRANT SELECT ON adult, adult_reference TO READER;
	GRANT SELECT, INSERT, UPDATE, DELETE ON country TO GUEST;
	GRANT SELECT ON adult_reference TO GUEST;`

// script puts the names of a case into SQL.
type script func(sql string) string

// newCase makes a database and roles of its own.
func newCase(t *testing.T, n int, prefix string) (db string, names script) {
	t.Helper()
	db = fmt.Sprintf("%s_%d", prefix, n)
	replacer := strings.NewReplacer("GUEST", db+"_guest", "OTHER", db+"_other", "READER", db+"_reader")
	run(t, "postgres", "CREATE DATABASE "+db)
	run(t, db, replacer.Replace(schema))
	return db, replacer.Replace
}

// heal runs the SQL that hints begin with.
func heal(t *testing.T, db string, found []Finding) {
	t.Helper()
	for _, f := range found {
		end := strings.LastIndex(f.Hint, ";")
		if end < 0 {
			t.Fatalf("the hint has no SQL: %s", f)
		}
		run(t, db, f.Hint[:end])
	}
}

const (
	readsTable = `^the guest can read or change (public\.)?adult, which holds rows of a protected table$`
	viaOther   = `^the guest can read or change (public\.)?adult, which holds rows of a protected table \(as role \w+_other\)$`
	usesView   = `^the guest can use (public\.)?%s, which reads a protected table with its owner's rights$`
	callsFunc  = `^the guest can call (public\.)?%s\(\), which runs with the rights of %s, who can read a protected table$`
)

// hole is one that CheckGuest finds.
type hole struct {
	name  string
	setup string
	want  []string // expressions, one for each finding; none: no hole
}

// newerHoles are those that only newer versions of PostgreSQL have.
func newerHoles(t *testing.T) (out []hole) {
	t.Helper()
	major := majorOf(t)
	if major >= 17 {
		const maintains = `^the guest can maintain (public\.)?adult`
		out = append(out, hole{"MAINTAIN", "GRANT MAINTAIN ON adult TO GUEST", []string{maintains + "[^()]*$"}},
			hole{"MAINTAIN of a child", "CREATE TABLE child () INHERITS (adult); GRANT MAINTAIN ON child TO PUBLIC", []string{`^the guest can maintain (public\.)?child`}},
			hole{"pg_maintain", "GRANT pg_maintain TO GUEST", []string{`a member of pg_maintain`, maintains + "[^()]*$", maintains + `.*\(as role pg_maintain\)$`}})
	}
	if major >= 18 {
		out = append(out, hole{"a virtual column", "ALTER TABLE adult ADD v int GENERATED ALWAYS AS (100 / age) VIRTUAL", []string{`^the column v of the protected table (public\.)?adult is computed`}},
			hole{name: "a stored column", setup: "ALTER TABLE adult ADD v int GENERATED ALWAYS AS (100 + age) STORED"})
	}
	return out
}

// Each hole is found, its hint is SQL that closes it, and nothing else is found.
func TestCheckGuest(t *testing.T) {
	for n, c := range append(newerHoles(t), []hole{
		{name: "clean"},
		{"SELECT", "GRANT SELECT ON adult TO GUEST", []string{readsTable}},
		{"a column", "GRANT SELECT (age) ON adult TO GUEST", []string{readsTable}},
		{"PUBLIC", "GRANT SELECT ON adult TO PUBLIC", []string{readsTable}},
		{"a column to PUBLIC", "GRANT SELECT (income) ON adult TO PUBLIC", []string{readsTable}},
		{"UPDATE alone", "GRANT UPDATE ON adult TO GUEST", []string{readsTable}},         // UPDATE ... RETURNING is not needed: a condition and a row count do
		{"REFERENCES alone", "GRANT REFERENCES ON adult TO GUEST", []string{readsTable}}, // a foreign key tells which keys there are
		{"TRIGGER alone", "GRANT TRIGGER ON adult TO GUEST", []string{readsTable}},       // a trigger sees the rows that others write
		{"a role with INHERIT", "GRANT SELECT ON adult TO OTHER; GRANT OTHER TO GUEST", []string{readsTable, viaOther}},
		{"a role without INHERIT", "GRANT SELECT ON adult TO OTHER; ALTER ROLE GUEST NOINHERIT; GRANT OTHER TO GUEST", []string{viaOther}},
		{"a role's role without INHERIT", "CREATE ROLE OTHER2 NOINHERIT; GRANT SELECT ON adult TO OTHER; GRANT OTHER TO OTHER2; GRANT OTHER2 TO GUEST", []string{viaOther}},
		{"a role left behind", "GRANT SELECT ON adult TO OTHER; ALTER ROLE GUEST NOINHERIT; GRANT OTHER TO GUEST; CREATE ROLE OTHER3; GRANT OTHER3 TO GUEST; ALTER ROLE GUEST SET role = 'OTHER3'", []string{viaOther}},
		{"CREATEROLE", "ALTER ROLE GUEST CREATEROLE", []string{`as role \w+_guest, which is allowed to create roles$`}},
		{"a role with CREATEROLE", "ALTER ROLE OTHER CREATEROLE; GRANT OTHER TO GUEST", []string{`as role \w+_other, which is allowed to create roles$`}},
		{"REPLICATION", "ALTER ROLE GUEST REPLICATION", []string{`as role \w+_guest, which is allowed to replicate$`}},
		{"reads files", "GRANT pg_read_server_files TO GUEST", []string{`a member of pg_read_server_files, which reads files`}},
		{"runs programs", "GRANT pg_execute_server_program TO GUEST", []string{`a member of pg_execute_server_program, which runs programs`}},
		{"pg_read_all_data", "GRANT pg_read_all_data TO GUEST", []string{`a member of pg_read_all_data, which reads every table`, readsTable, `\(as role pg_read_all_data\)`}},
		{"pg_read_all_data without INHERIT", "ALTER ROLE GUEST NOINHERIT; GRANT pg_read_all_data TO GUEST", []string{`a member of pg_read_all_data`, `\(as role pg_read_all_data\)`}},
		{"the owner", "ALTER TABLE adult OWNER TO GUEST", []string{`as role \w+_guest, which owns the protected table (public\.)?adult$`, readsTable}},
		{"an owner without rights", "ALTER TABLE adult OWNER TO GUEST; REVOKE ALL ON adult FROM GUEST", []string{`which owns the protected table`}},
		{"a view", "CREATE VIEW v AS SELECT age FROM adult; GRANT SELECT ON v TO GUEST", []string{fmt.Sprintf(usesView, "v")}},
		{"a column of a view", "CREATE VIEW v AS SELECT age FROM adult; GRANT SELECT (age) ON v TO GUEST", []string{fmt.Sprintf(usesView, "v")}},
		{"a view that only counts", "CREATE VIEW v AS SELECT count(*) FROM adult; GRANT SELECT ON v TO PUBLIC", []string{fmt.Sprintf(usesView, "v")}},
		{"a view with a subquery", "CREATE VIEW v AS SELECT name FROM country WHERE EXISTS (SELECT FROM adult); GRANT SELECT ON v TO GUEST", []string{fmt.Sprintf(usesView, "v")}},
		{"a view over a view", "CREATE VIEW v AS SELECT * FROM adult; CREATE VIEW w AS SELECT * FROM v; GRANT SELECT ON w TO GUEST", []string{fmt.Sprintf(usesView, "w")}},
		{"a materialized view", "CREATE MATERIALIZED VIEW m AS SELECT * FROM adult; GRANT SELECT ON m TO GUEST", []string{fmt.Sprintf(usesView, "m")}},
		{"a materialized view over a view", "CREATE VIEW v AS SELECT * FROM adult; CREATE MATERIALIZED VIEW m AS SELECT * FROM v; GRANT SELECT ON m TO GUEST", []string{fmt.Sprintf(usesView, "m")}},
		{name: "a view that the guest cannot read", setup: "CREATE VIEW v AS SELECT * FROM adult"},
		{name: "a view of the guest's own", setup: "CREATE VIEW v AS SELECT * FROM adult; ALTER VIEW v OWNER TO GUEST"},
		{"a materialized view of the guest's own", "CREATE MATERIALIZED VIEW m AS SELECT * FROM adult; ALTER MATERIALIZED VIEW m OWNER TO GUEST", []string{fmt.Sprintf(usesView, "m")}},
		{name: "a view with the reader's rights", setup: "CREATE VIEW v WITH (security_invoker) AS SELECT * FROM adult; GRANT SELECT ON v TO GUEST"},
		{"a view over one with the reader's rights", "CREATE VIEW v WITH (security_invoker) AS SELECT * FROM adult; CREATE VIEW w AS SELECT * FROM v; GRANT SELECT ON w TO GUEST", []string{fmt.Sprintf(usesView, "w")}},
		{"a rule", "CREATE RULE r AS ON INSERT TO country DO ALSO INSERT INTO adult_reference SELECT * FROM adult", []string{fmt.Sprintf(usesView, "country")}},
		{"a function", "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.adult'", []string{fmt.Sprintf(callsFunc, "f", "postgres")}},
		{"a procedure", "CREATE PROCEDURE f() LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.adult'", []string{fmt.Sprintf(callsFunc, "f", "postgres")}},
		{"a function of an ordinary reader's", "GRANT SELECT (age) ON adult TO OTHER; CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(age) FROM public.adult'; ALTER FUNCTION f OWNER TO OTHER", []string{fmt.Sprintf(callsFunc, "f", `\w+_other`)}},
		{"a function of a view's reader's", "CREATE VIEW v AS SELECT * FROM adult; GRANT SELECT ON v TO OTHER; CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.v'; ALTER FUNCTION f OWNER TO OTHER", []string{fmt.Sprintf(callsFunc, "f", `\w+_other`)}},
		{"a function that calls a function", `CREATE FUNCTION g() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.adult'; REVOKE EXECUTE ON FUNCTION g FROM PUBLIC; GRANT EXECUTE ON FUNCTION g TO OTHER;
			CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT public.g()'; ALTER FUNCTION f OWNER TO OTHER`, []string{fmt.Sprintf(callsFunc, "f", `\w+_other`)}},
		{name: "a function with the caller's rights", setup: "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM public.adult'"},
		{name: "a function that the guest cannot call", setup: "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.adult'; REVOKE EXECUTE ON FUNCTION f FROM PUBLIC"},
		{name: "a function of a role without rights", setup: "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; ALTER FUNCTION f OWNER TO OTHER"},
		{"a trigger", `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN NEW.name := count(*) FROM public.adult; RETURN NEW; END'; REVOKE EXECUTE ON FUNCTION f FROM PUBLIC;
			CREATE TRIGGER tr BEFORE INSERT ON country FOR EACH ROW EXECUTE FUNCTION f()`, []string{`^the guest can change (public\.)?country, whose trigger tr runs with the rights`}},
		{"a child", "CREATE TABLE child () INHERITS (adult); GRANT SELECT ON child TO GUEST", []string{`can read or change (public\.)?child,`}},
		{"a grandchild", "CREATE TABLE child () INHERITS (adult); CREATE TABLE grandchild () INHERITS (child); GRANT SELECT ON grandchild TO GUEST", []string{`can read or change (public\.)?grandchild,`}},
		{"a parent", "CREATE TABLE parent (age int); ALTER TABLE adult INHERIT parent; GRANT SELECT ON parent TO GUEST", []string{`can read or change (public\.)?parent,`}},
		{"a view over a parent", "CREATE TABLE parent (age int); ALTER TABLE adult INHERIT parent; CREATE VIEW v AS SELECT * FROM parent; GRANT SELECT ON v TO GUEST", []string{fmt.Sprintf(usesView, "v")}},
		{"a partition", "DROP TABLE adult; CREATE TABLE adult (age int, income text) PARTITION BY RANGE (age); CREATE TABLE young PARTITION OF adult FOR VALUES FROM (0) TO (40); GRANT SELECT ON young TO GUEST", []string{`can read or change (public\.)?young,`}},
		{"a partition itself", "CREATE TABLE whole (age int, income text) PARTITION BY RANGE (age); ALTER TABLE whole ATTACH PARTITION adult FOR VALUES FROM (0) TO (40); GRANT SELECT ON whole TO GUEST", []string{`can read or change (public\.)?whole,`}},
		{"a partial index", "CREATE INDEX rich ON adult (age) WHERE income = '>50K'", []string{`(public\.)?rich is a partial index`}},
		{"a partial index of a partition", "DROP TABLE adult; CREATE TABLE adult (age int, income text) PARTITION BY RANGE (age); CREATE TABLE young PARTITION OF adult FOR VALUES FROM (0) TO (40); CREATE INDEX rich ON young (age) WHERE income = '>50K'", []string{`(public\.)?rich is a partial index`}},
		{name: "a whole index", setup: "CREATE INDEX i ON adult (age)"},
		{"several", "GRANT SELECT ON adult TO GUEST; CREATE INDEX rich ON adult (age) WHERE income = '>50K'; ALTER ROLE GUEST REPLICATION", []string{readsTable, `partial index`, `allowed to replicate`}},
		{"a serial column", "ALTER TABLE adult ADD id serial; GRANT USAGE ON SEQUENCE adult_id_seq TO GUEST", []string{`can use the sequence (public\.)?adult_id_seq of a protected table`}},
		{"an identity column", "ALTER TABLE adult ADD id int GENERATED ALWAYS AS IDENTITY; GRANT SELECT ON SEQUENCE adult_id_seq TO PUBLIC", []string{`can use the sequence (public\.)?adult_id_seq of a protected table`}},
		{name: "a sequence without rights", setup: "ALTER TABLE adult ADD id serial; CREATE SEQUENCE s; GRANT USAGE ON s TO GUEST"},
		{"a foreign key to it", "ALTER TABLE adult ADD PRIMARY KEY (age); CREATE TABLE note (age int REFERENCES adult); GRANT INSERT (age) ON note TO GUEST", []string{`can change (public\.)?note, and the foreign key note_age_fkey then tells`}},
		{"a foreign key of it", "ALTER TABLE country ADD PRIMARY KEY (name); ALTER TABLE adult ADD FOREIGN KEY (income) REFERENCES country", []string{`can change (public\.)?country, and the foreign key adult_income_fkey then tells`}},
		{name: "a foreign key that the guest cannot reach", setup: "CREATE TABLE c (name text PRIMARY KEY); GRANT SELECT, INSERT ON c TO GUEST; ALTER TABLE adult ADD FOREIGN KEY (income) REFERENCES c"},
		{"statistics of all roles", "GRANT pg_monitor TO GUEST", []string{`a member of pg_monitor`, `a member of pg_read_all_stats`, `a member of pg_stat_scan_tables`}},
		{"a foreign server", "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; GRANT USAGE ON FOREIGN SERVER s TO GUEST; CREATE USER MAPPING FOR PUBLIC SERVER s", []string{`can use the foreign server s with a user mapping`}},
		{"a foreign table", "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE USER MAPPING FOR GUEST SERVER s; CREATE FOREIGN TABLE ft (a int) SERVER s; GRANT SELECT ON ft TO GUEST", []string{`can use the foreign server s with a user mapping`}},
		{name: "a foreign server without a mapping", setup: "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; GRANT USAGE ON FOREIGN SERVER s TO GUEST; CREATE USER MAPPING FOR OTHER SERVER s"},
		{name: "no USAGE on the schema", setup: "REVOKE USAGE ON SCHEMA public FROM PUBLIC"},
		{"the database", "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO GUEST', current_database()); END $$", []string{`as role \w+_guest, which owns the database`}},
		{"the database's owner", "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO OTHER', current_database()); END $$; ALTER ROLE GUEST NOINHERIT; GRANT OTHER TO GUEST", []string{`as role \w+_other, which owns the database`}},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			db, names := newCase(t, n, "guest_case")
			run(t, db, names(c.setup))
			check := func() []Finding {
				found, _, err := CheckGuest(t.Context(), config(t, names("GUEST"), db), []Protected{{"public", "adult"}}, nil)
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			found := check()
			wantFindings(t, found, c.want)
			heal(t, db, found)
			if left := check(); len(left) > 0 {
				t.Errorf("after what the hints say there is still %v", left)
			}
		})
	}
}

// wantFindings fails unless each expression finds one finding and no finding is left over.
func wantFindings(t *testing.T, found []Finding, want []string) {
	t.Helper()
	if len(found) != len(want) {
		t.Errorf("%d findings, want %d: %v", len(found), len(want), found)
	}
	for _, w := range want {
		n := 0
		for _, f := range found {
			if regexp.MustCompile(w).MatchString(f.Message) {
				n++
			}
			if len(f.Hint) < 10 {
				t.Errorf("no hint: %v", f)
			}
		}
		if n != 1 {
			t.Errorf("%q is there %d times: %v", w, n, found)
		}
	}
}

// A superuser is every role. The one finding that matters is there; closing it is not a matter of grants alone.
func TestCheckGuestSuperuser(t *testing.T) {
	db, names := newCase(t, 0, "superuser")
	run(t, db, names("ALTER ROLE GUEST SUPERUSER"))
	found, _, err := CheckGuest(t.Context(), config(t, names("GUEST"), db), []Protected{{"public", "adult"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Message == names("the guest can act as role GUEST, which is a superuser") && strings.HasPrefix(f.Hint, names("ALTER ROLE GUEST NOSUPERUSER")) {
			return
		}
	}
	t.Errorf("not among %v", found)
}

func TestCheckGuestTable(t *testing.T) {
	db, names := newCase(t, 0, "tables")
	run(t, db, names("CREATE VIEW v AS SELECT 1 AS x; CREATE SCHEMA hidden; CREATE TABLE hidden.t (x int)"))
	for _, c := range []struct {
		p    Protected
		want []string
	}{
		{Protected{"public", "adult"}, nil},
		{Protected{"public", "nothing"}, []string{`^the protected table public\.nothing does not exist, or is not a table$`}},
		{Protected{"nowhere", "adult"}, []string{`^the protected table nowhere\.adult does not exist`}},
		{Protected{"public", "v"}, []string{`^the protected table public\.v does not exist, or is not a table$`}},
		{Protected{"public", "Adult"}, []string{`^the protected table public\."Adult" does not exist`}},
		{Protected{"hidden", "t"}, nil}, // the guest has no right on the schema, as it should be
	} {
		found, _, err := CheckGuest(t.Context(), config(t, names("GUEST"), db), []Protected{c.p}, nil)
		if err != nil {
			t.Fatalf("%v: %v", c.p, err)
		}
		wantFindings(t, found, c.want)
	}
}

func TestCheckReferences(t *testing.T) {
	for n, c := range []struct {
		name  string
		setup string
		want  []string
	}{
		{name: "clean"},
		{"reads", "GRANT SELECT ON adult_reference TO GUEST", nil},
		{"writes", "GRANT INSERT ON adult_reference TO GUEST", []string{`^the guest can change the reference "public"\."adult_reference"$`}},
		{"everybody writes a column", "GRANT UPDATE (age) ON adult_reference TO PUBLIC", []string{`^the guest can change the reference "public"\."adult_reference"$`}},
		{"writes a child", "CREATE TABLE more () INHERITS (adult_reference); GRANT INSERT ON more TO GUEST", []string{`^the guest can change the reference "public"\."more"$`}},
		{"owns", "ALTER TABLE adult_reference OWNER TO GUEST", []string{`^the guest can change the reference "public"\."adult_reference"$`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, names := newCase(t, n, "reference_case")
			run(t, db, names(c.setup))
			check := func() []Finding {
				found, _, err := CheckGuest(t.Context(), config(t, names("GUEST"), db), nil, []string{`"public"."adult_reference"`})
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			found := check()
			wantFindings(t, found, c.want)
			heal(t, db, found)
			if left := check(); len(left) > 0 {
				t.Errorf("after what the hints say there is still %v", left)
			}
		})
	}
}

func TestCheckReader(t *testing.T) {
	for n, c := range []struct {
		name  string
		setup string
		want  []string
	}{
		{name: "clean"},
		{"no SELECT", "REVOKE SELECT ON adult FROM READER", []string{`^the reader cannot read "public"\."adult"$`}},
		{"a column alone", "REVOKE SELECT ON adult FROM READER; GRANT SELECT (age) ON adult TO READER", []string{`^the reader cannot read "public"\."adult"$`}},
		{"no SELECT on the reference", "REVOKE SELECT ON adult_reference FROM READER", []string{`^the reader cannot read "public"\."adult_reference"$`}},
		{"no USAGE", "REVOKE USAGE ON SCHEMA public FROM PUBLIC", []string{`cannot read "public"\."adult"$`, `cannot read "public"\."adult_reference"$`}},
		{"writes", "GRANT INSERT ON adult TO READER", []string{`^the reader can change "public"\."adult"$`}},
		{"writes a column", "GRANT UPDATE (age) ON adult TO READER", []string{`^the reader can change "public"\."adult"$`}},
		{"everybody writes the reference", "GRANT DELETE ON adult_reference TO PUBLIC", []string{`^the reader can change "public"\."adult_reference"$`}},
		{"several", "REVOKE SELECT ON adult FROM READER; GRANT TRUNCATE ON adult, adult_reference TO READER", []string{`cannot read "public"\."adult"$`, `can change "public"\."adult"$`, `can change "public"\."adult_reference"$`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, names := newCase(t, n, "reader_case")
			run(t, db, names(c.setup))
			check := func() []Finding {
				found, err := CheckReader(t.Context(), config(t, names("READER"), db), []Protected{{"public", "adult"}}, []string{`"public"."adult_reference"`})
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			found := check()
			wantFindings(t, found, c.want)
			heal(t, db, found)
			if left := check(); len(left) > 0 {
				t.Errorf("after what the hints say there is still %v", left)
			}
		})
	}
	db, names := newCase(t, 0, "missing")
	run(t, db, "DROP TABLE adult_reference")
	found, err := CheckReader(t.Context(), config(t, names("READER"), db), []Protected{{"public", "adult"}}, []string{`"public"."adult_reference"`, `"nowhere"."r"`})
	if err != nil {
		t.Fatal(err)
	}
	wantFindings(t, found, []string{`^the reader cannot read "public"\."adult_reference"$`, `^the reader cannot read "nowhere"\."r"$`})
}

// The example's own schema has no hole.
func TestCheckExample(t *testing.T) {
	run(t, "postgres", "CREATE DATABASE example")
	run(t, "example", adult.Schema)
	protected := []Protected{{"public", "adult"}}
	if found, _, err := CheckGuest(t.Context(), config(t, "fugu_guest", "example"), protected, nil); err != nil || len(found) > 0 {
		t.Errorf("guest: %v %v", found, err)
	}
	if found, err := CheckReader(t.Context(), config(t, "fugu_reader", "example"), protected, []string{`"public"."adult_reference"`}); err != nil || len(found) > 0 {
		t.Errorf("reader: %v %v", found, err)
	}
}

func TestCheckUnreachable(t *testing.T) {
	cfg := config(t, "postgres", "postgres")
	cfg.Port = closedPort(t)
	_, _, err := CheckGuest(t.Context(), cfg, nil, nil)
	wantCode(t, err, "08006")
	_, err = CheckReader(t.Context(), cfg, nil, nil)
	wantCode(t, err, "08006")
}

func TestHole(t *testing.T) {
	if err := Hole(nil); err != nil {
		t.Error(err)
	}
	want := "one\n  first\ntwo\n  second"
	if err := Hole([]Finding{{"one", "first"}, {"two", "second"}}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
