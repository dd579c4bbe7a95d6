package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"fugu/test/pgcluster"
)

// command is a child that dies with this process.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// process is a running fugu serve.
type process struct {
	cmd     *exec.Cmd
	address string
	rest    chan struct{} // closed when its output has ended
}

// serve starts a fugu with the example's policy and a budget that no benchmark exhausts.
func serve(binary, dir string, cluster *pgcluster.Cluster, rows int64, clients int) (*process, error) {
	policy, err := os.ReadFile("examples/adult/adult.policy.yaml")
	if err != nil {
		return nil, err
	}
	text := strings.NewReplacer("rows: 35222", fmt.Sprintf("rows: %d", rows), "delta: 0.001", "delta: 1e-9",
		"{epsilon: 20, delta: 0.01, per: dataset}", "{epsilon: 1000000, delta: 0.01, per: dataset}").Replace(string(policy))
	config := fmt.Sprintf("listen: 127.0.0.1:0\nupstream:\n  guest: %q\n  reader: %q\nauth:\n  method: trust\npolicy: adult.policy.yaml\nledger: sqlite:fugu.db\nlimits: {clients: %d}\n",
		cluster.DSN("fugu_guest", "adult"), cluster.DSN("fugu_reader", "adult"), clients)
	path := filepath.Join(dir, "fugu.yaml")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "adult.policy.yaml"), []byte(text), 0o600), os.WriteFile(path, []byte(config), 0o600)); err != nil {
		return nil, err
	}
	p := &process{cmd: command(context.Background(), binary, "serve", "-c", path), rest: make(chan struct{})}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	line, _ := lines.ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "fugu: ready on ")
	if !ok {
		return nil, errors.Join(errors.New("fugu did not start"), p.cmd.Process.Kill(), p.cmd.Wait())
	}
	p.address = address
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		close(p.rest)
	}()
	return p, nil
}

// stop ends fugu as an init system would, and waits for it.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-p.rest
	return p.cmd.Wait()
}
