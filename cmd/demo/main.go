// Command demo shows Fugu at work: it starts a private PostgreSQL cluster, loads example data, and asks a few
// statements through psql and a driver, with true and told values side by side: first with noise on each answer, then
// from a twin of the same data.
//
// It is no part of the product: it uses the test suite's clusters and data.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	example "fugu/examples/adult"
	adulttwin "fugu/examples/adult-twin"
	"fugu/test/adult"
	"fugu/test/command"
	"fugu/test/pgcluster"
)

func main() {
	d := demo{out: os.Stdout, colours: term.IsTerminal(int(os.Stdout.Fd()))}
	flag.StringVar(&d.data, "data", "",
		"a CSV `file` with the columns of the Adult census file; without it, generated data")
	flag.StringVar(&d.binary, "fugu", "bin/fugu", "the fugu `binary`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := d.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// demo is one run of the demonstration.
type demo struct {
	out          io.Writer
	colours      bool
	binary, data string

	cluster *pgcluster.Cluster
	rows    int64  // of the protected table
	dir     string // for configurations and ledgers
}

// The same people are in two databases: a table has noise on its answers or a twin, never both.
const noiseDatabase, twinDatabase = "adult", "adult_twin"

// run starts the cluster, loads the data, and shows both ways to answer: with noise, and on a twin.
func (d *demo) run(ctx context.Context) (err error) {
	d.say("starting a private PostgreSQL cluster")
	if d.cluster, err = pgcluster.Start(ctx, pgcluster.Options{}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.cluster.Stop()) }()
	if d.dir, err = os.MkdirTemp("", "fugu-demo-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.dir)

	from := "generated data"
	if d.data != "" {
		from = d.data
	}
	d.say("loading %s", from)
	loaded, err := adult.Load(ctx, d.cluster, noiseDatabase, adult.Options{CSV: d.data})
	if err != nil {
		return err
	}
	d.rows = loaded.Rows
	if err := d.copyForTwin(ctx); err != nil {
		return err
	}

	// Each way has a database and a proxy of its own, so that neither sees the other's tables.
	d.title("Noise on each answer (answers: noise)")
	d.say("fitting models to the reference")
	noise, err := d.serve(ctx, noiseDatabase, example.Policy, func(config string) error {
		_, err := d.fugu(ctx, config, "fit")
		return err
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, noise.Stop()) }()
	told, err := d.showNoise(ctx, noise.Address)
	if err != nil {
		return err
	}

	d.title("A twin: the same data, any SQL, one price (answers: twin)")
	twin, err := d.serve(ctx, twinDatabase, adulttwin.Policy, func(config string) error {
		return d.build(ctx, config)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, twin.Stop()) }()
	return d.showTwin(ctx, noise.Address, twin.Address, told)
}

// copyForTwin makes the second database, with the role that builds twins.
func (d *demo) copyForTwin(ctx context.Context) error {
	if err := d.cluster.CreateDatabase(ctx, twinDatabase, "TEMPLATE "+noiseDatabase); err != nil {
		return err
	}
	keeper := strings.Replace(adulttwin.Keeper, "DATABASE adult", "DATABASE "+twinDatabase, 1)
	return d.cluster.Exec(ctx, twinDatabase, keeper)
}

// build previews and builds the twin, and shows what the commands say.
func (d *demo) build(ctx context.Context, config string) error {
	for _, word := range []string{"preview", "build"} {
		out, err := d.fugu(ctx, config, "twin", word)
		if err != nil {
			return err
		}
		fmt.Fprintf(d.out, "\n%s\n%s\n", d.paint(cyan, "   $ fugu twin "+word+" -c fugu-twin.yaml"), indent(out))
	}
	return nil
}

// fugu runs a command of Fugu's, and returns what it prints.
func (d *demo) fugu(ctx context.Context, config string, args ...string) (string, error) {
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, d.binary, append(args, "-c", config)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("fugu %s: %w\n%s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String(), nil
}

// serve writes an example's policy and a configuration, both pointed at the cluster and its data, and starts Fugu.
func (d *demo) serve(
	ctx context.Context, database, policy string, prepare func(config string) error,
) (*command.Process, error) {
	dir := filepath.Join(d.dir, database)
	config := filepath.Join(dir, "fugu.yaml")

	keeper := ""
	if database == twinDatabase {
		keeper = fmt.Sprintf("  keeper: %q\n", d.cluster.DSN("fugu_keeper", database))
	}
	text := fmt.Sprintf(`listen: 127.0.0.1:0
upstream:
  guest: %q
  reader: %q
%sauth:
  method: trust
policy: adult.policy.yaml
ledger: sqlite:fugu.db
`, d.cluster.DSN("fugu_guest", database), d.cluster.DSN("fugu_reader", database), keeper)

	// The policy has to say how many rows were really loaded.
	policy = strings.Replace(policy, "rows: 35222", fmt.Sprintf("rows: %d", d.rows), 1)
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(config, []byte(text), 0o600),
		os.WriteFile(filepath.Join(dir, "adult.policy.yaml"), []byte(policy), 0o600)); err != nil {
		return nil, err
	}

	if err := prepare(config); err != nil {
		return nil, err
	}
	d.say("serving it through Fugu")
	return command.Serve(d.binary, config)
}
