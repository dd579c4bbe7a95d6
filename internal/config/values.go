package config

import (
	"encoding/hex"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// DSN is a PostgreSQL connection string that pgconn.ParseConfig accepts, password and all. It prints without its
// password; string(dsn) is the whole.
type DSN string

// String names the role, hosts, ports and database, and nothing else of the connection string.
func (d DSN) String() string {
	if d == "" {
		return ""
	}
	c, err := pgconn.ParseConfig(string(d))
	if err != nil {
		return "(connection string withheld)"
	}
	hosts := []string{net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))}
	for _, f := range c.Fallbacks { // further hosts, and each host without TLS
		if h := net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port))); !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return c.User + "@" + strings.Join(hosts, ",") + "/" + c.Database
}

// GoString and LogValue keep the password out of %#v and of logs.
func (d DSN) GoString() string { return strconv.Quote(d.String()) }

// LogValue is String.
func (d DSN) LogValue() slog.Value { return slog.StringValue(d.String()) }

// MarshalText is String.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// role is the user that the connection string logs in as; empty if there is no string.
func (d DSN) role() string {
	if c, err := pgconn.ParseConfig(string(d)); d != "" && err == nil {
		return c.User
	}
	return ""
}

const dsnHint = "write postgres://ROLE@HOST:PORT/DATABASE"

// dsn never repeats what it refuses, nor what pgconn says about it: either can hold the password.
func (s setting) dsn() DSN {
	if s.blank() {
		return ""
	}
	if _, err := pgconn.ParseConfig(s.text); err != nil {
		s.bad(dsnHint+"; percent-encode special characters; name certificate files that can be read",
			"%s is not a usable PostgreSQL connection string (details withheld, as it may hold a password)", s.path)
		return ""
	}
	return DSN(s.text)
}

// Key is 32 secret bytes. It prints as nothing but whether it is there.
type Key []byte

// String tells no byte of the key.
func (k Key) String() string {
	if k == nil {
		return ""
	}
	return "(key withheld)"
}

// GoString, LogValue and MarshalText keep the key out of %#v, logs and JSON.
func (k Key) GoString() string { return strconv.Quote(k.String()) }

// LogValue is String.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText is String.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

func (s setting) key() Key {
	b, err := hex.DecodeString(strings.TrimSpace(s.text))
	if err != nil || len(b) != 32 {
		s.bad("make one with: openssl rand -hex 32", "%s needs 64 hexadecimal digits", s.path)
		return nil
	}
	return b
}

const ledgerHint = "write ledger: sqlite:fugu.db or ledger: postgres://ROLE@HOST:PORT/DATABASE"

func (s setting) ledger() Ledger {
	if file, ok := strings.CutPrefix(s.text, "sqlite:"); ok {
		// SQLite takes these for a database in memory or for options, and a budget must outlive the process.
		if file == "" || file == ":memory:" || strings.HasPrefix(file, "file:") || strings.ContainsAny(file, "?#") {
			s.bad("write sqlite: and the path of a file", "%s needs a plain file name", s.path)
			return Ledger{}
		}
		return Ledger{SQLite: s.relative(file)}
	}
	if strings.HasPrefix(s.text, "postgres://") || strings.HasPrefix(s.text, "postgresql://") {
		return Ledger{Postgres: s.dsn()}
	}
	s.bad(ledgerHint, "%s is neither sqlite:PATH nor a PostgreSQL URL", s.path)
	return Ledger{}
}

func (s setting) blank() bool {
	blank := strings.TrimSpace(s.text) == ""
	if blank {
		s.bad("", "%s is blank", s.path)
	}
	return blank
}

func (s setting) file() string {
	if s.blank() {
		return ""
	}
	return s.relative(s.text)
}

func (s setting) relative(file string) string {
	if filepath.IsAbs(file) {
		return filepath.Clean(file)
	}
	return filepath.Join(s.dir, file)
}

// word reads one of the words.
func (s setting) word(words ...string) string {
	if slices.Contains(words, s.text) {
		return s.text
	}
	s.bad("write "+strings.Join(words, " or "), "%s: the word is not known", s.path)
	return ""
}

var hostPattern = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$`)

// address reads host:port; the result is written as net.JoinHostPort does.
func (s setting) address() string {
	host, port, err := net.SplitHostPort(s.text)
	if err != nil {
		s.bad("write host:port, such as 127.0.0.1:6432 or [::1]:6432", "%s is not host:port", s.path)
		return ""
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "" && !hostPattern.MatchString(host) {
		s.bad("write an IP address or a host name; leave it out for every address", "%s: this is not a host", s.path)
		return ""
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		s.bad("write a port number between 0 and 65535", "%s: this is not a port", s.path)
		return ""
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10))
}

// near is address, but no host is the machine itself: what is for operators is for others at their wish alone.
func (s setting) near() string {
	address := s.address()
	if port, everywhere := strings.CutPrefix(address, ":"); everywhere {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// loopback reports whether nobody outside the machine can reach the address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func anyPort(address string) bool { return strings.HasSuffix(address, ":0") }

func (s setting) number(low, high int) int {
	n, err := strconv.Atoi(s.text)
	if err != nil || n < low || n > high {
		s.bad("", "%s must be a whole number between %d and %d", s.path, low, high)
		return 0
	}
	return n
}

// share reads a number between 0 and 1.
func (s setting) share() float64 {
	x, err := strconv.ParseFloat(s.text, 64)
	if err != nil || !(x >= 0 && x <= 1) {
		s.bad("write 1 for all, 0.1 for one in ten", "%s must be a number between 0 and 1", s.path)
		return 0
	}
	return x
}

// tracesPath is where collectors of OpenTelemetry take traces (OTLP specification, HTTP request paths).
const tracesPath = "/v1/traces"

// collector reads a collector's URL; empty: there is none. It never repeats what it refuses.
func (s setting) collector() string {
	if s.text == "" {
		return ""
	}

	const hint = "write http://HOST:4318" + tracesPath + ", or https"
	u, err := url.Parse(s.text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		s.bad(hint, "%s is not the URL of a collector", s.path)
		return ""
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		// It is written to logs.
		s.bad("what the collector has to be told of who sends belongs in OTEL_EXPORTER_OTLP_HEADERS",
			"%s has more in it than host, port and path", s.path)
		return ""
	}

	if u.Path == "" || u.Path == "/" {
		u.Path = tracesPath
	}
	return u.String()
}

var bytesPattern = regexp.MustCompile(`^([0-9]{1,10})(KiB|MiB|GiB)?$`)

// bytes reads a number of bytes with an optional binary unit (IEC 80000-13).
func (s setting) bytes(low, high int64) int64 {
	parts := bytesPattern.FindStringSubmatch(s.text)
	if parts == nil {
		s.bad("write bytes, or a number with KiB, MiB or GiB: 64MiB", "%s is not a size", s.path)
		return 0
	}
	unit := map[string]int64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[parts[2]]
	n, _ := strconv.ParseInt(parts[1], 10, 64) // the pattern has at most 10 digits
	if n > high/unit || n*unit < low {
		s.bad("", "%s must be between %d KiB and %d MiB", s.path, low>>10, high>>20)
		return 0
	}
	return n * unit
}

// maxDuration is the largest timeout that PostgreSQL holds: an int of milliseconds.
const maxDuration = math.MaxInt32 * time.Millisecond

func (s setting) duration() time.Duration {
	d, err := time.ParseDuration(s.text)
	switch {
	case err != nil:
		s.bad("write a number with ms, s, m or h: 60s, 1h30m", "%s is not a duration", s.path)
	case d < time.Millisecond || d > maxDuration || d%time.Millisecond != 0:
		s.bad("", "%s must be whole milliseconds between 1ms and %v, not %v", s.path, maxDuration, d)
	default:
		return d
	}
	return 0
}

// wholeSeconds reads a duration that an operating system counts in seconds.
func (s setting) wholeSeconds() time.Duration {
	d := s.duration()
	if d > 0 && (d%time.Second != 0 || d > time.Hour) {
		s.bad("", "%s must be whole seconds, at most %v", s.path, time.Hour)
		return 0
	}
	return d
}
