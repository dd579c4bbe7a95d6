package integration

import (
	"context"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/test/certs"
	"fugu/test/patient"
)

// encrypt gives the shared cluster a certificate, and lets guest and reader in over TLS only; the test's end undoes it.
func encrypt(t *testing.T, db *database, pair certs.Pair) {
	t.Helper()
	const everybody = "host all all 127.0.0.1/32 trust\nlocal all all trust\n"
	err := db.cluster.Configure(t.Context(), map[string]string{"server.crt": string(pair.Certificate),
		"server.key":  string(pair.Key),
		"pg_hba.conf": "hostnossl all fugu_guest,fugu_reader all reject\n" + everybody}, map[string]string{"ssl": "on"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.cluster.Configure(context.Background(), map[string]string{"pg_hba.conf": everybody},
			map[string]string{"ssl": "off"}); err != nil {
			t.Error(err)
		}
	})
}

// runTLS asks a Fugu whose guest and reader connect in a mode, and holds all of their connections to being encrypted.
// An error is that it does not start.
func runTLS(t *testing.T, db *database, mode string) error {
	t.Helper()
	dsn := func(user string) string {
		return strings.Replace(db.cluster.DSN(user, "adult"), "sslmode=disable", mode, 1)
	}
	f, err := start(t.Context(), db, t.TempDir(), options{guest: dsn("fugu_guest"), reader: dsn("fugu_reader")})
	if err != nil {
		return err
	}
	defer func() {
		if err := f.stop(); err != nil {
			t.Errorf("stopping: %v", err)
		}
	}()
	c := f.connect(t)
	defer c.Close(context.Background())
	if got := rows(t, c, "SELECT count(*) > 0 FROM adult WHERE age > 30"); !strings.Contains(got, "t") {
		t.Errorf("%s: a protected statement gives %s", mode, got)
	}
	if got := rows(t, c, "SELECT length(repeat('x', 3000000)), repeat('y', 100000)"); len(got) < 100000 {
		t.Errorf("%s: %d bytes", mode, len(got))
	}
	for _, role := range []string{"fugu_guest", "fugu_reader"} {
		var n, encrypted int
		err := db.truth(t).QueryRow(t.Context(), "SELECT count(*), count(*) FILTER (WHERE ssl) "+
			"FROM pg_stat_activity JOIN pg_stat_ssl USING (pid) WHERE usename = $1", role).Scan(&n, &encrypted)
		if err != nil || n == 0 || n != encrypted {
			t.Errorf("%s: %d of %d connections of %s are encrypted: %v", mode, encrypted, n, role, err)
		}
	}

	// A cancel request takes the same way.
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := c.Exec(ctx, "SELECT pg_sleep(600)"); err == nil {
		t.Errorf("%s: slept", mode)
	}
	return nil
}

// Guest and reader connect by sslmode as libpq does: encrypted where it says so, and not at all where the certificate
// is not what it asks for.
func TestUpstreamSSLModes(t *testing.T) {
	patient.Test(t)
	db := adultDatabase(t)
	authority, stranger := certs.NewAuthority(t, x509.ECDSAWithSHA256), certs.NewAuthority(t, x509.ECDSAWithSHA256)
	dir := t.TempDir()
	root, other := certs.Write(t, dir, "root.crt", authority.PEM), certs.Write(t, dir, "other.crt", stranger.PEM)
	check := func(certificate certs.Pair, want map[string]bool) {
		t.Helper()
		encrypt(t, db, certificate)
		for mode, ok := range want {
			if err := runTLS(t, db, mode); (err == nil) != ok {
				t.Errorf("%s: %v", mode, err)
			}
		}
	}

	check(authority.Issue(t, "db"), map[string]bool{
		"sslmode=disable": false, "sslmode=prefer": true, "sslmode=require": true,
		"sslmode=verify-ca&sslrootcert=" + root: true, "sslmode=verify-full&sslrootcert=" + root: true,
		"sslmode=verify-ca&sslrootcert=" + other: false, "sslmode=verify-full&sslrootcert=" + other: false,
		"sslmode=require&sslrootcert=" + other: false,
	})

	// A guest that cannot trust the server does not come about, and its client hears no more than that.
	f := serve(t, options{guest: strings.Replace(db.cluster.DSN("fugu_guest", "adult"), "sslmode=disable",
		"sslmode=verify-full&sslrootcert="+other, 1),
		reader: strings.Replace(db.cluster.DSN("fugu_reader", "adult"), "sslmode=disable", "sslmode=require", 1)})
	if _, err := pgx.Connect(t.Context(), f.dsn("alice")); code(err) != "08006" {
		t.Errorf("a guest of a server of another's: %v", err)
	}
	check(authority.IssueFor(t, []string{"elsewhere.example"}, nil, "db"), map[string]bool{
		"sslmode=verify-ca&sslrootcert=" + root: true, "sslmode=verify-full&sslrootcert=" + root: false,
	})
}
