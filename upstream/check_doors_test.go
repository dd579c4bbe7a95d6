package upstream

import "testing"

// What may be a hole is reported, and what Fugu can see is not.
func TestGuestWarnings(t *testing.T) {
	const code = "LANGUAGE plpgsql AS"
	for n, c := range []struct {
		name, setup string
		want        []string
	}{
		{name: "nothing",
			setup: "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE FUNCTION g() RETURNS int " +
				code + " 'BEGIN RETURN 1; END'"},
		{"dynamic SQL", "CREATE FUNCTION f(text) RETURNS int " + code + " 'BEGIN EXECUTE $1; RETURN 1; END'",
			[]string{`can call (public\.)?f\(text\), in which`}},
		{"a procedure", "CREATE PROCEDURE f() " + code + " 'BEGIN execute format(''x''); END'",
			[]string{`can call (public\.)?f\(\), in which`}},
		{"sizes in SQL", "CREATE FUNCTION f() RETURNS int8 LANGUAGE sql AS 'SELECT pg_relation_size(1)'",
			[]string{`can call (public\.)?f\(\), in which`}},
		{"a standard body",
			"CREATE FUNCTION f() RETURNS real LANGUAGE sql RETURN (SELECT sum(reltuples) FROM pg_class)",
			[]string{`can call (public\.)?f\(\), in which`}},
		{name: "a function that the guest cannot call",
			setup: "CREATE FUNCTION f(text) RETURNS int " + code +
				" 'BEGIN EXECUTE $1; RETURN 1; END'; REVOKE EXECUTE ON FUNCTION f FROM PUBLIC"},
		{"an extension", "CREATE EXTENSION tablefunc", []string{`can call \d+ functions of the extension tablefunc`}},
		{"a view of sizes", "CREATE VIEW v AS SELECT relname, reltuples FROM pg_class; GRANT SELECT ON v TO GUEST",
			[]string{`can read (public\.)?v, which reads sizes`}},
		{name: "a view of sizes that the guest cannot read",
			setup: "CREATE VIEW v AS SELECT relname, reltuples FROM pg_class"},
		{"a trigger", "CREATE FUNCTION f() RETURNS trigger " + code +
			" 'BEGIN NOTIFY x; RETURN NEW; END'; CREATE TRIGGER tr AFTER INSERT ON adult EXECUTE FUNCTION f()",
			[]string{`the trigger tr on (public\.)?adult calls`}},
		{"a column of large objects", "CREATE DOMAIN lo AS oid; ALTER TABLE adult ADD scan lo, ADD photo oid",
			[]string{`^the column scan of the protected table (public\.)?adult may refer to large objects`,
				`^the column photo`}},
		{"an event trigger", "CREATE FUNCTION f() RETURNS event_trigger " + code +
			" 'BEGIN END'; CREATE EVENT TRIGGER et ON ddl_command_end EXECUTE FUNCTION f()",
			[]string{`the event trigger et calls`}},
		{"a server elsewhere",
			"CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w OPTIONS (dbname 'elsewhere'); " +
				"GRANT USAGE ON FOREIGN SERVER s TO GUEST; CREATE USER MAPPING FOR GUEST SERVER s",
			[]string{`can use the foreign server s`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, names := newCase(t, n, "guest_warning")
			run(t, db, names(c.setup))
			holes, warnings, err := CheckGuest(t.Context(), config(t, names("GUEST"), db),
				[]Protected{{"public", "adult"}}, nil)
			if err != nil || len(holes) > 0 {
				t.Fatalf("a warning stops the start: %v %v", holes, err)
			}
			wantFindings(t, warnings, c.want)
		})
	}
}
