// Package command builds and runs the fugu command, for the demonstration and for tests that use it as its users do.
package command

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
	"time"
)

// Build builds the command into a directory, and returns the file.
func Build(ctx context.Context, dir string) (string, error) {
	file := filepath.Join(dir, "fugu")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", file, "fugu/cmd/proxy").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
}

// Process is a running fugu serve.
type Process struct {
	Address string
	cmd     *exec.Cmd
}

// Serve starts fugu serve, and waits until clients can connect. It ends with this program at the latest.
func Serve(binary, config string) (*Process, error) {
	cmd := exec.Command(binary, "serve", "-c", config)
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
			return &Process{address, cmd}, nil
		}
	}
	return nil, errors.Join(errors.New("fugu did not start"), cmd.Wait())
}

// Stop ends fugu as an init system would.
func (p *Process) Stop() error {
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
