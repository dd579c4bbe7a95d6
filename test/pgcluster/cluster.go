// Package pgcluster starts private, throw-away PostgreSQL servers, for tests and for the demonstration: a fresh cluster
// in a temporary directory, on a free port of the loopback interface and a socket in that directory, gone without a
// trace when it is stopped or when the process that started it dies, however it dies.
//
// Everybody on the machine may connect as anybody (trust authentication), so it is for data that is not secret. It does
// not touch clusters that the system has, and it does not install PostgreSQL: scripts/setup.sh does.
package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Options change what a cluster is started with. The zero value is right for most tests.
type Options struct {
	// Fsync makes the server wait for the disk. Without it, commits survive a crash of the server, but not of the
	// machine.
	Fsync bool
	// MaxConnections is the server's limit; 0 means 200.
	MaxConnections int
	// Settings are further settings of the server, by the names of postgresql.conf; they override the package's own.
	Settings map[string]string
	// Programs is the directory of PostgreSQL's programs. Empty: that of the initdb on PATH, else Debian's newest.
	Programs string
	// Log is the file that the server's log is appended to. Empty: a file that goes when the cluster goes.
	Log string
}

// Cluster is a PostgreSQL cluster and its server. Its superuser is postgres. Methods that start or stop the server are
// not for concurrent use.
type Cluster struct {
	bin      string
	as       account
	dir      string
	log      string
	port     *port
	settings map[string]string
	server   *process // nil while the server is down
	watchdog *watchdog
}

// Start creates a cluster and starts its server, which accepts connections when Start returns. The caller has to Stop
// it. Canceling ctx aborts only the start.
func Start(ctx context.Context, o Options) (_ *Cluster, err error) {
	bin := o.Programs
	if bin == "" {
		if bin, err = findServer(); err != nil {
			return nil, err
		}
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := as.tempDir()
	if err != nil {
		return nil, fmt.Errorf("pgcluster: make a directory: %w", err)
	}
	c := &Cluster{bin: bin, as: as, dir: dir, log: o.Log, settings: settings(o, dir)}
	if c.log == "" {
		c.log = filepath.Join(dir, "log")
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	if c.watchdog, err = watch(as, dir); err != nil {
		return nil, fmt.Errorf("pgcluster: start the watchdog: %w", err)
	}
	if err := makeData(ctx, bin, as, c.data()); err != nil {
		return nil, fmt.Errorf("pgcluster: create the cluster: %w", err)
	}
	if c.port, err = freePort(); err != nil {
		return nil, fmt.Errorf("pgcluster: choose a port: %w", err)
	}
	if err := c.startServer(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// settings gives the server's settings for o; dir is where its socket goes.
func settings(o Options, dir string) map[string]string {
	s := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": dir,
		"max_connections":         "200",
		"jit":                     "off", // to compile a look at the catalog takes a hundred times as long as to look
	}
	if o.MaxConnections != 0 {
		s["max_connections"] = strconv.Itoa(o.MaxConnections)
	}
	if !o.Fsync {
		s["fsync"], s["full_page_writes"] = "off", "off"
	}
	maps.Copy(s, o.Settings)
	return s
}

// Stop shuts the server down, disconnecting its clients, and removes the cluster. Further calls do nothing.
func (c *Cluster) Stop() error {
	c.Kill() // what it holds is not wanted again: a checkpoint would be for nothing, and has been waited for in vain
	err := os.RemoveAll(c.dir)
	if c.port != nil {
		err = errors.Join(err, c.port.release())
	}
	if c.watchdog != nil {
		err = errors.Join(err, c.watchdog.dismiss())
		c.watchdog = nil
	}
	return err
}

// Restart shuts the server down if it is up, disconnecting its clients, and starts it again with the same data and
// port.
func (c *Cluster) Restart(ctx context.Context) error {
	if err := c.stopServer(); err != nil {
		return err
	}

	// Children of a server that was killed itself keep its memory, and so the next one out, until they notice.
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if err := c.startServer(ctx); !errors.Is(err, errExited) || time.Now().After(end) {
			return err
		}
	}
}

// Kill makes the server crash: an immediate shutdown, after which a Restart goes through recovery. PostgreSQL 15 was
// seen to wait for its children for ever, having killed them, in a crowd of logins. It is killed itself then, which is
// as good a crash.
func (c *Cluster) Kill() {
	if c.server == nil {
		return
	}
	_ = c.server.stop(syscall.SIGQUIT, recalcitrant)
	c.server = nil
}

// patience is how long a server may take to come up or to shut down, on a machine that has much else to do.
const patience = 5 * time.Minute

// recalcitrant is how long children may take that do not heed an immediate shutdown, after 5 s of which PostgreSQL
// kills them.
const recalcitrant = 30 * time.Second

// Port is the server's TCP port on 127.0.0.1.
func (c *Cluster) Port() int { return c.port.number }

// PID is the process id of the server, which must be running. Its backends are children of it.
func (c *Cluster) PID() int { return c.server.cmd.Process.Pid }

// SocketDir is the directory of the server's Unix socket.
func (c *Cluster) SocketDir() string { return c.dir }

// LogFile is the file that the server's log goes to.
func (c *Cluster) LogFile() string { return c.log }

// Tool is the path of a program that comes with PostgreSQL, such as psql or pgbench.
func (c *Cluster) Tool(name string) string { return filepath.Join(c.bin, name) }

// DSN is the URL under which user reaches the database db over TCP.
func (c *Cluster) DSN(user, db string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User(user),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port.number)),
		Path:     "/" + db,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Exec runs sql, one or more statements, as superuser in the database db and discards its results.
func (c *Cluster) Exec(ctx context.Context, db, sql string) error {
	conn, err := pgconn.Connect(ctx, c.DSN("postgres", db))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, sql).ReadAll()
	return err
}

// CreateDatabase makes a database; more is what follows its name, such as TEMPLATE base. Files are copied as they are
// and not written to the log block by block, which takes the server a third of the time.
func (c *Cluster) CreateDatabase(ctx context.Context, name, more string) error {
	return c.Exec(ctx, "postgres", "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" STRATEGY file_copy "+more)
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// errExited says that the server ended before it accepted a connection.
var errExited = errors.New("the server ended")

func (c *Cluster) startServer(ctx context.Context) error {
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("pgcluster: open the server's log: %w", err)
	}
	defer log.Close()
	args := []string{"-D", c.data(), "-p", strconv.Itoa(c.port.number)}
	for name, value := range c.settings {
		args = append(args, "-c", name+"="+value)
	}
	cmd := c.as.command(filepath.Join(c.bin, "postgres"), args...)
	cmd.Stdout, cmd.Stderr = log, log
	if c.server, err = start(cmd); err != nil {
		return fmt.Errorf("pgcluster: start the server: %w", err)
	}
	if err := c.ready(ctx); err != nil {
		c.Kill()
		return fmt.Errorf("pgcluster: start the server: %w; the end of its log:\n%s", err, tail(c.log))
	}
	return nil
}

// ready waits until the server accepts a connection.
func (c *Cluster) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		conn, err := pgconn.Connect(ctx, c.DSN("postgres", "postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-c.server.done:
			return errExited
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (c *Cluster) stopServer() error {
	if c.server == nil {
		return nil
	}
	err := c.server.stop(syscall.SIGINT, patience)
	c.server = nil
	if err != nil {
		return fmt.Errorf("pgcluster: stop the server: %w", err)
	}
	return nil
}

// tail is the last 4 kB of a file, for an error message.
func tail(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > 4096 {
		_, _ = f.Seek(-4096, io.SeekEnd)
	}
	b, _ := io.ReadAll(f)
	return string(b)
}
