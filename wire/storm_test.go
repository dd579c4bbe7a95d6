package wire

import (
	"net"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// stormy is a guest's connection on which a notice, a notification and a parameter's status follow every message of the
// server's, which may send them at any time (manual, "Asynchronous Operations").
type stormy struct {
	net.Conn
	in      *frames
	storm   []byte
	pending []byte
}

func (c *stormy) Read(b []byte) (int, error) {
	if len(c.pending) == 0 {
		_, length, err := c.in.next()
		if err != nil {
			return 0, err
		}
		if _, err := c.in.read(length); err != nil {
			return 0, err
		}
		c.pending = slices.Concat(c.in.raw, c.storm)
	}
	n := copy(b, c.pending)
	c.pending = c.pending[n:]
	return n, nil
}

func TestAsynchronousMessagesAtAnyMoment(t *testing.T) {
	var storm []byte
	for _, m := range []pgproto3.BackendMessage{
		&pgproto3.NoticeResponse{Severity: "LOG", SeverityUnlocalized: "LOG", Code: "00000", Message: "storm"},
		&pgproto3.NotificationResponse{PID: 1, Channel: "storm"}, &pgproto3.ParameterStatus{Name: "storm", Value: "on"},
	} {
		var err error
		if storm, err = m.Encode(storm); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, _ := withEngine(t, listener, func(f *fake) Engine {
		return choppyEngine{f, func(c net.Conn) net.Conn { return &stormy{Conn: c, in: newFrames(c), storm: storm} }}
	})
	want := unsplit(t, serve(t, nil).address)
	messages, _ := mixed()
	_, waits := mixedBytes(t)
	c := dial(t, address)
	c.put(t, encode(t, q(copyTable)))
	c.until(t, "ZS") // the storm's last
	c.put(t, encode(t, messages...))
	notices, notifications, parameters := 0, 0, 0
	got := slices.DeleteFunc(c.until(t, waits+"S"), func(reply string) bool {
		switch reply {
		case "N LOG 00000 storm":
			notices++
		case `A "storm\x00\x00"`:
			notifications++
		case `S "storm\x00on\x00"`:
			parameters++
		default:
			return false
		}
		return true
	})
	compare(t, got, want)
	// What answers messages of Fugu's own has them too, and there notices are left out.
	if parameters < len(want) || notifications != parameters || notices < len(want)/2 || notices > parameters {
		t.Errorf("%d replies came with %d notices, %d notifications and %d parameters", len(want), notices,
			notifications, parameters)
	}
}
