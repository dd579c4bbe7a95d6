package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
	"fugu/wire/auth"
)

// Codes in the place of a protocol version (manual, "Message Formats": CancelRequest, SSLRequest, GSSENCRequest).
const (
	codeCancel = 80877102
	codeSSL    = 80877103
	codeGSS    = 80877104
)

// Versions of the protocol.
const (
	protocol30     = 3 << 16
	protocol32     = 3<<16 | 2
	protocolLatest = protocol32
)

const (
	// maxStartup is PostgreSQL's own limit on what follows the length of a startup packet (MAX_STARTUP_PACKET_LENGTH).
	maxStartup = 10_000
	// maxCancelKey is the longest key that a cancel request may have in protocol 3.2, in bytes.
	maxCancelKey = 256
)

// request is what a connection asked for first: a session, or the cancelling of another's statement.
type request struct {
	version uint32 // of the protocol that both sides speak from here on
	startup Startup
	cancel  *pgproto3.CancelRequest
}

// login is the connection of a client that is not a session yet.
type login struct {
	conn    net.Conn // encrypted, once it is
	in      *frames
	out     *client
	channel *auth.Channel // what TLS is known to be; nil: plain
	ancient bool          // the client speaks protocol 2, or none, and reads its errors in that form
}

func newLogin(conn net.Conn) *login {
	l := &login{conn: conn, in: newFrames(conn), out: newClient(conn)}
	l.in.r.keep = true
	return l
}

// readStartup reads startup packets up to the one that says what the connection is for. A request for TLS is granted if
// encryption is there, one for GSSAPI is not. What the client has to know of the protocol is left in out. The order of
// all this, and its errors, are PostgreSQL's (ProcessStartupPacket).
func (l *login) readStartup(ctx context.Context, encryption *auth.TLS) (request, error) {
	if first, err := l.in.r.Peek(1); err == nil && first[0] == recordHandshake {
		if err := l.direct(ctx, encryption); err != nil {
			return request{}, err
		}
	}

	sslDone, gssDone := false, false
	for {
		code, body, err := startupPacket(l.in.r)
		switch {
		case err != nil:
			return request{}, err
		case code == codeSSL && !sslDone:
			sslDone = true
			granted := encryption.Offered() && l.channel == nil
			reply := byte(encryptionNone)
			if granted {
				reply = encryptionTLS
			}
			if err := l.answer(reply); err != nil {
				return request{}, err
			}

			// What came before the answer nobody has encrypted: it must not be taken for what comes after
			// (CVE-2021-23214). The client is told so under the encryption that it expects by now.
			early := l.in.r.Buffered() > 0
			if granted {
				gssDone = true
				if err := l.encrypt(ctx, encryption, l.conn); err != nil {
					return request{}, err
				}
			}
			if early {
				return request{}, tooEarly("SSL")
			}

		case code == codeGSS && !gssDone:
			gssDone = true
			if err := l.answer(encryptionNone); err != nil {
				return request{}, err
			}
			if l.in.r.Buffered() > 0 {
				return request{}, tooEarly("GSSAPI encryption")
			}

		case code == codeCancel:
			if len(body) < 5 || len(body) > 4+maxCancelKey {
				// Which is not answered, as none is.
				return request{}, errors.New("a cancel request of the wrong length")
			}
			return request{cancel: &pgproto3.CancelRequest{ProcessID: binary.BigEndian.Uint32(body),
				SecretKey: body[4:]}}, nil

		default:
			return l.parseStartup(code, body)
		}
	}
}

// answer answers a request for encryption with one byte: that it is granted, or that there is none.
func (l *login) answer(reply byte) error {
	_, err := l.conn.Write([]byte{reply})
	return err
}

// tooEarly refuses a client that sent more before encryption was settled. Somebody between could have put it there
// (CVE-2021-3935), so nothing of it is read.
func tooEarly(what string) error {
	return sqlstate.New(sqlstate.ProtocolViolation, "received unencrypted data after %s request", what).
		WithDetail("This could be either a client-software bug or evidence of an attempted man-in-the-middle attack.").
		Ending()
}

func startupPacket(r io.Reader) (code uint32, body []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:4]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:4])
	if n < 8 || n > 4+maxStartup {
		return 0, nil, errors.New("invalid length of startup packet") // which PostgreSQL does not answer either
	}
	if _, err := io.ReadFull(r, head[4:]); err != nil {
		return 0, nil, err
	}
	body = make([]byte, n-8)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, err
	}
	return binary.BigEndian.Uint32(head[4:]), body, nil
}

// parseStartup reads a StartupMessage: name and value pairs, each ended by a NUL, and one NUL more. Where the client
// speaks a newer minor version, or names options of the protocol, NegotiateProtocolVersion says what it gets.
func (l *login) parseStartup(version uint32, body []byte) (request, error) {
	if version>>16 != 3 {
		l.ancient = version>>16 < 3
		return request{}, sqlstate.New(sqlstate.FeatureNotSupported,
			"unsupported frontend protocol %d.%d: server supports %d.0 to %d.%d",
			version>>16, version&0xffff, protocol30>>16, protocolLatest>>16, protocolLatest&0xffff).Ending()
	}

	// The body has an odd number of fields: pairs, and an empty one for the NUL at the end.
	req := request{version: min(version, protocolLatest), startup: Startup{Parameters: map[string]string{}}}
	fields, ok := bytes.CutSuffix(body, []byte{0})
	pairs := bytes.Split(fields, []byte{0})
	if n := len(pairs); !ok || n%2 != 1 || len(pairs[n-1]) != 0 {
		return req, layout()
	}

	given := parameters{}
	var unknown []string
	for i := 0; i+1 < len(pairs); i += 2 {
		name, value := string(pairs[i]), string(pairs[i+1])
		switch {
		case name == "":
			return req, layout()
		case name == "user":
			req.startup.User = value
		case name == "database":
			req.startup.Database = value
		case name == "options":
			given.options = value
		case name == "replication":
			if err := checkReplication(value); err != nil {
				return req, err
			}
		case strings.HasPrefix(name, "_pq_."):
			unknown = append(unknown, name)
		default:
			given.settings = append(given.settings, setting{name, value})
		}
	}

	// The client is told what it gets before what is wrong with its names.
	if version > protocolLatest || unknown != nil {
		l.out.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: req.version, UnrecognizedOptions: unknown})
	}

	if err := req.startup.names(); err != nil {
		return req, err
	}
	var err error
	req.startup.Parameters, err = given.allowed()
	return req, err
}

func layout() error {
	return sqlstate.New(sqlstate.ProtocolViolation, "invalid startup packet layout: expected terminator as last byte").
		Ending()
}

// names completes the names of the user and the database.
func (s *Startup) names() error {
	if s.User == "" {
		return sqlstate.New(sqlstate.InvalidAuthorization, "no PostgreSQL user name specified in startup packet").
			Ending()
	}
	if s.Database == "" {
		s.Database = s.User
	}
	for _, name := range []*string{&s.User, &s.Database} {
		if *name = (*name)[:min(len(*name), auth.MaxName)]; !utf8.ValidString(*name) {
			return sqlstate.New(sqlstate.CharacterNotInRepertoire,
				"invalid byte sequence for encoding \"UTF8\" in startup packet").Ending()
		}
	}
	return nil
}

// checkReplication refuses what would make a connection one of replication, which reads the changes of every table.
func checkReplication(value string) error {
	if on, ok := parseBool(value); ok && !on {
		return nil
	} else if ok || value == "database" {
		return sqlstate.New(sqlstate.FeatureNotSupported, "replication is not possible through Fugu").Ending()
	}
	return sqlstate.New(sqlstate.InvalidParameterValue, "invalid value for parameter \"replication\": \"%s\"", value).
		WithHint(`Valid values are: "false", 0, "true", 1, "database".`).Ending()
}

// parseBool reads what PostgreSQL takes for a boolean (parse_bool): the words, their unique beginnings, 0 and 1.
func parseBool(v string) (value, ok bool) {
	v = strings.ToLower(v)
	begins := func(word string, least int) bool { return len(v) >= least && strings.HasPrefix(word, v) }
	switch {
	case begins("true", 1), begins("yes", 1), begins("on", 2), v == "1":
		return true, true
	case begins("false", 1), begins("no", 1), begins("off", 2), v == "0":
		return false, true
	}
	return false, false
}

// refuse tells the client why it is not let in, in the form that it can read.
func (l *login) refuse(why *sqlstate.Error) {
	if l.ancient { // protocol 2: the text up to a NUL
		_, _ = l.out.Write(fmt.Appendf(nil, "EFATAL:  %s\n\x00", field(why.Message)))
	} else {
		l.out.send(response(why))
	}
	l.out.flush()
	if why.Code == sqlstate.ProtocolViolation || why.Code == sqlstate.FeatureNotSupported {
		discard(l.conn)
	}
}
