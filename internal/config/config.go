// Package config reads fugu.yaml and the FUGU_ environment variables that override single keys of it.
//
// A Config that is returned is complete and consistent in itself; anything unknown, missing or contradictory is a
// Finding with its line and column, or with the name of its variable, and all of them come at once. The package opens
// no connection: whether servers answer, and whether the named files exist, is for their users to find out.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/internal/strictyaml"
)

// Finding is one thing that is wrong with the configuration.
type Finding = strictyaml.Finding

// Findings is the error that Load and Parse return: everything that is wrong, one finding a line.
type Findings = strictyaml.Findings

// Config is a validated configuration. Paths are relative to the working directory, or absolute.
type Config struct {
	Listen   string // host:port; an empty host is every address, port 0 any free one
	Upstream Upstream
	Pool     Pool
	Auth     Auth
	TLS      TLS
	Policy   string // a policy file, or a directory of them; empty: nothing is protected, and there may be no ledger
	Reload   string // when policies are read again: signal, or watch for when their files change, too
	Ledger   Ledger
	Models   string // directory of what fugu fit prepares
	Admin    Admin
	Log      string // what each line of the log is: text or json
	Tracing  Tracing
	Limits   Limits

	Source string // the file
}

// Upstream is how to reach the database in Fugu's two roles, which are different.
type Upstream struct {
	Guest  DSN              // client traffic and post-processing
	Reader DSN              // the statistics statements that Fugu composes
	Keeper DSN              // what `fugu twin` reads protected tables as; empty: there is none
	Twins  DSN              // where twins are built; empty: where the protected tables are
	Guests map[string]Guest // by user, of those who have a guest of their own
	// Databases are those of the same server that clients may reach besides the guest's and those that policies name.
	Databases []string
}

// Guest is what a user's sessions run as in the place of upstream.guest; one of the two is set.
type Guest struct {
	DSN  DSN    // a login of the user's own
	Role string // a role that the guest of all starts as
}

// Admin is where operators ask for health and metrics.
type Admin struct {
	Address string // host:port; empty: nowhere
	Token   string // file of what they have to know for more than health; empty: there is no more
	TLS     bool   // by the certificate of clients' TLS
}

// Tracing is where the stages of statements about protected rows are sent.
type Tracing struct {
	Endpoint string  // URL of a collector of OpenTelemetry, with the path; empty: nothing is traced
	Sample   float64 // of all traces, between 0 and 1
}

// Pool is how clients share guest connections.
type Pool struct {
	Mode string        // session: each client has one of its own; transaction: for a transaction each
	Size int           // with mode transaction: guest connections at a time
	Wait time.Duration // with mode transaction: how long a client waits for one
}

// Auth is how clients prove who they are.
type Auth struct {
	Method       string // scram-sha-256, cert or trust
	Users        string // file of users and verifiers; may be empty with cert and trust
	Secret       string // file of what verifiers of unknown users are made up from; empty: Users.secret, beside Users
	Certificates string // file of the users that the common names of certificates may be; empty: each is its own
}

// TLS is whether and how clients may encrypt.
type TLS struct {
	Mode        string // disable, prefer or require; without a certificate prefer is disable
	Certificate string // file; empty: there is none
	Key         string // file, of the certificate's key
	ClientCA    string // file of the authorities of client certificates; empty: clients are not asked for one
	ClientCert  string // verify-ca or verify-full: sessions need a certificate besides auth.method; empty: they do not
}

// Ledger is where budgets are kept; one of the first two is set.
type Ledger struct {
	SQLite   string // file
	Postgres DSN
	Key      Key // what seals it; nil: it is in the open
}

// Limits bound what clients can make Fugu spend.
type Limits struct {
	Clients          int           // connections at a time
	UserClients      int           // of one user; 0: any number
	MessageBytes     int64         // of one protocol message from a client
	StatementTimeout time.Duration // of one statement upstream; whole milliseconds, as PostgreSQL counts
	AnswerGrid       time.Duration // before which no answer of protected rows leaves; see docs/threat-model.md
	LoginTimeout     time.Duration // from connecting to the end of authentication
	IdleTimeout      time.Duration // of a client that sends nothing, outside of a transaction
	// IdleInTransactionTimeout is of a client that sends nothing while its transaction is open.
	IdleInTransactionTimeout time.Duration
	KeepAlive                time.Duration // of a connection's silence, until TCP asks whether the peer is there
	HandOver                 time.Duration // for which sessions go on when another proxy has taken over
}

func defaults() *Config {
	return &Config{
		Pool: Pool{Mode: "session", Size: 20, Wait: 2 * time.Minute},
		Auth: Auth{Method: "scram-sha-256"},
		TLS:  TLS{Mode: "prefer"}, Reload: "signal", Log: "text",
		Tracing: Tracing{Sample: 1},
		Limits: Limits{
			Clients: 2000, MessageBytes: 64 << 20,
			StatementTimeout: 60 * time.Second, AnswerGrid: 20 * time.Millisecond, LoginTimeout: time.Minute,
			IdleTimeout: 30 * time.Minute, IdleInTransactionTimeout: 30 * time.Minute, KeepAlive: time.Minute,
			HandOver: time.Hour,
		},
	}
}

// Load reads the file at path under the overrides in env, which is in the form of os.Environ. Relative paths in the
// file start from its directory, those in env from the working directory. The error is of type Findings.
func Load(path string, env []string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, Findings{{File: path, Message: fmt.Sprintf("cannot be read: %v", err),
			Hint: "say with -c where fugu.yaml is; fugu init DATABASE-URL writes one"}}
	}
	return Parse(path, data, env)
}

// Parse is Load for a file whose text is at hand. The path is for findings and relative paths. It reads no file but
// what a connection string names or PostgreSQL's PG* variables do: certificates, password and service files.
func Parse(path string, data []byte, env []string) (*Config, error) {
	r := &strictyaml.Report{File: path, Withhold: true}
	c := defaults()
	c.Source = path
	d := decoder{report: r, config: c, env: environment(r, env), settings: map[string]setting{}}
	d.file(strictyaml.Parse(r, data), filepath.Dir(path))
	d.consistent()
	if err := r.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

// consistent checks what single keys cannot show.
func (d *decoder) consistent() {
	c := d.config
	if beside := c.Ledger.SQLite; c.Models == "" && beside != "" {
		c.Models = filepath.Dir(beside)
	} else if c.Models == "" {
		c.Models = filepath.Dir(c.Source)
	}

	d.encrypted()
	if c.Auth.Method == "trust" && c.Listen != "" && !loopback(c.Listen) {
		d.bad("auth.method", "listen on 127.0.0.1 or ::1, or write method: scram-sha-256",
			"auth.method trust lets in anyone who reaches listen %s", c.Listen)
	}
	if c.Auth.Method == "scram-sha-256" && c.Auth.Users == "" {
		d.missing("auth.users", `name the file of "name" "SCRAM-SHA-256$..." lines`)
	}
	d.administered()
	d.traced()

	// By name alone: a replica has the roles of its primary.
	if guest := c.Upstream.Guest.role(); guest != "" {
		if guest == c.Upstream.Reader.role() {
			d.bad("upstream.reader", "give each its own role: the guest's must have no right on protected tables",
				"upstream.guest and upstream.reader are the same role")
		}
		for _, other := range []struct {
			path string
			dsn  DSN
		}{{"upstream.keeper", c.Upstream.Keeper}, {"upstream.twins", c.Upstream.Twins}} {
			if guest == other.dsn.role() {
				d.bad(other.path, "give each its own role: the guest carries clients' statements",
					"%s and upstream.guest are the same role", other.path)
			}
		}
		if guest == c.Ledger.Postgres.role() {
			d.bad("ledger", "give the ledger its own role: clients act as the guest, and could write to it",
				"ledger and upstream.guest are the same role")
		}
	}
	if d.elsewhere() {
		d.bad("upstream.twins", "write the same database in both: clients see what upstream.guest leads to",
			"upstream.guest and upstream.twins lead to databases of different names")
	}
	if keeper := c.Upstream.Keeper.role(); keeper != "" && keeper == c.Upstream.Reader.role() {
		d.bad("upstream.keeper",
			"give each its own role: the reader needs no right on the schema fugu_twin, and serve never is the keeper",
			"upstream.keeper and upstream.reader are the same role")
	}
}

// traced checks what traces need.
func (d *decoder) traced() {
	if _, there := d.settings["tracing.sample"]; there && d.config.Tracing.Endpoint == "" {
		d.missing("tracing.endpoint", "write endpoint: http://HOST:4318/v1/traces")
	}
}

// elsewhere reports whether guests are in another database than the twins. Hosts may have several names.
func (d *decoder) elsewhere() bool {
	guest, err := pgconn.ParseConfig(string(d.config.Upstream.Guest))
	twins, other := pgconn.ParseConfig(string(d.config.Upstream.Twins))
	if d.config.Upstream.Guest == "" || d.config.Upstream.Twins == "" || err != nil || other != nil {
		return false // which has its finding
	}
	return cmp.Or(guest.Database, guest.User) != cmp.Or(twins.Database, twins.User)
}

// administered checks what the address for operators needs.
func (d *decoder) administered() {
	a := d.config.Admin
	if a.Address != "" && a.Address == d.config.Listen && !anyPort(a.Address) {
		d.bad("admin", "write another port", "admin and listen are both %s", a.Address)
	}
	if a.TLS && d.config.TLS.Mode == "disable" {
		d.bad("admin_tls", "write tls.mode: prefer or require", "admin_tls needs TLS, which tls.mode disables")
	} else if a.TLS {
		d.missing("tls.certificate", "name the file of the server's certificate, and tls.key")
	}
}

// encrypted checks what TLS and certificates need of each other.
func (d *decoder) encrypted() {
	t, cert := d.config.TLS, d.config.Auth.Method == "cert"
	if t.Certificate == "" && t.Key != "" {
		d.missing("tls.certificate", "name the file of the certificate that tls.key is of")
	}
	if t.Key == "" && t.Certificate != "" {
		d.missing("tls.key", "name the file of the certificate's private key")
	}

	// Both ways to ask for client certificates need an authority that signs them.
	clients := false // need certificates
	for _, path := range []string{"auth.method", "tls.client_cert"} {
		if path == "auth.method" && !cert || path == "tls.client_cert" && t.ClientCert == "" {
			continue
		}
		clients = true
		if t.Mode == "disable" {
			d.bad(path, "write tls.mode: require", "%s needs TLS, which tls.mode disables", path)
		}
	}

	if t.Certificate == "" && t.Key == "" && (t.Mode == "require" || clients && t.Mode != "disable") {
		d.missing("tls.certificate", "name the file of the server's certificate, and tls.key")
	}
	if clients {
		d.missing("tls.client_ca", "name the file of the authority that signs client certificates")
	}

	if d.config.Auth.Certificates != "" && !cert && t.ClientCert != "verify-full" {
		d.bad("auth.certificates", "write auth.method: cert or tls.client_cert: verify-full",
			"auth.certificates is for certificates that name users, and none does")
	}
}
