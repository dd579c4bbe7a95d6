package wire

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"

	"fugu/test/certs"
	"fugu/wire/auth"
)

func keyPair(t *testing.T, pair certs.Pair) tls.Certificate {
	t.Helper()
	c, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Certificates let in whom they name, as PostgreSQL's method cert and its option clientcert do.
func TestCertificates(t *testing.T) {
	refused := `E FATAL 28000 certificate authentication failed for user "alice"`
	needed := "E FATAL 28000 connection requires a valid client certificate"
	for _, c := range []struct {
		method, rules string
		auth          func(scram auth.Method, users auth.Users) auth.Method
		// What a login as alice with each certificate gives first.
		alice, bob, two, nobody, none string
	}{
		{"cert", "hostssl all all all cert\n", func(auth.Method, auth.Users) auth.Method {
			return auth.NewCertificates(nil, nil)
		},
			"R", refused, refused, refused, needed},
		{"cert, users known", "hostssl all all all cert\n", func(_ auth.Method, u auth.Users) auth.Method {
			return auth.NewCertificates(nil, u)
		},
			"R", refused, refused, refused, needed},
		{"clientcert=verify-ca", "hostssl all all all scram-sha-256 clientcert=verify-ca\n",
			func(scram auth.Method, _ auth.Users) auth.Method {
				return auth.NewCertificatesBeside(scram, auth.Anyone, nil, nil)
			},
			"R", "R", "R", "R", needed},
	} {
		t.Run(c.method, func(t *testing.T) {
			s := serveSecure(t, x509.ECDSAWithSHA256, c.rules, func(config *Config, users auth.Users) {
				config.Auth = c.auth(config.Auth, users)
			})
			own := map[string][]tls.Certificate{"alice": {keyPair(t, s.authority.Issue(t, "alice"))},
				"bob": {keyPair(t, s.authority.Issue(t, "bob"))},
				"two": {keyPair(t, s.authority.Issue(t, "bob", "alice"))}, "nobody": {keyPair(t, s.authority.Issue(t))},
				"none": nil}
			for _, side := range s.sides {
				for name, want := range map[string]string{"alice": c.alice, "bob": c.bob, "two": c.two,
					"nobody": c.nobody, "none": c.none} {
					p := overTLS(t, side.address, own[name]...)
					p.put(t, packet(protocol30, "user", "alice", "database", "postgres"))
					if got := p.until(t, "R"); !strings.HasPrefix(got[0], want) {
						t.Errorf("%s: alice with the certificate of %s: %q, want %s", side.name, name, got, want)
					}
				}
				// Another's authority is refused by an alert, before PostgreSQL's protocol begins.
				stranger := certs.NewAuthority(t, x509.ECDSAWithSHA256).Issue(t, "alice")
				conn := tls.Client(asksTLS(t, side.address), &tls.Config{InsecureSkipVerify: true,
					Certificates: []tls.Certificate{keyPair(t, stranger)}})
				_ = conn.Handshake()
				_, _ = conn.Write(packet(protocol30, "user", "alice", "database", "postgres"))
				if _, err := conn.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(),
					"unknown certificate authority") {
					t.Errorf("%s: a stranger's certificate: %v", side.name, err)
				}
			}
			loginsBy(t, s)
		})
	}
}

// loginsBy lets real clients in with a certificate of alice's.
func loginsBy(t *testing.T, s *secure) {
	t.Helper()
	dir := t.TempDir()
	crt, key := s.authority.Issue(t, "alice").Write(t, dir, "alice")
	for _, side := range s.sides {
		if out := psql(t, side.address, "alice", passwords["alice"], "sslmode=require", "sslcert="+crt,
			"sslkey="+key); !strings.Contains(out, "in\n") {
			t.Errorf("%s: psql: %s", side.name, out)
		}
		if err := pgxLogin(t, side.address, "alice", passwords["alice"], "sslmode=require", "sslcert="+crt,
			"sslkey="+key); err != nil {
			t.Errorf("%s: pgx: %v", side.name, err)
		}
	}
}

// With clientcert=verify-full the password and the name must both be right.
func TestCertificateAndPassword(t *testing.T) {
	s := serveSecure(t, x509.ECDSAWithSHA256, "hostssl all all all scram-sha-256 clientcert=verify-full\n",
		func(c *Config, _ auth.Users) {
			c.Auth = auth.NewCertificatesBeside(c.Auth, auth.Named, nil, nil)
		})
	dir := t.TempDir()
	for _, name := range []string{"alice", "bob"} {
		s.authority.Issue(t, name).Write(t, dir, name)
	}
	for _, c := range []struct {
		cert, password string
		in             bool
	}{{"alice", passwords["alice"], true}, {"alice", "nonsense", false}, {"bob", passwords["alice"], false},
		{"bob", passwords["bob"], false}} {
		for _, side := range s.sides {
			err := pgxLogin(t, side.address, "alice", c.password, "sslmode=require", "sslcert="+dir+"/"+c.cert+".crt",
				"sslkey="+dir+"/"+c.cert+".key")
			if (err == nil) != c.in || err != nil && !strings.HasPrefix(code(err), "28") {
				t.Errorf("%s: the certificate of %s with %q: %v", side.name, c.cert, c.password, err)
			}
		}
	}
}
