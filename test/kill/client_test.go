//go:build fuguhooks

package kill

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// hang is far beyond what any reply takes: a test that waits so long has found something that hangs.
const hang = 2 * time.Minute

// client is a connection whose replies are kept as they come, byte for byte.
type client struct{ net.Conn }

func dial(t testing.TB, address, user string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := &client{conn}
	startup, err := (&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30,
		Parameters: map[string]string{"user": user, "database": "people"}}).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := c.exchange(startup); !r.complete {
		t.Fatalf("login: %v", r)
	}
	return c
}

// reply is what came back.
type reply struct {
	bytes    []byte
	complete bool // up to and with ReadyForQuery
}

// exchange sends messages and reads to the end of the reply, or of the connection.
func (c *client) exchange(messages []byte) (r reply) {
	_ = c.SetDeadline(time.Now().Add(hang))
	if _, err := c.Write(messages); err != nil {
		return r
	}
	buf := make([]byte, 4096)
	for !r.complete {
		n, err := c.Read(buf)
		r.bytes = append(r.bytes, buf[:n]...)
		for _, m := range r.messages() {
			r.complete = r.complete || m.kind == 'Z' && !m.cut
		}
		if err != nil {
			break
		}
	}
	r.bytes = untold(r.bytes)
	return r
}

// untold leaves out what a session is told once about a table: one that asks again has been told, or is another one.
func untold(b []byte) (out []byte) {
	for len(b) >= 5 {
		n := 1 + int(binary.BigEndian.Uint32(b[1:]))
		whole := n <= len(b)
		n = min(n, len(b))
		if b[0] != 'N' || whole && !bytes.Contains(b[:n], []byte(" is answered with noise: ")) {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	return append(out, b...)
}

// message is one message of a reply; the last may be cut.
type message struct {
	kind byte
	body []byte
	cut  bool
}

func (r reply) messages() (out []message) {
	for b := r.bytes; len(b) > 0; {
		if len(b) < 5 {
			return append(out, message{kind: b[0], cut: true})
		}
		n := 1 + int(binary.BigEndian.Uint32(b[1:]))
		if n > len(b) {
			return append(out, message{b[0], b[5:], true})
		}
		out = append(out, message{b[0], b[5:n], false})
		b = b[n:]
	}
	return out
}

// rows are the values of the rows that came whole.
func (r reply) rows() (out [][]string) {
	for _, m := range r.messages() {
		var row pgproto3.DataRow
		if m.kind == 'D' && !m.cut && row.Decode(m.body) == nil {
			var values []string
			for _, v := range row.Values {
				values = append(values, string(v))
			}
			out = append(out, values)
		}
	}
	return out
}

// told reports whether anything of a row came, be it one byte.
func (r reply) told() bool {
	for _, m := range r.messages() {
		if m.kind == 'D' {
			return true
		}
	}
	return false
}

// code is the SQLSTATE of the reply's error; empty: none.
func (r reply) code() string {
	for _, m := range r.messages() {
		var e pgproto3.ErrorResponse
		if m.kind == 'E' && !m.cut && e.Decode(m.body) == nil {
			return e.Code
		}
	}
	return ""
}

func (r reply) String() string {
	var out strings.Builder
	for _, m := range r.messages() {
		fmt.Fprintf(&out, "%c%q cut=%t ", m.kind, m.body, m.cut)
	}
	return out.String()
}

// encode puts messages behind each other.
func encode(messages ...pgproto3.FrontendMessage) (out []byte) {
	for _, m := range messages {
		var err error
		if out, err = m.Encode(out); err != nil {
			panic(err)
		}
	}
	return out
}

// simple and extended are the statement's two ways to the server.
func simple(sql string) []byte { return encode(&pgproto3.Query{String: sql}) }

func extended(sql string) []byte {
	return encode(&pgproto3.Parse{Query: sql}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'},
		&pgproto3.Execute{}, &pgproto3.Sync{})
}
