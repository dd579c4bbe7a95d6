// Command bench measures what Fugu costs: it starts a private PostgreSQL cluster and a fugu, asks the same of both in
// turn, and prints medians and ratios. It asserts nothing; on a busy machine the ratios mean more than the times.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"fugu/test/adult"
	"fugu/test/pgcluster"
)

func main() {
	binary := flag.String("fugu", "bin/fugu", "the fugu `binary`")
	rows := flag.Int64("rows", 1_000_000, "`rows` of the protected table")
	rounds := flag.Int("rounds", 5, "how often each thing is measured, in turn with the others")
	seconds := flag.Int("seconds", 2, "length of one run of pgbench")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := bench(ctx, *binary, *rows, *rounds, *seconds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// target is a way to the database.
type target struct {
	name string
	user string
	addr string
}

func (t target) dsn() string {
	return (&url.URL{Scheme: "postgres", User: url.User(t.user), Host: t.addr, Path: "adult", RawQuery: "sslmode=disable"}).String()
}

func bench(ctx context.Context, binary string, rows int64, rounds, seconds int) (err error) {
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{Settings: map[string]string{"shared_buffers": "512MB"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	if err := load(ctx, cluster, rows); err != nil {
		return err
	}
	database := net.JoinHostPort("127.0.0.1", fmt.Sprint(cluster.Port()))
	dir, err := os.MkdirTemp("", "fugu-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fugu, err := serve(binary, dir, cluster, rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fugu.stop()) }()
	relay, err := startRelay(database)
	if err != nil {
		return err
	}
	defer relay.stop()

	direct, through := target{"direct", "fugu_guest", database}, target{"fugu", "alice", fugu.address}
	if err := passThrough(ctx, cluster.Tool("pgbench"), []target{direct, {"io.Copy relay", "fugu_guest", relay.address()}, through}, rounds, seconds); err != nil {
		return err
	}
	if err := protected(ctx, cluster.DSN("fugu_reader", "adult"), direct, through, rows, rounds); err != nil {
		return err
	}
	if err := modelling(ctx, dir, cluster, rows, rounds); err != nil {
		return err
	}
	if err := calibrating(ctx, rounds); err != nil {
		return err
	}
	return deciding(ctx, dir, cluster, rounds)
}

// load makes the Adult example with its protected rows repeated up to the number of rows, and pgbench's tables.
func load(ctx context.Context, c *pgcluster.Cluster, rows int64) error {
	loaded, err := adult.Load(ctx, c, "adult", adult.Options{})
	if err != nil {
		return err
	}
	if err := c.Exec(ctx, "adult", fmt.Sprintf("INSERT INTO adult SELECT a.* FROM generate_series(2, %d) AS times, adult a LIMIT %d", rows/loaded.Rows+1, rows-loaded.Rows)); err != nil {
		return err
	}
	if out, err := command(ctx, c.Tool("pgbench"), "-i", "-q", "-s", "10", c.DSN("postgres", "adult")).CombinedOutput(); err != nil {
		return fmt.Errorf("pgbench -i: %w: %s", err, out)
	}
	for _, sql := range []string{"GRANT SELECT ON pgbench_accounts, pgbench_branches TO fugu_guest", "VACUUM ANALYZE"} {
		if err := c.Exec(ctx, "adult", sql); err != nil {
			return err
		}
	}
	return nil
}

// relay passes bytes on and looks at none of them: what any proxy in Go costs at least.
type relay struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	conns    []net.Conn
	running  sync.WaitGroup
}

func startRelay(to string) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l, to: to}
	r.running.Go(r.accept)
	return r, nil
}

func (r *relay) address() string { return r.listener.Addr().String() }

func (r *relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.DialTimeout("tcp", r.to, 10*time.Second)
		if err != nil {
			client.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, client, server)
		r.mu.Unlock()
		for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
			r.running.Go(func() {
				_, _ = io.Copy(pair[0], pair[1])
				pair[0].Close()
				pair[1].Close()
			})
		}
	}
}

func (r *relay) stop() {
	r.listener.Close()
	r.mu.Lock()
	for _, c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.running.Wait()
}
