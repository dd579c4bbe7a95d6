package main

import (
	"net"
	"net/url"
	"strings"
	"testing"

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
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String() // once it is closed
	_ = closed.Close()

	with := func(old, new string) string { return strings.Replace(owner.String(), old, new, 1) }
	nowhere := with(owner.Host, nobody)
	for _, c := range []struct{ want, env, value string }{
		{"is PostgreSQL running", "FUGU_UPSTREAM_GUEST", nowhere},
		{"is PostgreSQL running", "FUGU_UPSTREAM_READER", nowhere},
		{"the role is not there", "FUGU_UPSTREAM_GUEST", with("postgres@", "nobody@")},
		{"the role is not there", "FUGU_UPSTREAM_READER", with("postgres@", "nobody@")},
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
}
