package wire

import (
	"context"
	"sync"
	"testing"
	"time"

	"fugu/wire/auth"
)

// Users come and go while the server runs.
func TestUsersReplace(t *testing.T) {
	method := auth.NewSCRAM(usersOf(t, map[string]string{"alice": "wonderland"}), nil)
	p := serve(t, func(c *Config, _ *fake) { c.Auth = method })
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
	method.Replace(usersOf(t, map[string]string{"bob": "builder"}))
	if in("alice", "wonderland") || !in("bob", "builder") {
		t.Error("after a change")
	}
	if _, err := session.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("the old session: %v", err)
	}
}

// A server slows guesses down.
func TestBackoffOfLogins(t *testing.T) {
	var mu sync.Mutex
	var slept []time.Duration
	method := auth.NewSCRAM(usersOf(t, map[string]string{"alice": "wonderland"}), nil)
	method.HoldBackBy(func(_ context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		slept = append(slept, d)
		return nil
	})
	p := serve(t, func(c *Config, _ *fake) { c.Auth = method })
	for _, user := range []string{"alice", "nobody"} { // there is no telling them apart
		mu.Lock()
		slept = nil
		mu.Unlock()
		for range 8 {
			if err := pgxLogin(t, p.address, user, "nonsense", "sslmode=disable"); code(err) != "28P01" {
				t.Fatal(err)
			}
		}
		mu.Lock()
		if len(slept) != 3 || slept[2] < 200*time.Millisecond {
			t.Errorf("%s: waits of %v", user, slept)
		}
		mu.Unlock()
		if err := pgxLogin(t, p.address, "alice", "wonderland", "sslmode=disable"); err != nil {
			t.Error(err)
		}
	}
}
