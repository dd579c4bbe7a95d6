package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

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

func TestStartup(t *testing.T) {
	cat := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	ssl, gss := rawPacket(codeSSL, ""), rawPacket(codeGSS, "")
	plain := packet(protocol30, "user", "u")
	tests := map[string]struct {
		in      []byte
		user    string
		db      string
		params  map[string]string
		answer  string // sent before authentication
		options string // that negotiation says are unknown; "none": it names none
		code    sqlstate.Code
		invalid bool
		short   bool
	}{
		"plain":                     {in: plain, user: "u", db: "u"},
		"database and parameters":   {in: packet(protocol30, "user", "u", "database", "d", "search_path", "a,b", "options", "-c geqo=off"), user: "u", db: "d", params: map[string]string{"search_path": "a,b", "options": "-c geqo=off"}},
		"empty value":               {in: packet(protocol30, "user", "u", "application_name", ""), user: "u", db: "u", params: map[string]string{"application_name": ""}},
		"a name twice, last wins":   {in: packet(protocol30, "user", "u", "user", "v"), user: "v", db: "v"},
		"TLS first":                 {in: cat(ssl, plain), answer: "N", user: "u", db: "u"},
		"TLS, then GSS":             {in: cat(ssl, gss, plain), answer: "NN", user: "u", db: "u"},
		"TLS twice":                 {in: cat(ssl, ssl, plain), answer: "N", invalid: true},
		"newer protocol":            {in: packet(3<<16|2, "user", "u"), user: "u", db: "u", options: "none"},
		"unknown protocol option":   {in: packet(protocol30, "user", "u", "_pq_.a", "1", "_pq_.b", ""), user: "u", db: "u", options: "_pq_.a _pq_.b"},
		"protocol 2":                {in: packet(2<<16, "user", "u"), code: sqlstate.FeatureNotSupported},
		"protocol 4":                {in: packet(4<<16, "user", "u"), code: sqlstate.FeatureNotSupported},
		"no user":                   {in: packet(protocol30, "database", "d"), code: sqlstate.InvalidAuthorization},
		"empty":                     {in: rawPacket(protocol30, "\x00"), code: sqlstate.InvalidAuthorization},
		"no body":                   {in: rawPacket(protocol30, ""), invalid: true},
		"no terminator":             {in: rawPacket(protocol30, "user\x00u\x00"), invalid: true},
		"name without value":        {in: rawPacket(protocol30, "user\x00u\x00database\x00\x00"), invalid: true},
		"value without terminator":  {in: rawPacket(protocol30, "user\x00u\x00x\x00"), invalid: true},
		"odd number":                {in: packet(protocol30, "user", "u", "database"), invalid: true},
		"empty name":                {in: packet(protocol30, "", "x", "user", "u"), invalid: true},
		"bytes behind the end":      {in: rawPacket(protocol30, "user\x00u\x00\x00x"), invalid: true},
		"replication":               {in: packet(protocol30, "user", "u", "replication", "database"), code: sqlstate.FeatureNotSupported},
		"replication, off":          {in: packet(protocol30, "user", "u", "replication", "off"), user: "u", db: "u"},
		"replication, unknown":      {in: packet(protocol30, "user", "u", "replication", "perhaps"), code: sqlstate.FeatureNotSupported},
		"UTF8":                      {in: packet(protocol30, "user", "u", "client_encoding", "'utf-8'"), user: "u", db: "u"},
		"no encoding":               {in: packet(protocol30, "user", "u", "client_encoding", "SQL_ASCII"), user: "u", db: "u"},
		"another encoding":          {in: packet(protocol30, "user", "u", "client_encoding", "SJIS"), code: sqlstate.FeatureNotSupported},
		"backslashes in strings":    {in: packet(protocol30, "user", "u", "standard_conforming_strings", "off"), code: sqlstate.FeatureNotSupported},
		"no backslashes in strings": {in: packet(protocol30, "user", "u", "standard_conforming_strings", "on"), user: "u", db: "u"},
		"too long":                  {in: packet(protocol30, "user", strings.Repeat("u", maxStartup)), invalid: true},
		"as long as can be":         {in: packet(protocol30, "user", strings.Repeat("u", maxStartup-15)), user: strings.Repeat("u", maxStartup-15), db: strings.Repeat("u", maxStartup-15)},
		"length below its own":      {in: []byte{0, 0, 0, 7, 0, 3, 0, 0}, invalid: true},
		"length with the sign bit":  {in: []byte{0xff, 0xff, 0xff, 0xff, 0, 3, 0, 0}, invalid: true},
		"TLS without asking for it": {in: []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), invalid: true},
		"HTTP":                      {in: []byte("GET / HTTP/1.1\r\n\r\n"), invalid: true},
		"cut off":                   {in: plain[:len(plain)-1], short: true},
		"cut off in the header":     {in: plain[:3], short: true},
		"nothing at all":            {short: true},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			r, err := readStartup(bytes.NewReader(c.in), &out)
			if out.String() != c.answer {
				t.Errorf("answered %q, want %q", out.String(), c.answer)
			}
			switch {
			case c.code != "":
				if !sqlstate.Is(err, c.code) {
					t.Errorf("got %v, want %s", err, c.code)
				}
				if e := sqlstate.As(err); !e.Fatal {
					t.Error("the connection goes on")
				}
				return
			case c.invalid:
				if !errors.Is(err, errMessage) {
					t.Errorf("got %v, want an invalid message", err)
				}
				return
			case c.short:
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("got %v, want the end", err)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if r.cancel != nil || r.startup.User != c.user || r.startup.Database != c.db || !maps.Equal(r.startup.Parameters, c.params) {
				t.Errorf("got %+v", r.startup)
			}
			var options string
			if r.notice != nil {
				if options = strings.Join(r.notice.UnrecognizedOptions, " "); options == "" {
					options = "none"
				}
				if r.notice.NewestMinorProtocol != protocol30 {
					t.Errorf("newest protocol %x", r.notice.NewestMinorProtocol)
				}
			}
			if options != c.options {
				t.Errorf("negotiates %q, want %q", options, c.options)
			}
		})
	}
}

func TestCancelRequestIsRead(t *testing.T) {
	r, err := readStartup(bytes.NewReader(rawPacket(codeCancel, "\x00\x00\x01\x02key.")), io.Discard)
	if err != nil || r.cancel == nil || r.cancel.ProcessID != 0x102 || string(r.cancel.SecretKey) != "key." {
		t.Errorf("got %+v, %v", r.cancel, err)
	}
}

func TestCancelRequestWithoutKey(t *testing.T) {
	for _, body := range []string{"", "\x00\x00\x00\x01\x00\x00\x00", "\x00\x00\x00\x01" + strings.Repeat("k", 257)} {
		if r, err := readStartup(bytes.NewReader(rawPacket(codeCancel, body)), io.Discard); err == nil {
			t.Errorf("%d bytes: got %+v", len(body), r.cancel)
		}
	}
}
