package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fugu/test/adult"
	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// fitted is a setting whose twin is built by twinPolicy.
type fitted struct {
	t          *testing.T
	path, file string // of the configuration and of the policy
	policy     string
	cluster    *pgcluster.Cluster
	database   string
}

func newFitted(t *testing.T, name string) *fitted {
	t.Helper()
	c := pgcluster.Shared(t)
	data, err := adult.Load(t.Context(), c, name, adult.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(t.Context(), name,
		fmt.Sprintf(`CREATE ROLE %[1]s_keeper LOGIN; GRANT SELECT ON adult TO %[1]s_keeper;
	  GRANT CREATE ON DATABASE %[1]s TO %[1]s_keeper`, name)); err != nil {
		t.Fatal(err)
	}
	f := &fitted{t: t, policy: fmt.Sprintf(twinPolicy, data.Rows), cluster: c, database: name}
	f.path = filepath.Join(t.TempDir(), "fugu.yaml")
	f.file = filepath.Join(filepath.Dir(f.path), "p.policy.yaml")
	config := fmt.Sprintf("listen: 127.0.0.1:0\nupstream: {guest: %q, reader: %q, keeper: %q}\nauth: {method: trust}\n"+
		"policy: p.policy.yaml\nledger: sqlite:fugu.db\n", c.DSN("fugu_guest", name), c.DSN("fugu_reader", name),
		c.DSN(name+"_keeper", name))
	if err := os.WriteFile(f.path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	f.write()
	f.build()
	return f
}

// write writes the policy with edits, old and new in turn, each of which has to be found.
func (f *fitted) write(edits ...string) {
	f.t.Helper()
	text := f.policy
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			f.t.Fatalf("the policy has no %q", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	if err := os.WriteFile(f.file, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fitted) build() {
	f.t.Helper()
	if code, stdout, stderr := invoke(f.t, "twin", "build", "-c", f.path); code != 0 {
		f.t.Fatalf("build: exit %d\n%s%s", code, stdout, stderr)
	}
}

// policyEdits are edits of a policy behind a build, with what is said of them; nothing: the twin fits all the same.
var policyEdits = []struct {
	name, says string
	edits      []string
}{
	{"analysts", "", []string{"analysts: [alice, bob]", "analysts: [alice, carol]"}},
	{"a larger budget", "", []string{"budget: {epsilon: 1,", "budget: {epsilon: 3,"}},
	{"words, lines and columns of the file", "", []string{"version: 1\n", "# ours\nversion: 1\n\n",
		"high_income: {table: public.adult, proportion:", "high_income: {about: dataset, table: public.adult, " +
			"proportion:"}},
	{"what is accepted", "", []string{"known_rows: 0 ", "independent_rows: true "}},
	{"a range", "-new -reason", []string{"to: 0.60", "to: 0.50"}},
	{"a distance", "-new -reason", []string{"within: 0.05", "within: 0.06"}},
	{"epsilon", "-new -reason", []string{"epsilon: 1, delta: 0.001, budget: {epsilon: 1,",
		"epsilon: 0.5, delta: 0.001, budget: {epsilon: 1,"}},
	{"delta", "-new -reason", []string{"delta: 0.001, budget", "delta: 0.0005, budget"}},
	{"a predicate", "-new -reason", []string{"income = '>50K'", "income <> '>50K'"}},
	{"a name of a secret", "-new -reason", []string{"high_income:", "wealth:"}},
	{"about", "-new -reason", []string{"{table: public.adult,", "{about: distribution, table: public.adult,"}},
	{"rows", "-new -reason", []string{"rows: 3", "rows: 2"}},
	{"known rows", "-new -reason", []string{"known_rows: 0", "known_rows: 3"}},
	{"a dataset", "built for dataset adult", []string{"dataset: adult", "dataset: census"}},
	{"a column more left out", "run fugu twin build, which is free", []string{"[fnlwgt]", "[fnlwgt, race]"}},
	{"a column fewer left out", "run fugu twin build, which is free", []string{"[fnlwgt]", "[]"}},
}

// A twin that was built by another policy than the one that is loaded is refused by check, by serve and by a reload,
// which leaves the old policy in force; what needs no new build troubles nobody.
func TestTwinFitsPolicy(t *testing.T) {
	patient.Test(t)
	f := newFitted(t, "fits")
	proxy, err := startChild(t, f.path)
	if err != nil {
		t.Fatal(err)
	}
	alice, err := pgx.Connect(t.Context(), "postgres://alice@"+proxy.address+"/fits?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = alice.Close(t.Context()) }()

	for _, e := range policyEdits {
		f.write(e.edits...)
		code, stdout, stderr := invoke(t, "check", "-c", f.path)
		if e.says == "" {
			if code != 0 {
				t.Errorf("%s: check: exit %d\n%s%s", e.name, code, stdout, stderr)
			}
			continue
		}
		for _, want := range []string{"table public.adult: its twin was built", "p.policy.yaml:4:3", e.says,
			"fugu twin build"} {
			if code != 1 || !strings.Contains(stderr, want) {
				t.Errorf("%s: check: exit %d, without %q\n%s%s", e.name, code, want, stdout, stderr)
			}
		}
	}
	for _, e := range policyEdits[len(policyEdits)-5:] {
		f.write(e.edits...)
		expect(t, exitFailure, e.says, "serve", "-c", f.path)
	}

	// A reload of a policy that the twin does not fit, which would let nobody but carol in, changes nothing.
	asks := func() error { _, err := alice.Exec(t.Context(), "SELECT max(age) FROM adult"); return err }
	f.write("[alice, bob]", "[carol]", "to: 0.60", "to: 0.50")
	if proxy.reload(t) || !strings.Contains(proxy.log.String(), "its twin was built by a policy with other secrets") {
		t.Errorf("the log of a reload: %s", proxy.log)
	}
	if err := asks(); err != nil {
		t.Errorf("behind a reload that was refused: %v", err)
	}
	f.write("[alice, bob]", "[carol]")
	if !proxy.reload(t) || asks() == nil {
		t.Errorf("behind a reload of a policy that fits, alice may still ask: %s", proxy.log)
	}

	// A build makes the twin fit again; columns cost nothing.
	f.write("[fnlwgt]", "[fnlwgt, race]")
	f.build()
	if code, stdout, stderr := invoke(t, "check", "-c", f.path); code != 0 {
		t.Errorf("behind the build: exit %d\n%s%s", code, stdout, stderr)
	}
}

// What stands in a twin's place and is in no list, or in one that the guest cannot read, is no twin that fits.
func TestTwinOfNobody(t *testing.T) {
	patient.Test(t)
	f := newFitted(t, "nobody")
	for _, c := range []struct{ do, undo, want string }{
		{`REVOKE SELECT ON fugu_twin."fugu twins" FROM fugu_guest`,
			`GRANT SELECT ON fugu_twin."fugu twins" TO fugu_guest`,
			"may not read the list of twins"},
		{`REVOKE USAGE ON SCHEMA fugu_twin FROM fugu_guest`, `GRANT USAGE ON SCHEMA fugu_twin TO fugu_guest`,
			"may not read the list of twins"},
		{`CREATE TABLE kept AS SELECT * FROM fugu_twin."fugu twins"; DELETE FROM fugu_twin."fugu twins"`,
			`INSERT INTO fugu_twin."fugu twins" SELECT * FROM kept; DROP TABLE kept`, "was not made by a build"},
		{`UPDATE fugu_twin."fugu twins" SET shape = split_part(shape, ' ', 1)`, `SELECT 1`, "drops other columns"},
	} {
		if err := f.cluster.Exec(t.Context(), f.database, c.do); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"check", "serve"} {
			if code, _, stderr := invoke(t, command, "-c", f.path); code != 1 || !strings.Contains(stderr, c.want) ||
				!strings.Contains(stderr, "run fugu twin build") {
				t.Errorf("%s: %s: exit %d\n%s", c.do, command, code, stderr)
			}
		}
		if err := f.cluster.Exec(t.Context(), f.database, c.undo); err != nil {
			t.Fatal(err)
		}
	}
}
