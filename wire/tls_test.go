package wire

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/binary"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/lib/pq"

	"fugu/test/certs"
	"fugu/wire/auth"
)

const hostRules = "hostssl all all 127.0.0.1/32 scram-sha-256\nhostnossl all all 127.0.0.1/32 scram-sha-256\n"

// Real clients come in over TLS, bound to the channel, whatever the certificate is signed with; and each side tells
// them the same.
func TestClientsOverTLS(t *testing.T) {
	for algorithm, binds := range map[x509.SignatureAlgorithm]bool{x509.SHA256WithRSA: true, x509.ECDSAWithSHA384: true,
		x509.SHA512WithRSAPSS: true, x509.PureEd25519: false} {
		t.Run(algorithm.String(), func(t *testing.T) {
			s := serveSecure(t, algorithm, hostRules, nil)
			root := "sslrootcert=" + s.dir + "/root.crt"
			for _, side := range s.sides {
				for _, options := range [][]string{{"sslmode=require"}, {"sslmode=verify-ca", root},
					{"sslmode=verify-full", root}, {"sslmode=prefer"},
					{"sslmode=verify-full", root, "channel_binding=require"},
					{"sslmode=require", "channel_binding=disable"}} {
					if slices.Contains(options, "channel_binding=require") && !binds || side.name == "PostgreSQL" &&
						!binds {
						continue // PostgreSQL lets nobody in with such a certificate unless channel_binding is disable
					}
					for user, password := range passwords {
						if user != "alice" && len(options) > 1 {
							continue
						}
						if out := psql(t, side.address, user, password, options...); !saysEncrypted(out) ||
							!strings.Contains(out, "in\n") {
							t.Errorf("%s: psql as %s with %v: %s", side.name, user, options, out)
						}
					}
					if err := pgxLogin(t, side.address, "alice", passwords["alice"], options...); err != nil {
						t.Errorf("%s: pgx with %v: %v", side.name, options, err)
					}
				}
				if binds || side.name == "Fugu" {
					db, err := sql.Open("postgres", "postgres://alice:wonderland@"+side.address+
						"/postgres?sslmode=verify-full&sslrootcert="+s.dir+"/root.crt")
					if err != nil {
						t.Fatal(err)
					}
					if err := db.Ping(); err != nil {
						t.Errorf("%s: lib/pq: %v", side.name, err)
					}
					_ = db.Close()
				}
				want := `FATAL:  password authentication failed for user "alice"`
				if out := psql(t, side.address, "alice", "nonsense", "sslmode=require"); (binds ||
					side.name == "Fugu") && out != want {
					t.Errorf("%s: a wrong password: %s", side.name, out)
				}
			}
			if out := psql(t, s.fugu.address, "alice", passwords["alice"], "sslmode=require",
				"channel_binding=require"); !binds && !strings.Contains(out, "channel binding") {
				t.Errorf("channel binding without a binding: %s", out)
			}
		})
	}
}

// Somebody between, with a certificate that the client does not check, gets nowhere: neither by passing the exchange
// on, nor by hiding that the server could bind it to the channel.
func TestSomebodyBetween(t *testing.T) {
	s := serveSecure(t, x509.SHA256WithRSA, hostRules, nil)
	other := certs.NewAuthority(t, x509.SHA256WithRSA).Issue(t, "localhost")
	for _, side := range s.sides {
		passing := between(t, side.address, other, func(_ byte, body []byte) []byte { return body })
		if out := psql(t, passing, "alice", passwords["alice"],
			"sslmode=require"); out != "FATAL:  SCRAM channel binding check failed" {
			t.Errorf("%s: passed on: %s", side.name, out)
		}
		if err := pgxLogin(t, passing, "alice", passwords["alice"], "sslmode=require"); code(err) != "28000" {
			t.Errorf("%s: passed on, pgx: %v", side.name, err)
		}
		offered := []string(nil)
		hiding := between(t, side.address, other, func(typ byte, body []byte) []byte {
			if m := mechanisms(body); typ == 'R' && m != nil {
				offered = m
				return append(binary.BigEndian.AppendUint32(nil, 10), scramPlain+"\x00\x00"...)
			}
			return body
		})
		out := psql(t, hiding, "alice", passwords["alice"], "sslmode=require")
		if want := "FATAL:  SCRAM channel binding negotiation error\nDETAIL:  The client supports SCRAM channel " +
			"binding but thinks the server does not.  However, this server does support channel binding."; out != want {
			t.Errorf("%s: hidden: %s", side.name, out)
		}
		if !slices.Equal(offered, []string{scramBound, scramPlain}) {
			t.Errorf("%s offers %q", side.name, offered)
		}
		// Without TLS there is nothing to bind to.
		plain := hello(t, side.address, "alice")
		if got := plain.until(t, "R"); len(got) != 1 || strings.Contains(got[0], "PLUS") || !strings.Contains(got[0],
			scramPlain) {
			t.Errorf("%s without TLS offers %q", side.name, got)
		}
	}
}

// What is sent before the handshake is never read: not as a startup packet, and not as a part of one.
func TestBytesBeforeTheHandshake(t *testing.T) {
	s := serveSecure(t, x509.ECDSAWithSHA256, hostRules, nil)
	for _, side := range s.sides {
		for name, behind := range map[string][]byte{"a startup packet": packet(protocol30, "user", "alice", "database",
			"postgres"), "one byte": {0},
			"a query": frame('Q', "DROP TABLE kept\x00")} {
			c := tls.Client(asksTLS(t, side.address, behind...), &tls.Config{InsecureSkipVerify: true})
			err := c.Handshake()
			if side.name == "PostgreSQL" && serverMajor(t) >= 17 {
				// To that, it is the handshake's beginning, and nonsense.
				if err == nil {
					t.Errorf("%s: %s: a handshake", side.name, name)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %s: %v", side.name, name, err)
			}
			p := &peer{Conn: c, in: newFrames(c)}
			want := []string{"E FATAL 08P01 received unencrypted data after SSL request detail: This could be either " +
				"a client-software bug or evidence of an attempted man-in-the-middle attack.", "end"}
			if got := p.until(t, "Z"); !slices.Equal(got, want) {
				t.Errorf("%s: %s: %q", side.name, name, got)
			}
		}
	}
	if n := s.fugu.opened(); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// A request inside an encrypted connection is answered as PostgreSQL answers it.
func TestRequestsInsideTLS(t *testing.T) {
	s := serveSecure(t, x509.ECDSAWithSHA256, hostRules, nil)
	for _, side := range s.sides {
		for code, want := range map[uint32]string{codeSSL: "1234.5679", codeGSS: "1234.5680"} {
			p := overTLS(t, side.address)
			p.put(t, rawPacket(code, ""))
			if got := p.until(t, "Z"); len(got) != 2 || !strings.HasPrefix(got[0],
				"E FATAL 0A000 unsupported frontend protocol "+want+": server supports 3.0 to 3.") {
				t.Errorf("%s: %q", side.name, got)
			}
		}
		p := overTLS(t, side.address)
		p.put(t, packet(protocol30, "user", "alice", "database", "postgres"))
		if got := p.until(t, "R"); len(got) != 1 || !strings.Contains(got[0], scramBound) {
			t.Errorf("%s: %q", side.name, got)
		}
	}
}

// TLS from the first byte needs the protocol's name.
func TestDirectTLS(t *testing.T) {
	p := serveTrusting(t, false, nil)
	dial := func(config *tls.Config) (*tls.Conn, error) {
		config.InsecureSkipVerify = true
		c, err := tls.Dial("tcp", p.fugu.address, config)
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
			_ = c.SetDeadline(time.Now().Add(patience))
		}
		return c, err
	}
	c, err := dial(&tls.Config{NextProtos: []string{"postgresql"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := greet(t, c).run(t, script{}); len(got) != 4 {
		t.Errorf("got %q", got)
	}
	// Requests for encryption inside it are refused one by one, as those of a client that knows no better.
	if c, err = dial(&tls.Config{NextProtos: []string{"http/1.1", "postgresql"}}); err != nil {
		t.Fatal(err)
	}
	for _, code := range []uint32{codeSSL, codeGSS} {
		answer := make([]byte, 1)
		if _, err := c.Write(rawPacket(code, "")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, answer); err != nil || answer[0] != 'N' {
			t.Errorf("inside: %q, %v", answer, err)
		}
	}
	if got := greet(t, c).run(t, script{}); len(got) != 4 {
		t.Errorf("got %q", got)
	}
	if _, err := dial(&tls.Config{NextProtos: []string{"http/1.1"}}); err == nil {
		t.Error("another protocol was agreed on")
	}
	if c, err = dial(&tls.Config{}); err == nil { // the client is done before the server has looked
		_, _ = c.Write(packet(protocol30, "user", "postgres"))
		if got, err := io.ReadAll(c); len(got) != 0 || err != nil && !strings.Contains(err.Error(), "reset") &&
			!strings.Contains(err.Error(), "EOF") {
			t.Errorf("without ALPN: %q, %v", got, err)
		}
	}
	plain := serve(t, nil)
	if _, err := tls.Dial("tcp", plain.address, &tls.Config{InsecureSkipVerify: true,
		NextProtos: []string{"postgresql"}}); err == nil {
		t.Error("TLS without a certificate")
	}
}

// serveTrusting is Fugu with TLS, required or not, and without passwords.
func serveTrusting(t *testing.T, required bool, edit func(*Config)) *secure {
	t.Helper()
	s := &secure{authority: certs.NewAuthority(t, x509.ECDSAWithSHA256), dir: t.TempDir()}
	crt, key := s.authority.Issue(t, "localhost").Write(t, s.dir, "server")
	var err error
	files := auth.TLSFiles{Certificate: crt, Key: key, ClientCA: certs.Write(t, s.dir, "root.crt", s.authority.PEM)}
	if s.encryption, err = auth.NewTLS(files, required); err != nil {
		t.Fatal(err)
	}
	s.fugu = serve(t, func(c *Config, _ *fake) {
		c.TLS = s.encryption
		if edit != nil {
			edit(c)
		}
	})
	return s
}

func TestTLSRequired(t *testing.T) {
	s := serveTrusting(t, true, nil)
	fatal(t, hello(t, s.fugu.address, "postgres"), "28000")
	if out := psql(t, s.fugu.address, "postgres", "", "sslmode=disable"); !strings.Contains(out, "no encryption") ||
		!strings.Contains(out, "sslmode=require") {
		t.Error(out)
	}
	for _, mode := range []string{"allow", "prefer", "require"} { // allow asks again, encrypted
		if out := psql(t, s.fugu.address, "postgres", "", "sslmode="+mode); !saysEncrypted(out) {
			t.Errorf("%s: %s", mode, out)
		}
	}
	// A cancel request has no session, and psql sends it in the clear.
	c, err := net.Dial("tcp", s.fugu.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(rawPacket(codeCancel, "\x00\x00\x00\x01abcd")); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); len(got) != 0 || err != nil {
		t.Errorf("a cancel request is answered %q, %v", got, err)
	}
}

func TestOldTLS(t *testing.T) {
	s := serveTrusting(t, false, nil)
	for version, ok := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true,
		tls.VersionTLS13: true} {
		c := tls.Client(asksTLS(t, s.fugu.address), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10,
			MaxVersion: version})
		if err := c.Handshake(); (err == nil) != ok {
			t.Errorf("version %x: %v", version, err)
		}
	}
}

// A new certificate is for new connections; sessions keep theirs, and a broken file changes nothing.
func TestCertificateReload(t *testing.T) {
	s := serveTrusting(t, false, nil)
	shown := func(p *peer) []byte { return p.Conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw }
	old := overTLS(t, s.fugu.address)
	greet(t, old.Conn)
	next := s.authority.Issue(t, "localhost")
	next.Write(t, s.dir, "server")
	if p := overTLS(t, s.fugu.address); !bytes.Equal(shown(p), shown(old)) {
		t.Error("the certificate changed by itself")
	}
	if err := s.encryption.Reload(); err != nil {
		t.Fatal(err)
	}
	p := overTLS(t, s.fugu.address)
	if bytes.Equal(shown(p), shown(old)) {
		t.Error("the certificate did not change")
	}
	if got := old.run(t, script{}); len(got) != 4 {
		t.Errorf("the old session: %q", got)
	}
	for name, breaks := range map[string]func(){
		"another's key":  func() { certs.Write(t, s.dir, "server.key", s.authority.Issue(t, "x").Key) },
		"no certificate": func() { certs.Write(t, s.dir, "server.crt", []byte("nothing")) },
		"no authority":   func() { certs.Write(t, s.dir, "root.crt", []byte("nothing")) },
		"an open key": func() {
			if err := os.Chmod(s.dir+"/server.key", 0o644); err != nil {
				t.Fatal(err)
			}
		},
		"no key": func() { _ = os.Remove(s.dir + "/server.key") },
	} {
		next.Write(t, s.dir, "server")
		certs.Write(t, s.dir, "root.crt", s.authority.PEM)
		breaks()
		if err := s.encryption.Reload(); err == nil {
			t.Errorf("%s: taken", name)
		} else if strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%s: the error shows the key", name)
		}
		if again := overTLS(t, s.fugu.address); !bytes.Equal(shown(again), shown(p)) {
			t.Errorf("%s: the certificate changed", name)
		}
	}
}

// A login is not kept waiting by a client that stops within the handshake.
func TestLoginTimeoutInHandshake(t *testing.T) {
	for _, begun := range [][]byte{nil, {recordHandshake}, {recordHandshake, 3, 1, 2, 0}} {
		unhurried(t, func(timeout time.Duration) bool {
			s := serveTrusting(t, false, func(c *Config) { c.LoginTimeout = timeout })
			c, answer, err := answered(t, s.fugu.address)
			if err != nil || answer != 'S' {
				return false
			}
			if _, err := c.Write(begun); err != nil {
				return false
			}
			if _, err := io.Copy(io.Discard, c); err != nil && !strings.Contains(err.Error(), "reset") {
				t.Fatalf("after %x: %v", begun, err)
			}
			return true
		})
	}
}

// A read that was woken goes on where it was, also in the middle of TLS records: a client in a transaction is let
// finish it while the server drains.
func TestDrainOverTLS(t *testing.T) {
	s := serveTrusting(t, false, nil)
	p := greet(t, overTLS(t, s.fugu.address).Conn)
	p.put(t, encode(t, q("BEGIN")))
	p.until(t, "Z")
	commit := encode(t, q("COMMIT"))
	p.put(t, commit[:3])
	s.fugu.cancel()
	eventually(t, "the listener is closed", func() bool {
		c, err := net.Dial("tcp", s.fugu.address)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	for _, b := range commit[3:] {
		p.put(t, []byte{b})
	}
	if got := p.until(t, "ZE"); len(got) != 3 || !strings.HasPrefix(got[0], "C ") || !strings.HasPrefix(got[2],
		"E FATAL 57P01 ") {
		t.Errorf("got %q", got)
	}
}
