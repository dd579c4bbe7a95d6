package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/certs"
	"fugu/test/patient"
	"fugu/test/pgcluster"
	"fugu/upstream"
)

// patience is how long a proxy may take for what it is to do, on a machine that has much else to do.
const patience = 3 * time.Minute

// eventually waits for what a running proxy does in its own time.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// login connects as a user of the example's, with the password that it has there.
func (c *child) login(t *testing.T, user string, options ...string) (*pgx.Conn, error) {
	t.Helper()
	u := url.URL{Scheme: "postgres", User: url.UserPassword(user, user+"-demo"), Host: c.address, Path: "adult",
		RawQuery: strings.Join(options, "&")}
	conn, err := pgx.Connect(t.Context(), u.String())
	if err == nil {
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
	}
	return conn, err
}

func sqlstateOf(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return fmt.Sprint(err)
}

// serve offers TLS, and takes over certificates and users while sessions go on: when their files change, and on SIGHUP.
func TestServeOverTLS(t *testing.T) {
	path := setting(t, "  method: trust\n", "  method: scram-sha-256\n  users: users.txt\n"+
		"tls:\n  mode: require\n  certificate: server.crt\n  key: server.key\n  client_ca: root.crt\n")
	dir := filepath.Dir(path)
	authority := certs.NewAuthority(t, x509.ECDSAWithSHA256)
	authority.Issue(t, "localhost").Write(t, dir, "server")
	root := "sslrootcert=" + certs.Write(t, dir, "root.crt", authority.PEM)
	users, err := os.ReadFile("../../examples/adult/users.txt")
	if err != nil {
		t.Fatal(err)
	}
	certs.Write(t, dir, "users.txt", users)
	expect(t, exitOK, "ok dataset adult", "check", "-c", path)
	if _, err := os.Stat(dir + "/users.txt.secret"); err == nil {
		t.Error("check has made a secret")
	}
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir + "/users.txt.secret"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secret: %v, %v", info, err)
	}

	session, err := c.login(t, "alice", "sslmode=verify-full", "channel_binding=require", root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.login(t, "alice", "sslmode=disable"); sqlstateOf(err) != "28000" {
		t.Errorf("in the clear: %v", err)
	}
	shown := func(c *pgx.Conn) []byte {
		return c.PgConn().Conn().(*tls.Conn).ConnectionState().PeerCertificates[0].Raw
	}

	// Files that change are noticed, and read again.
	authority.Issue(t, "localhost").Write(t, dir, "server")
	eventually(t, "the new certificate is shown", func() bool {
		next, err := c.login(t, "alice", "sslmode=verify-full", "channel_binding=require", root)
		if err != nil {
			t.Fatal(err)
		}
		defer next.Close(context.Background())
		return !bytes.Equal(shown(next), shown(session))
	})
	c.loseAlice(t, dir, users)

	var one int
	if err := session.QueryRow(t.Context(), "SELECT 1").Scan(&one); err != nil {
		t.Errorf("the first session: %v", err)
	}
	if err := errors.Join(c.Process.Signal(syscall.SIGTERM), c.Wait()); err != nil {
		t.Error(err)
	}
	log := c.log.String()
	if !strings.Contains(log, "users.txt:1: ") || !strings.Contains(log, "users and certificates reloaded") ||
		strings.Contains(log, "demo") {
		t.Errorf("the log: %s", log)
	}
}

// loseAlice takes alice off the users, and then leaves a file of users that cannot be read, which changes nothing.
func (c *child) loseAlice(t *testing.T, dir string, users []byte) {
	t.Helper()
	certs.Write(t, dir, "users.txt", bytes.ReplaceAll(users, []byte(`"alice"`), []byte(`"alicia"`)))
	eventually(t, "alice is gone", func() bool {
		next, err := c.login(t, "alice", "sslmode=require")
		if err == nil {
			_ = next.Close(context.Background())
		}
		return sqlstateOf(err) == "28P01"
	})
	certs.Write(t, dir, "users.txt", []byte("nonsense\n"))
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _, err := c.login(t, "bob", "sslmode=require"); err != nil {
		t.Errorf("a broken users file has put bob out: %v", err)
	}
}

// SIGHUP reads the files at once.
func TestReloadOfUsers(t *testing.T) {
	dir := t.TempDir()
	path := setting(t, "  method: trust\n", "  method: cert\n  certificates: "+dir+"/names\ntls:\n  certificate: "+dir+
		"/server.crt\n  key: "+dir+"/server.key\n  client_ca: "+dir+"/root.crt\n")
	authority := certs.NewAuthority(t, x509.ECDSAWithSHA256)
	authority.Issue(t, "localhost").Write(t, dir, "server")
	certs.Write(t, dir, "root.crt", authority.PEM)
	crt, key := authority.Issue(t, "robot").Write(t, dir, "robot")
	certs.Write(t, dir, "names", []byte("\"robot\" \"alice\"\n"))
	c, err := startChild(t, path)
	if err != nil {
		t.Fatal(err)
	}
	in := func(user string) string {
		conn, err := c.login(t, user, "sslmode=require", "sslcert="+crt, "sslkey="+key)
		if err != nil {
			return sqlstateOf(err)
		}
		return errString(conn.Close(context.Background()))
	}
	if a, b := in("alice"), in("bob"); a != "" || b != "28000" {
		t.Errorf("alice: %s, bob: %s", a, b)
	}
	certs.Write(t, dir, "names", []byte("\"robot\" \"bob\"\n"))
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the robot is bob", func() bool { return in("bob") == "" && in("alice") == "28000" })
}

func errString(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// Each guest is checked: what one of them can do is a hole like any other.
func TestCheckOfGuests(t *testing.T) {
	patient.Test(t)
	c := pgcluster.Shared(t)
	for entry, want := range map[string]string{
		fmt.Sprintf("{dsn: %q}", c.DSN("postgres", "adult")):    "superuser",
		fmt.Sprintf("{dsn: %q}", c.DSN("nobody", "adult")):      `the guest of user "dora"`,
		"{role: fugu_reader}":                                   `the guest of user "dora"`,
		fmt.Sprintf("{dsn: %q}", c.DSN("fugu_reader", "adult")): "has the role of upstream.reader",
	} {
		path := setting(t, "auth:\n", "  guests:\n    dora: "+entry+"\nauth:\n")
		for _, command := range []string{"check", "serve"} {
			expect(t, exitFailure, want, command, "-c", path)
		}
	}
	path := setting(t, "auth:\n", fmt.Sprintf("  guests:\n    dora: {dsn: %q}\n    emil: {role: fugu_guest}\nauth:\n",
		c.DSN("fugu_guest", "adult")))
	if code, stdout, stderr := invoke(t, "check", "-c", path); code != 0 {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// limits.keepalive is of every connection to the database: of the guest of all, of guests by a login and by a role.
func TestKeepAliveOfGuests(t *testing.T) {
	c := pgcluster.Shared(t)
	path := setting(t, "auth:\n", fmt.Sprintf("  guests:\n    dora: {dsn: %q}\n    emil: {role: fugu_guest}\nlimits: "+
		"{keepalive: 123s}\nauth:\n", c.DSN("fugu_guest", "adult")))
	h, err := open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if len(h.guests) != 2 {
		t.Fatalf("the guests are %v", h.guests)
	}
	for user, config := range map[string]*pgconn.Config{"all": h.guest, "dora": h.guests["dora"],
		"emil": h.guests["emil"]} {
		g, err := upstream.OpenGuest(t.Context(), config, nil)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := g.Conn().(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.Control(func(fd uintptr) {
			for option, want := range map[int]int{syscall.TCP_KEEPIDLE: 123, syscall.TCP_KEEPINTVL: 31,
				syscall.TCP_KEEPCNT: 4} {
				if got, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, option); got != want || err != nil {
					t.Errorf("the guest of %s: option %d is %d, %v, want %d", user, option, got, err, want)
				}
			}
		})
		if err := g.Conn().Close(); err != nil {
			t.Error(err)
		}
	}
}
