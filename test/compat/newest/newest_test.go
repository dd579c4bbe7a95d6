package newest

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fugu/test/certs"
	"fugu/test/command"
	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
)

// patience is how long something that must happen may take on a busy machine.
const patience = 2 * time.Minute

const password = "wonderland"

const policy = `version: 1
dataset: newest
tables:
  guarded.person: {rows: 1000, reference: guarded.reference}
secrets:
  adults: {table: guarded.person, proportion: adult, values: {from: 0.5, to: 0.9, within: 0.05}}
assume: [translation, gaussian]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 10, delta: 0.01, per: dataset}}
`

// schema is a protected table and an ordinary one. Fugu's guest is alice too, so that both sides have the same rights.
const schema = `
CREATE ROLE alice LOGIN PASSWORD '` + password + `';
CREATE ROLE fugu_reader LOGIN;
CREATE SCHEMA guarded;
CREATE TABLE guarded.person (adult bool, age int);
INSERT INTO guarded.person SELECT i % 4 <> 0, i % 90 FROM generate_series(1, 1000) AS i;
CREATE TABLE guarded.reference AS SELECT * FROM guarded.person;
GRANT USAGE ON SCHEMA guarded TO fugu_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA guarded TO fugu_reader;
CREATE TABLE item (id int PRIMARY KEY, name text);
ALTER TABLE item OWNER TO alice;
`

const rules = `local all all trust
host all postgres,fugu_reader all trust
host all all all scram-sha-256
`

// ordinary is a session that both sides answer alike: pipelines of psql 18, with an error in one, COPY, a cursor.
const ordinary = `TRUNCATE item;
\startpipeline
INSERT INTO item VALUES ($1, $2) \bind 1 one \sendpipeline
INSERT INTO item VALUES ($1, $2) \bind 2 two \sendpipeline
\flushrequest
\getresults 1
SELECT id, name FROM item ORDER BY id \bind \sendpipeline
\syncpipeline
SELECT 1 / $1::int \bind 0 \sendpipeline
SELECT 'skipped' \bind \sendpipeline
\syncpipeline
SELECT count(*) FROM item \bind \sendpipeline
\endpipeline
SELECT name FROM item WHERE id = $1 \parse byid
\bind_named byid 2 \g
\close_prepared byid
\bind_named byid 2 \g
\copy item FROM stdin
3	three
\.
\set FETCH_COUNT 2
SELECT * FROM item ORDER BY id;
\set FETCH_COUNT 0
LISTEN news \; NOTIFY news, 'hello';
SET search_path = guarded;
SHOW search_path;
`

// grammar is what the grammar of version 18 has and that of 17, which Fugu's parser knows, has not.
const grammar = `CREATE TEMP TABLE doubled (a int, b int GENERATED ALWAYS AS (a * 2) VIRTUAL);
INSERT INTO doubled VALUES (1) RETURNING WITH (OLD AS o, NEW AS n) o.a, n.a, n.b;
UPDATE doubled SET a = 5 RETURNING old.a, new.b;
SELECT uuid_extract_version(uuidv7());
`

// misunderstood has such a thing beside a protected table.
const misunderstood = `\set VERBOSITY sqlstate
INSERT INTO item SELECT count(*) FROM guarded.person RETURNING WITH (OLD AS o) o.id;
`

// protected mixes protected statements with ordinary ones in a pipeline. Its answers are stored, so the same each time.
const protected = `\startpipeline
SELECT 'before' \bind \sendpipeline
SELECT 'persons', count(*) FROM guarded.person WHERE age > $1 \bind 20 \sendpipeline
SELECT 'between' \bind \sendpipeline
SELECT 'older', count(*), $2::text FROM guarded.person WHERE age > $1 \bind 40 x \sendpipeline
\syncpipeline
SELECT age FROM guarded.person \bind \sendpipeline
SELECT 'skipped' \bind \sendpipeline
\syncpipeline
SELECT 'after' \bind \sendpipeline
\endpipeline
`

var answered = regexp.MustCompile(
	`^before\npersons\|\d+\nbetween\nolder\|\d+\|x\nERROR:  [^\n]*\n(?:(?:LINE|DETAIL|HINT| )[^\n]*\n)*after\n$`)

// login is what stands in a connection string, and what psql then says of the connection.
type login struct {
	name, options string
	says          []string
}

func logins(root string) []login {
	encrypted := "sslmode=verify-full channel_binding=require sslrootcert=" + root
	var out []login
	for _, v := range []struct{ name, options, version string }{
		{"3.0", "", "3.0"},
		{"3.2", "min_protocol_version=3.2 max_protocol_version=3.2", "3.2"},
		{"latest", "max_protocol_version=latest", "3.2"},
	} {
		says := []string{"Protocol Version|" + v.version, "Client User|alice"}
		out = append(out, login{v.name, v.options + " sslmode=disable", append(says, "SSL Connection|false")},
			login{v.name + " over TLS", v.options + " " + encrypted, append(says, "SSL Connection|true",
				"ALPN|postgresql")},
			login{v.name + " over direct TLS", v.options + " sslnegotiation=direct " + encrypted,
				append(says, "SSL Connection|true", "ALPN|postgresql")})
	}
	return out
}

func TestPsql18(t *testing.T) {
	path, err := exec.LookPath("psql")
	if err != nil || major(t, path) < 18 {
		t.Skip("there is no psql of PostgreSQL 18 on PATH: make compat-18 brings it")
	}
	binary, err := command.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for _, programs := range append(found, filepath.Dir(path)) {
		t.Run(fmt.Sprintf("in front of %d", major(t, filepath.Join(programs, "postgres"))), func(t *testing.T) {
			w := serve(t, binary, programs, path)
			want := w.run(t, w.direct, "", ordinary)
			if !strings.Contains(want, "division by zero") || strings.Contains(want, "skipped") ||
				!strings.Contains(want, "hello") {
				t.Fatalf("PostgreSQL itself says\n%s", want)
			}
			// An older server has no 3.2, so psql does not come in there; Fugu has it.
			if out := w.run(t, w.direct, "min_protocol_version=3.2 max_protocol_version=3.2",
				"SELECT 'in'"); (out == "in\n") != (w.major >= 18) {
				t.Errorf("PostgreSQL itself, by protocol 3.2: %s", out)
			}
			if w.major >= 18 {
				want := w.run(t, w.direct, "", grammar)
				if got := w.run(t, w.through, "", grammar); got != want || want != "|1|2\n1|10\n7\n" {
					t.Errorf("the grammar of version 18, through Fugu:\n%s\nPostgreSQL itself:\n%s", got, want)
				}
				if got := w.run(t, w.through, "", misunderstood); got != "ERROR:  42601\n" {
					t.Errorf("the same beside a protected table: %s", got)
				}
			}
			answers := map[string]bool{}
			for _, l := range logins(w.root) {
				t.Run(l.name, func(t *testing.T) {
					told := w.run(t, w.through, l.options, `\conninfo`)
					for _, s := range l.says {
						if !strings.Contains(told, s+"\n") {
							t.Errorf("\\conninfo does not say %s:\n%s", s, told)
						}
					}
					if got := w.run(t, w.through, l.options, ordinary); got != want {
						t.Errorf("through Fugu:\n%s\nPostgreSQL itself:\n%s", got, want)
					}
					got := w.run(t, w.through, l.options, protected)
					if answers[got] = true; len(answers) > 1 || !answered.MatchString(got) {
						t.Errorf("protected statements:\n%s", got)
					}
					w.cancel(t, l.options, "SELECT pg_sleep(600)")
					w.cancel(t, l.options, "SELECT pg_sleep(600) FROM (SELECT count(*) FROM guarded.person) AS x")
				})
			}
		})
	}
}

// major is the version of a program of PostgreSQL's.
func major(t *testing.T, program string) int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, "--version").Output()
	m := regexp.MustCompile(`\(PostgreSQL\) (\d+)`).FindSubmatch(out)
	if err != nil || m == nil {
		t.Fatalf("%s says %q, %v", program, out, err)
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}

// world is a PostgreSQL, Fugu in front of it, and psql.
type world struct {
	major           int
	direct, through sides.Side
	root            string // file of the authority of both sides' certificates
	psql            string
	cluster         *pgcluster.Cluster
}

func serve(t *testing.T, binary, programs, psql string) *world {
	t.Helper()
	dir := t.TempDir()
	authority := certs.NewAuthority(t, x509.ECDSAWithSHA256)
	pair := authority.Issue(t, "localhost")
	crt, key := pair.Write(t, dir, "server")
	w := &world{root: certs.Write(t, dir, "root.crt", authority.PEM), psql: psql, cluster: pgcluster.StartTest(t,
		pgcluster.Options{Programs: programs})}
	err := w.cluster.Configure(t.Context(), map[string]string{"pg_hba.conf": rules,
		"server.crt": string(pair.Certificate), "server.key": string(pair.Key)}, map[string]string{"ssl": "on"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cluster.Exec(t.Context(), "postgres", schema); err != nil {
		t.Fatal(err)
	}
	c := w.superuser(t)
	defer c.Close(context.Background())
	verifier := ""
	if err := c.QueryRow(t.Context(), "SELECT rolpassword, current_setting('server_version_num')::int / 10000 "+
		"FROM pg_authid WHERE rolname = 'alice'").Scan(&verifier, &w.major); err != nil {
		t.Fatal(err)
	}
	w.direct = sides.Direct(w.cluster, "alice", password, "postgres")
	proxy, err := sides.Serve(sides.Config{
		Binary: binary, Dir: dir, Policy: policy, Users: `"alice" "` + verifier + "\"\n",
		// The guest too speaks the newest protocol that the server has, and so has a long key where that is 18.
		Guest: w.direct.EncryptedDSN(w.root) + "&max_protocol_version=latest", Reader: w.cluster.DSN("fugu_reader",
			"postgres"),
		TLS: fmt.Sprintf("{mode: prefer, certificate: %q, key: %q}", crt, key),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Stop(); err != nil {
			t.Error(err)
		}
	})
	w.through = proxy.Side("alice", password, "postgres")
	return w
}

func (w *world) superuser(t *testing.T) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), w.cluster.DSN("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// command is psql on a side.
func (w *world) command(t *testing.T, s sides.Side, options string) *exec.Cmd {
	dsn := fmt.Sprintf("host=localhost hostaddr=127.0.0.1 port=%s user=%s dbname=%s %s", s.Port, s.User, s.Database,
		options)
	cmd := sides.Command(t.Context(), w.psql, "-XAtqw", "-v", "SHOW_CONTEXT=never", "-d", dsn)
	cmd.Env = []string{"PGPASSWORD=" + password, "LC_ALL=C.UTF-8", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"),
		"PGCONNECT_TIMEOUT=60"}
	return cmd
}

// notifier is the process id in what psql says of a notification.
var notifier = regexp.MustCompile(`with PID \d+`)

// run gives psql a script, and returns all that it says.
func (w *world) run(t *testing.T, s sides.Side, options, script string) string {
	t.Helper()
	cmd := w.command(t, s, options)
	cmd.Stdin = strings.NewReader(script)
	out, _ := cmd.CombinedOutput() // errors are a part of it
	return notifier.ReplaceAllString(string(out), "with PID")
}

// cancel interrupts psql while the database sleeps for its statement.
func (w *world) cancel(t *testing.T, options, sql string) {
	t.Helper()
	c := w.superuser(t)
	defer c.Close(context.Background())
	sleeping := func() (n int) {
		if err := c.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'").Scan(
			&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	cmd := w.command(t, w.through, options)
	cmd.Args = append(cmd.Args, "-c", sql)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(patience); sleeping() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			<-ended
			t.Fatalf("%s does not sleep: %s", sql, out.String())
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		<-ended
		t.Errorf("%s goes on", sql)
	}
	if !strings.Contains(out.String(), "canceling statement due to user request") ||
		strings.Contains(out.String(), "ould not send cancel request") || sleeping() != 0 {
		t.Errorf("%s was canceled with: %s", sql, out.String())
	}
}
