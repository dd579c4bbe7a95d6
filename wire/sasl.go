package wire

import (
	"net"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
	"fugu/wire/auth"
)

// maxSASL is the longest message of an authentication exchange (PG_MAX_SASL_MESSAGE_LENGTH), in bytes.
const maxSASL = 1024

// asked is a login as an auth.Method sees it.
type asked struct{ *login }

func (a asked) RemoteAddr() net.Addr { return a.conn.RemoteAddr() }

func (a asked) Channel() *auth.Channel { return a.channel }

func (a asked) Send(m pgproto3.BackendMessage) error {
	a.out.send(m)
	a.out.flush()
	return a.out.err
}

func (a asked) Receive() ([]byte, error) {
	typ, length, err := a.in.next()
	if err != nil {
		return nil, err
	}
	if typ != msgSASL {
		return nil, sqlstate.New(sqlstate.ProtocolViolation, "expected SASL response, got message type %d", typ).
			Ending()
	}
	if length > maxSASL {
		return nil, sqlstate.New(sqlstate.ProtocolViolation, "invalid message length").Ending()
	}
	return a.in.read(length)
}
