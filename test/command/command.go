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

// Once is the environment variable with a directory in which the command is built once for all that build it with the
// same flags: scripts/test.sh sets it, as many packages' tests run the same program.
const Once = "FUGUHOOKS_BUILT"

// Build builds the command into a directory, with flags of go build's, and returns the file. The working directory must
// be inside the module.
func Build(ctx context.Context, dir string, flags ...string) (string, error) {
	file := filepath.Join(dir, "fugu")
	shared := os.Getenv(Once)
	if shared == "" {
		return file, build(ctx, file, flags)
	}

	// Whoever comes first builds, and the others wait at the lock.
	shared = filepath.Join(shared, "fugu"+strings.Join(flags, ""))
	lock, err := os.Create(shared + ".lock")
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	if _, err := os.Stat(shared); errors.Is(err, os.ErrNotExist) {
		if err := build(ctx, shared+".new", flags); err != nil {
			return "", err
		}
		if err := os.Rename(shared+".new", shared); err != nil {
			return "", err
		}
	}
	return file, os.Symlink(shared, file)
}

func build(ctx context.Context, file string, flags []string) error {
	args := append(append([]string{"build"}, flags...), "-o", file, "fugu/cmd/proxy")
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
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
	case <-time.After(2 * time.Minute):
		return errors.Join(errors.New("fugu did not stop"), p.cmd.Process.Kill(), <-done)
	}
}
