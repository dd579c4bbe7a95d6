package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
)

// protected is a table with a policy in each database, so that Fugu has something to guard and a suite's statements take
// the way that they take in earnest. No suite names it.
const protected = `
CREATE SCHEMA guarded;
CREATE TABLE guarded.person (adult bool, age int);
INSERT INTO guarded.person SELECT i % 4 <> 0, i % 90 FROM generate_series(1, 1000) AS i;
CREATE TABLE guarded.reference AS SELECT * FROM guarded.person;
CREATE ROLE fugu_reader LOGIN;
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

// hba asks everybody for a password but those who set the server up, and whom a suite's authors let in without.
const hba = `local all all trust
host all postgres,fugu_reader,pqgo all trust
host all pgx_pw all password
host all all all scram-sha-256
`

// world is two equal PostgreSQL servers, and Fugu in front of one of them.
type world struct {
	direct, through sides.Side
	stop            func() error
}

// newWorld makes the databases that a suite wants, the same on both sides.
func newWorld(ctx context.Context, binary, dir string, s suite) (_ *world, err error) {
	var undo []func() error
	w := &world{stop: func() (err error) {
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
	hbaFile := filepath.Join(dir, "pg_hba.conf")
	if err := os.WriteFile(hbaFile, []byte(hba), 0o644); err != nil {
		return nil, err
	}
	var clusters [2]*pgcluster.Cluster
	users := ""
	for i := range clusters {
		c, err := pgcluster.Start(ctx, pgcluster.Options{Settings: map[string]string{"hba_file": hbaFile}})
		if err != nil {
			return nil, err
		}
		undo = append(undo, c.Stop)
		clusters[i] = c
		if users, err = prepare(ctx, c, s); err != nil {
			return nil, fmt.Errorf("preparing the database of %s: %w", s.name, err)
		}
	}
	w.direct = sides.Direct(clusters[0], s.role, s.password, s.database)
	behind := sides.Direct(clusters[1], s.role, s.password, s.database)
	proxy, err := sides.Serve(sides.Config{Binary: binary, Dir: dir, Policy: policy, Users: users,
		Guest: behind.DSN(), Reader: clusters[1].DSN("fugu_reader", s.database)})
	if err != nil {
		return nil, err
	}
	undo = append(undo, proxy.Stop)
	w.through = proxy.Side(s.role, s.password, s.database)
	return w, nil
}

// prepare makes a suite's database and roles. The result is their verifiers, as a users file.
func prepare(ctx context.Context, c *pgcluster.Cluster, s suite) (users string, err error) {
	conn, err := pgx.Connect(ctx, c.DSN("postgres", "postgres"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	for name, password := range s.users() {
		// With the rights that Fugu lets a guest have: so no superuser, on either side.
		if _, err := conn.Exec(ctx, fmt.Sprintf("CREATE ROLE %s LOGIN CREATEDB PASSWORD '%s'", pgx.Identifier{name}.Sanitize(), password)); err != nil {
			return "", err
		}
	}
	if _, err := conn.Exec(ctx, fmt.Sprintf("CREATE DATABASE %s OWNER %s", s.database, s.role)); err != nil {
		return "", err
	}
	rows, err := conn.Query(ctx, `SELECT format('"%s" "%s"', rolname, rolpassword) FROM pg_authid WHERE rolpassword LIKE 'SCRAM%'`)
	if err != nil {
		return "", err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	return strings.Join(lines, "\n") + "\n", c.Exec(ctx, s.database, protected+"GRANT ALL ON SCHEMA public TO "+s.role+";"+s.setup)
}
