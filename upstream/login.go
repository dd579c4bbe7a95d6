package upstream

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"
)

// Most of what a login costs Fugu itself is pgconn's: a goroutine and a timer for each wait, buffers that a connection
// which is taken over keeps, and the thousands of rounds of SCRAM's key for the same password again. A login that needs
// none of what pgconn knows is done here, in the goroutine of its client and with what logins before it have left;
// every other one, and every one in which something unexpected happens, is pgconn's.

// errLonger is the error of a login that has to be pgconn's.
var errLonger = errors.New("not a simple login")

// simple reports whether one unencrypted connection to one server is all that a login asks for.
func simple(c *pgconn.Config) bool {
	return c.TLSConfig == nil && len(c.Fallbacks) == 0 &&
		c.ValidateConnect == nil && c.AfterConnect == nil && c.AfterNetConnect == nil && c.OAuthTokenProvider == nil &&
		c.RequireAuth == "" && c.ChannelBinding != "require" && c.SSLCertMode != "require" &&
		slices.Contains([]string{"", "3.0"}, c.MinProtocolVersion) &&
		slices.Contains([]string{"", "3.0"}, c.MaxProtocolVersion) &&
		strings.IndexFunc(c.Password, func(r rune) bool { return r >= 0x80 }) < 0 // others SCRAM would have normalized
}

// talk is a login under way. Between two logins its buffers are kept.
type talk struct {
	*pgproto3.Frontend
	conn   net.Conn
	config *pgconn.Config
}

func (t *talk) Read(b []byte) (int, error)  { return t.conn.Read(b) }
func (t *talk) Write(b []byte) (int, error) { return t.conn.Write(b) }

var talks = sync.Pool{New: func() any {
	t := &talk{}
	t.Frontend = pgproto3.NewFrontend(t, t)
	return t
}}

// logIn does a simple login with these run-time parameters. An error comes from the network, is a *pgconn.PgError, or
// is errLonger.
func logIn(ctx context.Context, config *pgconn.Config, parameters map[string]string) (*pgconn.HijackedConn, error) {
	if config.ConnectTimeout != 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, config.ConnectTimeout)
		defer cancel()
	}

	conn, last, err := dial(ctx, config)
	if err != nil {
		return nil, err
	}
	t := talks.Get().(*talk)
	t.conn, t.config = conn, config

	// Nothing that talk does knows the context: a deadline that is over ends its reads and writes.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	h, err := t.logIn(parameters)
	if !stop() && err == nil {
		err = ctx.Err()
	}

	if t.conn, t.config = nil, nil; err != nil { // what was read may go on: t is dropped
		_ = conn.Close()
		var refused *pgconn.PgError
		if errors.As(err, &refused) && !last {
			return nil, errLonger // which knows what another address may be asked after
		}
		return nil, err
	}
	talks.Put(t)
	return h, nil
}

// dial connects to the first address of the host that answers. last: it was the last of them.
func dial(ctx context.Context, config *pgconn.Config) (conn net.Conn, last bool, err error) {
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	if network == "unix" || net.ParseIP(config.Host) != nil {
		conn, err = config.DialFunc(ctx, network, address)
		return conn, true, err
	}

	ips, err := config.LookupFunc(ctx, config.Host)
	if err != nil {
		return nil, false, err
	}

	// The first that answers is taken, as pgconn does.
	var failed []error
	for i, ip := range ips {
		if net.ParseIP(ip) == nil {
			return nil, false, errLonger
		}
		network, address := pgconn.NetworkAddress(ip, config.Port)
		if conn, err = config.DialFunc(ctx, network, address); err == nil {
			return conn, i == len(ips)-1, nil
		}
		failed = append(failed, err)
	}
	return nil, false, errors.Join(failed...)
}

// logIn says who asks and for what, proves it in the way that the server wants, and keeps what the server tells of the
// session until it is ready for a query.
func (t *talk) logIn(parameters map[string]string) (*pgconn.HijackedConn, error) {
	named := maps.Clone(parameters)
	named["user"] = t.config.User
	if t.config.Database != "" {
		named["database"] = t.config.Database
	}
	startup := &pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: named}
	if err := t.say(startup); err != nil {
		return nil, err
	}

	// A message of no request's may stand right behind the last of the login's.
	h := &pgconn.HijackedConn{Conn: t.conn, Config: t.config, ParameterStatuses: make(map[string]string, 16),
		CustomData: map[string]any{}}
	accepted := false
	for h.TxStatus == 0 || t.ReadBufferLen() > 0 {
		message, err := t.Receive()
		if err != nil {
			return nil, err
		}
		switch m := message.(type) {
		case *pgproto3.AuthenticationOk:
			accepted = true
		case *pgproto3.AuthenticationCleartextPassword:
			err = t.say(&pgproto3.PasswordMessage{Password: t.config.Password})
		case *pgproto3.AuthenticationMD5Password:
			hashed := hexMD5(hexMD5(t.config.Password+t.config.User) + string(m.Salt[:]))
			err = t.say(&pgproto3.PasswordMessage{Password: "md5" + hashed})
		case *pgproto3.AuthenticationSASL:
			err = t.prove(m.AuthMechanisms)

		case *pgproto3.ParameterStatus:
			h.ParameterStatuses[m.Name] = m.Value
		case *pgproto3.BackendKeyData:
			h.PID, h.SecretKey = m.ProcessID, slices.Clone(m.SecretKey)
		case *pgproto3.ReadyForQuery:
			h.TxStatus = m.TxStatus
			if !accepted { // by one that is no PostgreSQL
				err = errors.New("the server is ready for queries before it has let anybody in")
			}

		case *pgproto3.ErrorResponse:
			err = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.NoticeResponse, *pgproto3.NotificationResponse:
		default:
			err = errLonger
		}
		if err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (t *talk) say(m pgproto3.FrontendMessage) error {
	t.Send(m)
	return t.Flush()
}

func hexMD5(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// maxIterations is the most rounds that a server may ask for, as in pgconn.
const maxIterations = 10_000_000

// scramClients keep the keys that SCRAM derives from passwords, by password: of the configuration's.
var scramClients sync.Map

// prove shows that Fugu has the password, and has the server show that it knows it too, by SCRAM-SHA-256. Without TLS
// there is no channel to bind to.
func (t *talk) prove(offered []string) error {
	const mechanism = "SCRAM-SHA-256"
	if !slices.Contains(offered, mechanism) {
		return errLonger
	}
	client, ok := scramClients.Load(t.config.Password)
	if !ok {
		// The server takes the name from the startup packet.
		c, err := scram.SHA256.NewClientUnprepped("", t.config.Password, "")
		if err != nil {
			return err
		}
		client, _ = scramClients.LoadOrStore(t.config.Password, c.WithMinIterations(1))
	}

	conversation := client.(*scram.Client).NewConversation()
	first, err := conversation.Step("")
	if err != nil {
		return err
	}
	if err := t.say(&pgproto3.SASLInitialResponse{AuthMechanism: mechanism, Data: []byte(first)}); err != nil {
		return err
	}
	message, err := t.Receive()
	if err != nil {
		return err
	}
	challenge, ok := message.(*pgproto3.AuthenticationSASLContinue)
	if !ok {
		return unexpected(message)
	}
	if err := bounded(string(challenge.Data)); err != nil {
		return err
	}

	// The proof is of the challenge; by its last message the server proves the same.
	final, err := conversation.Step(string(challenge.Data))
	if err != nil {
		return err
	}
	if err := t.say(&pgproto3.SASLResponse{Data: []byte(final)}); err != nil {
		return err
	}
	if message, err = t.Receive(); err != nil {
		return err
	}
	signature, ok := message.(*pgproto3.AuthenticationSASLFinal)
	if !ok {
		return unexpected(message)
	}
	if _, err := conversation.Step(string(signature.Data)); err != nil {
		return err
	}

	if !conversation.Valid() {
		return errors.New("the server has not shown that it knows the password")
	}
	return nil
}

// bounded refuses a challenge that asks for too many rounds.
func bounded(challenge string) error {
	_, rounds, _ := strings.Cut(challenge, ",i=")
	rounds, _, _ = strings.Cut(rounds, ",")
	if n, err := strconv.Atoi(rounds); err != nil || n > maxIterations {
		return fmt.Errorf("the server asks for %q rounds of SCRAM", rounds)
	}
	return nil
}

func unexpected(m pgproto3.BackendMessage) error {
	if e, ok := m.(*pgproto3.ErrorResponse); ok {
		return pgconn.ErrorResponseToPgError(e)
	}
	return fmt.Errorf("unexpected %T in a login", m)
}

// probes is how many of TCP's questions a database may leave unanswered before its connection is given up.
const probes = 4

// Dialer dials databases so that TCP asks, after so long a silence, whether they are still there.
func Dialer(keepAlive time.Duration) pgconn.DialFunc {
	d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAlive,
		Interval: max(time.Second, keepAlive/probes), Count: probes}}
	return d.DialContext
}
