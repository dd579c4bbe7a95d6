package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// Codes in the place of a protocol version (manual, "Message Formats": CancelRequest, SSLRequest, GSSENCRequest).
const (
	codeCancel = 80877102
	codeSSL    = 80877103
	codeGSS    = 80877104
	protocol30 = 3 << 16
)

// maxStartup is PostgreSQL's own limit on a startup packet (MAX_STARTUP_PACKET_LENGTH).
const maxStartup = 10_000

// request is what a connection asked for first: a session, or the cancelling of another's statement.
type request struct {
	startup Startup
	cancel  *pgproto3.CancelRequest
	notice  *pgproto3.NegotiateProtocolVersion // to send before authentication; nil: nothing to negotiate
}

// readStartup reads startup packets up to the one that says what the connection is for. Requests for encryption are
// answered N, each at most once.
func readStartup(r io.Reader, w io.Writer) (request, error) {
	asked := map[uint32]bool{}
	for {
		code, body, err := startupPacket(r)
		if err != nil {
			return request{}, err
		}
		switch code {
		case codeSSL, codeGSS:
			if asked[code] {
				return request{}, fmt.Errorf("%w: encryption was asked for twice", errMessage)
			}
			asked[code] = true
			if _, err := w.Write([]byte{'N'}); err != nil {
				return request{}, err
			}
			if b, ok := r.(interface{ Buffered() int }); ok && b.Buffered() > 0 {
				return request{}, sqlstate.New(sqlstate.ProtocolViolation, "received unencrypted data after %s request", map[uint32]string{codeSSL: "SSL", codeGSS: "GSSAPI encryption"}[code]).
					WithDetail("This could be either a client-software bug or evidence of an attempted man-in-the-middle attack.").Ending()
			}
		case codeCancel:
			if len(body) < 8 || len(body) > 4+256 {
				return request{}, errors.New("a cancel request of the wrong length") // which is not answered, as none is
			}
			return request{cancel: &pgproto3.CancelRequest{ProcessID: binary.BigEndian.Uint32(body), SecretKey: body[4:]}}, nil
		default:
			return parseStartup(code, body)
		}
	}
}

func startupPacket(r io.Reader) (code uint32, body []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:4])
	if n < 8 || n > maxStartup {
		return 0, nil, fmt.Errorf("%w: length of startup packet", errMessage)
	}
	body = make([]byte, n-8)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, err
	}
	return binary.BigEndian.Uint32(head[4:]), body, nil
}

// parseStartup reads a StartupMessage: name and value pairs, each ended by a NUL, and one NUL more.
func parseStartup(version uint32, body []byte) (request, error) {
	if version>>16 != 3 {
		return request{}, sqlstate.New(sqlstate.FeatureNotSupported, "unsupported frontend protocol %d.%d: server supports 3.0", version>>16, version&0xffff).Ending()
	}
	if len(body) == 0 || body[len(body)-1] != 0 {
		return request{}, fmt.Errorf("%w: startup packet without terminator", errMessage)
	}
	req := request{startup: Startup{Parameters: map[string]string{}}}
	var unknown []string
	fields := bytes.Split(body[:len(body)-1], []byte{0})
	if n := len(fields); len(fields[n-1]) != 0 || n%2 != 1 {
		return request{}, fmt.Errorf("%w: startup packet", errMessage)
	}
	for i := 0; i+1 < len(fields); i += 2 {
		name, value := string(fields[i]), string(fields[i+1])
		switch {
		case name == "":
			return request{}, fmt.Errorf("%w: startup packet", errMessage)
		case name == "user":
			req.startup.User = value
		case name == "database":
			req.startup.Database = value
		case strings.HasPrefix(name, "_pq_."):
			unknown = append(unknown, name)
		default:
			req.startup.Parameters[name] = value
		}
	}
	if version != protocol30 || unknown != nil {
		req.notice = &pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: protocol30, UnrecognizedOptions: unknown}
	}
	return req, check(&req.startup)
}

// check refuses what a session cannot have, and drops what is pinned anyway.
func check(s *Startup) error {
	if s.User == "" {
		return sqlstate.New(sqlstate.InvalidAuthorization, "no PostgreSQL user name specified in startup packet").Ending()
	}
	if s.Database == "" {
		s.Database = s.User
	}
	if v, ok := s.Parameters["replication"]; ok && !isFalse(v) {
		return sqlstate.New(sqlstate.FeatureNotSupported, "replication is not possible through Fugu").Ending()
	}
	delete(s.Parameters, "replication")
	if v, ok := s.Parameters["client_encoding"]; ok && !isUTF8(v) {
		return pinned("client_encoding", "UTF8")
	}
	delete(s.Parameters, "client_encoding")
	if v, ok := s.Parameters["standard_conforming_strings"]; ok && (v == "" || isFalse(v)) {
		return pinned("standard_conforming_strings", "on")
	}
	delete(s.Parameters, "standard_conforming_strings")
	return nil
}

func isFalse(v string) bool {
	switch strings.ToLower(v) {
	case "false", "off", "no", "0", "f", "n", "of":
		return true
	}
	return false
}

// isUTF8 knows the spellings that PostgreSQL takes for the encoding, with the quotes that some drivers put round it.
// SQL_ASCII, which psql asks for on a terminal in the C locale, means bytes as they are: such a client gets UTF8, and is
// told so by a ParameterStatus.
func isUTF8(v string) bool {
	v = strings.ToLower(strings.Trim(v, `'"`))
	v = strings.NewReplacer("-", "", "_", "").Replace(v)
	return v == "utf8" || v == "unicode" || v == "sqlascii"
}
