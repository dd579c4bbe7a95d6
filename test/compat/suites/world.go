package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
)

// protected is a table with a policy in each database, so that Fugu has something to guard and a suite's statements
// take the way that they take in earnest. No suite names it.
const protected = `
CREATE SCHEMA guarded;
CREATE TABLE guarded.person (adult bool, age int);
INSERT INTO guarded.person SELECT i % 4 <> 0, i % 90 FROM generate_series(1, 1000) AS i;
CREATE TABLE guarded.reference AS SELECT * FROM guarded.person;
CREATE ROLE fugu_reader LOGIN;
CREATE ROLE fugu_keeper LOGIN;
GRANT USAGE ON SCHEMA guarded TO fugu_keeper;
GRANT SELECT ON guarded.person TO fugu_keeper;
GRANT USAGE ON SCHEMA guarded TO fugu_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA guarded TO fugu_reader;
`

const policy = `version: 1
dataset: suite
tables:
  guarded.person: {rows: 1000, reference: guarded.reference}
secrets:
  adults: {table: guarded.person, proportion: adult, values: {from: 0.5, to: 0.9, within: 0.05}}
assume: [translation, gaussian]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 10, delta: 0.01, per: dataset}}
`

// twinPolicy answers the protected table by a twin.
const twinPolicy = `version: 1
dataset: suite
tables:
  guarded.person: {rows: 1000, answers: twin, twin: {rows: shown}}
secrets:
  adults: {table: guarded.person, proportion: adult, values: {from: 0.5, to: 0.9, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 1, delta: 0.001, per: dataset}}
`

// door is a way to prove who one is. In PostgreSQL pg_hba.conf gives each user one, so that all doors are the same
// server. Fugu has one way for all its users, so there is a Fugu for each.
type door int

const (
	byPassword    door = iota // with or without TLS
	encrypted                 // without a password, over TLS alone
	byCertificate             // of the client's
)

// way is one side with its doors. Suites without certificates have the first alone.
type way struct{ doors map[door]sides.Side }

// world is two equal PostgreSQL servers, and Fugu in front of one of them.
type world struct {
	major           int // version of the servers
	direct, through way
	stop            func() error
}

// newWorld makes the databases that a suite wants, the same on both sides. With twins the protected table is answered
// by one.
func newWorld(ctx context.Context, binary, dir string, s suite, twins bool) (_ *world, err error) {
	var undo []func() error
	w := &world{direct: way{map[door]sides.Side{}}, through: way{map[door]sides.Side{}}, stop: func() (err error) {
		for i := len(undo) - 1; i >= 0; i-- {
			err = errors.Join(err, undo[i]())
		}
		return err
	}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.stop())
		}
	}()

	// Everybody is asked for a password but those who set the server up, and whom a suite's authors let in otherwise.
	files := map[string]string{"pg_hba.conf": "local all all trust\nhost all postgres,fugu_reader,fugu_keeper all " +
		"trust\n" + s.rules + "host all all all scram-sha-256\n"}
	settings := map[string]string{}
	fugus := map[door]sides.Config{byPassword: {}}
	if s.certificates != nil {
		c, err := s.certificates(dir)
		if err != nil {
			return nil, fmt.Errorf("the certificates of %s: %w", s.name, err)
		}
		if fugus, err = certified(dir, c, files, settings); err != nil {
			return nil, err
		}
	}
	var clusters [2]*pgcluster.Cluster // asked directly, and behind Fugu
	users := ""
	for i := range clusters {
		if clusters[i], users, w.major, err = s.server(ctx, files, settings); err != nil {
			return nil, err
		}
		undo = append(undo, clusters[i].Stop)
	}

	for i, to := range slices.Sorted(maps.Keys(fugus)) {
		w.direct.doors[to] = sides.Direct(clusters[0], s.role, s.password, s.database)
		config := fugus[to]
		config.Binary, config.Dir = binary, filepath.Join(dir, fmt.Sprintf("fugu-%d", to))
		if config.Auth == "" {
			config.Users = users
		}
		config = s.over(clusters[1], config, filepath.Join(dir, "root.crt"), twins)
		proxy, err := serve(ctx, config, twins && i == 0) // the ledger of the first is charged for all
		if err != nil {
			return nil, err
		}
		undo = append(undo, proxy.Stop)
		w.through.doors[to] = proxy.Side(s.role, s.password, s.database)
	}
	return w, nil
}

// serve starts a Fugu in a directory that it makes, and builds the twins before if that is asked for.
func serve(ctx context.Context, config sides.Config, build bool) (*sides.Proxy, error) {
	if err := os.Mkdir(config.Dir, 0o700); err != nil {
		return nil, err
	}
	if build {
		if err := sides.BuildTwins(ctx, config); err != nil {
			return nil, err
		}
	}
	return sides.Serve(config)
}

// server starts a server with the database of the suite; users are those of Fugu, major is its version.
func (s suite) server(
	ctx context.Context, files, settings map[string]string,
) (c *pgcluster.Cluster, users string, major int, err error) {
	if c, err = pgcluster.Start(ctx, pgcluster.Options{}); err != nil {
		return nil, "", 0, err
	}
	if err = c.Configure(ctx, files, settings); err == nil {
		if users, major, err = prepare(ctx, c, s); err != nil {
			err = fmt.Errorf("preparing the database of %s: %w", s.name, err)
		}
	}
	if err != nil {
		return nil, "", 0, errors.Join(err, c.Stop())
	}
	return c, users, major, nil
}

// over completes the configuration of a Fugu over a server, whose certificate the authority root vouches for.
func (s suite) over(c *pgcluster.Cluster, config sides.Config, root string, twins bool) sides.Config {
	guest := sides.Direct(c, s.role, s.password, s.database)
	config.Policy, config.Guest, config.Reader = policy, guest.DSN(), c.DSN("fugu_reader", s.database)
	if config.TLS != "" { // tests look at whether the server's connection is encrypted, which is Fugu's
		config.Guest = guest.EncryptedDSN(root)
	}
	if twins {
		config.Policy, config.Keeper = twinPolicy, c.DSN("fugu_keeper", s.database)
	}
	return config
}

// certified has the servers show the certificates of a suite, and returns a Fugu for each way in.
func certified(dir string, c certificates, files, settings map[string]string) (map[door]sides.Config, error) {
	shown := map[string]string{"server.crt": c.server, "server.key": c.key, "root.crt": c.authority}
	maps.Copy(files, shown)
	settings["ssl"], settings["ssl_ca_file"] = "on", "root.crt"
	for name, text := range shown {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	tls := fmt.Sprintf("certificate: %q, key: %q, client_ca: %q}", filepath.Join(dir, "server.crt"),
		filepath.Join(dir, "server.key"), filepath.Join(dir, "root.crt"))
	return map[door]sides.Config{
		byPassword:    {TLS: "{mode: prefer, " + tls},
		encrypted:     {TLS: "{mode: require, " + tls, Auth: "{method: trust}"},
		byCertificate: {TLS: "{mode: require, " + tls, Auth: "{method: cert}"},
	}, nil
}

// prepare makes a suite's database and roles. The result is their verifiers, as a users file, and the server's
// major version.
func prepare(ctx context.Context, c *pgcluster.Cluster, s suite) (users string, major int, err error) {
	conn, err := pgx.Connect(ctx, c.DSN("postgres", "postgres"))
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	for name, password := range s.users() {
		// With the rights that Fugu lets a guest have: so no superuser, on either side.
		if _, err := conn.Exec(ctx, fmt.Sprintf("CREATE ROLE %s LOGIN CREATEDB PASSWORD '%s'",
			pgx.Identifier{name}.Sanitize(), password)); err != nil {
			return "", 0, err
		}
	}
	for _, sql := range []string{"CREATE DATABASE " + s.database, "GRANT ALL ON DATABASE " + s.database + " TO " +
		s.role} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return "", 0, err
		}
	}
	rows, err := conn.Query(ctx,
		`SELECT format('"%s" "%s"', rolname, rolpassword) FROM pg_authid WHERE rolpassword LIKE 'SCRAM%'`)
	if err != nil {
		return "", 0, err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", 0, err
	}
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int / 10000").Scan(&major); err != nil {
		return "", 0, err
	}
	return strings.Join(lines, "\n") + "\n", major, c.Exec(ctx, s.database, protected+"GRANT CREATE ON DATABASE "+
		s.database+" TO fugu_keeper; GRANT ALL ON SCHEMA public TO "+s.role+";"+s.setup)
}
