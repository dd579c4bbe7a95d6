package auth

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"testing"

	"fugu/test/certs"
)

// The hash is that of the signature, but never a weak one (RFC 5929, section 4.1).
func TestEndPoint(t *testing.T) {
	raw := []byte("certificate")
	of256, of384, of512 := sha256.Sum256(raw), sha512.Sum384(raw), sha512.Sum512(raw)
	for algorithm, want := range map[x509.SignatureAlgorithm][]byte{
		x509.MD5WithRSA: of256[:], x509.SHA1WithRSA: of256[:], x509.ECDSAWithSHA1: of256[:],
		x509.SHA256WithRSA: of256[:], x509.SHA256WithRSAPSS: of256[:],
		x509.SHA384WithRSA: of384[:], x509.ECDSAWithSHA384: of384[:], x509.SHA512WithRSAPSS: of512[:],
		x509.PureEd25519: nil, x509.UnknownSignatureAlgorithm: nil,
	} {
		if got := endPoint(&x509.Certificate{Raw: raw, SignatureAlgorithm: algorithm}); !bytes.Equal(got, want) {
			t.Errorf("%v: %x", algorithm, got)
		}
	}
}

// What a session is bound to is the certificate that its client was shown, also after another has taken its place.
func TestBindingIsOfTheCertificate(t *testing.T) {
	authority, dir := certs.NewAuthority(t, x509.ECDSAWithSHA256), t.TempDir()
	crt, key := authority.Issue(t, "localhost").Write(t, dir, "server")
	encryption, err := NewTLS(TLSFiles{Certificate: crt, Key: key}, false)
	if err != nil {
		t.Fatal(err)
	}
	var bindings [][]byte
	for range 2 {
		ours, theirs := net.Pipe()
		client := tls.Client(theirs, &tls.Config{InsecureSkipVerify: true})
		done := make(chan error, 1)
		go func() { done <- client.HandshakeContext(t.Context()) }()
		_, channel, err := encryption.Handshake(t.Context(), ours)
		if err := errors.Join(err, <-done); err != nil {
			t.Fatal(err)
		}
		want := sha256.Sum256(client.ConnectionState().PeerCertificates[0].Raw)
		if !bytes.Equal(channel.Binding, want[:]) || channel.Peer != nil {
			t.Errorf("bound to %x, peer %v, want %x and none", channel.Binding, channel.Peer, want)
		}
		bindings = append(bindings, channel.Binding)

		authority.Issue(t, "localhost").Write(t, dir, "server")
		if err := encryption.Reload(); err != nil {
			t.Fatal(err)
		}
	}
	if bytes.Equal(bindings[0], bindings[1]) {
		t.Error("the certificate did not change")
	}
}
