// Package sides starts the two sides that compatibility is measured between: a private PostgreSQL, and Fugu in front of
// the same PostgreSQL. Fugu is the program itself, run as its users run it, with all its checks at the start.
package sides

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"fugu/test/pgcluster"
)

// Side is one way to a database.
type Side struct {
	Name       string // direct or fugu
	Host, Port string
	User       string
	Password   string // empty: none is asked for
	Database   string
}

// Environment is what libpq, and all that follow it, read to find the side; the file psqlrc is not read.
func (s Side) Environment() []string {
	return []string{"PGHOST=" + s.Host, "PGPORT=" + s.Port, "PGUSER=" + s.User, "PGDATABASE=" + s.Database,
		"PGPASSWORD=" + s.Password, "PGSSLMODE=disable",
		"PGCONNECT_TIMEOUT=120", "PSQLRC=/dev/null", "PAGER="}
}

// DSN is the side as a URL, in the clear.
func (s Side) DSN() string { return s.dsn("sslmode=disable") }

// EncryptedDSN is the side as a URL, over TLS, with the file of the authority of the server's certificate.
func (s Side) EncryptedDSN(authority string) string {
	return s.dsn(url.Values{"sslmode": {"verify-ca"}, "sslrootcert": {authority}}.Encode())
}

func (s Side) dsn(parameters string) string {
	user := url.User(s.User)
	if s.Password != "" {
		user = url.UserPassword(s.User, s.Password)
	}
	u := url.URL{Scheme: "postgres", User: user, Host: net.JoinHostPort(s.Host, s.Port), Path: "/" + s.Database,
		RawQuery: parameters}
	return u.String()
}

// Direct is PostgreSQL itself.
func Direct(c *pgcluster.Cluster, user, password, database string) Side {
	return Side{"direct", "127.0.0.1", fmt.Sprint(c.Port()), user, password, database}
}

// Command is a child that dies with this process.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// Proxy is a running fugu.
type Proxy struct {
	cmd     *exec.Cmd
	address string
	log     string
	rest    chan struct{} // closed when its output has ended
}

// Config is what a Proxy is started with.
type Config struct {
	Binary        string
	Dir           string // of its own: for the configuration, the ledger and the log
	Guest, Reader string // DSNs
	Keeper        string // the DSN of who builds twins; empty: there is none
	Policy        string // the text of the policy file
	// the section auth, in YAML's flow style; empty: clients are trusted, or with Users asked for a password
	Auth  string
	Users string // the text of the users file
	// the section tls, in YAML's flow style; empty: the default, which without a certificate is none
	TLS         string
	Clients     int    // limits.clients; 0: the default
	Pool        int    // pool.size, with pool.mode transaction; 0: mode session
	Ledger      string // its URL; empty: a file in Dir
	Environment []string
}

func (c Config) write() (path string, err error) {
	auth := c.Auth
	switch {
	case auth == "" && c.Users == "":
		auth = "{method: trust}"
	case auth == "":
		auth = "{method: scram-sha-256, users: users.txt}"
	}
	ledger := c.Ledger
	if ledger == "" {
		ledger = "sqlite:fugu.db"
	}
	keeper := ""
	if c.Keeper != "" {
		keeper = fmt.Sprintf(", keeper: %q", c.Keeper)
	}
	text := fmt.Sprintf("listen: 127.0.0.1:0\nupstream: {guest: %q, reader: %q%s}\nauth: %s\npolicy: "+
		"the.policy.yaml\nledger: %q\n", c.Guest, c.Reader, keeper, auth, ledger)
	if c.TLS != "" {
		text += "tls: " + c.TLS + "\n"
	}
	if c.Clients != 0 {
		text += fmt.Sprintf("limits: {clients: %d}\n", c.Clients)
	}
	if c.Pool != 0 {
		text += fmt.Sprintf("pool: {mode: transaction, size: %d}\n", c.Pool)
	}
	for name, content := range map[string]string{"fugu.yaml": text, "the.policy.yaml": c.Policy, "users.txt": c.Users} {
		err = errors.Join(err, os.WriteFile(filepath.Join(c.Dir, name), []byte(content), 0o600))
	}
	return filepath.Join(c.Dir, "fugu.yaml"), err
}

// BuildTwins builds the twins that the policy asks for, as a DBA does: with the ledger of the configuration.
func BuildTwins(ctx context.Context, c Config) error {
	path, err := c.write()
	if err != nil {
		return err
	}
	if out, err := Command(ctx, c.Binary, "twin", "build", "-c", path).CombinedOutput(); err != nil {
		return fmt.Errorf("fugu twin build: %w\n%s", err, out)
	}
	return nil
}

// Serve starts a fugu on a free port.
func Serve(c Config) (*Proxy, error) {
	path, err := c.write()
	if err != nil {
		return nil, err
	}
	// Not of the caller's context: Stop ends it, in order.
	p := &Proxy{cmd: Command(context.Background(), c.Binary, "serve", "-c", path), log: filepath.Join(c.Dir, "log"),
		rest: make(chan struct{})}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd.Stderr = log
	p.cmd.Env = append(os.Environ(), c.Environment...)
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
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		return nil, fmt.Errorf("fugu did not start:\n%s", p.Log())
	}
	p.address = address
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		close(p.rest)
	}()
	return p, nil
}

// Side is the way through the proxy.
func (p *Proxy) Side(user, password, database string) Side {
	host, port, _ := net.SplitHostPort(p.address)
	return Side{"fugu", host, port, user, password, database}
}

// Address is where it listens, host:port.
func (p *Proxy) Address() string { return p.address }

// PID is its process.
func (p *Proxy) PID() int { return p.cmd.Process.Pid }

// Log is what fugu has logged so far.
func (p *Proxy) Log() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Ended reports whether fugu has ended.
func (p *Proxy) Ended() bool {
	select {
	case <-p.rest:
		return true
	default:
		return false
	}
}

// Kill ends fugu with SIGKILL, if it has not ended yet, and waits for it.
func (p *Proxy) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.rest
	_ = p.cmd.Wait()
}

// Stop ends fugu as an init system would, and waits for it.
func (p *Proxy) Stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-p.rest
	return p.cmd.Wait()
}
