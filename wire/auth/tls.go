package auth

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"

	"fugu/sqlstate"
)

// ALPN is what a client that speaks TLS from the first byte has to ask for by ALPN (manual, "SSL Session Encryption").
const ALPN = "postgresql"

// TLSFiles are where a TLS reads what it shows and what it trusts, in PEM.
type TLSFiles struct {
	Certificate, Key string // of the server; the certificate with its intermediates
	ClientCA         string // whose client certificates are believed; empty: clients are not asked for one
}

// TLS is encryption towards clients. A nil TLS offers none.
type TLS struct {
	files    TLSFiles
	required bool
	now      atomic.Pointer[identity]
}

// identity is what the files held at one time.
type identity struct {
	config  *tls.Config
	binding []byte // of the certificate; nil: it has none
}

// NewTLS reads the files. required refuses sessions that are not encrypted.
func NewTLS(files TLSFiles, required bool) (*TLS, error) {
	t := &TLS{files: files, required: required}
	return t, t.Reload()
}

// Reload reads the files again, for connections to come. If anything is wrong with them, what was read before stands.
func (t *TLS) Reload() error {
	if err := keptSecret(t.files.Key); err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(t.files.Certificate, t.files.Key)
	if err != nil {
		return fmt.Errorf("reading the certificate %s and its key %s: %w", t.files.Certificate, t.files.Key, err)
	}

	next := &identity{binding: endPoint(pair.Leaf), config: &tls.Config{
		Certificates: []tls.Certificate{pair},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{ALPN},
		// A ticket would let a client in that a later ClientCA does not know.
		SessionTicketsDisabled: true,
	}}

	if t.files.ClientCA != "" {
		pem, err := os.ReadFile(t.files.ClientCA)
		if err != nil {
			return fmt.Errorf("reading the authority of client certificates: %w", err)
		}
		next.config.ClientCAs = x509.NewCertPool()
		if !next.config.ClientCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("reading the authority of client certificates: no certificate in %s", t.files.ClientCA)
		}
		// Whether a client must have one is said after the startup packet, as an error that it can read.
		next.config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	t.now.Store(next)
	return nil
}

// Web is the same identity for what speaks HTTP: it asks for no client certificate, since a certificate that lets a
// client in as a user of the database says nothing about who operates the proxy.
func (t *TLS) Web() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return &tls.Config{Certificates: t.now.Load().config.Certificates, MinVersion: tls.VersionTLS12,
				SessionTicketsDisabled: true, NextProtos: []string{"h2", "http/1.1"}}, nil
		}}
}

// Binds reports whether the certificate of the moment allows channel binding: not all signature algorithms do.
func (t *TLS) Binds() bool { return t.now.Load().binding != nil }

// keptSecret refuses a key that others can read, by PostgreSQL's rule (check_ssl_key_file_permissions).
func keptSecret(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("reading the key of the certificate: %w", err)
	}
	open := os.FileMode(0o077)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid == 0 {
		open = 0o037
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&open != 0 {
		return fmt.Errorf("private key file %s has group or world access: it must have permissions u=rw (0600) or "+
			"less, or u=rw,g=r (0640) or less if root owns it", path)
	}
	return nil
}

// endPoint is the channel binding tls-server-end-point of a certificate (RFC 5929, section 4): its hash by the hash
// function of its signature, or SHA-256 in the place of MD5 and SHA-1. Signatures that have no hash function of their
// own, such as Ed25519, have no such binding.
func endPoint(cert *x509.Certificate) []byte {
	switch cert.SignatureAlgorithm {
	case x509.MD5WithRSA, x509.SHA1WithRSA, x509.DSAWithSHA1, x509.ECDSAWithSHA1,
		x509.SHA256WithRSA, x509.SHA256WithRSAPSS, x509.DSAWithSHA256, x509.ECDSAWithSHA256:
		h := sha256.Sum256(cert.Raw)
		return h[:]
	case x509.SHA384WithRSA, x509.SHA384WithRSAPSS, x509.ECDSAWithSHA384:
		h := sha512.Sum384(cert.Raw)
		return h[:]
	case x509.SHA512WithRSA, x509.SHA512WithRSAPSS, x509.ECDSAWithSHA512:
		h := sha512.Sum512(cert.Raw)
		return h[:]
	}
	return nil
}

// Offered reports whether a client can have encryption.
func (t *TLS) Offered() bool { return t != nil }

// ErrHandshake says that the two sides did not come to speak TLS. The client has been told by an alert.
var ErrHandshake = errors.New("no TLS connection came about")

// Handshake speaks TLS with a client over plain, and says what is then known of it. An error is an ErrHandshake.
func (t *TLS) Handshake(ctx context.Context, plain net.Conn) (*tls.Conn, *Channel, error) {
	identity := t.now.Load()
	conn := tls.Server(plain, identity.config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrHandshake, err)
	}
	channel := &Channel{Binding: identity.binding}
	if chains := conn.ConnectionState().VerifiedChains; len(chains) > 0 {
		channel.Peer = chains[0][0]
	}
	return conn, channel, nil
}

// Admit refuses sessions on connections that are not as the configuration wants them. channel is nil of a plain one.
func (t *TLS) Admit(channel *Channel, user, database string) error {
	if t == nil || !t.required || channel != nil {
		return nil
	}
	return sqlstate.New(sqlstate.InvalidAuthorization, "connection for user \"%s\", database \"%s\" has no encryption",
		user, database).
		WithHint("This server requires TLS: connect with sslmode=require or a stronger one.").Ending()
}

// commonName is the name that a certificate was made out to; empty if it has none, or several.
func commonName(cert *x509.Certificate) string {
	name := ""
	for _, part := range cert.Subject.Names {
		if part.Type.Equal(asn1.ObjectIdentifier{2, 5, 4, 3}) {
			text, ok := part.Value.(string)
			if name != "" || !ok {
				return ""
			}
			name = text
		}
	}
	return name
}
