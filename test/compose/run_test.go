package compose

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/internal/config"
	"fugu/policy"
)

// served is the image's own command.
const served = "serve -c /etc/fugu/fugu.yaml"

// serves reports whether a service of the repository's image runs fugu serve, and does not end by itself.
func serves(s service) bool {
	return s.Build != "" && (s.Command == "" || strings.HasPrefix(s.Command, "serve "))
}

// runFindings is what is wrong between the services that run fugu, their configurations and their databases, and
// among them.
func runFindings(f file) []string {
	var all []string
	ports := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(f.Services)) {
		s := f.Services[name]
		for _, p := range s.Ports {
			outside := p[:max(0, strings.LastIndexByte(p, ':'))]
			if other, ok := ports[outside]; ok {
				all = append(all, fmt.Sprintf("two services publish %s: %s and %s", outside, other, name))
			}
			ports[outside] = name
		}
		if s.Build == "" {
			continue
		}
		for _, finding := range fuguFindings(f, s) {
			all = append(all, name+": "+finding)
		}
		// The ledger of who builds twins has their price and the order of drawing.
		for other := range s.DependsOn {
			builder := f.Services[other]
			if strings.HasPrefix(builder.Command, "twin ") &&
				s.Environment["FUGU_LEDGER"] != builder.Environment["FUGU_LEDGER"] {
				all = append(all, fmt.Sprintf("%s serves with another ledger than %s", name, other))
			}
		}
	}
	return all
}

// fuguFindings is what is wrong between a service that runs fugu, its configuration and its database.
func fuguFindings(f file, s service) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	words := strings.Fields(s.Command)
	if len(words) == 0 {
		words = strings.Fields(served)
	}
	if words[0] != "serve" && words[0] != "twin" {
		add("no command fugu %s", words[0])
	}

	// The directory that is mounted as /etc/fugu has the configuration; what else is mounted can be written to.
	var dir string
	var durable []string
	for _, v := range s.Volumes {
		parts := strings.Split(v, ":")
		if len(parts) > 1 && parts[1] == "/etc/fugu" {
			dir = filepath.Join(root, parts[0])
		} else if len(parts) == 2 {
			durable = append(durable, parts[1])
		}
	}
	var env []string
	for k, v := range s.Environment {
		env = append(env, k+"="+v)
	}
	c, err := config.Load(filepath.Join(dir, strings.TrimPrefix(words[len(words)-1], "/etc/fugu/")), env)
	if err != nil {
		return append(all, err.Error())
	}
	if _, err := policy.Load(c.Policy); err != nil {
		add("policy: %v", err)
	}
	if _, err := os.Stat(c.Auth.Users); err != nil {
		add("auth.users: %v", err)
	}
	if !slices.Contains(durable, filepath.Dir(c.Ledger.SQLite)) {
		add("the ledger %s is not in a volume", c.Ledger.SQLite)
	}

	if serves(s) {
		_, port, _ := strings.Cut(c.Listen, ":")
		if len(s.Ports) != 1 || !strings.HasSuffix(s.Ports[0], ":"+port) {
			add("%v is published, fugu listens on %s", s.Ports, port)
		}
		if !strings.Contains(s.Healthcheck.Test, "/"+port+"'") {
			add("the healthcheck is not of port %s", port)
		}
	}
	return append(all, upstreamFindings(f, s)...)
}

// upstreamFindings is what is wrong with the connections that a service's environment names.
func upstreamFindings(f file, s service) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for variable, password := range map[string]string{
		"FUGU_UPSTREAM_GUEST":  "GUEST_PASSWORD",
		"FUGU_UPSTREAM_READER": "READER_PASSWORD",
		"FUGU_UPSTREAM_KEEPER": "KEEPER_PASSWORD",
	} {
		dsn, ok := s.Environment[variable]
		if !ok && strings.HasSuffix(variable, "KEEPER") && serves(s) {
			continue // it is for fugu twin alone
		}
		u, err := pgconn.ParseConfig(dsn)
		if err != nil {
			add("%s: %v", variable, err)
			continue
		}
		db, ok := f.Services[u.Host]
		if !ok {
			add("%s: no service %s", variable, u.Host)
			continue
		}
		if u.Password != db.Environment[password] {
			add("%s: another password than %s", variable, password)
		}
		if u.Database != db.Environment["POSTGRES_DB"] {
			add("%s: another database than POSTGRES_DB", variable)
		}
	}
	return all
}
