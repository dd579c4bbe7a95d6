package wire

import (
	"crypto/x509"
	"slices"
	"strings"
	"testing"
)

// The mechanisms of SCRAM (RFC 7677; RFC 5802, section 6).
const (
	scramPlain = "SCRAM-SHA-256"
	scramBound = "SCRAM-SHA-256-PLUS"
)

const clientFirst = "n,,n=,r=rOprNGfwEbeRWgbNEkqO"

func initial(mechanism, response string) []byte {
	return frame('p', mechanism+"\x00"+string([]byte{0, 0, byte(len(response) >> 8), byte(len(response))})+response)
}

// malformed are exchanges that go wrong, with what both PostgreSQL and Fugu say: the code, and the words where they are
// the same.
var malformedExchanges = map[string]struct {
	first, second []byte
	tls           bool
	code          string
	words         string
}{
	"no mechanism": {first: frame('p', ""), code: "08P01"},
	"another mechanism": {first: initial("SCRAM-SHA-1", clientFirst), code: "08P01",
		words: "client selected an invalid SASL authentication mechanism"},
	"binding that cannot be": {first: initial(scramBound, "p=tls-server-end-point,,n=,r=abc"), code: "08P01",
		words: "client selected an invalid SASL authentication mechanism"},
	"no response": {first: frame('p', scramPlain+"\x00\xff\xff\xff\xff"), second: frame('p', ""),
		code: "08P01", words: "malformed SCRAM message"},
	"no response, then one": {first: frame('p', scramPlain+"\x00\xff\xff\xff\xff"),
		second: frame('p', "x,,n=,r=abc"), code: "08P01", words: "malformed SCRAM message"},
	"empty response": {first: initial(scramPlain, ""), code: "08P01", words: "malformed SCRAM message"},
	"length beyond the end": {first: frame('p', scramPlain+"\x00\x00\x00\x01\x00n,,"), code: "08P01",
		words: "insufficient data left in message"},
	"length before the end": {first: frame('p', scramPlain+"\x00\x00\x00\x00\x01n,,"), code: "08P01",
		words: "invalid message format"},
	"length without the rest": {first: frame('p', scramPlain+"\x00\x00"), code: "08P01"},
	"binding without asking": {first: initial(scramPlain, "p=tls-server-end-point,,n=,r=abc"), code: "08P01",
		words: "malformed SCRAM message"},
	"asking without binding": {tls: true, first: initial(scramBound, clientFirst), code: "08P01",
		words: "malformed SCRAM message"},
	"y without binding": {tls: true, first: initial(scramBound, "y,,n=,r=abc"), code: "08P01",
		words: "malformed SCRAM message"},
	"y where it is offered": {tls: true, first: initial(scramPlain, "y,,n=,r=abc"), code: "28000",
		words: "SCRAM channel binding negotiation error"},
	"another binding": {tls: true, first: initial(scramBound, "p=tls-unique,,n=,r=abc"), code: "08P01",
		words: "unsupported SCRAM channel-binding type \"tls-unique\""},
	"n where it is offered": {tls: true, first: initial(scramPlain, clientFirst),
		second: frame('p', "c=biws,r=abc,p=AAAA"), code: "08P01"},
	"no binding data": {tls: true, first: initial(scramBound, "p=tls-server-end-point,,n=,r=abc"),
		second: frame('p', "c=cD10bHMtc2VydmVyLWVuZC1wb2ludCws,r=abc,p=AAAA"), code: "28000",
		words: "SCRAM channel binding check failed"},
	"another's binding data": {tls: true, first: initial(scramBound, "p=tls-server-end-point,,n=,r=abc"),
		second: frame('p', "c=cD10bHMtc2VydmVyLWVuZC1wb2ludCwsYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=,"+
			"r=abc,p=AAAA"),
		code: "28000", words: "SCRAM channel binding check failed"},
	"another identity": {first: initial(scramPlain, "n,a=bob,n=,r=abc"), code: "0A000",
		words: "client uses authorization identity, but it is not supported"},
	"an extension": {first: initial(scramPlain, "n,,m=x,n=,r=abc"), code: "0A000",
		words: "client requires an unsupported SCRAM extension"},
	"no nonce": {first: initial(scramPlain, "n,,n="), code: "08P01", words: "malformed SCRAM message"},
	"no comma": {first: initial(scramPlain, "nn,n=,r=abc"), code: "08P01",
		words: "malformed SCRAM message"},
	"nonsense": {first: initial(scramPlain, "\xff,,,"), code: "08P01",
		words: "malformed SCRAM message"},
	"a NUL": {first: initial(scramPlain, "n,,n=\x00,r=abc"), code: "08P01",
		words: "malformed SCRAM message"},
	"no GS2 header": {first: initial(scramPlain, "n=,r=abc"), code: "08P01",
		words: "malformed SCRAM message"},
	"a query": {first: frame('Q', "SELECT 1\x00"), code: "08P01",
		words: "expected SASL response, got message type 81"},
	"second: empty": {first: initial(scramPlain, clientFirst), second: frame('p', ""), code: "08P01",
		words: "malformed SCRAM message"},
	"second: wrong nonce": {first: initial(scramPlain, clientFirst), second: frame('p', "c=biws,r=abc,p="+
		strings.Repeat("A", 43)+"="), code: "08P01", words: "invalid SCRAM response"},
	"second: no proof": {first: initial(scramPlain, clientFirst),
		second: frame('p', "c=biws,r=rOprNGfwEbeRWgbNEkqO"), code: "08P01", words: "malformed SCRAM message"},
	"second: short proof": {first: initial(scramPlain, clientFirst), second: []byte("proof AAAA"), code: "08P01",
		words: "malformed SCRAM message"},
	"second: another flag": {first: initial(scramPlain, clientFirst),
		second: frame('p', "c=eSws,r=rOprNGfwEbeRWgbNEkqO,p="+strings.Repeat("A", 43)+"="), code: "08P01",
		words: "unexpected SCRAM channel-binding attribute in client-final-message"},
	"second: a query": {first: initial(scramPlain, clientFirst), second: frame('Q', "SELECT 1\x00"),
		code: "08P01", words: "expected SASL response, got message type 81"},
	"second: wrong by a proof": {first: initial(scramPlain, clientFirst),
		second: []byte("proof " + strings.Repeat("A", 43) + "="), code: "28P01",
		words: `password authentication failed for user "alice"`},
}

func TestMalformedSCRAM(t *testing.T) {
	s := serveSecure(t, x509.ECDSAWithSHA256, hostRules, nil)
	for name, c := range malformedExchanges {
		for _, side := range s.sides {
			var p *peer
			if c.tls {
				p = overTLS(t, side.address)
				p.put(t, packet(protocol30, "user", "alice", "database", "postgres"))
			} else {
				p = hello(t, side.address, "alice")
			}
			p.until(t, "R")
			p.put(t, c.first)
			if second := c.second; second != nil {
				got := p.until(t, "R")
				if proof, ok := strings.CutPrefix(string(second), "proof "); ok { // behind the nonce of this exchange
					_, nonce, _ := strings.Cut(got[0], "r=")
					nonce, _, _ = strings.Cut(nonce, ",")
					second = frame('p', "c=biws,r="+nonce+",p="+proof)
				}
				p.put(t, second)
			}
			got := p.until(t, "Z")
			if want := "E FATAL " + c.code + " " + c.words; len(got) != 2 || !strings.HasPrefix(got[0], want) ||
				got[1] != "end" {
				t.Errorf("%s: %s: got %q, want one %s", name, side.name, got, want)
			}
		}
	}
	if s.fugu.opened() != 0 {
		t.Error("a session was opened")
	}
	// One that is longer than any message of an exchange ends the connection.
	for _, side := range s.sides {
		p := hello(t, side.address, "alice")
		p.until(t, "R")
		p.put(t, initial(scramPlain, clientFirst+strings.Repeat("x", maxSASL)))
		if got := p.until(t, "Z"); got[len(got)-1] != "end" || slices.Contains(got, "Z") {
			t.Errorf("%s: %q", side.name, got)
		}
	}
}
