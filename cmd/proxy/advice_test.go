package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/sqlstate"
	"fugu/test/pgcluster"
)

// Whoever mistypes an address is told what to do, by each command that connects or listens.
func TestAdvice(t *testing.T) {
	path := setting(t)
	owner, err := url.Parse(pgcluster.Shared(t).DSN("postgres", "adult"))
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	nobody := fmt.Sprintf("127.0.0.1:%d", pgcluster.ClosedPort(t))

	with := func(old, new string) string { return strings.Replace(owner.String(), old, new, 1) }
	nowhere := with(owner.Host, nobody)
	for _, c := range []struct{ want, env, value string }{
		{"is PostgreSQL running", "FUGU_UPSTREAM_GUEST", nowhere},
		{"is PostgreSQL running", "FUGU_UPSTREAM_READER", nowhere},
		{"the role is not there", "FUGU_UPSTREAM_GUEST", with("postgres@", "nobody@")},
		{"the role is not there", "FUGU_UPSTREAM_READER", with("postgres@", "nobody@")},
		{"the guest: the database does not let Fugu's role in", "FUGU_UPSTREAM_GUEST", with("postgres@", "nobody@")},
		{"the reader: the database does not let Fugu's role in", "FUGU_UPSTREAM_READER", with("postgres@", "nobody@")},
		{"psql -l lists", "FUGU_UPSTREAM_READER", with("/adult", "/adlut")},
		{"another process has that address", "FUGU_LISTEN", taken.Addr().String()},
	} {
		t.Run(c.env+" "+c.want, func(t *testing.T) {
			t.Setenv(c.env, c.value)
			expect(t, exitFailure, c.want, "serve", "-c", path)
		})
	}

	// An address that is nobody's [RFC 5737].
	_, err = net.Listen("tcp", "192.0.2.1:0")
	if got := advise(err); !strings.Contains(got, "an address of this machine") {
		t.Errorf("%v: %q", err, got)
	}

	expect(t, exitFailure, "fugu user add NAME makes it", "check", "-c",
		setting(t, "method: trust", "method: scram-sha-256\n  users: users.txt"))
	expect(t, exitFailure, "is PostgreSQL running", "init", nowhere)
	expect(t, exitFailure, "the role is not there", "init", with("postgres@", "nobody@"))
	expect(t, exitFailure, "psql -l lists", "init", with("/adult", "/adlut"))
	expect(t, exitFailure, "in psql lists the columns", "init", owner.String(), "-dir", t.TempDir(), "-table", "adult",
		"-secret", "incom = '>50K'", "-from", "0.1", "-to", "0.6", "-within", "0.05", "-rows", "300", "-analyst",
		"alice", "-independent-rows")
	expect(t, exitFailure, "fugu init DATABASE-URL writes one", "check", "-c", t.TempDir()+"/fugu.yaml")
	expect(t, exitFailure, "write the address as postgres://", "init", "hospital")
	expect(t, exitFailure, "which no name server knows", "init", with(owner.Hostname(), "nobody.invalid"))
	expect(t, exitFailure, "the server has no TLS", "init", with("sslmode=disable", "sslmode=require"))
}

// A role that the database shuts out while a proxy serves is no database that is down: who asks is sent to who runs the
// proxy, and its log says which role it is.
func TestShutOutWhileServing(t *testing.T) {
	proxy, err := startChild(t, setting(t))
	if err != nil {
		t.Fatal(err)
	}
	c := pgcluster.Shared(t)
	if err := c.Exec(t.Context(), "postgres", "ALTER ROLE fugu_guest NOLOGIN"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Exec(context.Background(), "postgres", "ALTER ROLE fugu_guest LOGIN"); err != nil {
			t.Error(err)
		}
	}()

	_, err = proxy.to(t, "adult")
	var told *pgconn.PgError
	if !errors.As(err, &told) || told.Code != string(sqlstate.ConnectionFailure) ||
		told.Message != "the database does not let Fugu's role in" ||
		strings.Contains(told.Message+told.Hint, "fugu_guest") {
		t.Errorf("told %v", err)
	}
	eventually(t, "the log says which role is shut out", func() bool {
		said := proxy.log.String()
		return strings.Contains(said, "the database raised 28000") && strings.Contains(said, "fugu_guest")
	})
}

// A condition that PostgreSQL does not take, and a right that a role lacks, are advised on wherever they come up.
func TestAdviceOnRefusals(t *testing.T) {
	for code, want := range map[sqlstate.Code]string{
		sqlstate.SyntaxError:           "between single quotes",
		sqlstate.UndefinedColumn:       "if it is a text, put it between single quotes",
		sqlstate.InsufficientPrivilege: "grants.sql",
		sqlstate.TooManyConnections:    "max_connections",
	} {
		err := fmt.Errorf("the twin: %w", &pgconn.PgError{Code: string(code), Message: "no"})
		if got := describe(err); !strings.Contains(got, "\n  hint: ") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", code, got)
		}
	}

	// Of a file something is said where nobody else has anything to say.
	_, err := os.Open(filepath.Join(t.TempDir(), "nowhere", "fugu.db"))
	if got := describe(fmt.Errorf("opening the ledger: %w", err)); !strings.Contains(got, "mend the path") {
		t.Error(got)
	}
	own := &sqlstate.Error{Code: sqlstate.SyntaxError, Message: "no", Hint: "do this", Cause: err}
	if got := describe(own); !strings.Contains(got, "do this") || strings.Contains(got, "mend the path") {
		t.Error(got)
	}
}

// What is mistyped on the command line is told in a line, with what was meant, and nothing is done.
func TestMistypedCommands(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{`unknown command "chek": write fugu check`, []string{"chek", "-c", "fugu.yaml"}},
		{`unknown command "nonsense": fugu help lists`, []string{"nonsense"}},
		{"there is no flag -secrets: write -secret\n", []string{"init", "postgres://nowhere", "-secrets", "a = 1"}},
		{"there is no flag -nonsense: fugu check -h lists all", []string{"check", "-nonsense"}},
		{"fugu init -h says what there is", []string{"init", "-rows", "many"}},
		{`-from "0,1" is no number: write one with a point`, []string{"init", "postgres://nowhere", "-from", "0,1"}},
		{"write -c before the configuration: fugu check -c shop/fugu.yaml", []string{"check", "shop/fugu.yaml"}},
		{"-from 10 is no share of the rows: write 0.1 for 10%", []string{"init", "postgres://nowhere", "-from", "10"}},
		{"-to 40% is no share of the rows: write 0.4 for 40%", []string{"init", "postgres://nowhere", "-to", "40%"}},
		{"-within -1 is no share of the rows: write a number from 0 to 1", []string{"init", "-within", "-1"}},
		{"-within 0 hides nothing", []string{"init", "-within", "0"}},
		{`-epsilon "inf" is no number`, []string{"init", "-epsilon", "inf"}},
		{"-from 0.4 has to be below -to 0.1", []string{"init", "-from", "0.4", "-to", "0.1"}},
		{"-within 0.5 is wider than the whole range", []string{"init", "-from", "0.1", "-to", "0.4", "-within", "0.5"}},
		{"fugu serve takes flags alone", []string{"serve", "now"}},
		{"leave out -user, which says nothing there: fugu budget reset takes -reason, -operator, -json",
			[]string{"budget", "reset", "adult", "-reason", "x", "-user", "bob"}},
		{"leave out -operator, which says nothing there: fugu budget show takes -user, -n, -json",
			[]string{"budget", "show", "adult", "-operator", "bob"}},
		{"leave out -n, which says nothing there: fugu budget takes", []string{"budget", "-n", "3"}},
		{"leave out -before, which says nothing there: fugu ledger backup takes -json",
			[]string{"ledger", "backup", "f", "-before", "x"}},
		{"leave out -again, which says nothing there: fugu twin preview takes -json",
			[]string{"twin", "preview", "-again"}},
		{"leave out -json, which says nothing there: fugu twin drop takes no flag but -c",
			[]string{"twin", "drop", "-json"}},
		{"give one of them", []string{"twin", "build", "-again", "-new", "-reason", "x"}},
		{"there is no twin bild: write fugu twin build", []string{"twin", "bild"}},
		{`there is no twin harbour: say "fugu twin build"`, []string{"twin", "harbour"}},
	} {
		code, stdout, stderr := invoke(t, c.args...)
		if code != exitUsage || !strings.Contains(stderr, c.want) || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("fugu %q: exit %d, with %q wanted\n%s%s", c.args, code, c.want, stdout, stderr)
		}
	}
}

// An analyst without a password is a name that is misspelt, more likely than not.
func TestStrangers(t *testing.T) {
	for _, name := range []string{"bob", "bbo"} {
		path := setting(t, "method: trust", "method: scram-sha-256\n  users: users.txt", "[alice, bob]",
			"[alice, "+name+"]")
		for _, user := range []string{"alice", "bob"} {
			expect(t, exitOK, "ok user", "user", "add", user, "-generate", "-c", path)
		}
		_, stdout, stderr := invoke(t, "check", "-c", path)
		said := strings.Contains(stdout, fmt.Sprintf("analyst %q is not in the users file", name))
		if said != (name == "bbo") || strings.Contains(stdout, `analyst "alice"`) {
			t.Errorf("%s: %s%s", name, stdout, stderr)
		}
	}
}

// Flags stand before or behind what a command is about, those that may be repeated, too.
func TestFlagsBehindWords(t *testing.T) {
	path := setting(t)
	const sql = "SELECT count(*) FROM adult WHERE sex = $1 AND age < $2"
	front, behind := []string{"preview", "-c", path, "-p", "Male", "-p", "40", sql},
		[]string{"preview", "-p", "Male", sql, "-p", "40", "-c", path}
	code, want, stderr := invoke(t, front...)
	if code != exitOK || want == "" {
		t.Fatalf("exit %d: %s%s", code, want, stderr)
	}
	if code, got, stderr := invoke(t, behind...); code != exitOK || got != want {
		t.Errorf("exit %d: %s%s, want\n%s", code, got, stderr, want)
	}
	expect(t, exitUsage, "give one statement", "preview", "-c", path, "SELECT", "1")
}

// Where all is answered with noise there is no twin to build, and no keeper to ask for it.
func TestTwinBuildOfNoise(t *testing.T) {
	expect(t, exitFailure, "no table has a twin: write answers: twin at one in", "twin", "build", "-c", setting(t))
}
