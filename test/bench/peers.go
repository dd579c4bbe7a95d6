package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/test/compat/sides"
	"fugu/test/pgcluster"
)

// target is a way to the database.
type target struct {
	name string
	user string
	addr string
	pid  int // of the proxy; 0: none
}

// cpu is the processor time that the proxy has taken so far, in seconds; NaN where there is none.
func (t target) cpu() (float64, error) {
	if t.pid == 0 {
		return math.NaN(), nil
	}
	return spent(t.pid)
}

func (t target) dsn() string {
	return (&url.URL{Scheme: "postgres", User: url.User(t.user), Host: t.addr, Path: "adult",
		RawQuery: "sslmode=disable"}).String()
}

// Names of the ways to the database.
const (
	direct    = "direct"
	bouncer   = "PgBouncer"
	copyRelay = "io.Copy relay"
	fugu      = "fugu"
)

// startPeers starts the proxies that Fugu is measured beside, each in a process of its own: PgBouncer in session mode,
// and a relay that passes bytes on and looks at none of them.
func startPeers(ctx context.Context, dir string, cluster *pgcluster.Cluster) (_ []target, stop func(), err error) {
	var running []*exec.Cmd
	end := func() {
		for _, cmd := range running {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait() // it says no more than that
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	database := net.JoinHostPort("127.0.0.1", fmt.Sprint(cluster.Port()))
	targets := []target{{name: direct, user: "fugu_guest", addr: database}}
	for _, start := range []func(addr string) (target, *exec.Cmd, error){
		func(addr string) (target, *exec.Cmd, error) { return startBouncer(dir, addr, cluster) },
		func(addr string) (target, *exec.Cmd, error) {
			self, err := os.Executable()
			return target{name: copyRelay, user: "fugu_guest", addr: addr}, sides.Command(context.Background(), self,
				"-relay", addr, "-to", database), err
		},
	} {
		addr, err := freeAddress()
		if err != nil {
			return nil, nil, err
		}
		t, cmd, err := start(addr)
		if err != nil {
			return nil, nil, err
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", t.name, err)
		}
		running = append(running, cmd)
		if err := await(ctx, t.dsn()); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", t.name, err)
		}
		t.pid = cmd.Process.Pid
		targets = append(targets, t)
	}
	return targets, end, nil
}

// startBouncer gives the command of a PgBouncer, as Debian packages it. It refuses to run as root.
func startBouncer(dir, addr string, cluster *pgcluster.Cluster) (target, *exec.Cmd, error) {
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil {
			return target{}, nil, fmt.Errorf("%w: run scripts/setup.sh peers", err)
		}
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return target{}, nil, err
	}
	users, config := filepath.Join(dir, "pgbouncer.users"), filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = %s\nlisten_port = "+
		"%s\nunix_socket_dir =\nauth_type = trust\nauth_file = %s\n"+
		"pool_mode = session\nmax_client_conn = 1000\ndefault_pool_size = 80\nignore_startup_parameters = "+
		"extra_float_digits\nlog_connections = 0\nlog_disconnections = 0\n"+
		"logfile = /dev/null\n", cluster.Port(), host, port, users)
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(users, []byte("\"fugu_guest\" \"\"\n"), 0o644),
		os.WriteFile(config, []byte(text), 0o644)); err != nil {
		return target{}, nil, err
	}
	args := []string{"-q", config}
	if os.Geteuid() == 0 {
		args = append([]string{"-u", "nobody"}, args...)
	}
	return target{name: bouncer, user: "fugu_guest", addr: addr}, sides.Command(context.Background(), path, args...),
		nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// await connects until it succeeds.
func await(ctx context.Context, dsn string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		conn, err := pgconn.Connect(ctx, dsn)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// relay passes the bytes of every connection on until ctx ends: what any proxy in Go costs at least.
func relay(ctx context.Context, addr, to string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	for {
		client, err := l.Accept()
		if err != nil {
			return nil
		}
		go func() {
			defer client.Close()
			server, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			defer server.Close()
			var back sync.WaitGroup
			back.Go(func() {
				_, _ = io.Copy(client, server)
				client.Close()
				server.Close()
			})
			_, _ = io.Copy(server, client)
			server.Close()
			client.Close()
			back.Wait()
		}()
	}
}
