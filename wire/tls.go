package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"fugu/wire/auth"
)

// recordHandshake is the first byte of a TLS connection (RFC 8446, section 5.1). As the first byte of a startup
// packet's length it would be one of hundreds of megabytes.
const recordHandshake = 22

// encrypt makes the connection one of TLS over plain. Whatever was read ahead of plain and not used is forgotten.
func (l *login) encrypt(ctx context.Context, t *auth.TLS, plain net.Conn) error {
	conn, channel, err := t.Handshake(ctx, plain)
	if err != nil {
		return err
	}
	l.channel, l.conn, l.out = channel, conn, newClient(conn)
	l.in.r.Reset(conn)
	return nil
}

// direct answers a client that speaks TLS from the first byte. It has to say by ALPN that it means PostgreSQL, so that
// no other protocol's client can be led here.
func (l *login) direct(ctx context.Context, t *auth.TLS) error {
	if !t.Offered() {
		return fmt.Errorf("%w: it is not offered", auth.ErrHandshake)
	}
	read, _ := l.in.r.Peek(l.in.r.Buffered())
	if err := l.encrypt(ctx, t, &readAhead{l.conn, append([]byte(nil), read...)}); err != nil {
		return err
	}
	if l.conn.(*tls.Conn).ConnectionState().NegotiatedProtocol != auth.ALPN {
		return fmt.Errorf("%w: received direct SSL connection request without ALPN protocol negotiation extension",
			auth.ErrHandshake)
	}
	return nil
}

// readAhead is a connection of which some bytes were read already.
type readAhead struct {
	net.Conn
	bytes []byte
}

func (c *readAhead) Read(b []byte) (int, error) {
	if len(c.bytes) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.bytes)
	if c.bytes = c.bytes[n:]; len(c.bytes) == 0 {
		c.bytes = nil
	}
	return n, nil
}
