package upstream

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"fugu/examples/adult"
)

// schema is what each case starts from. OTHER and GUEST are roles of the case's own; GUEST is what the guest connects
// as.
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
	holdsRows  = `^the guest can read or change (public\.)?adult, which holds rows of a protected table`
	readsTable = holdsRows + `: role \w+ has [A-Z ,columnsf]+(, for there is a GRANT to PUBLIC)?$`
	viaOther   = holdsRows + ` \(as role \w+_other\): role \w+_other has [A-Z ,]+$`
	usesView   = `^the guest can use (public\.)?%s, which reads a protected table with its owner's rights$`
	callsFunc  = `^the guest can call (public\.)?%s\(\), which runs with the rights of %s, ` +
		`who can read a protected table$`
)

// Each hole is found, its hint is SQL that closes it, and nothing else is found.
func TestCheckGuest(t *testing.T) {
	for n, c := range append(newerHoles(t), holes...) {
		t.Run(c.name, func(t *testing.T) {
			db, names := newCase(t, n, "guest_case")
			run(t, db, names(c.setup))
			check := func() []Finding {
				found, _, err := CheckGuest(t.Context(), config(t, names("GUEST"), db),
					[]Protected{{"public", "adult"}}, nil)
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
		if f.Message == names("the guest can act as role GUEST, which is a superuser") &&
			strings.HasPrefix(f.Hint, names("ALTER ROLE GUEST NOSUPERUSER")) {
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
		{Protected{"public", "nothing"},
			[]string{`^the protected table public\.nothing does not exist, or is not a table$`}},
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
		{"writes", "GRANT INSERT ON adult_reference TO GUEST",
			[]string{`^the guest can change the reference "public"\."adult_reference"$`}},
		{"everybody writes a column", "GRANT UPDATE (age) ON adult_reference TO PUBLIC",
			[]string{`^the guest can change the reference "public"\."adult_reference"$`}},
		{"writes a child", "CREATE TABLE more () INHERITS (adult_reference); GRANT INSERT ON more TO GUEST",
			[]string{`^the guest can change the reference "public"\."more"$`}},
		{"owns", "ALTER TABLE adult_reference OWNER TO GUEST",
			[]string{`^the guest can change the reference "public"\."adult_reference"$`}},
		{"owns code of an index", guestFunction(guestAges) + "CREATE INDEX i ON adult_reference (f(age))",
			[]string{ownsCode + `(public\.)?f\(integer\), and the reference "public"\."adult_reference" uses that`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, names := newCase(t, n, "reference_case")
			run(t, db, names(c.setup))
			check := func() []Finding {
				found, _, err := CheckGuest(t.Context(), config(t, names("GUEST"), db), nil,
					[]string{`"public"."adult_reference"`})
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
		{"a column alone", "REVOKE SELECT ON adult FROM READER; GRANT SELECT (age) ON adult TO READER",
			[]string{`^the reader cannot read "public"\."adult"$`}},
		{"no SELECT on the reference", "REVOKE SELECT ON adult_reference FROM READER",
			[]string{`^the reader cannot read "public"\."adult_reference"$`}},
		{"no USAGE", "REVOKE USAGE ON SCHEMA public FROM PUBLIC",
			[]string{`cannot read "public"\."adult"$`, `cannot read "public"\."adult_reference"$`}},
		{"writes", "GRANT INSERT ON adult TO READER", []string{`^the reader can change "public"\."adult"$`}},
		{"writes a column", "GRANT UPDATE (age) ON adult TO READER",
			[]string{`^the reader can change "public"\."adult"$`}},
		{"everybody writes the reference", "GRANT DELETE ON adult_reference TO PUBLIC",
			[]string{`^the reader can change "public"\."adult_reference"$`}},
		{"several", "REVOKE SELECT ON adult FROM READER; GRANT TRUNCATE ON adult, adult_reference TO READER",
			[]string{`cannot read "public"\."adult"$`, `can change "public"\."adult"$`,
				`can change "public"\."adult_reference"$`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, names := newCase(t, n, "reader_case")
			run(t, db, names(c.setup))
			check := func() []Finding {
				found, err := CheckReader(t.Context(), config(t, names("READER"), db), []Protected{{"public", "adult"}},
					[]string{`"public"."adult_reference"`})
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
	found, err := CheckReader(t.Context(), config(t, names("READER"), db), []Protected{{"public", "adult"}},
		[]string{`"public"."adult_reference"`, `"nowhere"."r"`})
	if err != nil {
		t.Fatal(err)
	}
	wantFindings(t, found, []string{`^the reader cannot read "public"\."adult_reference"$`,
		`^the reader cannot read "nowhere"\."r"$`})
}

// The example's own schema has no hole.
func TestCheckExample(t *testing.T) {
	run(t, "postgres", "CREATE DATABASE example")
	run(t, "example", adult.Schema)
	protected := []Protected{{"public", "adult"}}
	if found, _, err := CheckGuest(t.Context(), config(t, "fugu_guest", "example"), protected, nil); err != nil ||
		len(found) > 0 {
		t.Errorf("guest: %v %v", found, err)
	}
	if found, err := CheckReader(t.Context(), config(t, "fugu_reader", "example"), protected,
		[]string{`"public"."adult_reference"`}); err != nil || len(found) > 0 {
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
