package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"fugu/internal/nearest"
	"fugu/internal/strictyaml"
)

// leaf is one key of fugu.yaml with a value of its own.
type leaf struct {
	path string // dotted
	need string // what to write if it is missing; empty: optional
	kind kind
	set  func(c *Config, s setting)
	env  bool // a secret, for the environment alone
}

// kind is the YAML type of a leaf; from the environment everything is text.
type kind int

const (
	text   kind = iota
	amount      // a number with a unit, or without
	count       // a number
	share       // a number between 0 and 1
	place       // host:port; a port alone is a number, and is told what lacks
)

// setting is the value of a leaf, wherever it comes from.
type setting struct {
	path, text string
	dir        string // where relative paths start
	bad        func(hint, format string, args ...any)
}

var leaves = []leaf{
	{"listen", "write listen: 127.0.0.1:6432", place, func(c *Config, s setting) { c.Listen = s.address() }, false},
	{"upstream.guest", dsnHint, text, func(c *Config, s setting) { c.Upstream.Guest = s.dsn() }, false},
	{"upstream.reader", dsnHint, text, func(c *Config, s setting) { c.Upstream.Reader = s.dsn() }, false},
	{"upstream.keeper", "", text, func(c *Config, s setting) { c.Upstream.Keeper = s.dsn() }, false},
	{"upstream.twins", "", text, func(c *Config, s setting) { c.Upstream.Twins = s.dsn() }, false},
	{"pool.mode", "", text, func(c *Config, s setting) { c.Pool.Mode = s.word("session", "transaction") }, false},
	{"pool.size", "", count, func(c *Config, s setting) { c.Pool.Size = s.number(1, 10_000) }, false},
	{"pool.wait", "", amount, func(c *Config, s setting) { c.Pool.Wait = s.duration() }, false},
	{"auth.method", "", text, func(c *Config, s setting) { c.Auth.Method = s.word("scram-sha-256", "cert", "trust") },
		false},
	{"auth.users", "", text, func(c *Config, s setting) { c.Auth.Users = s.file() }, false},
	{"auth.secret", "", text, func(c *Config, s setting) { c.Auth.Secret = s.file() }, false},
	{"auth.certificates", "", text, func(c *Config, s setting) { c.Auth.Certificates = s.file() }, false},
	{"tls.mode", "", text, func(c *Config, s setting) { c.TLS.Mode = s.word("disable", "prefer", "require") }, false},
	{"tls.certificate", "", text, func(c *Config, s setting) { c.TLS.Certificate = s.file() }, false},
	{"tls.key", "", text, func(c *Config, s setting) { c.TLS.Key = s.file() }, false},
	{"tls.client_ca", "", text, func(c *Config, s setting) { c.TLS.ClientCA = s.file() }, false},
	{"tls.client_cert", "", text, func(c *Config, s setting) { c.TLS.ClientCert = s.word("verify-ca", "verify-full") },
		false},
	{"policy", "", text, func(c *Config, s setting) { c.Policy = s.file() }, false},
	{"reload", "", text, func(c *Config, s setting) { c.Reload = s.word("signal", "watch") }, false},
	{"ledger", ledgerHint, text, func(c *Config, s setting) { l := s.ledger(); l.Key = c.Ledger.Key; c.Ledger = l },
		false},
	{"ledger_key", "", text, func(c *Config, s setting) { c.Ledger.Key = s.key() }, true},
	{"models", "", text, func(c *Config, s setting) { c.Models = s.file() }, false},
	{"admin", "", place, func(c *Config, s setting) {
		if s.text != "" {
			c.Admin.Address = s.near()
		}
	}, false},
	{"admin_token", "", text, func(c *Config, s setting) { c.Admin.Token = s.file() }, false},
	{"admin_tls", "", text, func(c *Config, s setting) { c.Admin.TLS = s.word("disable", "require") == "require" },
		false},
	{"log", "", text, func(c *Config, s setting) { c.Log = s.word("text", "json") }, false},
	{"tracing.endpoint", "", text, func(c *Config, s setting) { c.Tracing.Endpoint = s.collector() }, false},
	{"tracing.sample", "", share, func(c *Config, s setting) { c.Tracing.Sample = s.share() }, false},
	{"limits.clients", "", count, func(c *Config, s setting) { c.Limits.Clients = s.number(1, 100_000) }, false},
	{"limits.user_clients", "", count, func(c *Config, s setting) { c.Limits.UserClients = s.number(1, 100_000) },
		false},
	{"limits.message_bytes", "", amount, func(c *Config, s setting) { c.Limits.MessageBytes = s.bytes(64<<10, 1<<30) },
		false},
	{"limits.statement_timeout", "", amount, func(c *Config, s setting) { c.Limits.StatementTimeout = s.duration() },
		false},
	{"limits.answer_grid", "", amount, func(c *Config, s setting) { c.Limits.AnswerGrid = s.duration() }, false},
	{"limits.login_timeout", "", amount, func(c *Config, s setting) { c.Limits.LoginTimeout = s.duration() }, false},
	{"limits.idle_timeout", "", amount, func(c *Config, s setting) { c.Limits.IdleTimeout = s.duration() }, false},
	{"limits.idle_in_transaction_timeout", "", amount,
		func(c *Config, s setting) { c.Limits.IdleInTransactionTimeout = s.duration() }, false},
	{"limits.keepalive", "", amount, func(c *Config, s setting) { c.Limits.KeepAlive = s.wholeSeconds() }, false},
	{"limits.handover", "", amount, func(c *Config, s setting) { c.Limits.HandOver = s.duration() }, false},
}

// forPolicies are the leaves that nothing needs where there is no policy.
var forPolicies = []string{"upstream.reader", "ledger"}

// sections are the known keys of each section of the file; "" is the top.
func sections() map[string][]string {
	known := map[string][]string{}
	add := func(section, key string) {
		if !slices.Contains(known[section], key) {
			known[section] = append(known[section], key)
		}
	}

	for _, l := range leaves {
		if l.env {
			continue
		}
		section, key, nested := strings.Cut(l.path, ".")
		add("", section)
		if nested {
			add(section, key)
		}
	}

	// These two are no leaves: they have lists below them.
	add("upstream", "guests")
	add("upstream", "databases")
	return known
}

// prefix starts the names of the environment variables that override keys.
const prefix = "FUGU_"

// notSettings are variables that start with prefix and are no keys of the file.
var notSettings = []string{}

func variable(path string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// environment picks the overrides out of env, by name. Of a name that is there twice the first counts, as for
// os.Getenv.
func environment(r *strictyaml.Report, env []string) map[string]string {
	known := map[string]bool{}
	for _, l := range leaves {
		known[variable(l.path)] = true
	}

	// A name that begins like ours and is none of ours is a mistake, and not somebody else's.
	overrides := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, prefix) || slices.Contains(notSettings, name) {
			continue
		}
		if !known[name] {
			hint := "unset it, or name the section and the key as in FUGU_LIMITS_CLIENTS"
			if meant := nearest.Of(name, slices.Sorted(maps.Keys(known))); meant != "" {
				hint = "unset it, or write " + meant
			}
			r.AddFinding(Finding{File: name, Message: "no key of fugu.yaml has this variable", Hint: hint})
			continue
		}
		if _, twice := overrides[name]; !twice {
			overrides[name] = value
		}
	}
	return overrides
}

type decoder struct {
	report   *strictyaml.Report
	config   *Config
	env      map[string]string
	settings map[string]setting           // by path, those that are there
	fields   map[string]strictyaml.Fields // by section
}

// file sets every leaf from the environment or else from the file, whose directory is dir.
func (d *decoder) file(root *strictyaml.Value, dir string) {
	known := sections()
	top := root.Fields(known[""]...)
	d.fields = map[string]strictyaml.Fields{"": top}
	for section, keys := range known {
		if v := top.Get(section); section != "" && v != nil {
			d.fields[section] = v.Fields(keys...)
		}
	}
	_, protects := d.env[variable("policy")]
	protects = protects || top.Get("policy") != nil

	// Where guests see twins alone, nothing is asked of protected tables; whether the reader is needed for masks shows
	// later.
	_, apart := d.env[variable("upstream.twins")]
	apart = apart || d.fields["upstream"].Get("twins") != nil
	for _, l := range leaves {
		section, key := split(l.path)
		value := d.fields[section].Get(key)
		name := variable(l.path)
		if override, ok := d.env[name]; ok {
			d.set(l, setting{path: l.path, text: override, bad: func(hint, format string, args ...any) {
				d.report.AddFinding(Finding{File: name, Message: fmt.Sprintf(format, args...), Hint: hint})
			}})
		} else if value != nil {
			if s, ok := fromFile(l, value); ok {
				s.dir = dir
				d.set(l, s)
			} else {
				d.settings[l.path] = setting{}
			}
		} else if l.need != "" && (protects || !slices.Contains(forPolicies, l.path)) &&
			!(apart && l.path == "upstream.reader") {
			d.missing(l.path, l.need)
		}
	}
	d.guests(d.fields["upstream"].Get("guests"))
	d.databases(d.fields["upstream"].Get("databases"))
}

func split(path string) (section, key string) {
	section, key, nested := strings.Cut(path, ".")
	if !nested {
		return "", section
	}
	return section, key
}

func (d *decoder) set(l leaf, s setting) {
	d.settings[l.path] = s
	if hasControl(s.text) {
		s.bad("", "%s has a control character", s.path)
		return
	}
	l.set(d.config, s)
}

// hasControl reports whether a text has a control character.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f })
}

func fromFile(l leaf, v *strictyaml.Value) (s setting, ok bool) {
	s = setting{path: l.path, bad: v.Bad}
	switch {
	case l.kind == count:
		var n int64
		n, ok = v.Int(math.MinInt64, math.MaxInt64)
		s.text = strconv.FormatInt(n, 10)
	case l.kind != text && (v.Kind == strictyaml.Int || v.Kind == strictyaml.Float):
		s.text, _, ok = v.Scalar()
	default:
		s.text, ok = v.Text()
	}
	return s, ok
}

// bad reports a finding about a leaf that was set.
func (d *decoder) bad(path, hint, format string, args ...any) {
	if s := d.settings[path]; s.bad != nil {
		s.bad(hint, format, args...)
	}
}

// missing reports a leaf that is neither in the file nor in the environment.
func (d *decoder) missing(path, hint string) {
	if _, there := d.settings[path]; there {
		return
	}
	section, _ := split(path)
	f, ok := d.fields[section]
	if !ok {
		f = d.fields[""]
	}
	f.Missing(path, hint)
}
