package auth

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"

	"fugu/sqlstate"
)

// The mechanisms of SCRAM (RFC 7677; RFC 5802, section 6).
const (
	scramPlain = "SCRAM-SHA-256"
	scramBound = "SCRAM-SHA-256-PLUS"
)

// SCRAM asks for a password by SCRAM-SHA-256, over TLS with channel binding if the client can (manual, "SASL
// Authentication"). Whether a user exists shows neither in what it says nor in how long it takes.
type SCRAM struct {
	users   atomic.Pointer[known]
	secret  []byte
	backoff *backoff
}

// known is a users file as the exchange needs it.
type known struct {
	users Users
	likes []scram.KeyFactors // of all users, in order: what verifiers look like
}

// NewSCRAM takes the verifiers of a users file, and a secret from which it makes up those of users that do not exist.
// The same secret must be used again after a restart, and by other proxies of the same users: who sees a salt change
// knows that the user does not exist.
func NewSCRAM(users Users, secret []byte) *SCRAM {
	s := &SCRAM{secret: slices.Clone(secret), backoff: newBackoff()}
	s.Replace(users)
	return s
}

// Replace changes the users, for clients to come.
func (s *SCRAM) Replace(users Users) {
	k := &known{users: users}
	for _, c := range users {
		k.likes = append(k.likes, c.KeyFactors)
	}
	if len(k.likes) == 0 {
		k.likes = []scram.KeyFactors{{Salt: strings.Repeat("\x00", 16), Iters: 4096}} // as PostgreSQL makes them
	}
	slices.SortFunc(k.likes, func(a, b scram.KeyFactors) int {
		return cmp.Or(cmp.Compare(a.Iters, b.Iters), cmp.Compare(len(a.Salt), len(b.Salt)))
	})
	s.users.Store(k)
}

// HoldBackBy replaces the way in which answers to guesses are held back. It is for tests, before the first client
// comes.
func (s *SCRAM) HoldBackBy(sleep func(context.Context, time.Duration) error) { s.backoff.sleep = sleep }

// Secret gives a secret for NewSCRAM where none is kept: it stays the same as long as the users do.
func (u Users) Secret() []byte {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(u)) {
		h.Write(u[name].ServerKey)
	}
	return h.Sum(nil)
}

// credentials finds a user's verifier. For a user that does not exist it makes one up that no password fits. Its salt
// is always the same, and its form is that of the users' there are, at a place in their order that hardly moves when
// one comes or goes. What is made up is so for every user, so that all take as long.
func (k *known) credentials(secret []byte, user string) (c scram.StoredCredentials, exists bool) {
	derive := func(label string) []byte {
		m := hmac.New(sha256.New, secret)
		m.Write([]byte(label + user))
		return m.Sum(nil)
	}
	place := uint64(binary.BigEndian.Uint32(derive("like"))) * uint64(len(k.likes)) >> 32
	like, salt := k.likes[place], derive("salt")
	for len(salt) < len(like.Salt) {
		salt = append(salt, salt...)
	}
	c = scram.StoredCredentials{KeyFactors: scram.KeyFactors{Salt: string(salt[:len(like.Salt)]), Iters: like.Iters},
		StoredKey: derive("stored"), ServerKey: derive("server")}
	if real, ok := k.users[user]; ok {
		return real, true
	}
	return c, false
}

// Authenticate implements Method.
func (s *SCRAM) Authenticate(ctx context.Context, c Client, user string) error {
	verifier, exists := s.users.Load().credentials(s.secret, user)
	// The name inside the exchange is ignored, as PostgreSQL does: the startup packet has it.
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return verifier, nil })
	if err != nil {
		return err
	}
	binding := scram.ChannelBinding{}
	offer := []string{scramPlain}
	if channel := c.Channel(); channel != nil && channel.Binding != nil {
		binding = scram.ChannelBinding{Type: scram.ChannelBindingTLSServerEndpoint, Data: channel.Binding}
		offer = []string{scramBound, scramPlain}
	}
	mechanism, first, err := firstMessage(c, offer)
	if err != nil {
		return err
	}

	conversation := server.NewConversationWithChannelBinding(binding)
	challenge, err := conversation.Step(string(first))
	if err != nil {
		return malformed().Because(err)
	}
	if err := c.Send(&pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)}); err != nil {
		return err
	}
	response, err := c.Receive()
	if err != nil {
		return err
	}
	final, err := conversation.Step(string(response))
	if err != nil && final != scram.ErrInvalidProof {
		return unfit(err, final, mechanism, challenge, response)
	}

	// From here on the client would learn whether it has the password.
	right := conversation.Valid() && exists
	if err := s.backoff.wait(ctx, user, c.RemoteAddr(), right); err != nil {
		return err
	}
	if right {
		return c.Send(&pgproto3.AuthenticationSASLFinal{Data: []byte(final)})
	}
	return sqlstate.New(sqlstate.InvalidPassword, "password authentication failed for user \"%s\"", user).Ending()
}

// firstMessage offers mechanisms, and returns the one that the client takes with the first message of the exchange.
func firstMessage(c Client, offer []string) (mechanism string, first []byte, err error) {
	if err := c.Send(&pgproto3.AuthenticationSASL{AuthMechanisms: offer}); err != nil {
		return "", nil, err
	}
	body, err := c.Receive()
	if err != nil {
		return "", nil, err
	}

	// What the client has chosen has to be among the offers.
	mechanism, first, err = initialResponse(body)
	switch {
	case err != nil:
		return "", nil, err
	case !slices.Contains(offer, mechanism):
		return "", nil, sqlstate.New(sqlstate.ProtocolViolation,
			"client selected an invalid SASL authentication mechanism").Ending()
	case first == nil: // the client waits to be asked for its first message
		if err := c.Send(&pgproto3.AuthenticationSASLContinue{}); err != nil {
			return "", nil, err
		}
		if first, err = c.Receive(); err != nil {
			return "", nil, err
		}
	}
	return mechanism, first, checkFlag(first, mechanism, len(offer) > 1)
}

// unfit is PostgreSQL's error of a response that is no answer to the challenge, whatever the password is. final is what
// the exchange has come to.
func unfit(err error, final, mechanism, challenge string, response []byte) error {
	nonce, _, _ := strings.Cut(challenge, ",")
	switch {
	case final == scram.ErrChannelBindingsDontMatch && mechanism == scramBound:
		return sqlstate.New(sqlstate.InvalidAuthorization, "SCRAM channel binding check failed").Ending()
	case final == scram.ErrChannelBindingsDontMatch:
		return sqlstate.New(sqlstate.ProtocolViolation,
			"unexpected SCRAM channel-binding attribute in client-final-message").Ending()
	case final == scram.ErrOtherError && !bytes.Contains(response, []byte(","+nonce+",")):
		return sqlstate.New(sqlstate.ProtocolViolation, "invalid SCRAM response").
			WithDetail("Nonce does not match.").Ending()
	}
	return malformed().Because(err)
}

func malformed() *sqlstate.Error {
	return sqlstate.New(sqlstate.ProtocolViolation, "malformed SCRAM message").Ending()
}

// initialResponse reads a SASLInitialResponse: the mechanism, and the length and the bytes of its first message; nil if
// there is none.
func initialResponse(body []byte) (mechanism string, first []byte, err error) {
	name, rest, ok := bytes.Cut(body, []byte{0})
	if !ok || len(rest) < 4 {
		return "", nil, sqlstate.New(sqlstate.ProtocolViolation, "invalid string in message").Ending()
	}
	length, first := binary.BigEndian.Uint32(rest), rest[4:]
	switch {
	case length == 1<<32-1 && len(first) == 0:
		return string(name), nil, nil
	case uint64(length) > uint64(len(first)):
		return "", nil, sqlstate.New(sqlstate.ProtocolViolation, "insufficient data left in message").Ending()
	case uint64(length) < uint64(len(first)):
		return "", nil, sqlstate.New(sqlstate.ProtocolViolation, "invalid message format").Ending()
	}
	return string(name), first, nil
}

// What a client says of channel binding, in the first byte of its first message (RFC 5802, section 7: gs2-cbind-flag).
const (
	flagBound     = 'p' // it uses it
	flagNone      = 'n' // it cannot
	flagUnoffered = 'y' // it could, but thinks that the server cannot
)

// checkFlag looks at the beginning of a client's first message, where it says about channel binding that it uses it
// (p), cannot (n), or could but thinks the server cannot (y). Where binding was offered, y means that somebody between
// has taken the offer away (RFC 5802, section 6).
func checkFlag(first []byte, mechanism string, offered bool) error {
	if len(first) == 0 {
		return malformed().WithDetail("The message is empty.")
	}
	if bytes.IndexByte(first, 0) >= 0 {
		return malformed().WithDetail("Message length does not match input length.")
	}

	// The selected mechanism and the flag have to say the same.
	flag := first[0]
	switch {
	case flag != flagNone && flag != flagUnoffered && flag != flagBound:
		return malformed().WithDetail("Unexpected channel-binding flag \"%s\".", printable(flag))
	case flag != flagBound && mechanism == scramBound:
		return malformed().WithDetail("The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not " +
			"include channel binding data.")
	case flag == flagBound && mechanism != scramBound:
		return malformed().WithDetail("The client selected SCRAM-SHA-256 without channel binding, but the SCRAM " +
			"message includes channel binding data.")
	case flag == flagUnoffered && offered:
		return sqlstate.New(sqlstate.InvalidAuthorization, "SCRAM channel binding negotiation error").
			WithDetail("The client supports SCRAM channel binding but thinks the server does not.  However, this " +
				"server does support channel binding.").Ending()
	}

	// What is bound is the server's certificate: no other kind was offered.
	header, rest, _ := bytes.Cut(first, []byte(","))
	if kind, ok := bytes.CutPrefix(header, []byte("p=")); ok &&
		string(kind) != string(scram.ChannelBindingTLSServerEndpoint) {
		return sqlstate.New(sqlstate.ProtocolViolation, "unsupported SCRAM channel-binding type \"%s\"",
			strings.ToValidUTF8(string(kind), "?")).Ending()
	}

	// Another identity to act as, and extensions that a server has to know or refuse (RFC 5802, section 5.1).
	if bytes.HasPrefix(rest, []byte("a")) {
		return sqlstate.New(sqlstate.FeatureNotSupported,
			"client uses authorization identity, but it is not supported").Ending()
	}
	if bytes.HasPrefix(rest, []byte(",m=")) {
		return sqlstate.New(sqlstate.FeatureNotSupported, "client requires an unsupported SCRAM extension").Ending()
	}
	return nil
}

// printable shows a byte that should have been something else (sanitize_char).
func printable(b byte) string {
	if b > ' ' && b < 0x7f {
		return string(rune(b))
	}
	return "0x" + string("0123456789abcdef"[b>>4]) + string("0123456789abcdef"[b&15])
}
