package auth

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"fugu/sqlstate"
)

// clocked is a backoff whose time is the test's.
type clocked struct {
	*backoff
	clock  time.Time
	waited time.Duration // by the last guess
}

func newClocked() *clocked {
	c := &clocked{backoff: newBackoff(), clock: time.Unix(1e9, 0)}
	c.now = func() time.Time { return c.clock }
	c.sleep = func(_ context.Context, d time.Duration) error { c.waited = d; return nil }
	return c
}

func (c *clocked) guess(t *testing.T, user, from string, right bool) (waited time.Duration, refused bool) {
	t.Helper()
	address, err := net.ResolveTCPAddr("tcp", from)
	if err != nil {
		t.Fatal(err)
	}
	c.waited = 0
	err = c.wait(t.Context(), user, address, right)
	if err != nil && !sqlstate.Is(err, sqlstate.InvalidAuthorization) {
		t.Fatal(err)
	}
	return c.waited, err != nil
}

// A few failures are free; then each answer waits longer, right or wrong, until one is right or time has passed.
func TestBackoff(t *testing.T) {
	c := newClocked()
	for i := range 5 {
		if d, _ := c.guess(t, "alice", "192.0.2.1:1", false); d != 0 {
			t.Errorf("failure %d waits %v", i+1, d)
		}
	}
	for i := range 9 {
		want := min(firstWait<<i, maxWait)
		d, refused := c.guess(t, "alice", "192.0.2.1:2", false)
		if d != want || refused {
			t.Errorf("failure %d waits %v, want %v", i+6, d, want)
		}
		// Others are not held up: neither the user elsewhere, nor somebody else here.
		if d, _ := c.guess(t, "alice", "192.0.2.2:1", true); d != 0 {
			t.Errorf("alice from elsewhere waits %v", d)
		}
		if d, _ := c.guess(t, "bob", "192.0.2.1:1", true); d != 0 {
			t.Errorf("bob waits %v", d)
		}
		c.clock = c.clock.Add(d)
	}
	wrong, _ := c.guess(t, "mallory", "192.0.2.1:1", false)
	right, _ := c.guess(t, "alice", "192.0.2.1:1", true)
	if wrong != 0 || right != maxWait {
		t.Errorf("a right password waits %v", right)
	}
	if d, _ := c.guess(t, "alice", "192.0.2.1:1", false); d != 0 {
		t.Errorf("a mistake after a success waits %v", d)
	}
	c = newClocked()
	for range 12 {
		d, _ := c.guess(t, "alice", "192.0.2.1:1", false)
		c.clock = c.clock.Add(d)
	}
	c.clock = c.clock.Add(8 * time.Minute)
	if d, _ := c.guess(t, "alice", "192.0.2.1:1", false); d != 0 {
		t.Errorf("eight minutes later a failure waits %v", d)
	}
}

// Guesses at the same time wait for one another, and when the queue is long they are refused, the right one too.
func TestBackoffInParallel(t *testing.T) {
	c := newClocked()
	var last time.Duration
	answered := 0
	for range 100 {
		d, refused := c.guess(t, "alice", "192.0.2.1:1", false)
		if refused {
			continue
		}
		if answered++; answered > 5 && d <= last {
			t.Errorf("guess %d waits %v, the one before %v", answered, d, last)
		}
		last = d
	}
	if answered > 15 {
		t.Errorf("%d of 100 guesses at once were answered", answered)
	}
	if _, refused := c.guess(t, "alice", "192.0.2.1:1", true); !refused {
		t.Error("a right password in the crowd is told from a wrong one")
	}
	// Right ones do not make a crowd.
	c = newClocked()
	for i := range 1000 {
		if d, refused := c.guess(t, "bob", "192.0.2.1:1", true); d != 0 || refused {
			t.Fatalf("login %d waits %v", i, d)
		}
	}
}

// Who tries many users from one address is slowed down by the address: for IPv6 by its network.
func TestBackoffByAddress(t *testing.T) {
	for name, address := range map[string]func(i int) string{"IPv4": func(int) string { return "192.0.2.1:1" },
		"IPv6":         func(i int) string { return fmt.Sprintf("[2001:db8::%x]:1", i) },
		"IPv4 in IPv6": func(int) string { return "[::ffff:192.0.2.1]:1" }} {
		c := newClocked()
		for i := range 60 {
			d, refused := c.guess(t, fmt.Sprint("user", i), address(i), false)
			if (d > 0 || refused) != (i >= 50) {
				t.Errorf("%s: user %d waits %v", name, i, d)
			}
		}
		if d, _ := c.guess(t, "user", "[2001:db8:1::1]:1", false); d != 0 {
			t.Errorf("%s: another network waits %v", name, d)
		}
	}
}

// However many names and addresses are tried, memory is bounded.
func TestBackoffForgets(t *testing.T) {
	c := newClocked()
	for i := range 2 * maxCounts {
		_, _ = c.guess(t, fmt.Sprint("user", i), fmt.Sprintf("10.%d.%d.1:1", i>>8&255, i&255), false)
	}
	if n := c.counts.Len(); n != maxCounts {
		t.Errorf("%d counts", n)
	}
}

// Who waits stops waiting when the client's time is over.
func TestSleepEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sleep(ctx, time.Hour); err == nil {
		t.Error("slept on")
	}
}
