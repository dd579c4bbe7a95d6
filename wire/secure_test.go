package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/certs"
	"fugu/wire/auth"
)

// passwords are those of the users that tests log in as, in Fugu and in the PostgreSQL that it is compared with.
var passwords = map[string]string{"alice": "wonderland", "bob": "pä$$ word", "numa": "\u2168"}

// side is a server to log in to: Fugu, or a PostgreSQL that has the same certificates and users.
type side struct {
	name, address string
}

// secure is both sides with one authority, and Fugu's log.
type secure struct {
	authority  *certs.Authority
	dir        string // has root.crt of the authority, server.crt and server.key
	encryption *auth.TLS
	fugu       *proxy
	sides      []side
}

// serveSecure starts both sides. The rules are pg_hba.conf's for users other than postgres; edit makes Fugu's config
// the same.
func serveSecure(t *testing.T, algorithm x509.SignatureAlgorithm, rules string,
	edit func(*Config, auth.Users)) *secure {
	t.Helper()
	s := &secure{authority: certs.NewAuthority(t, algorithm), dir: t.TempDir()}
	root := certs.Write(t, s.dir, "root.crt", s.authority.PEM)
	pair := s.authority.Issue(t, "localhost")
	crt, key := pair.Write(t, s.dir, "server")
	var err error
	if s.encryption, err = auth.NewTLS(auth.TLSFiles{Certificate: crt, Key: key, ClientCA: root}, false); err != nil {
		t.Fatal(err)
	}
	users := usersOf(t, passwords)
	s.fugu = serve(t, func(c *Config, _ *fake) {
		method := auth.NewSCRAM(users, []byte("secret"))
		method.HoldBackBy(func(context.Context, time.Duration) error { return nil })
		c.Auth, c.TLS = method, s.encryption
		if edit != nil {
			edit(c, users)
		}
	})
	pg := cluster(t)
	roles := "SET password_encryption = 'scram-sha-256';"
	for name, password := range passwords {
		roles += fmt.Sprintf("DROP ROLE IF EXISTS %[1]s; CREATE ROLE %[1]s LOGIN PASSWORD '%[2]s';", name, password)
	}
	if err := pg.Exec(t.Context(), "postgres", roles); err != nil {
		t.Fatal(err)
	}
	err = pg.Configure(t.Context(), map[string]string{"server.crt": string(pair.Certificate),
		"server.key": string(pair.Key), "root.crt": string(s.authority.PEM),
		"pg_hba.conf": "hostnossl all postgres 127.0.0.1/32 trust\n" + rules},
		map[string]string{"ssl": "on", "ssl_ca_file": "root.crt"})
	if err != nil {
		t.Fatal(err)
	}
	s.sides = []side{{"PostgreSQL", fmt.Sprintf("127.0.0.1:%d", pg.Port())}, {"Fugu", s.fugu.address}}
	return s
}

// psql logs in by psql, and returns what the session says of itself, or the error.
func psql(t *testing.T, address, user, password string, options ...string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	dsn := fmt.Sprintf("hostaddr=%s host=localhost port=%s user=%s dbname=postgres %s", host, port, user,
		strings.Join(options, " "))
	cmd := osexec.CommandContext(t.Context(), cluster(t).Tool("psql"), "-XAtw", "-d", dsn, "-c", `\conninfo`, "-c",
		"SELECT 'in'")
	cmd.Env = append(os.Environ(), "PGPASSWORD="+password, "LC_ALL=C.UTF-8", "HOME="+t.TempDir())
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		_, why, _ := strings.Cut(errs.String(), "failed: ")
		return strings.TrimSpace(why)
	}
	return out.String()
}

// saysEncrypted reports whether \conninfo of psql says that the session is over TLS, before version 18 or since.
func saysEncrypted(out string) bool {
	return strings.Contains(out, "SSL connection (") || strings.Contains(out, "SSL Connection|true")
}

// pgxLogin logs in by pgx.
func pgxLogin(t *testing.T, address, user, password string, options ...string) error {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%s user=%s dbname=postgres %s", host, port, user,
		strings.Join(options, " ")))
	if err != nil {
		t.Fatal(err)
	}
	config.Password = password
	c, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(t.Context()))
	_, err = c.Exec(t.Context(), "SELECT 1")
	return err
}

// asksTLS connects, sends an SSLRequest with what comes behind it, and takes the answer S.
func asksTLS(t *testing.T, address string, behind ...byte) net.Conn {
	t.Helper()
	c, answer, err := answered(t, address, behind...)
	if err != nil || answer != 'S' {
		t.Fatalf("SSLRequest is answered %q, %v", answer, err)
	}
	return c
}

// answered connects, sends an SSLRequest with what comes behind it, and tells the answer.
func answered(t *testing.T, address string, behind ...byte) (c net.Conn, answer byte, err error) {
	t.Helper()
	if c, err = net.Dial("tcp", address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write(append(rawPacket(codeSSL, ""), behind...)); err != nil {
		return c, 0, err
	}
	var first [1]byte
	_, err = io.ReadFull(c, first[:])
	return c, first[0], err
}

// overTLS is a peer that has come by SSLRequest. It believes any certificate.
func overTLS(t *testing.T, address string, own ...tls.Certificate) *peer {
	t.Helper()
	c := tls.Client(asksTLS(t, address), &tls.Config{InsecureSkipVerify: true, Certificates: own})
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	return &peer{Conn: c, in: newFrames(c)}
}

// between is an attacker in the middle: it gives clients a certificate of its own and speaks TLS with the server
// itself. edit changes what the server sends before the session begins.
func between(t *testing.T, server string, pair certs.Pair, edit func(typ byte, body []byte) []byte) (address string) {
	t.Helper()
	own, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			if code, _, err := startupPacket(raw); err != nil || code != codeSSL {
				_ = raw.Close()
				continue
			}
			_, _ = raw.Write([]byte{'S'})
			client := tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{own}})
			to, err := net.Dial("tcp", server)
			if err != nil {
				_ = raw.Close()
				return
			}
			_, _ = to.Write(rawPacket(codeSSL, ""))
			_, _ = io.ReadFull(to, make([]byte, 1))
			from := tls.Client(to, &tls.Config{InsecureSkipVerify: true})
			go func() {
				_, _ = io.Copy(from, client)
				_ = from.Close()
			}()
			in := newFrames(from)
			for {
				typ, length, err := in.next()
				if err != nil {
					break
				}
				body, err := in.read(length)
				if err != nil {
					break
				}
				_, _ = client.Write(frame(typ, string(edit(typ, bytes.Clone(body)))))
			}
			_ = client.Close()
			_ = from.Close()
		}
	}()
	return l.Addr().String()
}

// mechanisms are those that an AuthenticationSASL offers.
func mechanisms(body []byte) []string {
	if len(body) < 4 || binary.BigEndian.Uint32(body) != 10 {
		return nil
	}
	return strings.Split(strings.Trim(string(body[4:]), "\x00"), "\x00")
}

// code is the SQLSTATE of an error of a client's.
func code(err error) string {
	var told *pgconn.PgError
	if errors.As(err, &told) {
		return told.Code
	}
	return ""
}

// dialAs is a session by pgx, without TLS.
func dialAs(t *testing.T, address, user, password string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), "postgres://"+user+":"+password+"@"+address+"/postgres?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// usersOf has PostgreSQL make the verifiers of users with passwords, as an administrator would copy them.
func usersOf(t *testing.T, passwords map[string]string) auth.Users {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), cluster(t).DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var file strings.Builder
	for name, password := range passwords {
		for _, sql := range []string{"SET password_encryption = 'scram-sha-256'", "DROP ROLE IF EXISTS scratch",
			"CREATE ROLE scratch PASSWORD '" + password + "'"} {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		var verifier string
		if err := conn.QueryRow(t.Context(), "SELECT rolpassword FROM pg_authid WHERE rolname = 'scratch'").
			Scan(&verifier); err != nil {
			t.Fatal(err)
		}
		file.WriteString(`"` + strings.ReplaceAll(name, `"`, `""`) + `" "` + verifier + "\"\n")
	}
	path := filepath.Join(t.TempDir(), "users.txt")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	users, err := auth.ReadUsers(path)
	if err != nil {
		t.Fatal(err)
	}
	return users
}
