package upstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"

	"fugu/test/pgcluster"
)

// asked makes a cluster that asks each of these users for a password in another way; the password is the user's name.
func asked(t testing.TB) *pgcluster.Cluster {
	t.Helper()
	c := pgcluster.StartTest(t, pgcluster.Options{})
	err := c.Exec(t.Context(), "postgres",
		`CREATE ROLE "scram-sha-256" LOGIN PASSWORD 'scram-sha-256';
		CREATE ROLE password LOGIN PASSWORD 'password'; CREATE ROLE trust LOGIN;
		SET password_encryption = md5; CREATE ROLE md5 LOGIN PASSWORD 'md5'`)
	if err != nil {
		t.Fatal(err)
	}
	rules := "local all postgres trust\nhost all postgres all trust\n"
	for _, user := range []string{"scram-sha-256", "password", "md5", "trust"} {
		rules += fmt.Sprintf("local all %s %s\nhost all %[1]s all %[2]s\n", user, user)
	}
	if err := c.Configure(t.Context(), map[string]string{"pg_hba.conf": rules}, nil); err != nil {
		t.Fatal(err)
	}
	return c
}

func parsed(t testing.TB, dsn string) *pgconn.Config {
	t.Helper()
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A simple login is admitted and refused as pgconn's is, and what it gives is the same.
func TestLogin(t *testing.T) {
	c := asked(t)
	for _, user := range []string{"scram-sha-256", "password", "md5", "trust"} {
		for _, host := range []string{"127.0.0.1", c.SocketDir(), "localhost"} {
			for _, change := range []string{"", "password=wrong", "dbname=nowhere", "work_mem=lots",
				"application_name=some"} {
				config := parsed(t,
					fmt.Sprintf("host=%s port=%d user=%s password=%[3]s dbname=postgres sslmode=disable %[4]s", host,
						c.Port(), user, change))
				if !simple(config) {
					t.Fatal("it is not a simple login")
				}
				for range 2 { // the second with the keys of the first
					got, err := logIn(t.Context(), config, config.RuntimeParams)
					want, wanted := pgconn.ConnectConfig(t.Context(), config)
					if err != nil || wanted != nil {
						var a, b *pgconn.PgError
						if !errors.As(wanted, &b) ||
							!(errors.As(err, &a) && a.Code == b.Code && a.Message == b.Message) &&
								!(host == "localhost" && err == errLonger) {
							t.Errorf("%s at %s, %s: %v; pgconn: %v", user, host, change, err, wanted)
						}
						continue
					}
					same, err := pgconn.Construct(got)
					if err != nil {
						t.Fatal(err)
					}
					if h, err := want.Hijack(); err != nil || !maps.Equal(h.ParameterStatuses, got.ParameterStatuses) ||
						len(got.ParameterStatuses) < 10 {
						t.Errorf("%s at %s: %v, %v, %v", user, host, got.ParameterStatuses, h.ParameterStatuses, err)
					} else {
						_ = h.Conn.Close()
					}
					if r, err := same.Exec(t.Context(),
						"SELECT pg_backend_pid(), current_user").ReadAll(); err != nil ||
						string(r[0].Rows[0][0]) != fmt.Sprint(got.PID) || string(r[0].Rows[0][1]) != user {
						t.Errorf("%s at %s: %v, %v", user, host, r, err)
					}
					if err := errors.Join(same.CancelRequest(t.Context()), same.Close(t.Context())); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// What pgconn knows better is left to it.
func TestLongerLogin(t *testing.T) {
	for _, more := range []string{"sslmode=prefer", "sslmode=require", "host=127.0.0.1,127.0.0.2",
		"target_session_attrs=read-write", "require_auth=scram-sha-256", "channel_binding=require",
		"max_protocol_version=latest", "min_protocol_version=3.2", "password=groß", "sslcertmode=require"} {
		if simple(parsed(t, "host=127.0.0.1 sslmode=disable "+more)) {
			t.Errorf("%s makes a simple login", more)
		}
	}
}

// liar is a server that plays its part of a login, whatever it is told, and then waits.
func liar(t *testing.T, part func(b *pgproto3.Backend)) *pgconn.Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			b := pgproto3.NewBackend(conn, conn)
			if _, err := b.ReceiveStartupMessage(); err == nil {
				part(b)
				_ = b.Flush()
			}
			_, _ = conn.Read(make([]byte, 1)) // until the other side has heard enough
			_ = conn.Close()
		}
	}()
	return parsed(t, fmt.Sprintf("postgres://user:pencil@%s/db?sslmode=disable", l.Addr()))
}

// challenged is SCRAM up to the client's proof, which it waits for.
func challenged(b *pgproto3.Backend, rounds string) {
	b.Send(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{"SCRAM-SHA-256"}})
	_ = b.Flush()
	_ = b.SetAuthType(pgproto3.AuthTypeSASL)
	m, err := b.Receive()
	if err != nil {
		return
	}
	_, nonce, _ := strings.Cut(string(m.(*pgproto3.SASLInitialResponse).Data), "r=")
	challenge := "r=" + nonce + "more,s=c2FsdHNhbHQ=,i=" + rounds
	b.Send(&pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)})
	_ = b.Flush()
	_ = b.SetAuthType(pgproto3.AuthTypeSASLContinue)
	_, _ = b.Receive()
}

// A server that does not prove that it knows the password, or asks for too much, is not believed.
func TestLoginWithLiar(t *testing.T) {
	ready := func(b *pgproto3.Backend) { b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'}) }
	for name, part := range map[string]func(b *pgproto3.Backend){
		"ready before it lets anybody in": ready,
		"lets in without its signature": func(b *pgproto3.Backend) {
			challenged(b, "4096")
			b.Send(&pgproto3.AuthenticationOk{})
			ready(b)
		},
		"lets in without any proof": func(b *pgproto3.Backend) {
			b.Send(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{"SCRAM-SHA-256"}})
			b.Send(&pgproto3.AuthenticationOk{})
			ready(b)
		},
		"has a wrong signature": func(b *pgproto3.Backend) {
			challenged(b, "4096")
			b.Send(&pgproto3.AuthenticationSASLFinal{Data: []byte("v=c2lnbmF0dXJl")})
			b.Send(&pgproto3.AuthenticationOk{})
			ready(b)
		},
		"asks for billions of rounds":  func(b *pgproto3.Backend) { challenged(b, "2000000000") },
		"asks for no number of rounds": func(b *pgproto3.Backend) { challenged(b, "many") },
		"dies": func(b *pgproto3.Backend) {
			b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P03", Message: "starting up"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := liar(t, part)
			h, err := logIn(t.Context(), config, map[string]string{})
			if err == nil {
				_ = h.Conn.Close()
				t.Fatal("it is believed")
			}
			if errors.Is(err, errLonger) {
				t.Errorf("it is tried again: %v", err)
			}
		})
	}
	kerberos := liar(t, func(b *pgproto3.Backend) { b.Send(&pgproto3.AuthenticationGSS{}) })
	if _, err := logIn(t.Context(), kerberos, map[string]string{}); err != errLonger {
		t.Errorf("Kerberos: %v", err)
	}
	late := liar(t, func(b *pgproto3.Backend) {
		b.Send(&pgproto3.AuthenticationOk{})
		b.Send(&pgproto3.BackendKeyData{ProcessID: 7, SecretKey: []byte{1, 2, 3, 4}})
		ready(b)
		b.Send(&pgproto3.ParameterStatus{Name: "late", Value: "1"})
	})
	if h, err := logIn(t.Context(), late, map[string]string{}); err != nil || h.ParameterStatuses["late"] != "1" ||
		h.PID != 7 || string(h.SecretKey) != "\x01\x02\x03\x04" {
		t.Errorf("what comes behind: %+v, %v", h, err)
	} else {
		_ = h.Conn.Close()
	}
}

// A login ends with its context, and with connect_timeout.
func TestLoginEnds(t *testing.T) {
	silent := liar(t, func(*pgproto3.Backend) {})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := logIn(ctx, silent, map[string]string{}); err == nil {
		t.Error("a login goes on behind its context's end")
	}
	silent.ConnectTimeout = 20 * time.Millisecond
	if _, err := logIn(t.Context(), silent, map[string]string{}); err == nil {
		t.Error("connect_timeout is not kept")
	}
	if _, err := logIn(t.Context(), parsed(t, fmt.Sprintf("host=127.0.0.1 port=%d sslmode=disable", closedPort(t))),
		map[string]string{}); err == nil || errors.Is(err, errLonger) {
		t.Errorf("nobody listens: %v", err)
	}
}

// Passwords beyond ASCII aside, which are pgconn's, SCRAM takes a password as it is.
func TestPasswordsAreNotPrepared(t *testing.T) {
	for c := byte(1); c < 0x80; c++ {
		raw, err := scram.SHA256.NewClientUnprepped("", string(c), "")
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := scram.SHA256.NewClient("", string(c), "")
		if err != nil {
			continue // not allowed by SASLprep, and then PostgreSQL takes it as it is
		}
		factors := scram.KeyFactors{Salt: "salt", Iters: 4096}
		a, err1 := raw.GetStoredCredentialsWithError(factors)
		b, err2 := prepared.GetStoredCredentialsWithError(factors)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if string(a.StoredKey) != string(b.StoredKey) {
			t.Errorf("%q is another password when it is prepared", c)
		}
	}
}

// BenchmarkLogin is a login by itself and by pgconn, of a user with a password and of one without. cpu-µs is the
// processor time of this side alone.
func BenchmarkLogin(b *testing.B) {
	c := asked(b)
	for _, user := range []string{"scram-sha-256", "trust"} {
		config := parsed(b, fmt.Sprintf("host=127.0.0.1 port=%d user=%s password=%[2]s dbname=postgres sslmode=disable",
			c.Port(), user))
		config.DialFunc = Dialer(time.Minute)
		for name, login := range map[string]func() (*pgconn.HijackedConn, error){
			"own": func() (*pgconn.HijackedConn, error) { return logIn(b.Context(), config, config.RuntimeParams) },
			"pgconn": func() (*pgconn.HijackedConn, error) {
				conn, err := pgconn.ConnectConfig(b.Context(), config)
				if err != nil {
					return nil, err
				}
				return conn.Hijack()
			},
		} {
			b.Run(user+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				before := cpu(b)
				for range b.N {
					h, err := login()
					if err != nil {
						b.Fatal(err)
					}
					_ = h.Conn.Close()
				}
				b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
			})
		}
	}
}

// cpu is the processor time of this process so far.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
