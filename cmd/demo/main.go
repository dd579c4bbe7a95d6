// Command demo shows Fugu at work: it starts a private PostgreSQL cluster, loads example data, fits models to it, serves it
// through Fugu, and runs a few statements through psql and a driver, with their true values beside the noisy ones.
//
// It is no part of the product: it uses the test suite's clusters and data.
package main

import (
	"bufio"
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
	"time"

	"fugu/test/adult"
	"fugu/test/pgcluster"
)

func main() {
	data := flag.String("data", "", "a CSV `file` with the columns of the Adult census file; without it, generated data")
	binary := flag.String("fugu", "bin/fugu", "the fugu `binary`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := demo(ctx, *binary, *data); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func demo(ctx context.Context, binary, data string) (err error) {
	say("starting a private PostgreSQL cluster")
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	from := "generated data"
	if data != "" {
		from = data
	}
	say("loading %s", from)
	loaded, err := adult.Load(ctx, cluster, "adult", adult.Options{CSV: data})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fugu-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := configure(dir, cluster, loaded.Rows); err != nil {
		return err
	}
	say("fitting models to the reference")
	if out, err := exec.CommandContext(ctx, binary, "fit", "-c", filepath.Join(dir, "fugu.yaml")).CombinedOutput(); err != nil {
		return fmt.Errorf("fugu fit: %w\n%s", err, out)
	}
	say("serving it through Fugu")
	p, err := serve(ctx, binary, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	return show(ctx, cluster, p.address)
}

func say(format string, args ...any) { fmt.Printf("-- "+format+"\n", args...) }

// configure writes the example's configuration, pointed at the cluster. The policy's public size is that of the data.
func configure(dir string, cluster *pgcluster.Cluster, rows int64) error {
	policy, err := os.ReadFile("examples/adult/adult.policy.yaml")
	if err != nil {
		return err
	}
	text := strings.Replace(string(policy), "rows: 35222", fmt.Sprintf("rows: %d", rows), 1)
	config := fmt.Sprintf(`listen: 127.0.0.1:0
upstream:
  guest: %q
  reader: %q
auth:
  method: trust
policy: adult.policy.yaml
ledger: sqlite:fugu.db
`, cluster.DSN("fugu_guest", "adult"), cluster.DSN("fugu_reader", "adult"))
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "adult.policy.yaml"), []byte(text), 0o600),
		os.WriteFile(filepath.Join(dir, "fugu.yaml"), []byte(config), 0o600))
}

// process is a running fugu serve.
type process struct {
	cmd     *exec.Cmd
	address string
}

func serve(ctx context.Context, binary, dir string) (*process, error) {
	cmd := exec.Command(binary, "serve", "-c", filepath.Join(dir, "fugu.yaml"))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "fugu: ready on "); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return &process{cmd, address}, nil
		}
	}
	return nil, errors.Join(errors.New("fugu did not start"), cmd.Wait())
}

// stop ends fugu as an init system would.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		return errors.Join(errors.New("fugu did not stop"), p.cmd.Process.Kill(), <-done)
	}
}
