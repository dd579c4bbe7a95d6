// Package certs makes certificates for tests: an authority of one's own, and what it signs, in PEM.
package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates.
type Authority struct {
	PEM  []byte // its own certificate
	cert *x509.Certificate
	key  crypto.Signer
}

// NewAuthority makes an authority whose signatures are made by the algorithm.
func NewAuthority(t testing.TB, algorithm x509.SignatureAlgorithm) *Authority {
	t.Helper()
	a := &Authority{key: newKey(t, algorithm)}
	template := template(pkix.Name{CommonName: "authority"}, algorithm)
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	a.cert, a.PEM = sign(t, template, template, a.key.Public(), a.key)
	return a
}

// Pair is a certificate with its key, in PEM.
type Pair struct{ Certificate, Key []byte }

// Issue makes a certificate for the common names: a server's of localhost and 127.0.0.1, and a client's.
func (a *Authority) Issue(t testing.TB, names ...string) Pair {
	t.Helper()
	return a.IssueFor(t, []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}, names...)
}

// IssueFor makes a certificate for the common names: a server's of the hosts and addresses, and a client's.
func (a *Authority) IssueFor(t testing.TB, hosts []string, addresses []net.IP, names ...string) Pair {
	t.Helper()
	subject := pkix.Name{}
	for _, n := range names {
		subject.ExtraNames = append(subject.ExtraNames, pkix.AttributeTypeAndValue{Type: []int{2, 5, 4, 3}, Value: n})
	}
	template := template(subject, a.cert.SignatureAlgorithm)
	template.DNSNames, template.IPAddresses = hosts, addresses
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	key := newKey(t, a.cert.SignatureAlgorithm)
	_, cert := sign(t, template, a.cert, key.Public(), a.key)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return Pair{cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})}
}

// Write puts the pair into files of the directory, NAME.crt and NAME.key.
func (p Pair) Write(t testing.TB, dir, name string) (cert, key string) {
	t.Helper()
	return Write(t, dir, name+".crt", p.Certificate), Write(t, dir, name+".key", p.Key)
}

// Write puts PEM into a file of the directory that only its owner reads, in one step.
func Write(t testing.TB, dir, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	return path
}

func template(subject pkix.Name, algorithm x509.SignatureAlgorithm) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62))
	return &x509.Certificate{SerialNumber: serial, Subject: subject, SignatureAlgorithm: algorithm,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
}

func newKey(t testing.TB, algorithm x509.SignatureAlgorithm) (key crypto.Signer) {
	t.Helper()
	var err error
	switch algorithm {
	case x509.ECDSAWithSHA256, x509.ECDSAWithSHA384, x509.ECDSAWithSHA512:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case x509.PureEd25519:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, template, parent *x509.Certificate, public crypto.PublicKey,
	key crypto.Signer) (*x509.Certificate, []byte) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
