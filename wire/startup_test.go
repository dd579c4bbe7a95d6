package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// packet is a startup packet of the code and the strings, each ended by a NUL, and one NUL more.
func packet(code uint32, fields ...string) []byte {
	body := strings.Join(append(fields, ""), "\x00") + "\x00"
	return rawPacket(code, body)
}

func rawPacket(code uint32, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return append(binary.BigEndian.AppendUint32(b, code), body...)
}

// startupCase is what a client sends first, in parts, and what becomes of it.
type startupCase struct {
	in     []byte
	then   []byte // after an answer
	last   []byte // after another
	user   string
	db     string
	params map[string]string
	answer string // to requests for encryption
	offer  string // of NegotiateProtocolVersion: the version, and the options that are unknown
	code   sqlstate.Code
	words  string // of the error
	silent bool   // the connection is closed without a word
}

var (
	sslRequest, gssRequest = rawPacket(codeSSL, ""), rawPacket(codeGSS, "")
	plainStartup           = packet(protocol30, "user", "u")
)

var startupCases = map[string]startupCase{
	"plain": {in: plainStartup, user: "u", db: "u"},
	"database and parameters": {in: packet(protocol30, "user", "u", "database", "d", "search_path", "a,b",
		"options", "-c geqo=off"), user: "u", db: "d",
		params: map[string]string{"search_path": "a,b", "geqo": "off"}},
	"empty value": {in: packet(protocol30, "user", "u", "application_name", ""), user: "u", db: "u",
		params: map[string]string{"application_name": ""}},
	"a name twice, last wins": {in: packet(protocol30, "user", "u", "user", "v"), user: "v", db: "v"},
	"TLS first":               {in: sslRequest, then: plainStartup, answer: "N", user: "u", db: "u"},
	"TLS, then GSS":           {in: sslRequest, then: gssRequest, last: plainStartup, answer: "NN", user: "u", db: "u"},
	"GSS, then TLS":           {in: gssRequest, then: sslRequest, last: plainStartup, answer: "NN", user: "u", db: "u"},
	"TLS twice": {in: sslRequest, then: sslRequest, answer: "N", code: sqlstate.FeatureNotSupported,
		words: "unsupported frontend protocol 1234.5679: server supports 3.0 to 3.2"},
	"GSS twice": {in: gssRequest, then: gssRequest, answer: "N", code: sqlstate.FeatureNotSupported,
		words: "unsupported frontend protocol 1234.5680: server supports 3.0 to 3.2"},
	"TLS, and more with it": {in: slices.Concat(sslRequest, plainStartup), answer: "N",
		code:  sqlstate.ProtocolViolation,
		words: "received unencrypted data after SSL request"},
	"GSS, and more with it": {in: slices.Concat(gssRequest, plainStartup), answer: "N",
		code:  sqlstate.ProtocolViolation,
		words: "received unencrypted data after GSSAPI encryption request"},
	"protocol 3.2":   {in: packet(protocol32, "user", "u"), user: "u", db: "u"},
	"protocol 3.1":   {in: packet(3<<16|1, "user", "u"), user: "u", db: "u"},
	"newer protocol": {in: packet(3<<16|3, "user", "u"), user: "u", db: "u", offer: "3.2"},
	"grease": {in: packet(3<<16|9999, "user", "u", "_pq_.test_protocol_negotiation", ""),
		user: "u", db: "u", offer: "3.2 _pq_.test_protocol_negotiation"},
	"newest minor version": {in: packet(3<<16|0xffff, "user", "u"), user: "u", db: "u", offer: "3.2"},
	"unknown protocol option": {in: packet(protocol30, "user", "u", "_pq_.a", "1", "_pq_.b", ""), user: "u",
		db: "u", offer: "3.0 _pq_.a _pq_.b"},
	"unknown option of 3.2": {in: packet(protocol32, "user", "u", "_pq_.a", "1"), user: "u", db: "u",
		offer: "3.2 _pq_.a"},
	"newer, and no user": {in: packet(3<<16|3, "database", "d"), offer: "3.2",
		code: sqlstate.InvalidAuthorization},
	"protocol 2": {in: packet(2<<16, "user", "u"), code: sqlstate.FeatureNotSupported,
		words: "unsupported frontend protocol 2.0: server supports 3.0 to 3.2"},
	"protocol 0": {in: rawPacket(0, ""), code: sqlstate.FeatureNotSupported,
		words: "unsupported frontend protocol 0.0: server supports 3.0 to 3.2"},
	"protocol 4": {in: packet(4<<16, "user", "u"), code: sqlstate.FeatureNotSupported,
		words: "unsupported frontend protocol 4.0: server supports 3.0 to 3.2"},
	"no user": {in: packet(protocol30, "database", "d"), code: sqlstate.InvalidAuthorization,
		words: "no PostgreSQL user name specified in startup packet"},
	"empty": {in: rawPacket(protocol30, "\x00"), code: sqlstate.InvalidAuthorization,
		words: "no PostgreSQL user name specified in startup packet"},
	"no body": {in: rawPacket(protocol30, ""), code: sqlstate.ProtocolViolation,
		words: "invalid startup packet layout: expected terminator as last byte"},
	"no terminator": {in: rawPacket(protocol30, "user\x00u\x00"), code: sqlstate.ProtocolViolation},
	"name without value": {in: rawPacket(protocol30, "user\x00u\x00database\x00\x00"),
		code: sqlstate.ProtocolViolation},
	"value without terminator": {in: rawPacket(protocol30, "user\x00u\x00x\x00"),
		code: sqlstate.ProtocolViolation},
	"odd number": {in: packet(protocol30, "user", "u", "database"),
		code: sqlstate.ProtocolViolation},
	"empty name": {in: packet(protocol30, "", "x", "user", "u"), code: sqlstate.ProtocolViolation},
	"bytes behind the end": {in: rawPacket(protocol30, "user\x00u\x00\x00x"),
		code: sqlstate.ProtocolViolation},
	"long names": {in: packet(protocol30, "user", strings.Repeat("u", 64), "database",
		strings.Repeat("d", 100)), user: strings.Repeat("u", 63), db: strings.Repeat("d", 63)},
	"a user that is no text": {in: packet(protocol30, "user", "u\xff"), code: sqlstate.CharacterNotInRepertoire},
	"replication": {in: packet(protocol30, "user", "u", "replication", "database"),
		code: sqlstate.FeatureNotSupported},
	"replication, on": {in: packet(protocol30, "user", "u", "replication", "T"),
		code: sqlstate.FeatureNotSupported},
	"replication, off": {in: packet(protocol30, "user", "u", "replication", "fal"), user: "u", db: "u"},
	"replication, unknown": {in: packet(protocol30, "user", "u", "replication", "perhaps"),
		code: sqlstate.InvalidParameterValue, words: `invalid value for parameter "replication": "perhaps"`},
	"UTF8": {in: packet(protocol30, "user", "u", "client_encoding", "'utf-8'"), user: "u",
		db: "u"},
	"no encoding": {in: packet(protocol30, "user", "u", "client_encoding", "SQL_ASCII"), user: "u",
		db: "u"},
	"another encoding": {in: packet(protocol30, "user", "u", "client_encoding", "SJIS"),
		code: sqlstate.FeatureNotSupported},
	"another by options": {in: packet(protocol30, "user", "u", "options", "--client-encoding=SJIS"),
		code: sqlstate.FeatureNotSupported},
	"backslashes in strings": {in: packet(protocol30, "user", "u", "standard_conforming_strings", "off"),
		code: sqlstate.FeatureNotSupported},
	"no backslashes in strings": {in: packet(protocol30, "user", "u", "standard_conforming_strings", "on"),
		user: "u", db: "u"},
	"too long": {in: packet(protocol30, "user", strings.Repeat("u", maxStartup)), silent: true},
	"as long as can be": {in: packet(protocol30, "user", "u", "application_name",
		strings.Repeat("a", maxStartup-4-7-18-1)), user: "u", db: "u",
		params: map[string]string{"application_name": strings.Repeat("a", maxStartup-4-7-18-1)}},
	"one byte too long": {in: packet(protocol30, "user", "u", "application_name",
		strings.Repeat("a", maxStartup-4-7-18)), silent: true},
	"length below its own":      {in: []byte{0, 0, 0, 7, 0, 3, 0, 0}, silent: true},
	"length with the sign bit":  {in: []byte{0xff, 0xff, 0xff, 0xff, 0, 3, 0, 0}, silent: true},
	"TLS without asking for it": {in: []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), silent: true},
	"HTTP":                      {in: []byte("GET / HTTP/1.1\r\n\r\n"), silent: true},
	"cut off":                   {in: plainStartup[:len(plainStartup)-1], silent: true},
	"cut off in the header":     {in: plainStartup[:3], silent: true},
	"nothing at all":            {silent: true},
}

func TestStartup(t *testing.T) {
	for name, c := range startupCases {
		t.Run(name, func(t *testing.T) {
			conn := &spoken{parts: [][]byte{c.in, c.then, c.last}}
			l := newLogin(conn)
			r, err := l.readStartup(t.Context(), nil)
			if conn.out.String() != c.answer {
				t.Errorf("answered %q, want %q", conn.out.String(), c.answer)
			}
			conn.out.Reset()
			l.out.flush()
			if got := offered(t, conn.out.Bytes()); got != c.offer {
				t.Errorf("offers %q, want %q", got, c.offer)
			}
			switch {
			case c.code != "":
				if !sqlstate.Is(err, c.code) || c.words != "" && sqlstate.As(err).Message != c.words {
					t.Errorf("got %v, want %s", err, c.code)
				}
				if e := sqlstate.As(err); !e.Fatal {
					t.Error("the connection goes on")
				}
				return
			case c.silent:
				if err == nil || isKnown(err) {
					t.Errorf("got %v, want silence", err)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if r.cancel != nil || r.startup.User != c.user || r.startup.Database != c.db ||
				!maps.Equal(r.startup.Parameters, c.params) {
				t.Errorf("got %+v", r.startup)
			}
		})
	}
}

// offered shows a NegotiateProtocolVersion; empty: there is none.
func offered(t *testing.T, b []byte) string {
	t.Helper()
	if len(b) == 0 {
		return ""
	}
	var m pgproto3.NegotiateProtocolVersion
	if err := m.Decode(b[5:]); b[0] != 'v' || err != nil {
		t.Fatalf("%q: %v", b, err)
	}
	return strings.Join(append([]string{fmt.Sprintf("%d.%d", m.NewestMinorProtocol>>16, m.NewestMinorProtocol&0xffff)},
		m.UnrecognizedOptions...), " ")
}

// Errors of protocol 2 have no fields: it is what PostgreSQL sends to clients that speak it.
func TestAncientClient(t *testing.T) {
	p := serve(t, nil)
	c, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(packet(2<<16, "user", "u")); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	got, err := io.ReadAll(c)
	if want := "EFATAL:  unsupported frontend protocol 2.0: server supports 3.0 to 3.2\n\x00"; string(got) != want ||
		err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func readOne(b []byte) (request, error) {
	return newLogin(&spoken{parts: [][]byte{b}}).readStartup(context.Background(), nil)
}

func TestCancelRequestIsRead(t *testing.T) {
	for _, key := range []string{"k", "key.", strings.Repeat("k", 32), strings.Repeat("k", 256)} {
		r, err := readOne(rawPacket(codeCancel, "\x00\x00\x01\x02"+key))
		if err != nil || r.cancel == nil || r.cancel.ProcessID != 0x102 || string(r.cancel.SecretKey) != key {
			t.Errorf("got %+v, %v", r.cancel, err)
		}
	}
}

func TestCancelRequestWithoutKey(t *testing.T) {
	for _, body := range []string{"", "\x00\x00\x00\x01", "\x00\x00\x00\x01" + strings.Repeat("k", 257)} {
		if r, err := readOne(rawPacket(codeCancel, body)); err == nil || isKnown(err) {
			t.Errorf("%d bytes: got %+v, %v", len(body), r.cancel, err)
		}
	}
}

// spoken is a connection whose reads give the parts, each in one read if it fits, and which keeps what is written.
type spoken struct {
	net.Conn
	parts [][]byte
	out   bytes.Buffer
}

func (c *spoken) Read(b []byte) (int, error) {
	for len(c.parts) > 0 && len(c.parts[0]) == 0 {
		c.parts = c.parts[1:]
	}
	if len(c.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.parts[0])
	c.parts[0] = c.parts[0][n:]
	return n, nil
}

func (c *spoken) Write(b []byte) (int, error)     { return c.out.Write(b) }
func (c *spoken) Close() error                    { return nil }
func (c *spoken) SetReadDeadline(time.Time) error { return nil }
func (c *spoken) SetDeadline(time.Time) error     { return nil }
func (c *spoken) LocalAddr() net.Addr             { return &net.UnixAddr{Net: "unix"} }
func (c *spoken) RemoteAddr() net.Addr            { return &net.UnixAddr{Net: "unix"} }
