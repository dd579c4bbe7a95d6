package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"fugu/test/command"
	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
)

// world is the example of the marketplace: answered from twins, with noise, and by a PostgreSQL without Fugu that holds
// the same twins.
type world struct {
	plain, twin, noise sides.Side
	cluster            *pgcluster.Cluster
	binary             string
	stop               func() error
}

// orders is how many there are; a tenth of them is given away as the reference of the tables with noise.
const orders = 30000

const (
	database = "marketplace" // its protected tables have twins
	thinned  = "thinned"     // its protected tables are answered with noise
	plain    = "plain"       // it has the twins in the place of the tables
	password = "alice-demo"  // of alice, in examples/adult/users.txt
)

// reading lets alice in, where no Fugu stands between: as one of the owner's, who sees all constraints in
// information_schema.
const reading = `DROP TABLE payment, order_item, orders;
DROP TYPE sales_channel;
CREATE ROLE alice LOGIN;
GRANT postgres TO alice;`

// referring adds what the twins refer to besides each other: tables that an export leaves out.
const referring = `ALTER TABLE order_item ADD CONSTRAINT order_item_sku_fkey FOREIGN KEY (sku) REFERENCES product (sku);
ALTER TABLE orders ADD CONSTRAINT orders_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer (id),
  ADD CONSTRAINT orders_supplier_fkey FOREIGN KEY (supplier) REFERENCES supplier (code);
ANALYZE orders, order_item, payment;`

// newWorld makes the databases, builds the twins, and starts Fugu before both.
func newWorld(ctx context.Context, dir string) (_ *world, err error) {
	binary, err := command.Build(ctx, dir)
	if err != nil {
		return nil, err
	}
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{})
	if err != nil {
		return nil, err
	}
	w := &world{cluster: cluster, binary: binary, stop: cluster.Stop}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.stop())
		}
	}()
	if err := w.fill(ctx); err != nil {
		return nil, err
	}

	twins, err := w.configure(dir, database, "marketplace.policy.yaml", 270000, orders)
	if err != nil {
		return nil, err
	}
	twins.Keeper = cluster.DSN("fugu_keeper", database)
	if err := sides.BuildTwins(ctx, twins); err != nil {
		return nil, err
	}
	if w.twin, err = w.serve(twins, database); err != nil {
		return nil, err
	}
	if err := w.export(ctx, twins); err != nil {
		return nil, err
	}
	noise, err := w.configure(dir, thinned, "marketplace-noise.policy.yaml", 243000, orders-orders/10)
	if err != nil {
		return nil, err
	}
	w.noise, err = w.serve(noise, thinned)
	return w, err
}

// fill makes the example's database, and a copy in which a tenth of the orders is given away.
func (w *world) fill(ctx context.Context) error {
	if err := w.cluster.CreateDatabase(ctx, database, ""); err != nil {
		return err
	}
	loading := sides.Command(ctx, filepath.Join(example(), "load.sh"), strconv.Itoa(orders))
	loading.Env = append(os.Environ(), w.socket(database)...)
	if out, err := loading.CombinedOutput(); err != nil {
		return fmt.Errorf("load.sh: %w\n%s", err, out)
	}
	thin, err := os.ReadFile(filepath.Join(example(), "thin.sql"))
	if err != nil {
		return err
	}
	for _, s := range []struct{ database, sql string }{
		{"postgres", "CREATE DATABASE " + thinned + " TEMPLATE " + database},
		{"postgres", "CREATE DATABASE " + plain + " TEMPLATE " + database},
		{thinned, "BEGIN;" + string(thin) + "COMMIT;"}, {plain, reading},
	} {
		if err := w.cluster.Exec(ctx, s.database, s.sql); err != nil {
			return err
		}
	}
	return nil
}

// configure is a configuration with a policy of the example's, of rows orders where the file says said.
func (w *world) configure(dir, database, policy string, said, rows int) (c sides.Config, err error) {
	text, err := os.ReadFile(filepath.Join(example(), policy))
	if err != nil {
		return c, err
	}
	users, err := os.ReadFile(filepath.Join(moduleRoot(), "examples/adult/users.txt"))
	if err != nil {
		return c, err
	}
	before := fmt.Sprintf("rows: %d", said)
	if !strings.Contains(string(text), before) {
		return c, fmt.Errorf("%s does not have %q", policy, before)
	}
	c = sides.Config{Binary: w.binary, Dir: filepath.Join(dir, "of "+database), Users: string(users),
		Guest: w.cluster.DSN("fugu_guest", database), Reader: w.cluster.DSN("fugu_reader", database),
		Policy: strings.Replace(string(text), before, fmt.Sprintf("rows: %d", rows), 1)}
	return c, os.Mkdir(c.Dir, 0o700)
}

// serve starts Fugu, to be stopped before what there is so far.
func (w *world) serve(config sides.Config, database string) (side sides.Side, err error) {
	proxy, err := sides.Serve(config)
	if err != nil {
		return side, err
	}
	before := w.stop
	w.stop = func() error { return errors.Join(proxy.Stop(), before()) }
	return proxy.Side("alice", password, database), nil
}

// export puts the twins into the database without Fugu, as somebody would who is sent them.
func (w *world) export(ctx context.Context, config sides.Config) error {
	file := filepath.Join(config.Dir, "twins.sql")
	out, err := sides.Command(ctx, w.binary, "twin", "export", "marketplace", file, "-c",
		filepath.Join(config.Dir, "fugu.yaml")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("fugu twin export: %w\n%s", err, out)
	}
	loading := exec.CommandContext(ctx, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file)
	loading.Env = append(os.Environ(), w.socket(plain)...)
	if out, err := loading.CombinedOutput(); err != nil {
		return fmt.Errorf("loading what fugu twin export has written: %w\n%s", err, out)
	}
	if err := w.cluster.Exec(ctx, plain, referring); err != nil {
		return err
	}
	w.plain = sides.Direct(w.cluster, "alice", password, plain)
	return nil
}

// socket is how a superuser comes to a database.
func (w *world) socket(database string) []string {
	return []string{"PGHOST=" + w.cluster.SocketDir(), "PGPORT=" + strconv.Itoa(w.cluster.Port()),
		"PGUSER=postgres", "PGDATABASE=" + database}
}

func example() string { return filepath.Join(moduleRoot(), "examples/marketplace") }
