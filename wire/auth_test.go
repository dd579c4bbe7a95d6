package wire

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/xdg-go/scram"

	"fugu/sqlstate"
)

// remote is a connection from an address.
type remote struct {
	spoken
	from net.Addr
}

func (r *remote) RemoteAddr() net.Addr { return r.from }

func TestTrustIsForThisMachine(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1:5": true, "127.9.9.9:5": true, "[::1]:5": true, "[::ffff:127.0.0.1]:5": true,
		"192.0.2.1:5": false, "[2001:db8::1]:5": false, "[::ffff:192.0.2.1]:5": false, "0.0.0.0:5": false, "[fe80::1%lo]:5": false} {
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		err = Trust{}.authenticate(t.Context(), newLogin(&remote{from: a}), "alice")
		if (err == nil) != want || err != nil && (!sqlstate.Is(err, sqlstate.InvalidAuthorization) || sqlstate.As(err).Message != `"trust" authentication failed for user "alice"`) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := (Trust{}).authenticate(t.Context(), newLogin(&remote{from: &net.UnixAddr{Net: "unix"}}), "alice"); err != nil {
		t.Errorf("a Unix socket: %v", err)
	}
}

// What is made up for a user that does not exist depends on the user and the secret, hardly on who else there is, and looks
// like what there is.
func TestMadeUpVerifiers(t *testing.T) {
	users := Users{}
	add := func(i, iterations, salt int) {
		users[fmt.Sprint("user", i)] = scram.StoredCredentials{KeyFactors: scram.KeyFactors{Salt: strings.Repeat("s", salt), Iters: iterations}, StoredKey: make([]byte, 32), ServerKey: make([]byte, 32)}
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
	// One in 51 of 1000 is to look like the new one: 19.6, of a binomial distribution; 60 has a probability below 1e-12.
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

// Users come and go while the server runs.
func TestUsersReplace(t *testing.T) {
	auth := NewSCRAM(usersOf(t, map[string]string{"alice": "wonderland"}), nil)
	p := serve(t, func(c *Config, _ *fake) { c.Auth = auth })
	in := func(user, password string) bool {
		err := pgxLogin(t, p.address, user, password, "sslmode=disable")
		if err != nil && code(err) != "28P01" {
			t.Fatal(err)
		}
		return err == nil
	}
	if !in("alice", "wonderland") || in("bob", "builder") {
		t.Error("at first")
	}
	session := dialAs(t, p.address, "alice", "wonderland")
	auth.Replace(usersOf(t, map[string]string{"bob": "builder"}))
	if in("alice", "wonderland") || !in("bob", "builder") {
		t.Error("after a change")
	}
	if _, err := session.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("the old session: %v", err)
	}
}
