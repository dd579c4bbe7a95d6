package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// unprotected is a configuration without a policy, over the database of setting.
func unprotected(t *testing.T, guest, more string) (path string) {
	t.Helper()
	setting(t)
	path = filepath.Join(t.TempDir(), "fugu.yaml")
	text := fmt.Sprintf("listen: 127.0.0.1:0\nupstream:\n  guest: %q\nauth:\n  method: trust\n%s",
		pgcluster.Shared(t).DSN(guest, "adult"), more)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Without a policy check says that nothing is protected, and what the guest is, and has nothing against it.
func TestCheckWithoutPolicy(t *testing.T) {
	patient.Test(t)
	for guest, super := range map[string]bool{"fugu_guest": false, "postgres": true} {
		code, stdout, stderr := invoke(t, "check", "-c", unprotected(t, guest, ""))
		if code != 0 || stderr != "" || !strings.Contains(stdout, "warning: there is no policy") ||
			strings.Contains(stdout, "superuser") != super {
			t.Errorf("%s: exit %d\n%s%s", guest, code, stdout, stderr)
		}
	}
	for _, command := range []string{"preview", "fit", "budget", "audit verify"} {
		args := append(strings.Fields(command), "-c", unprotected(t, "fugu_guest", ""))
		if command == "preview" {
			args = append(args, "SELECT 1")
		}
		expect(t, exitFailure, "there is no ", args...)
	}
}

// Without a policy serve relays everything, to every database of the server.
func TestServeWithoutPolicy(t *testing.T) {
	path := unprotected(t, "postgres", "")
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	conn := c.connect(t)
	var rows, size, tuples, spoken int64
	err = conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM (SELECT * FROM adult) a), pg_relation_size('adult'),
		(SELECT reltuples FROM pg_class WHERE relname = 'adult'),
		(SELECT count(*) FROM (VALUES (1)) AS fugu(x))`).Scan(&rows, &size, &tuples, &spoken)
	if err != nil || rows == 0 || size == 0 || spoken != 1 {
		t.Errorf("%d rows, %d bytes, %d tuples: %v", rows, size, tuples, err)
	}
	if _, err := conn.Exec(t.Context(), "SET client_encoding = 'LATIN1'"); err == nil {
		t.Error("the encoding is not pinned")
	}
	for database, want := range map[string]string{"postgres": "", "nowhere": "3D000"} {
		u := url.URL{Scheme: "postgres", User: url.User("alice"), Host: c.address, Path: database}
		other, err := pgx.Connect(t.Context(), u.String())
		if err == nil {
			var name string
			if err := other.QueryRow(t.Context(), "SELECT current_database()").Scan(&name); err != nil ||
				name != database {
				t.Errorf("%s: in %q, %v", database, name, err)
			}
			_ = other.Close(t.Context())
		}
		got := ""
		if e := new(pgconn.ConnectError); err != nil {
			if !strings.Contains(err.Error(), "3D000") {
				t.Errorf("%s: %v, %T", database, err, e)
			}
			got = "3D000"
		}
		if got != want {
			t.Errorf("%s: %v, want %q", database, err, want)
		}
	}

	// A policy that comes later is not taken over halfway.
	policies := filepath.Join(filepath.Dir(path), "policies")
	if err := os.Mkdir(policies, 0o700); err != nil {
		t.Fatal(err)
	}
	c.reload(t)
	if _, err := conn.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Error(err)
	}
}

// A directory that has lost its policies is not taken for the wish to protect nothing: the ledger remembers.
func TestForgottenPolicies(t *testing.T) {
	path := setting(t, "policy: adult.policy.yaml", "policy: policies")
	dir := filepath.Dir(path)
	policies := filepath.Join(dir, "policies")
	if err := os.Mkdir(policies, 0o700); err != nil {
		t.Fatal(err)
	}
	expect(t, exitOK, "there is no policy", "check", "-c", path)
	stray := filepath.Join(policies, "adult.yaml")
	if err := os.WriteFile(stray, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, exitFailure, "no policy file in the directory", "check", "-c", path)
	if err := os.Remove(stray); err != nil {
		t.Fatal(err)
	}

	kept := filepath.Join(policies, "adult.policy.yaml")
	if err := os.Rename(filepath.Join(dir, "adult.policy.yaml"), kept); err != nil {
		t.Fatal(err)
	}
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	c.ask(t)
	if err := os.Remove(kept); err != nil {
		t.Fatal(err)
	}
	if c.reload(t) {
		t.Error("a reload without policies took the place of a good one")
	}
	c.ask(t)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil || !strings.Contains(c.log.String(), "takes a new start") {
		t.Errorf("%v\n%s", err, c.log)
	}
	expect(t, exitFailure, "the ledger has answers about adult", "check", "-c", path)
}
