package wire

import (
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// client writes to a client; one goroutine at a time uses it. After an error, writing does nothing.
type client struct {
	outlet
	buf   []byte
	muted bool // the session is ending, and the client is to hear no more than why
	torn  bool // a frame was left unfinished: nothing can follow
}

func newClient(w io.Writer) *client { return &client{outlet: *newOutlet(w)} }

// Write takes whole frames, or parts of them in order. It does not fail: what went wrong is in err.
func (c *client) Write(b []byte) (int, error) {
	if c.hears() {
		_, _ = c.outlet.Write(b)
	}
	return len(b), nil
}

// pass is Write for bytes that stay as they are until the next flush.
func (c *client) pass(b []byte) {
	if c.hears() {
		c.outlet.pass(b)
	}
}

func (c *client) hears() bool { return c.err == nil && !c.muted && !c.torn }

func (c *client) send(messages ...pgproto3.BackendMessage) {
	for _, m := range messages {
		b, err := m.Encode(c.buf[:0])
		if err != nil { // a message of a gigabyte
			c.err = err
			return
		}
		c.buf = b
		_, _ = c.Write(b)
	}
}

// relay passes the frame that is next in in on.
func (c *client) relay(in *frames, length int) error {
	err := in.relay(c, length)
	c.torn = c.torn || err != nil
	return err
}

func (c *client) flush() { _ = c.Flush() }

// response is the ErrorResponse of an error of ours.
func response(e *sqlstate.Error) *pgproto3.ErrorResponse {
	severity := "ERROR"
	if e.Fatal {
		severity = "FATAL"
	}
	return &pgproto3.ErrorResponse{Severity: severity, SeverityUnlocalized: severity, Code: string(e.Code),
		Message: field(e.Message), Detail: field(e.Detail), Hint: field(e.Hint), Position: int32(e.Position)}
}

// field is a text as it may stand in a message: a NUL would end it.
func field(s string) string { return strings.ReplaceAll(s, "\x00", "") }

func notices(ns []Notice) []pgproto3.BackendMessage {
	out := make([]pgproto3.BackendMessage, len(ns))
	for i, n := range ns {
		severity, code := "NOTICE", sqlstate.SuccessfulCompletion
		if n.Warning {
			severity, code = "WARNING", sqlstate.Warning
		}
		out[i] = &pgproto3.NoticeResponse{Severity: severity, SeverityUnlocalized: severity, Code: string(code),
			Message: field(n.Message), Detail: field(n.Detail), Hint: field(n.Hint)}
	}
	return out
}
