package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"

	"fugu/sqlstate"
)

// Authenticator finds out whether a client is who it says.
type Authenticator interface {
	// authenticate runs the exchange with the client; a nil error means that the user is who it says.
	authenticate(c *login, user string) error
}

// login is the connection of a client that is not a session yet.
type login struct {
	in  *frames
	out *client
}

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
	if typ != 'p' || length > maxStartup {
		return nil, sqlstate.New(sqlstate.ProtocolViolation, "expected SASL response, got message type %d", typ).Ending()
	}
	return l.in.read(length)
}

// Trust lets everybody be whoever they say. It is for listeners on the loopback interface.
type Trust struct{}

func (Trust) authenticate(*login, string) error { return nil }

// SCRAM asks for a password by SCRAM-SHA-256 (RFC 7677; manual, "SASL Authentication").
type SCRAM struct {
	users  Users
	decoys decoys
}

// decoys makes up verifiers for users that do not exist, the same at each try and after a restart.
type decoys struct {
	key   []byte
	likes []scram.KeyFactors // what the real ones look like
}

// NewSCRAM takes the verifiers of a users file.
func NewSCRAM(users Users) (*SCRAM, error) {
	s := &SCRAM{users: users, decoys: decoys{likes: []scram.KeyFactors{{Salt: string(make([]byte, 16)), Iters: 4096}}}}
	secret := sha256.New()
	for i, name := range slices.Sorted(maps.Keys(users)) {
		c := users[name]
		secret.Write(c.ServerKey)
		if i == 0 {
			s.decoys.likes = nil
		}
		s.decoys.likes = append(s.decoys.likes, c.KeyFactors)
	}
	s.decoys.key = secret.Sum(nil)
	return s, nil
}

// credentials finds a user's verifier. For a user that does not exist it makes one up that no password fits, so that the
// exchange looks the same.
func (s *SCRAM) credentials(user string) scram.StoredCredentials {
	if c, ok := s.users[user]; ok {
		return c
	}
	derive := func(label string) []byte {
		m := hmac.New(sha256.New, s.decoys.key)
		m.Write([]byte(label + user))
		return m.Sum(nil)
	}
	like := s.decoys.likes[binary.BigEndian.Uint32(derive("like"))%uint32(len(s.decoys.likes))]
	salt := derive("salt")
	return scram.StoredCredentials{KeyFactors: scram.KeyFactors{Salt: string(salt[:min(len(salt), len(like.Salt))]), Iters: like.Iters},
		StoredKey: derive("stored"), ServerKey: derive("server")}
}

func (s *SCRAM) authenticate(c *login, user string) error {
	refused := sqlstate.New(sqlstate.InvalidPassword, "password authentication failed for user \"%s\"", user).Ending()
	// The name inside the exchange is ignored, as PostgreSQL does: the startup packet has it.
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return s.credentials(user), nil })
	if err != nil {
		return err
	}
	if err := c.send(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{"SCRAM-SHA-256"}}); err != nil {
		return err
	}
	body, err := c.receive()
	if err != nil {
		return err
	}
	var first pgproto3.SASLInitialResponse
	if err := first.Decode(body); err != nil || first.AuthMechanism != "SCRAM-SHA-256" {
		return sqlstate.New(sqlstate.ProtocolViolation, "client selected an invalid SASL authentication mechanism").Ending()
	}
	conversation := server.NewConversation()
	challenge, err := conversation.Step(string(first.Data))
	if err != nil {
		return refused.Because(err)
	}
	if conversation.AuthzID() != "" {
		return sqlstate.New(sqlstate.FeatureNotSupported, "client uses authorization identity, but it is not supported").Ending()
	}
	if err := c.send(&pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)}); err != nil {
		return err
	}
	if body, err = c.receive(); err != nil {
		return err
	}
	final, err := conversation.Step(string(body))
	if _, known := s.users[user]; err != nil || !conversation.Valid() || !known {
		return refused.Because(err)
	}
	return c.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(final)})
}
