package upstream

import (
	"fmt"
	"testing"
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
			hole{"MAINTAIN of a child", "CREATE TABLE child () INHERITS (adult); GRANT MAINTAIN ON child TO PUBLIC",
				[]string{`^the guest can maintain (public\.)?child`}},
			hole{"pg_maintain", "GRANT pg_maintain TO GUEST",
				[]string{`a member of pg_maintain`, maintains + "[^()]*$", maintains + `.*\(as role pg_maintain\)$`}})
	}
	if major >= 18 {
		out = append(out, hole{"a virtual column",
			"ALTER TABLE adult ADD v int GENERATED ALWAYS AS (100 / age) VIRTUAL",
			[]string{`^the column v of the protected table (public\.)?adult is computed`}},
			hole{name: "a stored column", setup: "ALTER TABLE adult ADD v int GENERATED ALWAYS AS (100 + age) STORED"})
	}
	return out
}

// guestFunction makes a function that the guest owns, and so can replace.
func guestFunction(definition string) string {
	return "CREATE FUNCTION " + definition + "; ALTER FUNCTION f OWNER TO GUEST; "
}

const (
	guestAges = "f(a int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT a'"
	ownsCode  = `^the guest can act as role \w+_guest, which owns `
)

// partitioned makes the table one that has partitions.
const partitioned = "DROP TABLE adult; CREATE TABLE adult (age int, income text) PARTITION BY RANGE (age); " +
	"CREATE TABLE young PARTITION OF adult FOR VALUES FROM (0) TO (40); "

// holes are those of every version, by what somebody grants or makes, in the order of checks.
var holes = []hole{
	{name: "clean"},
	{"SELECT", "GRANT SELECT ON adult TO GUEST", []string{holdsRows + `: role \w+_guest has SELECT$`}},
	{"a column", "GRANT SELECT (age) ON adult TO GUEST",
		[]string{holdsRows + `: role \w+_guest has SELECT of columns$`}},
	{"PUBLIC", "GRANT SELECT ON adult TO PUBLIC",
		[]string{holdsRows + `: role \w+_guest has SELECT, for there is a GRANT to PUBLIC$`}},
	{"a column to PUBLIC", "GRANT SELECT (income) ON adult TO PUBLIC",
		[]string{holdsRows + `: role \w+_guest has SELECT of columns, for there is a GRANT to PUBLIC$`}},
	// UPDATE ... RETURNING is not needed: a condition and a row count do.
	{"UPDATE alone", "GRANT UPDATE ON adult TO GUEST", []string{holdsRows + `: role \w+_guest has UPDATE$`}},
	{"several rights", "GRANT DELETE, SELECT (age) ON adult TO GUEST",
		[]string{holdsRows + `: role \w+_guest has SELECT of columns, DELETE$`}},
	// A foreign key tells which keys there are.
	{"REFERENCES alone", "GRANT REFERENCES ON adult TO GUEST", []string{readsTable}},
	// A trigger sees the rows that others write.
	{"TRIGGER alone", "GRANT TRIGGER ON adult TO GUEST", []string{readsTable}},
	{"a role with INHERIT", "GRANT SELECT ON adult TO OTHER; GRANT OTHER TO GUEST", []string{readsTable, viaOther}},
	{"a role without INHERIT", "GRANT SELECT ON adult TO OTHER; ALTER ROLE GUEST NOINHERIT; GRANT OTHER TO GUEST",
		[]string{viaOther}},
	{"a role's role without INHERIT",
		"CREATE ROLE OTHER2 NOINHERIT; GRANT SELECT ON adult TO OTHER; GRANT OTHER TO OTHER2; GRANT OTHER2 TO " +
			"GUEST", []string{viaOther}},
	{"a role left behind",
		"GRANT SELECT ON adult TO OTHER; ALTER ROLE GUEST NOINHERIT; GRANT OTHER TO GUEST; CREATE ROLE OTHER3; " +
			"GRANT OTHER3 TO GUEST; ALTER ROLE GUEST SET role = 'OTHER3'", []string{viaOther}},
	{"CREATEROLE", "ALTER ROLE GUEST CREATEROLE", []string{`as role \w+_guest, which is allowed to create roles$`}},
	{"a role with CREATEROLE", "ALTER ROLE OTHER CREATEROLE; GRANT OTHER TO GUEST",
		[]string{`as role \w+_other, which is allowed to create roles$`}},
	{"REPLICATION", "ALTER ROLE GUEST REPLICATION", []string{`as role \w+_guest, which is allowed to replicate$`}},
	{name: "CREATEDB", setup: "ALTER ROLE GUEST CREATEDB"},
	{"CREATEDB, of a database that is a template", "ALTER ROLE GUEST CREATEDB; DO $$ BEGIN EXECUTE format('ALTER " +
		"DATABASE %I IS_TEMPLATE true', current_database()); END $$",
		[]string{`^the guest can copy this database, which is a template`}},
	{"reads files", "GRANT pg_read_server_files TO GUEST",
		[]string{`a member of pg_read_server_files, which reads files`}},
	{"runs programs", "GRANT pg_execute_server_program TO GUEST",
		[]string{`a member of pg_execute_server_program, which runs programs`}},
	{"pg_read_all_data", "GRANT pg_read_all_data TO GUEST",
		[]string{`a member of pg_read_all_data, which reads every table`, readsTable,
			`\(as role pg_read_all_data\)`}},
	{"pg_read_all_data without INHERIT", "ALTER ROLE GUEST NOINHERIT; GRANT pg_read_all_data TO GUEST",
		[]string{`a member of pg_read_all_data`, `\(as role pg_read_all_data\)`}},
	{"the owner", "ALTER TABLE adult OWNER TO GUEST",
		[]string{`as role \w+_guest, which owns the protected table (public\.)?adult$`, readsTable}},
	{"an owner without rights", "ALTER TABLE adult OWNER TO GUEST; REVOKE ALL ON adult FROM GUEST",
		[]string{`which owns the protected table`}},
	{"a view", "CREATE VIEW v AS SELECT age FROM adult; GRANT SELECT ON v TO GUEST",
		[]string{fmt.Sprintf(usesView, "v")}},
	{"a column of a view", "CREATE VIEW v AS SELECT age FROM adult; GRANT SELECT (age) ON v TO GUEST",
		[]string{fmt.Sprintf(usesView, "v")}},
	{"a view that only counts", "CREATE VIEW v AS SELECT count(*) FROM adult; GRANT SELECT ON v TO PUBLIC",
		[]string{fmt.Sprintf(usesView, "v")}},
	{"a view with a subquery",
		"CREATE VIEW v AS SELECT name FROM country WHERE EXISTS (SELECT FROM adult); GRANT SELECT ON v TO GUEST",
		[]string{fmt.Sprintf(usesView, "v")}},
	{"a view over a view",
		"CREATE VIEW v AS SELECT * FROM adult; CREATE VIEW w AS SELECT * FROM v; GRANT SELECT ON w TO GUEST",
		[]string{fmt.Sprintf(usesView, "w")}},
	{"a materialized view", "CREATE MATERIALIZED VIEW m AS SELECT * FROM adult; GRANT SELECT ON m TO GUEST",
		[]string{fmt.Sprintf(usesView, "m")}},
	{"a materialized view over a view",
		"CREATE VIEW v AS SELECT * FROM adult; CREATE MATERIALIZED VIEW m AS SELECT * FROM v; GRANT SELECT ON m " +
			"TO GUEST", []string{fmt.Sprintf(usesView, "m")}},
	{name: "a view that the guest cannot read", setup: "CREATE VIEW v AS SELECT * FROM adult"},
	{name: "a view of the guest's own", setup: "CREATE VIEW v AS SELECT * FROM adult; ALTER VIEW v OWNER TO GUEST"},
	{"a materialized view of the guest's own",
		"CREATE MATERIALIZED VIEW m AS SELECT * FROM adult; ALTER MATERIALIZED VIEW m OWNER TO GUEST",
		[]string{fmt.Sprintf(usesView, "m")}},
	{name: "a view with the reader's rights",
		setup: "CREATE VIEW v WITH (security_invoker) AS SELECT * FROM adult; GRANT SELECT ON v TO GUEST"},
	{"a view over one with the reader's rights",
		"CREATE VIEW v WITH (security_invoker) AS SELECT * FROM adult; CREATE VIEW w AS SELECT * FROM v; GRANT " +
			"SELECT ON w TO GUEST", []string{fmt.Sprintf(usesView, "w")}},
	{"a rule", "CREATE RULE r AS ON INSERT TO country DO ALSO INSERT INTO adult_reference SELECT * FROM adult",
		[]string{fmt.Sprintf(usesView, "country")}},
	{"a function", "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM " +
		"public.adult'", []string{fmt.Sprintf(callsFunc, "f", "postgres")}},
	{"a procedure", "CREATE PROCEDURE f() LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.adult'",
		[]string{fmt.Sprintf(callsFunc, "f", "postgres")}},
	{"a function of an ordinary reader's",
		"GRANT SELECT (age) ON adult TO OTHER; CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SECURITY DEFINER " +
			"AS 'SELECT count(age) FROM public.adult'; ALTER FUNCTION f OWNER TO OTHER",
		[]string{fmt.Sprintf(callsFunc, "f", `\w+_other`)}},
	{"a function of a view's reader's",
		"CREATE VIEW v AS SELECT * FROM adult; GRANT SELECT ON v TO OTHER; CREATE FUNCTION f() RETURNS bigint " +
			"LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.v'; ALTER FUNCTION f OWNER TO OTHER",
		[]string{fmt.Sprintf(callsFunc, "f", `\w+_other`)}},
	{"a function that calls a function",
		`CREATE FUNCTION g() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.adult';
			REVOKE EXECUTE ON FUNCTION g FROM PUBLIC; GRANT EXECUTE ON FUNCTION g TO OTHER;
			CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT public.g()';
			ALTER FUNCTION f OWNER TO OTHER`,
		[]string{fmt.Sprintf(callsFunc, "f", `\w+_other`)}},
	{name: "a function with the caller's rights",
		setup: "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM public.adult'"},
	{name: "a function that the guest cannot call",
		setup: "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM " +
			"public.adult'; REVOKE EXECUTE ON FUNCTION f FROM PUBLIC"},
	{name: "a function of a role without rights",
		setup: "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; ALTER FUNCTION f " +
			"OWNER TO OTHER"},
	{"a trigger",
		`CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
			AS 'BEGIN NEW.name := count(*) FROM public.adult; RETURN NEW; END';
			REVOKE EXECUTE ON FUNCTION f FROM PUBLIC;
			CREATE TRIGGER tr BEFORE INSERT ON country FOR EACH ROW EXECUTE FUNCTION f()`,
		[]string{`^the guest can change (public\.)?country, whose trigger tr runs with the rights`}},
	{"a child", "CREATE TABLE child () INHERITS (adult); GRANT SELECT ON child TO GUEST",
		[]string{`can read or change (public\.)?child,`}},
	{"a grandchild",
		"CREATE TABLE child () INHERITS (adult); CREATE TABLE grandchild () INHERITS (child); GRANT SELECT ON " +
			"grandchild TO GUEST", []string{`can read or change (public\.)?grandchild,`}},
	{"a parent", "CREATE TABLE parent (age int); ALTER TABLE adult INHERIT parent; GRANT SELECT ON parent TO GUEST",
		[]string{`can read or change (public\.)?parent,`}},
	{"a view over a parent",
		"CREATE TABLE parent (age int); ALTER TABLE adult INHERIT parent; CREATE VIEW v AS SELECT * FROM parent; " +
			"GRANT SELECT ON v TO GUEST", []string{fmt.Sprintf(usesView, "v")}},
	{"a partition", "DROP TABLE adult; CREATE TABLE adult (age int, income text) PARTITION BY RANGE (age); " +
		"CREATE TABLE young PARTITION OF adult FOR VALUES FROM (0) TO (40); GRANT SELECT ON young TO GUEST",
		[]string{`can read or change (public\.)?young,`}},
	{"a partition itself",
		"CREATE TABLE whole (age int, income text) PARTITION BY RANGE (age); ALTER TABLE whole ATTACH PARTITION " +
			"adult FOR VALUES FROM (0) TO (40); GRANT SELECT ON whole TO GUEST",
		[]string{`can read or change (public\.)?whole,`}},
	{"a partial index", "CREATE INDEX rich ON adult (age) WHERE income = '>50K'",
		[]string{`(public\.)?rich is a partial index`}},
	{"a partial index of a partition",
		"DROP TABLE adult; CREATE TABLE adult (age int, income text) PARTITION BY RANGE (age); CREATE TABLE " +
			"young PARTITION OF adult FOR VALUES FROM (0) TO (40); CREATE INDEX rich ON young (age) WHERE income " +
			"= '>50K'", []string{`(public\.)?rich is a partial index`}},
	{"the ledger", "CREATE SCHEMA fugu_ledger; GRANT USAGE ON SCHEMA fugu_ledger TO PUBLIC",
		[]string{`can use the schema fugu_ledger, in which a ledger is$`}},
	{"a ledger of its own", "CREATE SCHEMA fugu_ledger AUTHORIZATION GUEST",
		[]string{`can use the schema fugu_ledger, in which a ledger is$`}},
	{"the ledger's role", "CREATE SCHEMA fugu_ledger AUTHORIZATION OTHER; ALTER ROLE GUEST NOINHERIT; GRANT OTHER " +
		"TO GUEST", []string{`in which a ledger is \(as role \w+_other\)$`}},
	{name: "a ledger that the guest cannot reach", setup: "CREATE SCHEMA fugu_ledger AUTHORIZATION READER"},
	{"a schema of twins of its own", "CREATE SCHEMA fugu_twin AUTHORIZATION GUEST",
		[]string{`^the guest owns the schema fugu_twin, which is for twins$`}},
	{"the schema of twins", "CREATE SCHEMA fugu_twin; GRANT CREATE ON SCHEMA fugu_twin TO OTHER; GRANT OTHER TO GUEST",
		[]string{`^the guest can make relations in the schema fugu_twin, which is for twins$`,
			`^the guest can make relations in the schema fugu_twin, which is for twins \(as role \w+_other\)$`}},
	{name: "a schema of twins that it can use",
		setup: "CREATE SCHEMA fugu_twin; GRANT USAGE ON SCHEMA fugu_twin TO GUEST"},
	{"partitions by default", partitioned + "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO GUEST",
		[]string{`^the guest can read what role postgres makes: a partition that is added to (public\.)?adult would`,
			`to (public\.)?young would`}},
	{"partitions by default in a schema, of everybody",
		partitioned + "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT ON TABLES TO PUBLIC",
		[]string{`what role postgres makes in the schema public: a partition that is added to (public\.)?adult`,
			`to (public\.)?young would`}},
	{name: "defaults of others, elsewhere, and of a table without partitions",
		setup: "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO GUEST; CREATE SCHEMA s; " +
			"CREATE TABLE s.adult (age int, income text) PARTITION BY RANGE (age)"},
	{name: "a whole index", setup: "CREATE INDEX i ON adult (age)"},
	{"several", "GRANT SELECT ON adult TO GUEST; CREATE INDEX rich ON adult (age) WHERE income = '>50K'; ALTER " +
		"ROLE GUEST REPLICATION", []string{readsTable, `partial index`, `allowed to replicate`}},
	{"a serial column", "ALTER TABLE adult ADD id serial; GRANT USAGE ON SEQUENCE adult_id_seq TO GUEST",
		[]string{`can use the sequence (public\.)?adult_id_seq of a protected table`}},
	{"an identity column",
		"ALTER TABLE adult ADD id int GENERATED ALWAYS AS IDENTITY; GRANT SELECT ON SEQUENCE adult_id_seq TO " +
			"PUBLIC", []string{`can use the sequence (public\.)?adult_id_seq of a protected table`}},
	{name: "a sequence without rights",
		setup: "ALTER TABLE adult ADD id serial; CREATE SEQUENCE s; GRANT USAGE ON s TO GUEST"},
	{"a foreign key to it",
		"ALTER TABLE adult ADD PRIMARY KEY (age); CREATE TABLE note (age int REFERENCES adult); GRANT INSERT " +
			"(age) ON note TO GUEST",
		[]string{`can change (public\.)?note, and the foreign key note_age_fkey then tells`}},
	{"a foreign key of it",
		"ALTER TABLE country ADD PRIMARY KEY (name); ALTER TABLE adult ADD FOREIGN KEY (income) REFERENCES country",
		[]string{`can change (public\.)?country, and the foreign key adult_income_fkey then tells`}},
	{name: "a foreign key that the guest cannot reach",
		setup: "CREATE TABLE c (name text PRIMARY KEY); GRANT SELECT, INSERT ON c TO GUEST; ALTER TABLE adult " +
			"ADD FOREIGN KEY (income) REFERENCES c"},
	{"statistics of all roles", "GRANT pg_monitor TO GUEST",
		[]string{`a member of pg_monitor`, `a member of pg_read_all_stats`, `a member of pg_stat_scan_tables`}},
	{"a foreign server",
		"CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; GRANT USAGE ON FOREIGN SERVER s " +
			"TO GUEST; CREATE USER MAPPING FOR PUBLIC SERVER s",
		[]string{`can use the foreign server s with a user mapping`}},
	{"a foreign table",
		"CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE USER MAPPING FOR GUEST " +
			"SERVER s; CREATE FOREIGN TABLE ft (a int) SERVER s; GRANT SELECT ON ft TO GUEST",
		[]string{`can use the foreign server s with a user mapping`}},
	{name: "a foreign server without a mapping",
		setup: "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; GRANT USAGE ON FOREIGN " +
			"SERVER s TO GUEST; CREATE USER MAPPING FOR OTHER SERVER s"},
	{"a trigger of the guest's", guestFunction("f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'") +
		"CREATE TRIGGER tr BEFORE INSERT ON adult FOR EACH ROW EXECUTE FUNCTION f()",
		[]string{ownsCode + `(public\.)?f\(\), and the protected table (public\.)?adult uses that`}},
	{"an index by a function of the guest's", guestFunction(guestAges) + "CREATE INDEX i ON adult (f(age))",
		[]string{ownsCode + `(public\.)?f\(integer\),`}},
	{"a check by a function of the guest's", guestFunction(guestAges) + "ALTER TABLE adult ADD CHECK (f(age) < 200)",
		[]string{ownsCode + `(public\.)?f\(integer\),`}},
	{"a default by a function of the guest's", guestFunction(guestAges) +
		"ALTER TABLE adult ALTER age SET DEFAULT f(1)",
		[]string{ownsCode + `(public\.)?f\(integer\),`}},
	{"statistics by a function of the guest's", guestFunction(guestAges) + "CREATE STATISTICS s ON (f(age)) FROM adult",
		[]string{ownsCode + `(public\.)?f\(integer\),`}},
	{"a policy by a function of the guest's", guestFunction(guestAges) + "CREATE POLICY p ON adult USING (f(age) > 0)",
		[]string{ownsCode + `(public\.)?f\(integer\),`}},
	{"an operator of the guest's",
		guestFunction("f(a int, b int) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT a < b'") +
			"CREATE OPERATOR <<< (LEFTARG = int, RIGHTARG = int, FUNCTION = f); " +
			"ALTER TABLE adult ADD CHECK (age <<< 200)",
		[]string{ownsCode + `(public\.)?f\(integer,integer\),`}},
	{"a function of the guest's by a child", guestFunction(guestAges) + "CREATE TABLE child () INHERITS (adult); " +
		"CREATE INDEX i ON child (f(age))", []string{ownsCode + `.* the protected table (public\.)?child uses that`}},
	{"a type of the guest's", "CREATE TYPE mood AS ENUM ('good'); ALTER TYPE mood OWNER TO GUEST; " +
		"ALTER TABLE adult ADD mood mood", []string{ownsCode + `(public\.)?mood,`}},
	{"an array of a domain of the guest's", "CREATE DOMAIN years AS int; ALTER DOMAIN years OWNER TO GUEST; " +
		"ALTER TABLE adult ADD all_of years[]", []string{ownsCode + `(public\.)?years,`}},
	{"a domain by a function of the guest's", guestFunction(guestAges) +
		"CREATE DOMAIN years AS int CHECK (f(VALUE) > 0); CREATE DOMAIN youth AS years; ALTER TABLE adult ADD y youth",
		[]string{ownsCode + `(public\.)?f\(integer\),`}},
	{name: "functions of others, and the guest's elsewhere", setup: guestFunction(guestAges) +
		"CREATE INDEX i ON country (f(length(name))); CREATE FUNCTION g(a int) RETURNS int IMMUTABLE LANGUAGE sql " +
		"AS 'SELECT a'; CREATE INDEX j ON adult (g(age)); CREATE TYPE mood AS ENUM ('good'); " +
		"ALTER TABLE adult ADD mood mood"},
	{name: "no USAGE on the schema", setup: "REVOKE USAGE ON SCHEMA public FROM PUBLIC"},
	{"the database", "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO GUEST', current_database()); END $$",
		[]string{`as role \w+_guest, which owns the database`}},
	{"the database's owner",
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO OTHER', current_database()); END $$; ALTER ROLE " +
			"GUEST NOINHERIT; GRANT OTHER TO GUEST", []string{`as role \w+_other, which owns the database`}},
}
