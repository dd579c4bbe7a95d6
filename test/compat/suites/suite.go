package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"

	"fugu/test/compat/sides"
)

// suite is a test suite that others wrote.
type suite struct {
	name string
	// Its database, with the names that its authors use.
	role, password, database string
	others                   map[string]string // further users and their passwords
	setup                    string            // SQL that a superuser runs in the database
	// fetch brings the suite into dir and returns how to run it there.
	fetch func(ctx context.Context, dir string) (runner, error)
	parts []string // packages, for a suite that has them
}

// runner runs parts of a suite against one side; only, if not nil, names the tests to run, count times.
type runner func(ctx context.Context, side sides.Side, part string, only []string, count int) (results, error)

// results are the tests of a part by their names.
type results map[string]result

type result struct {
	outcome string // pass, fail or skip
	output  string
	exact   string // what has to be the same on both sides
}

func (s suite) users() iter.Seq2[string, string] {
	all := map[string]string{s.role: s.password}
	maps.Copy(all, s.others)
	return maps.All(all)
}

var suites = []suite{
	{
		name: "pgx", role: "pgx_md5", password: "secret", database: "pgx_test",
		others: map[string]string{"pgx_pw": "secret", "pgx_scram": "secret"},
		setup: `CREATE EXTENSION hstore; CREATE EXTENSION ltree; CREATE DOMAIN uint64 AS numeric(20,0);
			CREATE ROLE " tricky, ' } "" \ test user ";
			GRANT SET ON PARAMETER log_statement TO pgx_md5;`,
		parts: []string{".", "./pgconn", "./pgtype", "./pgxpool", "./stdlib"},
		fetch: module{"github.com/jackc/pgx/v5", "", func(s sides.Side, dir string) []string {
			as := func(user string) string {
				return fmt.Sprintf("host=%s port=%s user=%s password=secret dbname=%s sslmode=disable", s.Host, s.Port, user, s.Database)
			}
			return []string{"PGX_TEST_DATABASE=" + as("pgx_md5"), "PGX_TEST_TCP_CONN_STRING=" + as("pgx_md5"), "PGX_TEST_MD5_PASSWORD_CONN_STRING=" + as("pgx_md5"),
				"PGX_TEST_PLAIN_PASSWORD_CONN_STRING=" + as("pgx_pw"), "PGX_TEST_SCRAM_PASSWORD_CONN_STRING=" + as("pgx_scram") + " channel_binding=disable"}
		}}.fetch,
	},
	{
		name: "lib/pq", role: "pqgo", password: "unused", database: "pqgo",
		others: map[string]string{"pqgomd5": "wordpass", "pqgopassword": "wordpass", "pqgoscram": "wordpass", "pqgossl": "", "pqgosslcert": ""},
		parts:  []string{"."},
		// These connect to port 5432 and to a host postgres, whatever the environment, and end the process if nobody is there.
		fetch: module{"github.com/lib/pq", "Example_openConfig|ExampleNewConnector|ExampleRegisterTLSConfig", pqEnvironment}.fetch,
	},
	{
		name: "libpq_pipeline", role: "pipeline", password: "secret", database: "pipeline",
		setup: "GRANT SET ON PARAMETER lc_messages TO pipeline;",
		parts: []string{"."}, fetch: fetchPipeline,
	},
}

// pqEnvironment leaves out what has the right value by itself: lib/pq's tests look at how each variable arrives. So the
// password, which only Fugu asks for, comes from the file .pgpass.
func pqEnvironment(s sides.Side, dir string) []string {
	_ = os.WriteFile(filepath.Join(dir, ".pgpass"), []byte("*:*:*:"+s.User+":"+s.Password+"\n"), 0o600) // if not, every test fails
	return []string{"PGPORT=" + s.Port, "HOME=" + dir}
}
