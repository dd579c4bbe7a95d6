package main

import (
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"fugu/test/compat/sides"
)

// suite is a test suite that others wrote.
type suite struct {
	name string
	// Its database, with the names that its authors use.
	role, password, database string
	others                   map[string]string // further users and their passwords
	// lines of pg_hba.conf for users that prove who they are otherwise than by SCRAM
	rules string
	setup string // SQL that a superuser runs in the database
	// fetch brings the suite into dir and returns how to run it there.
	fetch func(ctx context.Context, dir string) (runner, error)
	// certificates are what the servers show, and whose certificates they believe, from what fetch has brought; nil: no
	// TLS.
	certificates func(dir string) (certificates, error)
	parts        []part
}

// part is what of a suite is run at a time.
type part struct {
	name string
	pkg  string
	run  []string // the tests; nil: all
	skip []string // tests that are not run
	door door     // that they go through
	args []string // further ones of the tests' program
}

// runner runs a part of a suite against one side; only, if not nil, are regular expressions of the tests to run.
type runner func(ctx context.Context, at way, p part, only []string) (results, error)

// results are the tests of a part by their names.
type results map[string]result

type result struct {
	outcome string // pass, fail or skip
	cut     bool   // the process ended before the test did
	output  string
	exact   string // what has to be the same on both sides
}

// certificates are PEM texts: the authority of both sides' certificates, and the server's own.
type certificates struct{ authority, server, key string }

func (s suite) users() iter.Seq2[string, string] {
	all := map[string]string{s.role: s.password}
	maps.Copy(all, s.others)
	return maps.All(all)
}

// packages are parts that are a package each.
func packages(paths ...string) (out []part) {
	for _, p := range paths {
		out = append(out, part{name: strings.TrimPrefix(p, "./"), pkg: p})
	}
	return out
}

var suites = []suite{
	{
		name: "pgx", role: "pgx_md5", password: "secret", database: "pgx_test",
		others: map[string]string{"pgx_pw": "secret", "pgx_scram": "secret", "pgx_ssl": "secret",
			"pgx_sslcert": "secret"},
		rules: "host all pgx_pw all password\nhostssl all pgx_sslcert all cert\n",
		setup: `CREATE EXTENSION hstore; CREATE EXTENSION ltree; CREATE DOMAIN uint64 AS numeric(20,0);
			CREATE ROLE " tricky, ' } "" \ test user ";
			GRANT SET ON PARAMETER log_statement TO pgx_md5;`,
		parts:        packages(".", "./pgconn", "./pgtype", "./pgxpool", "./stdlib"),
		fetch:        module{path: "github.com/jackc/pgx/v5", environment: pgxEnvironment}.fetch,
		certificates: pgxCertificates,
	},
	{
		name: "lib/pq", role: "pqgo", password: "unused", database: "pqgo",
		others: map[string]string{"pqgomd5": "wordpass", "pqgopassword": "wordpass", "pqgoscram": "wordpass",
			"pqgossl": "", "pqgosslcert": ""},
		rules: "host all pqgo all trust\nhostnossl all pqgossl,pqgosslcert all reject\n" +
			"hostssl all pqgossl all trust\nhostssl all pqgosslcert all cert\n",
		parts: []part{
			// Example_openConfig connects to port 5432 whatever the environment, and ends the process if nobody is
			// there.
			{name: ".", pkg: ".", skip: append([]string{"Example_openConfig"}, append(pqEncrypted, pqCertified...)...)},
			{name: "TLS", pkg: ".", run: pqEncrypted, door: encrypted, args: pqNoLeftovers},
			{name: "certificates", pkg: ".", run: pqCertified, door: byCertificate, args: pqNoLeftovers},
		},
		fetch: module{"github.com/lib/pq", pqEnvironment,
			map[string]string{"hosts_of_the_tests_test.go": pqHosts}}.fetch, certificates: pqCertificates,
	},
	{
		name: "libpq_pipeline", role: "pipeline", password: "secret", database: "pipeline",
		setup: "GRANT SET ON PARAMETER lc_messages TO pipeline;",
		parts: packages("."), fetch: fetchPipeline,
	},
}

// The tests of lib/pq whose users need TLS, and those whose user needs a certificate.
var (
	pqEncrypted = []string{"TestSSLMode", "TestSSLVersion", "TestSSLRootCA"}
	pqCertified = []string{"TestSSLClientCertificates", "TestSSLClientCertificateIntermediate", "TestSSLDefaults",
		"TestSSLSNI"}
)

// pqNoLeftovers keeps lib/pq's TestMain from looking for connections that are left over, which it does without TLS and
// not where it sees a flag for fuzzing.
var pqNoLeftovers = []string{"-test.fuzzcachedir=none"}

// pgxEnvironment is what pgx's own scripts set, but for what is not there: a Unix socket, PgBouncer, OAuth.
func pgxEnvironment(at way, _ sides.Side, dir string) []string {
	as := func(user string, to door, more ...string) string {
		s := at.doors[to]
		return fmt.Sprintf("host=%s port=%s user=%s dbname=%s %s", s.Host, s.Port, user, s.Database,
			strings.Join(more, " "))
	}
	plain, root := "password=secret sslmode=disable", "host=localhost sslmode=verify-full sslrootcert="+
		filepath.Join(dir, "ca.pem")
	return []string{
		"PGX_TEST_DATABASE=" + as("pgx_md5", byPassword, plain),
		"PGX_TEST_TCP_CONN_STRING=" + as("pgx_md5", byPassword, plain),
		"PGX_TEST_MD5_PASSWORD_CONN_STRING=" + as("pgx_md5", byPassword, plain),
		"PGX_TEST_PLAIN_PASSWORD_CONN_STRING=" + as("pgx_pw", byPassword, plain),
		"PGX_TEST_SCRAM_PASSWORD_CONN_STRING=" + as("pgx_scram", byPassword, plain, "channel_binding=disable"),
		"PGX_TEST_SCRAM_PLUS_CONN_STRING=" + as("pgx_ssl", byPassword, root, "password=secret channel_binding=require"),
		"PGX_TEST_TLS_CONN_STRING=" + as("pgx_ssl", byPassword, root, "password=secret channel_binding=disable"),
		"PGX_TEST_TLS_CLIENT_CONN_STRING=" + as("pgx_sslcert", byCertificate, root, "sslcert="+
			filepath.Join(dir, "pgx_sslcert.crt"), "sslkey="+filepath.Join(dir, "pgx_sslcert.key")),
		"PGX_SSL_PASSWORD=certpw",
	}
}

// pgxCertificates decodes those that pgx's tests are made for, and leaves what its clients read in dir.
func pgxCertificates(dir string) (c certificates, err error) {
	decoded := map[string]string{}
	for _, name := range []string{"ca.pem", "localhost.crt", "localhost.key", "pgx_sslcert.crt", "pgx_sslcert.key"} {
		text, readErr := os.ReadFile(filepath.Join(dir, "source", "testsetup", "certs", name+".b64"))
		b, decodeErr := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(text)), ""))
		decoded[name] = string(b)
		err = errors.Join(err, readErr, decodeErr, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	return certificates{decoded["ca.pem"], decoded["localhost.crt"], decoded["localhost.key"]}, err
}

// pqEnvironment leaves out what has the right value by itself: lib/pq's tests look at how each variable arrives. So the
// password, which only Fugu asks for, comes from the file .pgpass.
func pqEnvironment(_ way, s sides.Side, dir string) []string {
	// if not, every test fails
	_ = os.WriteFile(filepath.Join(dir, ".pgpass"), []byte("*:*:*:"+s.User+":"+s.Password+"\n"), 0o600)
	return []string{"PGPORT=" + s.Port, "HOME=" + dir}
}

func pqCertificates(dir string) (c certificates, err error) {
	for name, text := range map[string]*string{"root.crt": &c.authority, "server.crt": &c.server,
		"server.key": &c.key} {
		b, readErr := os.ReadFile(filepath.Join(dir, "source", "testdata", "ssl", name))
		*text, err = string(b), errors.Join(err, readErr)
	}
	return c, err
}

// pqHosts is a test file that lets lib/pq's tests find the hosts that their authors have in /etc/hosts.
//
//go:embed testdata/hosts_test.go
var pqHosts string
