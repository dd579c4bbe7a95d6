package apart

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fugu/test/command"
	"fugu/test/pgcluster"
)

func TestMain(m *testing.M) { pgcluster.Main(m) }

const examples = "../../../examples"

// setting is the example with its two servers.
type setting struct {
	t             *testing.T
	source, twins *pgcluster.Cluster
	binary        string
	config        string // fugu-apart.yaml, pointed at the servers
}

func start(t *testing.T) *setting {
	t.Helper()
	s := &setting{t: t, source: pgcluster.Shared(t), twins: pgcluster.StartTest(t, pgcluster.Options{})}
	s.run(s.source, "adult", filepath.Join(examples, "adult-twin/load.sh"))
	s.run(s.twins, "adult_twin", s.twins.Tool("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f",
		filepath.Join(examples, "adult-apart/twins.sql"))
	var err error
	if s.binary, err = command.Build(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	s.configure()
	return s
}

// run runs a program as the superuser of a server, in a new database.
func (s *setting) run(c *pgcluster.Cluster, database, name string, args ...string) {
	s.t.Helper()
	if err := c.CreateDatabase(s.t.Context(), database, ""); err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(s.t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "PGHOST="+c.SocketDir(), "PGPORT="+strconv.Itoa(c.Port()), "PGUSER=postgres",
		"PGDATABASE="+database)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// configure writes the example's files, pointed at the servers: each edit has to be found.
func (s *setting) configure() {
	s.t.Helper()
	dir := s.t.TempDir()
	copied := func(from, name string, edits ...string) {
		text, err := os.ReadFile(filepath.Join(examples, from))
		if err != nil {
			s.t.Fatal(err)
		}
		for i := 0; i < len(edits); i += 2 {
			if !strings.Contains(string(text), edits[i]) {
				s.t.Fatalf("%s does not have %q", from, edits[i])
			}
		}
		edited := strings.NewReplacer(edits...).Replace(string(text))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(edited), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	at := func(role, place string) string { return fmt.Sprintf("postgres://%s@127.0.0.1:%s ", role, place) }
	copied("adult-twin/adult-twin.policy.yaml", "adult-twin.policy.yaml")
	s.config = filepath.Join(dir, "fugu-apart.yaml")
	copied("adult-apart/fugu-apart.yaml", "fugu-apart.yaml", "127.0.0.1:6432", "127.0.0.1:0", "scram-sha-256", "trust",
		"users:", "# users:", "../adult-twin/adult-twin.policy.yaml", "adult-twin.policy.yaml",
		at("fugu_keeper", "5432/adult"), strconv.Quote(s.source.DSN("fugu_keeper", "adult"))+" ",
		at("fugu_twins", "5433/adult_twin"), strconv.Quote(s.twins.DSN("fugu_twins", "adult_twin"))+" ",
		at("fugu_guest", "5433/adult_twin"), strconv.Quote(s.twins.DSN("fugu_guest", "adult_twin"))+" ")
}

// fugu runs a command of the README and returns what it says.
func (s *setting) fugu(args ...string) string {
	s.t.Helper()
	readme, err := os.ReadFile(filepath.Join(examples, "adult-apart/README.md"))
	if err != nil {
		s.t.Fatal(err)
	}
	if line := "bin/fugu " + strings.Join(args, " ") + " -c fugu-apart.yaml"; !strings.Contains(string(readme), line) {
		s.t.Errorf("the README does not have %q", line)
	}
	out, err := exec.CommandContext(s.t.Context(), s.binary, append(args, "-c", s.config)...).CombinedOutput()
	if err != nil || strings.Contains(string(out), "warning") {
		s.t.Fatalf("fugu %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestExample builds the twin on its own server, serves it there, and asks what no statement on protected tables could.
func TestExample(t *testing.T) {
	s := start(t)
	said := func(text, want string) {
		t.Helper()
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	said(s.fugu("check"), "the twin of public.adult is not built")
	said(s.fugu("twin", "build"), "charged epsilon 1, delta 0.001")
	said(s.fugu("check"), "nothing is masked, and nothing refused")

	p, err := command.Serve(s.binary, s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}()
	for sql, want := range map[string]string{
		"SELECT count(*) FROM adult": "35222",
		"SELECT string_agg(part || ' ' || (n > 5000), ', ' ORDER BY part) FROM " +
			"(SELECT part, count(*) n FROM adult JOIN desk.region ON name = sex GROUP BY 1) x": "F true, M true",
		"SELECT sum(told) FROM fugu.twin": "35222",
		"SELECT fnlwgt FROM adult":        `column "fnlwgt" does not exist`,
		"DO $$ DECLARE n int; BEGIN EXECUTE 'SELECT count(*) FROM adu' || 'lt' INTO n; " +
			"RAISE NOTICE '% rows', n; END $$": "35222 rows",
		"SELECT reltuples FROM pg_class WHERE relname = 'adult'": "35222",
		"DELETE FROM adult": "permission denied",
	} {
		dsn := "postgres://alice@" + p.Address + "/adult_twin?sslmode=disable"
		out, _ := exec.CommandContext(t.Context(), s.twins.Tool("psql"), "-X", "-A", "-t", "-c", sql,
			dsn).CombinedOutput()
		if !strings.Contains(string(out), want) {
			t.Errorf("%s: %s, want %s", sql, out, want)
		}
	}
}
