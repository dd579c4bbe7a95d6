package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"fugu/test/golden"
)

func load(t *testing.T, path string, env ...string) *Config {
	t.Helper()
	c, err := Load(path, env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestBad loads each *.bad.yaml; the findings, all of them, stand in the .txt beside it. None repeats a password.
func TestBad(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.bad.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c, err := Load(path, []string{"HOME=/", "FUGUE_LISTEN=x"})
			var findings Findings
			if c != nil || !errors.As(err, &findings) {
				t.Fatalf("config %v, error %v", c, err)
			}
			got := golden.CheckFindings(t, path, err)
			if strings.Contains(got, "s3cr3t") || strings.Contains(got, "0ther") {
				t.Errorf("a password in\n%s", got)
			}
		})
	}
}

// example is what testdata/fugu.good.yaml, the example of the documentation, means.
func example() *Config {
	return &Config{
		Listen: "127.0.0.1:6432",
		Upstream: Upstream{
			Guest:  "postgres://fugu_guest@127.0.0.1:5432/adult",
			Reader: "postgres://fugu_reader@127.0.0.1:5432/adult",
		},
		Pool:   Pool{Mode: "session", Size: 20, Wait: 2 * time.Minute},
		Auth:   Auth{Method: "scram-sha-256", Users: "testdata/users.txt"},
		TLS:    TLS{Mode: "prefer"},
		Policy: "testdata/adult.policy.yaml",
		Reload: "signal",
		Log:    "text", Tracing: Tracing{Sample: 1},
		Ledger: Ledger{SQLite: "testdata/fugu.db"},
		Models: "testdata",
		Admin:  Admin{Address: "127.0.0.1:6433"},
		Limits: Limits{Clients: 2000, MessageBytes: 67108864, StatementTimeout: time.Minute,
			AnswerGrid: 20 * time.Millisecond, LoginTimeout: time.Minute,
			IdleTimeout: 30 * time.Minute, IdleInTransactionTimeout: 30 * time.Minute, KeepAlive: time.Minute,
			HandOver: time.Hour},
		Source: "testdata/fugu.good.yaml",
	}
}

func TestExample(t *testing.T) {
	if got, want := load(t, "testdata/fugu.good.yaml"), example(); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%#v\nwant\n%#v", got, want)
	}
}

// TestTwin is the file of a policy with a twin: there is a keeper.
func TestTwin(t *testing.T) {
	c := load(t, "testdata/twin.good.yaml")
	if want := DSN("postgres://fugu_keeper@127.0.0.1:5432/adult"); c.Upstream.Keeper != want || c.Upstream.Twins != "" {
		t.Errorf("keeper %q, twins %q", c.Upstream.Keeper, c.Upstream.Twins)
	}
}

// TestTracing is a file with a collector, whose path need not be written, and that a variable turns off.
func TestTracing(t *testing.T) {
	c := load(t, "testdata/tracing.good.yaml")
	if want := (Tracing{Endpoint: "http://127.0.0.1:4318/v1/traces", Sample: 0.1}); c.Tracing != want {
		t.Errorf("%+v, want %+v", c.Tracing, want)
	}
	if c := load(t, "testdata/fugu.good.yaml", "FUGU_TRACING_ENDPOINT="); c.Tracing.Endpoint != "" {
		t.Errorf("an empty variable is %s", c.Tracing.Endpoint)
	}
	_, err := Load("testdata/fugu.good.yaml", []string{"FUGU_TRACING_SAMPLE=NaN", "FUGU_TRACING_ENDPOINT=ftp://h"})
	var findings Findings
	if !errors.As(err, &findings) || len(findings) != 2 {
		t.Errorf("found %v", err)
	}
}

// TestTwinsApart is a file whose twins are on another server: nothing is read as the reader, so that there may be none.
func TestTwinsApart(t *testing.T) {
	c := load(t, "testdata/apart.good.yaml")
	if want := DSN("postgres://fugu_twins@twins.example.com/shop"); c.Upstream.Twins != want ||
		c.Upstream.Reader != "" {
		t.Errorf("twins %q, reader %q", c.Upstream.Twins, c.Upstream.Reader)
	}
}

func TestDefaults(t *testing.T) {
	want := &Config{
		Listen: "[::1]:0",
		Upstream: Upstream{
			Guest:  "host=/run/postgresql user=guest dbname=shop",
			Reader: "postgres://reader:p%40ss@/shop?host=/run/postgresql",
		},
		Pool:   Pool{Mode: "session", Size: 20, Wait: 2 * time.Minute},
		Auth:   Auth{Method: "trust"},
		TLS:    TLS{Mode: "prefer"},
		Policy: "/etc/fugu/policies",
		Reload: "signal",
		Log:    "text", Tracing: Tracing{Sample: 1},
		Ledger: Ledger{Postgres: "postgresql://fugu_ledger:s3cr3t@db.example.com/fugu"},
		Models: "testdata",
		Limits: Limits{Clients: 1, UserClients: 1, MessageBytes: 65536, StatementTimeout: 1500 * time.Millisecond,
			AnswerGrid: 20 * time.Millisecond, LoginTimeout: 10 * time.Second,
			IdleTimeout: 30 * time.Minute, IdleInTransactionTimeout: 5 * time.Minute, KeepAlive: 15 * time.Second,
			HandOver: time.Hour},
		Source: "testdata/minimal.good.yaml",
	}
	if got := load(t, "testdata/minimal.good.yaml"); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%#v\nwant\n%#v", got, want)
	}
}

// overrides are a value for each variable, and what it does to the configuration.
var overrides = map[string]struct {
	value string
	set   func(c *Config)
}{
	"FUGU_LISTEN": {":7000", func(c *Config) { c.Listen = ":7000" }},
	"FUGU_UPSTREAM_GUEST": {"postgres://g@h/d",
		func(c *Config) { c.Upstream.Guest = "postgres://g@h/d" }},
	"FUGU_TRACING_ENDPOINT": {"https://collector:4318/",
		func(c *Config) { c.Tracing.Endpoint = "https://collector:4318/v1/traces" }},
	"FUGU_TRACING_SAMPLE": {"0.25", func(c *Config) { c.Tracing.Sample = 0.25 }},
	"FUGU_UPSTREAM_READER": {"postgres://r@h/d",
		func(c *Config) { c.Upstream.Reader = "postgres://r@h/d" }},
	"FUGU_UPSTREAM_KEEPER": {"postgres://k@h/d",
		func(c *Config) { c.Upstream.Keeper = "postgres://k@h/d" }},
	"FUGU_UPSTREAM_TWINS": {"postgres://t@h2/adult",
		func(c *Config) { c.Upstream.Twins = "postgres://t@h2/adult" }},
	"FUGU_POOL_MODE":         {"transaction", func(c *Config) { c.Pool.Mode = "transaction" }},
	"FUGU_POOL_SIZE":         {"5", func(c *Config) { c.Pool.Size = 5 }},
	"FUGU_POOL_WAIT":         {"30s", func(c *Config) { c.Pool.Wait = 30 * time.Second }},
	"FUGU_AUTH_METHOD":       {"cert", func(c *Config) { c.Auth.Method = "cert" }},
	"FUGU_AUTH_USERS":        {"u.txt", func(c *Config) { c.Auth.Users = "u.txt" }},
	"FUGU_AUTH_SECRET":       {"s", func(c *Config) { c.Auth.Secret = "s" }},
	"FUGU_AUTH_CERTIFICATES": {"names.txt", func(c *Config) { c.Auth.Certificates = "names.txt" }},
	"FUGU_TLS_MODE":          {"disable", func(c *Config) { c.TLS.Mode = "disable" }},
	"FUGU_TLS_CERTIFICATE":   {"s.crt", func(c *Config) { c.TLS.Certificate = "s.crt" }},
	"FUGU_TLS_KEY":           {"s.key", func(c *Config) { c.TLS.Key = "s.key" }},
	"FUGU_TLS_CLIENT_CA":     {"ca.crt", func(c *Config) { c.TLS.ClientCA = "ca.crt" }},
	"FUGU_TLS_CLIENT_CERT":   {"verify-ca", func(c *Config) { c.TLS.ClientCert = "verify-ca" }},
	"FUGU_LOG":               {"json", func(c *Config) { c.Log = "json" }},
	"FUGU_RELOAD":            {"watch", func(c *Config) { c.Reload = "watch" }},
	"FUGU_POLICY":            {"policies/", func(c *Config) { c.Policy = "policies" }},
	"FUGU_LEDGER_KEY": {strings.Repeat("0a", 32),
		func(c *Config) { c.Ledger.Key = bytes.Repeat([]byte{10}, 32) }},
	"FUGU_LEDGER": {"sqlite:l.db",
		func(c *Config) { c.Ledger.SQLite, c.Models = "l.db", "." }},
	"FUGU_MODELS":               {"models/", func(c *Config) { c.Models = "models" }},
	"FUGU_ADMIN":                {"", func(c *Config) { c.Admin.Address = "" }},
	"FUGU_ADMIN_TOKEN":          {"t", func(c *Config) { c.Admin.Token = "t" }},
	"FUGU_ADMIN_TLS":            {"require", func(c *Config) { c.Admin.TLS = true }},
	"FUGU_LIMITS_CLIENTS":       {"7", func(c *Config) { c.Limits.Clients = 7 }},
	"FUGU_LIMITS_MESSAGE_BYTES": {"1GiB", func(c *Config) { c.Limits.MessageBytes = 1 << 30 }},
	"FUGU_LIMITS_STATEMENT_TIMEOUT": {"1h30m",
		func(c *Config) { c.Limits.StatementTimeout = 90 * time.Minute }},
	"FUGU_LIMITS_IDLE_TIMEOUT": {"1ms", func(c *Config) { c.Limits.IdleTimeout = time.Millisecond }},
	"FUGU_LIMITS_USER_CLIENTS": {"3", func(c *Config) { c.Limits.UserClients = 3 }},
	"FUGU_LIMITS_ANSWER_GRID": {"50ms",
		func(c *Config) { c.Limits.AnswerGrid = 50 * time.Millisecond }},
	"FUGU_LIMITS_LOGIN_TIMEOUT": {"5s", func(c *Config) { c.Limits.LoginTimeout = 5 * time.Second }},
	"FUGU_LIMITS_HANDOVER":      {"2h", func(c *Config) { c.Limits.HandOver = 2 * time.Hour }},
	"FUGU_LIMITS_KEEPALIVE":     {"1h", func(c *Config) { c.Limits.KeepAlive = time.Hour }},
	"FUGU_LIMITS_IDLE_IN_TRANSACTION_TIMEOUT": {"1m",
		func(c *Config) { c.Limits.IdleInTransactionTimeout = time.Minute }},
}

// TestEnvironment overrides every key, one at a time, and sees that key change and no other.
func TestEnvironment(t *testing.T) {
	certificates := []string{"FUGU_TLS_CERTIFICATE", "FUGU_TLS_KEY", "FUGU_TLS_CLIENT_CA"}
	needs := map[string][]string{
		"FUGU_TLS_CERTIFICATE": {"FUGU_TLS_KEY"}, "FUGU_TLS_KEY": {"FUGU_TLS_CERTIFICATE"},
		"FUGU_TLS_CLIENT_CERT": certificates, "FUGU_AUTH_METHOD": certificates,
		"FUGU_TRACING_SAMPLE":    {"FUGU_TRACING_ENDPOINT"},
		"FUGU_ADMIN_TLS":         {"FUGU_TLS_CERTIFICATE", "FUGU_TLS_KEY"},
		"FUGU_AUTH_CERTIFICATES": append([]string{"FUGU_AUTH_METHOD"}, certificates...),
	}
	for _, l := range leaves {
		name := variable(l.path)
		o, ok := overrides[name]
		if !ok {
			t.Errorf("%s is not tested", name)
			continue
		}
		want := example()
		o.set(want)
		// What a key needs beside it, for the file to be consistent.
		env := []string{name + "=" + o.value}
		for _, other := range needs[name] {
			env = append(env, other+"="+overrides[other].value)
			overrides[other].set(want)
		}
		if got := load(t, "testdata/fugu.good.yaml", env...); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%#v\nwant\n%#v", name, got, want)
		}
	}
	want := example()
	want.Ledger = Ledger{Postgres: "postgres://l@h/d"}
	if got := load(t, "testdata/fugu.good.yaml", "FUGU_LEDGER=postgres://l@h/d",
		"FUGU_LEDGER=sqlite:other"); !reflect.DeepEqual(got, want) {
		t.Errorf("ledger twice: got %#v", got.Ledger)
	}
}

func TestEnvironmentCompletesTheFile(t *testing.T) {
	env := []string{"FUGU_LISTEN=127.0.0.1:1", "FUGU_UPSTREAM_GUEST=postgres://g@h/d",
		"FUGU_UPSTREAM_READER=postgres://r@h/d",
		"FUGU_AUTH_USERS=u.txt", "FUGU_POLICY=p", "FUGU_LEDGER=sqlite:l"}
	if _, err := Parse("f", []byte("tls: {mode: disable}\n"), env); err != nil {
		t.Error(err)
	}
	for i := range env {
		without := append(append([]string{}, env[:i]...), env[i+1:]...)
		_, err := Parse("f", []byte("tls: {mode: disable}\n"), without)
		if needed := !strings.HasPrefix(env[i], "FUGU_POLICY="); needed != (err != nil) {
			t.Errorf("without %s: %v", env[i], err)
		}
	}
}

func TestEnvironmentFindings(t *testing.T) {
	_, err := Load("testdata/fugu.good.yaml", []string{
		"FUGU_LISTEN=nowhere", "FUGU_UPSTREAM_GUEST=postgres://u:s3cr3t@h:port/d", "FUGU_UPSTREAM=x",
		"FUGU_limits_clients=1", "FUGU_LIMITS_CLIENTS=many", "FUGU_AUTH_METHOD=md5", "FUGU_POLICY=",
		"FUGU_LEDGER=s3cr3t",
		"FUGU_AUTH_USERS=a\nb", "FUGU_=x",
	})
	if err == nil {
		t.Fatal("accepted")
	}
	golden.CheckFindings(t, "testdata/environment", err)
	_, err = Load("testdata/fugu.good.yaml", []string{"FUGU_AUTH_METHOD=trust", "FUGU_LISTEN=:6432"})
	want := "FUGU_AUTH_METHOD: auth.method trust lets in anyone who reaches listen :6432; listen on 127.0.0.1 or " +
		"::1, or write method: scram-sha-256"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestTrustListens(t *testing.T) {
	for listen, want := range map[string]bool{
		"127.0.0.1:1": true, "127.8.8.8:1": true, "[::1]:1": true, "localhost:1": true, "[::ffff:127.0.0.1]:1": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "localhost.example.com:1": false,
		"db:1": false,
	} {
		_, err := Load("testdata/fugu.good.yaml", []string{"FUGU_AUTH_METHOD=trust", "FUGU_LISTEN=" + listen})
		if (err == nil) != want {
			t.Errorf("%s: %v", listen, err)
		}
	}
}

func TestMissingFile(t *testing.T) {
	_, err := Load("testdata/nowhere.yaml", nil)
	if err == nil || err.Error() != "testdata/nowhere.yaml: cannot be read: no such file or directory; say with -c "+
		"where fugu.yaml is; fugu init DATABASE-URL writes one" {
		t.Error(err)
	}
}

// TestNoPassword prints a configuration in every way there is.
func TestNoPassword(t *testing.T) {
	c := load(t, "testdata/minimal.good.yaml", "FUGU_UPSTREAM_GUEST=host=h user=g password=p@ss sslpassword=p@ss",
		"FUGU_LEDGER_KEY="+strings.Repeat("5e", 32))
	var out bytes.Buffer
	fmt.Fprintf(&out, "%v %+v %#v %s", c, *c, c, c.Upstream.Reader)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "config", c, "dsn", c.Upstream.Reader, "ledger", c.Ledger)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "config", c, "dsn", c.Upstream.Guest)
	if err := json.NewEncoder(&out).Encode(c); err != nil {
		t.Fatal(err)
	}
	for _, password := range []string{"p@ss", "p%40ss", "s3cr3t", "5e5e", "94 94", "Xl5e", "^^^"} {
		if strings.Contains(out.String(), password) {
			t.Errorf("%s in %s", password, out.String())
		}
	}
	if got := DSN("postgres://u:s3cr3t@a:1,b:2/d?target_session_attrs=read-write").String(); got != "u@a:1,b:2/d" {
		t.Errorf("several hosts are written %s", got)
	}
	if !strings.Contains(out.String(), "fugu_ledger@db.example.com:5432/fugu") {
		t.Errorf("the role is not in %s", out.String())
	}
}

// FuzzParse: nothing panics, no password comes back, and what is accepted is complete.
func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.yaml")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "")
	}
	f.Add([]byte("listen: :1\n"), "FUGU_LIMITS_MESSAGE_BYTES=1KiB")
	f.Fuzz(func(t *testing.T, data []byte, env string) {
		c, err := Parse("dir/f", data, strings.Split(env, "\n"))
		if err != nil {
			if strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("a password in %v", err)
			}
			return
		}
		again, err := Parse("dir/f", data, strings.Split(env, "\n"))
		if err != nil || !reflect.DeepEqual(c, again) {
			t.Errorf("a second reading differs: %v", err)
		}
		l := c.Limits
		if c.Listen == "" || c.Upstream.Guest == "" || c.Policy != "" &&
			(c.Upstream.Reader == "" && c.Upstream.Twins == "" ||
				(c.Ledger.SQLite == "") == (c.Ledger.Postgres == "")) ||
			l.Clients < 1 || l.MessageBytes < 64<<10 || l.MessageBytes > 1<<30 ||
			l.StatementTimeout < time.Millisecond || l.IdleTimeout < time.Millisecond ||
			c.Auth.Method == "scram-sha-256" && c.Auth.Users == "" || (c.TLS.Certificate == "") != (c.TLS.Key == "") ||
			(c.Auth.Method == "cert" || c.TLS.ClientCert != "") &&
				(c.TLS.Mode == "disable" || c.TLS.ClientCA == "" || c.TLS.Key == "") || c.TLS.Mode == "require" &&
			c.TLS.Key == "" || c.Auth.Method == "trust" && !loopback(c.Listen) {
			t.Errorf("incomplete: %#v", c)
		}
	})
}

func TestGuests(t *testing.T) {
	c := load(t, "testdata/guests.good.yaml")
	want := map[string]Guest{"alice": {DSN: "postgres://a:s3cr3t@h1,h2/d?sslmode=prefer"},
		"bob@example.com": {Role: "An Analyst"}}
	if !reflect.DeepEqual(c.Upstream.Guests, want) {
		t.Errorf("got %#v", c.Upstream.Guests)
	}
	if shown := fmt.Sprintf("%v %+v %#v", c, c, c); strings.Contains(shown, "s3cr3t") {
		t.Errorf("a password in %s", shown)
	}
	if got, want := c.TLS, (TLS{"require", "/etc/fugu/server.crt", "testdata/server.key", "testdata/ca.crt",
		"verify-full"}); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestDatabases(t *testing.T) {
	if got, want := load(t, "testdata/databases.good.yaml").Upstream.Databases, []string{"sales",
		"Staff Files"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}
