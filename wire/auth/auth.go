// Package auth decides who may come in: by a password (SCRAM, RFC 5802), by a client certificate, or by where a client
// comes from. It also has what that rests on: the files of users, names and secrets, encryption towards clients, and
// the patience with who guesses.
//
// A Method knows of a connection what a Client tells it, and no more of the protocol than the messages of SASL. What it
// says, and in which order, is PostgreSQL's.
package auth

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"

	"fugu/sqlstate"
)

// Method finds out whether a client is who it says.
type Method interface {
	// Authenticate runs the exchange with the client; a nil error means that the user is who it says.
	Authenticate(ctx context.Context, c Client, user string) error
}

// Client is the connection of a client that is not let in yet. Errors of its methods end the connection.
type Client interface {
	// Send brings a message to the client at once.
	Send(m pgproto3.BackendMessage) error
	// Receive reads the body of the client's next message, which must be an answer to what it was asked.
	Receive() ([]byte, error)
	RemoteAddr() net.Addr
	// Channel is what is known of the encryption; nil: there is none.
	Channel() *Channel
}

// Channel is what is known of an encrypted connection.
type Channel struct {
	Binding []byte            // tls-server-end-point of the certificate that the client was shown; nil: there is none
	Peer    *x509.Certificate // the client's, verified; nil: it has shown none
}

// Trust lets everybody be whoever they say, if they come from this machine.
type Trust struct{}

// Authenticate implements Method.
func (Trust) Authenticate(_ context.Context, c Client, user string) error {
	if !local(c.RemoteAddr()) {
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
	next   Method // nil: the certificate decides alone
	bearer Bearer
	names  atomic.Pointer[Names]
	users  atomic.Pointer[Users]
}

// Bearer is who may show a certificate.
type Bearer int

const (
	Named  Bearer = iota // the user that it names (PostgreSQL's clientcert=verify-full)
	Anyone               // each user: the certificate is the authority's, and no more (clientcert=verify-ca)
)

// NewCertificates lets in whom a certificate names, and asks nothing else.
func NewCertificates(names Names, users Users) *Certificates {
	return NewCertificatesBeside(nil, Named, names, users)
}

// NewCertificatesBeside asks next, too, when there is a good certificate.
func NewCertificatesBeside(next Method, b Bearer, names Names, users Users) *Certificates {
	c := &Certificates{next: next, bearer: b}
	c.Replace(names, users)
	return c
}

// Replace changes which names and users there are, for clients to come. nil users: every one that a certificate names.
func (c *Certificates) Replace(names Names, users Users) {
	c.names.Store(&names)
	c.users.Store(&users)
}

// Authenticate implements Method.
func (c *Certificates) Authenticate(ctx context.Context, l Client, user string) error {
	channel := l.Channel()
	if channel == nil || channel.Peer == nil {
		return sqlstate.New(sqlstate.InvalidAuthorization, "connection requires a valid client certificate").Ending()
	}

	if c.next != nil {
		if err := c.next.Authenticate(ctx, l, user); err != nil {
			return err
		}
	}
	if c.bearer == Anyone {
		return nil
	}

	// The certificate has to be this user's, by its own name or by the map of names.
	name := commonName(channel.Peer)
	known := true
	if users := *c.users.Load(); users != nil {
		_, known = users[user]
	}
	if name == "" || !known || !(*c.names.Load()).are(name, user) {
		return sqlstate.New(sqlstate.InvalidAuthorization, "certificate authentication failed for user \"%s\"", user).
			Ending()
	}
	return nil
}
