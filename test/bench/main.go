// Command bench measures what Fugu costs: it starts a private PostgreSQL cluster, a fugu, and other proxies, asks the
// same of each in turn, and prints medians and ratios. It asserts nothing; on a busy machine the ratios mean more than
// the times.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"fugu/test/adult"
	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
)

// parts are what can be measured by itself.
var parts = []string{"relay", "idle", "protected", "searches", "ledger", "model", "calibrate", "decide", "twin"}

// options are the command line.
type options struct {
	binary, before string
	rows           int64
	rounds         int
	transactions   int
	only           []string // of parts
	workloads      *regexp.Regexp
	clients        int
}

func main() {
	o := options{}
	flag.StringVar(&o.binary, "fugu", "bin/fugu", "the fugu `binary`")
	flag.StringVar(&o.before, "before", "", "another fugu `binary`, to relay beside the first")
	flag.Int64Var(&o.rows, "rows", 1_000_000, "`rows` of the protected table, and of the one that a twin is built of")
	flag.IntVar(&o.rounds, "rounds", 5, "how often each thing is measured, in turn with the others")
	flag.IntVar(&o.transactions, "transactions", 40_000, "`number` of transactions of one run of pgbench")
	flag.IntVar(&o.clients, "idle", 2000, "`clients` that are idle")
	only := flag.String("only", strings.Join(parts, ","), "the `parts` to measure")
	workloads := flag.String("workload", ".", "a `pattern` of the names of what is relayed")
	listen, to := flag.String("relay", "", "be a relay of bytes that listens at this `address`"),
		flag.String("to", "", "the `address` to which it relays")
	spin := flag.Bool("busy", false, "keep a processor busy until killed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := func() (err error) {
		if *spin {
			for ctx.Err() == nil { // it is what keeps the processor busy
			}
			return nil
		}
		if *listen != "" {
			return relay(ctx, *listen, *to)
		}
		if o.workloads, err = regexp.Compile(*workloads); err != nil {
			return err
		}
		o.only = strings.Split(*only, ",")
		for _, part := range o.only {
			if !slices.Contains(parts, part) {
				return fmt.Errorf("there is no part %q: there are %s", part, strings.Join(parts, ", "))
			}
		}
		return bench(ctx, o)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, o options) (err error) {
	wanted := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(o.only, p) })
	}
	twins := o.rows
	if !wanted("protected", "model") {
		o.rows = 0 // as many as the example has
	}
	connections := 200
	if wanted("idle") {
		connections += o.clients
	}
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{MaxConnections: connections,
		Settings: map[string]string{"shared_buffers": "512MB"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	if o.rows, err = load(ctx, cluster, o.rows); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fugu-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if wanted("relay", "idle", "protected", "searches") {
		if err := proxied(ctx, o, dir, cluster, wanted); err != nil {
			return err
		}
	}
	if wanted("ledger") {
		if err := repeating(ctx, o, dir, cluster); err != nil {
			return err
		}
	}
	if wanted("model") {
		if err := modelling(ctx, dir, cluster, o.rows, o.rounds); err != nil {
			return err
		}
	}
	if wanted("calibrate") {
		if err := calibrating(ctx, o.rounds); err != nil {
			return err
		}
	}
	if wanted("decide") {
		if err := deciding(ctx, dir, cluster, o.rows, o.rounds); err != nil {
			return err
		}
	}
	if wanted("twin") {
		return building(ctx, dir, cluster, twins, o.rounds)
	}
	return nil
}

// proxied measures what goes through a running fugu.
func proxied(ctx context.Context, o options, dir string, cluster *pgcluster.Cluster,
	wanted func(...string) bool) (err error) {
	serving, err := serve(o.binary, dir, cluster, o.rows, o.clients+100, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.Stop()) }()
	through := target{fugu, "alice", serving.Address(), serving.PID()}
	if wanted("idle") { // first: the memory that work leaves behind would do for the clients
		if err := idling(ctx, serving.PID(), through, o.clients, "each with its own guest connection"); err != nil {
			return err
		}
		if err := sharing(ctx, o, filepath.Join(dir, "pool"), cluster); err != nil {
			return err
		}
	}
	if wanted("relay") {
		peers, stop, err := startPeers(ctx, dir, cluster)
		if err != nil {
			return err
		}
		defer stop()
		if o.before != "" {
			other, err := serve(o.before, filepath.Join(dir, "before"), cluster, o.rows, o.clients+100, 0)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, other.Stop()) }()
			peers = append(peers, target{"fugu before", "alice", other.Address(), other.PID()})
		}
		loads := workloads(cluster.Tool("pgbench"), o.transactions)
		if err := relaying(ctx, cluster, append(slices.Clip(peers), through), loads, o.workloads, o.rounds,
			o.transactions); err != nil {
			return err
		}
		if err := relayingTwins(ctx, o, filepath.Join(dir, "twin"), cluster, peers[:3]); err != nil {
			return err
		}
	}
	if wanted("protected") {
		guest := target{name: direct, user: "fugu_guest", addr: fmt.Sprintf("127.0.0.1:%d", cluster.Port())}
		if err := protected(ctx, cluster.DSN("fugu_reader", "adult"), guest, through, o.rows, o.rounds); err != nil {
			return err
		}
	}
	if wanted("searches") {
		return searching(ctx, through, o.rows, o.rounds, max(1, runtime.GOMAXPROCS(0)/2))
	}
	return nil
}

// sharing is idling where clients share guests.
func sharing(ctx context.Context, o options, dir string, cluster *pgcluster.Cluster) (err error) {
	const guests = 20
	pool, err := serve(o.binary, dir, cluster, o.rows, o.clients+100, guests)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Stop()) }()
	through := target{fugu, "alice", pool.Address(), pool.PID()}
	return idling(ctx, pool.PID(), through, o.clients, fmt.Sprintf("%d guest connections between them", guests))
}

// load makes the Adult example with its protected rows repeated up to the number of rows, which it returns, and
// pgbench's tables.
func load(ctx context.Context, c *pgcluster.Cluster, rows int64) (int64, error) {
	loaded, err := adult.Load(ctx, c, "adult", adult.Options{})
	if err != nil {
		return 0, err
	}
	rows = max(rows, loaded.Rows)
	if err := c.Exec(ctx, "adult", fmt.Sprintf("INSERT INTO adult SELECT a.* FROM generate_series(2, %d) AS times, "+
		"adult a LIMIT %d", rows/loaded.Rows+1, rows-loaded.Rows)); err != nil {
		return 0, err
	}
	if out, err := sides.Command(ctx, c.Tool("pgbench"), "-i", "-q", "-s", "10",
		c.DSN("postgres", "adult")).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("pgbench -i: %w: %s", err, out)
	}
	for _, sql := range []string{"GRANT SELECT ON pgbench_accounts, pgbench_branches TO fugu_guest", "VACUUM ANALYZE"} {
		if err := c.Exec(ctx, "adult", sql); err != nil {
			return 0, err
		}
	}
	return rows, nil
}
