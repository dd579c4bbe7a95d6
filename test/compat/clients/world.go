package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"fugu/test/adult"
	"fugu/test/command"
	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
)

// world is the Adult example's database with an ordinary table for the clients to work on, and a Fugu in front of it
// that asks for passwords.
type world struct {
	direct   sides.Side // as the guest's role
	owner    sides.Side // as a superuser, who may see protected rows
	through  sides.Side // Fugu, which asks for a password
	trusting sides.Side // a second Fugu, which does not
	cluster  *pgcluster.Cluster
	stop     func() error
}

const password = "salt and pepper" // alice's

// item has the types that clients handle in ways of their own. It is emptied before each session.
const item = `
CREATE TABLE item (id int PRIMARY KEY, name text NOT NULL, price numeric(10,2), weight float8, ok bool,
  added timestamptz, day date, data bytea, tags text[]);
CREATE ROLE alice PASSWORD '` + password + `';
ALTER TABLE item OWNER TO fugu_guest;
GRANT CREATE ON SCHEMA public TO fugu_guest;
CREATE ROLE fugu_keeper LOGIN;
GRANT SELECT ON adult TO fugu_keeper;
GRANT CREATE ON DATABASE adult TO fugu_keeper;
`

// twinPolicy answers the protected table by a twin.
const twinPolicy = `version: 1
dataset: adult
tables:
  public.adult: {rows: %d, answers: twin, twin: {rows: shown, drop: [fnlwgt]}}
secrets:
  high_income: {table: public.adult, proportion: income = '>50K', values: {from: 0.10, to: 0.60, within: 0.05}}
assume: [exchangeable]
privacy: {epsilon: 1, delta: 0.001, budget: {epsilon: 1, delta: 0.001, per: dataset}}
`

// newWorld makes the database and starts Fugu. With twins the protected table is answered by one.
func newWorld(ctx context.Context, dir string, twins bool) (_ *world, err error) {
	binary, err := command.Build(ctx, dir)
	if err != nil {
		return nil, err
	}
	c, err := pgcluster.Start(ctx, pgcluster.Options{})
	if err != nil {
		return nil, err
	}
	w := &world{cluster: c, direct: sides.Direct(c, "fugu_guest", "", "adult"), owner: sides.Direct(c, "postgres", "",
		"adult"), stop: c.Stop}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.stop())
		}
	}()
	loaded, err := adult.Load(ctx, c, "adult", adult.Options{})
	if err != nil {
		return nil, err
	}
	if err := c.Exec(ctx, "adult", item); err != nil {
		return nil, err
	}
	verifier, err := w.verifier(ctx)
	if err != nil {
		return nil, err
	}
	config := sides.Config{Binary: binary, Guest: c.DSN("fugu_guest", "adult"), Reader: c.DSN("fugu_reader", "adult")}
	if config.Policy, err = examplePolicy(loaded.Rows); err != nil {
		return nil, err
	}
	if twins {
		config.Policy, config.Keeper = fmt.Sprintf(twinPolicy, loaded.Rows), c.DSN("fugu_keeper", "adult")
	}
	return w, w.serve(ctx, dir, config, verifier)
}

// serve starts a Fugu that asks for the password with this verifier, and one that does not.
func (w *world) serve(ctx context.Context, dir string, config sides.Config, verifier string) error {
	for _, one := range []struct{ name, users, password string }{
		{"scram", fmt.Sprintf("\"alice\" \"%s\"\n", verifier), password}, {"trust", "", ""}} {
		config.Dir, config.Users = filepath.Join(dir, one.name), one.users
		if err := os.Mkdir(config.Dir, 0o700); err != nil {
			return err
		}

		// Both serve the twins that the ledger of the first was charged for.
		if config.Keeper != "" && one.users != "" {
			if err := sides.BuildTwins(ctx, config); err != nil {
				return err
			}
		}
		proxy, err := sides.Serve(config)
		if err != nil {
			return err
		}
		before := w.stop
		w.stop = func() error { return errors.Join(proxy.Stop(), before()) }

		side := proxy.Side("alice", one.password, "adult")
		if one.users != "" {
			w.through = side
		} else {
			w.trusting = side
		}
	}
	return nil
}

// examplePolicy is the example's, for so many rows, with a large epsilon: the noise is small, and a wrong value seen.
func examplePolicy(rows int64) (string, error) {
	example, err := os.ReadFile(filepath.Join(moduleRoot(), "examples/adult/adult.policy.yaml"))
	return strings.NewReplacer("rows: 35222", fmt.Sprintf("rows: %d", rows), "epsilon: 1 ", "epsilon: 100 ",
		"delta: 0.001", "delta: 1e-5", "{epsilon: 20, delta: 0.01, per: dataset}",
		"{epsilon: 100000, delta: 0.01, per: dataset}").Replace(string(example)), err
}

// verifier is what PostgreSQL keeps of alice's password.
func (w *world) verifier(ctx context.Context) (v string, err error) {
	conn, err := pgx.Connect(ctx, w.owner.DSN())
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = conn.QueryRow(ctx, "SELECT rolpassword FROM pg_authid WHERE rolname = 'alice'").Scan(&v)
	return v, err
}

// empty brings the ordinary table back to its beginning.
func (w *world) empty(ctx context.Context) error {
	return w.cluster.Exec(ctx, "adult", "TRUNCATE item")
}

// moduleRoot is the directory of go.mod, from the working directory up.
func moduleRoot() string {
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	return "."
}
