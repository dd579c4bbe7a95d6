package badnet

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// echo is an address that sends back what it gets, and a network to it.
func echo(t *testing.T) *Network {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	n, err := New(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.Close()
		_ = l.Close()
		<-done
		if n.Links() != 0 {
			t.Errorf("%d connections are left", n.Links())
		}
	})
	return n
}

func dial(t *testing.T, n *Network) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", n.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, len(text))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != text {
		t.Fatalf("got %q, %v, want %q", b, err, text)
	}
}

func TestEverythingArrives(t *testing.T) {
	n := echo(t)
	for _, w := range []Weather{{}, {Pieces: 1}, {Pieces: 3, Delay: time.Millisecond}} {
		n.Set(w)
		say(t, dial(t, n), strings.Repeat("abcdefg", 10))
	}
	c := dial(t, n)
	say(t, c, "last")
	_ = c.(*net.TCPConn).CloseWrite()
	if rest, err := io.ReadAll(c); err != nil || len(rest) > 0 {
		t.Errorf("behind the end came %q, %v", rest, err)
	}
}

func TestFrost(t *testing.T) {
	n := echo(t)
	c := dial(t, n)
	say(t, c, "warm")
	n.Set(Weather{Frozen: true})
	if _, err := io.WriteString(c, "cold"); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if k, err := c.Read(make([]byte, 4)); k > 0 || err == nil {
		t.Errorf("%d bytes came through the frost", k)
	}
	n.Set(Weather{})
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	b := make([]byte, 4)
	if _, err := io.ReadFull(c, b); err != nil || string(b) != "cold" {
		t.Errorf("after the frost came %q, %v", b, err)
	}
}

func TestResets(t *testing.T) {
	n := echo(t)
	wantReset := func(c net.Conn, before string) {
		t.Helper()
		got, err := io.ReadAll(c)
		if string(got) != before || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %q, %v, want %q and a reset", got, err, before)
		}
	}
	c := dial(t, n)
	say(t, c, "a")
	if n.Reset() != 1 {
		t.Error("not one connection")
	}
	wantReset(c, "")
	n.ResetAfter(3)
	c = dial(t, n)
	if _, err := io.WriteString(c, "abcdef"); err != nil {
		t.Fatal(err)
	}
	wantReset(c, "abc")
	say(t, dial(t, n), "once only")
	n.Set(Weather{Closed: true})
	wantReset(dial(t, n), "")
}
