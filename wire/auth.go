package wire

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// Authenticator finds out whether a client is who it says.
type Authenticator interface {
	// authenticate runs the exchange with the client; a nil error means that the user is who it says.
	authenticate(ctx context.Context, c *login, user string) error
}

// maxSASL is the longest message of an authentication exchange (PG_MAX_SASL_MESSAGE_LENGTH), in bytes.
const maxSASL = 1024

func (l *login) send(m pgproto3.BackendMessage) error {
	l.out.send(m)
	l.out.flush()
	return l.out.err
}

// receive reads the client's next message, which must be an answer to what it was asked.
func (l *login) receive() ([]byte, error) {
	typ, length, err := l.in.next()
	if err != nil {
		return nil, err
	}
	if typ != 'p' {
		return nil, sqlstate.New(sqlstate.ProtocolViolation, "expected SASL response, got message type %d", typ).Ending()
	}
	if length > maxSASL {
		return nil, sqlstate.New(sqlstate.ProtocolViolation, "invalid message length").Ending()
	}
	return l.in.read(length)
}

// Trust lets everybody be whoever they say, if they come from this machine.
type Trust struct{}

func (Trust) authenticate(_ context.Context, c *login, user string) error {
	if !local(c.conn.RemoteAddr()) {
		return sqlstate.New(sqlstate.InvalidAuthorization, "\"trust\" authentication failed for user \"%s\"", user).
			WithHint("Without a password only clients on the server's own machine are let in.").Ending()
	}
	return nil
}

// local reports whether an address is of this machine. What has no IP address does not leave it.
func local(a net.Addr) bool {
	at, err := netip.ParseAddrPort(a.String())
	return err != nil && a.Network() != "tcp" || err == nil && at.Addr().Unmap().IsLoopback()
}

// Names are the users that a client certificate may be, by its common name. nil: each common name is that user alone.
type Names map[string][]string

func (n Names) are(cert, user string) bool {
	if n == nil {
		return cert == user
	}
	return slices.Contains(n[cert], user)
}

// Certificates decide by the certificate that a client has shown; the TLS of the server must have a ClientCA.
type Certificates struct {
	next    Authenticator
	anyName bool
	names   atomic.Pointer[Names]
	users   atomic.Pointer[Users]
}

// NewCertificates lets in whom a certificate names. next, if not nil, is asked too, when there is a good certificate;
// with anyName each certificate of the authority will then do for each user (PostgreSQL's clientcert=verify-ca).
func NewCertificates(next Authenticator, anyName bool, names Names, users Users) *Certificates {
	c := &Certificates{next: next, anyName: anyName}
	c.Replace(names, users)
	return c
}

// Replace changes which names and users there are, for clients to come. nil users: every one that a certificate names.
func (c *Certificates) Replace(names Names, users Users) {
	c.names.Store(&names)
	c.users.Store(&users)
}

func (c *Certificates) authenticate(ctx context.Context, l *login, user string) error {
	if l.channel == nil || l.channel.peer == nil {
		return sqlstate.New(sqlstate.InvalidAuthorization, "connection requires a valid client certificate").Ending()
	}
	if c.next != nil {
		if err := c.next.authenticate(ctx, l, user); err != nil {
			return err
		}
	}
	if c.anyName {
		return nil
	}
	name := commonName(l.channel.peer)
	known := true
	if users := *c.users.Load(); users != nil {
		_, known = users[user]
	}
	if name == "" || !known || !(*c.names.Load()).are(name, user) {
		return sqlstate.New(sqlstate.InvalidAuthorization, "certificate authentication failed for user \"%s\"", user).Ending()
	}
	return nil
}
