package auth

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"

	"fugu/sqlstate"
	"fugu/test/certs"
)

// silent is a client that is known by its address and its certificate alone.
type silent struct {
	from    net.Addr
	channel *Channel
}

func (s silent) Send(pgproto3.BackendMessage) error { return nil }
func (s silent) Receive() ([]byte, error)           { return nil, context.Canceled }
func (s silent) RemoteAddr() net.Addr               { return s.from }
func (s silent) Channel() *Channel                  { return s.channel }

func TestTrustIsForThisMachine(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1:5": true, "127.9.9.9:5": true, "[::1]:5": true,
		"[::ffff:127.0.0.1]:5": true,
		"192.0.2.1:5":          false, "[2001:db8::1]:5": false, "[::ffff:192.0.2.1]:5": false, "0.0.0.0:5": false,
		"[fe80::1%lo]:5": false} {
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		err = Trust{}.Authenticate(t.Context(), silent{from: a}, "alice")
		if (err == nil) != want || err != nil && (!sqlstate.Is(err, sqlstate.InvalidAuthorization) ||
			sqlstate.As(err).Message != `"trust" authentication failed for user "alice"`) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := (Trust{}).Authenticate(t.Context(), silent{from: &net.UnixAddr{Net: "unix"}}, "alice"); err != nil {
		t.Errorf("a Unix socket: %v", err)
	}
}

// What is made up for a user that does not exist depends on the user and the secret, hardly on who else there is, and
// looks like what there is.
func TestMadeUpVerifiers(t *testing.T) {
	users := Users{}
	add := func(i, iterations, salt int) {
		users[fmt.Sprint("user", i)] = scram.StoredCredentials{KeyFactors: scram.KeyFactors{Salt: strings.Repeat("s",
			salt), Iters: iterations}, StoredKey: make([]byte, 32), ServerKey: make([]byte, 32)}
	}
	for i := range 50 {
		add(i, 4096, 16)
	}
	s := NewSCRAM(users, []byte("secret"))
	made := func(s *SCRAM, user string) scram.StoredCredentials {
		c, exists := s.users.Load().credentials(s.secret, user)
		if exists {
			t.Fatalf("%s exists", user)
		}
		return c
	}
	before := map[string]scram.StoredCredentials{}
	for i := range 1000 {
		name := fmt.Sprint("nobody", i)
		before[name] = made(s, name)
	}
	salts := map[string]bool{}
	for _, c := range before {
		salts[c.Salt] = true
		if c.Iters != 4096 || len(c.Salt) != 16 {
			t.Fatalf("%d iterations, %d bytes of salt", c.Iters, len(c.Salt))
		}
	}
	if len(salts) != len(before) {
		t.Errorf("%d salts of %d users", len(salts), len(before))
	}
	add(50, 10_000, 40) // and one of another form
	s.Replace(users)
	changed, like := 0, 0
	for name, was := range before {
		if now := made(s, name); now.Iters != was.Iters {
			changed++
			if now.Iters == 10_000 && len(now.Salt) == 40 {
				like++
			}
		} else if now.Salt != was.Salt {
			t.Fatalf("the salt of %s has changed", name)
		}
	}
	// One in 51 of 1000 is to look like the new one: 19.6, of a binomial distribution; 60 has a probability below
	// 1e-12.
	if changed != like || changed == 0 || changed > 60 {
		t.Errorf("%d of %d have changed, %d to the new form", changed, len(before), like)
	}
	other := NewSCRAM(users, []byte("another secret"))
	if made(other, "nobody1").Salt == made(s, "nobody1").Salt {
		t.Error("the secret does not matter")
	}
	if c := made(NewSCRAM(Users{}, nil), "nobody"); c.Iters != 4096 || len(c.Salt) != 16 {
		t.Errorf("without users: %+v", c.KeyFactors)
	}
}

// Names and users can change while clients come.
func TestCertificatesReplace(t *testing.T) {
	method := NewCertificates(nil, nil)
	block, _ := pem.Decode(certs.NewAuthority(t, x509.ECDSAWithSHA256).Issue(t, "robot").Certificate)
	peer, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	in := func(user string) bool {
		return method.Authenticate(t.Context(), silent{channel: &Channel{Peer: peer}}, user) == nil
	}
	if !in("robot") || in("alice") {
		t.Error("at first")
	}
	method.Replace(Names{"robot": {"alice"}}, nil)
	if in("robot") || !in("alice") {
		t.Error("with names")
	}
	method.Replace(Names{"robot": {"alice", "bob"}}, Users{"bob": {}})
	if in("alice") || !in("bob") {
		t.Error("with users")
	}
}
