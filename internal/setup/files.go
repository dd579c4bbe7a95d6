package setup

import (
	"cmp"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/parser"
	"fugu/policy"
)

// Place is where the proxy will stand, and whom it will be to the database.
type Place struct {
	Directory string          // of the files, absolute
	Binary    string          // of fugu, absolute
	Listen    string          // HOST:PORT
	Server    *pgconn.Config  // how the owner reached the database
	Encrypted bool            // the owner was let in by TLS, so that the proxy insists on it
	Roles     string          // what the names of the roles begin with
	Logins    map[string]Pass // of the roles: guest, reader and keeper
	Users     map[string]Pass // of the analysts
}

// Pass is a password with what proves it.
type Pass struct{ Password, Verifier string }

// File is one file of a set-up.
type File struct {
	Name string
	Mode fs.FileMode
	Text string
}

// Files are everything that a set-up takes.
func (p *Plan) Files(at Place) []File {
	return []File{
		{p.Dataset + policy.Suffix, 0o644, p.Policy()},
		{"fugu.yaml", 0o600, p.configuration(at)},
		{"grants.sql", 0o600, p.grants(at)},
		{"users.txt", 0o600, p.users(at)},
		{"fugu.service", 0o644, fmt.Sprintf(installing, at.Directory) + unit(at)},
	}
}

// kinds are the roles of a set-up: a twin has a keeper besides.
func (p *Plan) kinds() []string {
	if p.Answers == policy.FromTwin {
		return []string{"guest", "reader", "keeper"}
	}
	return []string{"guest", "reader"}
}

// RoleNames are the roles that the grants make.
func (p *Plan) RoleNames(prefix string) (out []string) {
	for _, kind := range p.kinds() {
		out = append(out, prefix+"_"+kind)
	}
	return out
}

// url is how the proxy reaches the database as one of its roles. A socket lets in who has a role's name on the machine,
// which nobody has: so it is the loopback interface.
func (at Place) url(kind string) string {
	host, query := at.Server.Host, url.Values{}
	if strings.HasPrefix(host, "/") {
		host = "127.0.0.1"
	}
	if at.Encrypted {
		query.Set("sslmode", "require")
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(at.Roles+"_"+kind, at.Logins[kind].Password),
		Host: net.JoinHostPort(host, strconv.Itoa(int(at.Server.Port))), Path: "/" + at.database(),
		RawQuery: query.Encode()}
	return u.String()
}

func (at Place) database() string { return cmp.Or(at.Server.Database, at.Server.User) }

func (p *Plan) configuration(at Place) string {
	var b text
	b.line("# How Fugu reaches the database, and who may come in. It holds passwords: let its owner alone read it.", "")
	b.line("listen: "+at.Listen, "")
	b.line("upstream:", "")
	does := map[string]string{"guest": "analysts' statements run as this role: it has no right on protected tables",
		"reader": "reads for Fugu, statements that Fugu has composed", "keeper": "only for fugu twin build: owns the " +
			"twins"}
	for _, kind := range p.kinds() {
		b.line("  # "+does[kind], "")
		b.line(fmt.Sprintf("  %-7s %s", kind+":", at.url(kind)), "")
	}
	b.line("auth:", "")
	b.line("  method: scram-sha-256", "")
	b.line("  users: users.txt", "fugu user add NAME")
	b.line("policy: "+yaml(p.Dataset+policy.Suffix), "")
	b.line("ledger: sqlite:fugu.db", "as secret as the tables; back it up")
	return b.String()
}

// grants is the SQL that makes the roles and gives them their rights. It may be run again.
func (p *Plan) grants(at Place) string {
	var b strings.Builder
	w := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	w("-- Roles for Fugu, and what they may. Run it as the owner of the tables or a superuser; it may be run again.")
	w("BEGIN;")
	var roles []string
	for _, kind := range p.kinds() {
		name := at.Roles + "_" + kind
		role := parser.QuoteIdent(name)
		roles = append(roles, role)
		w(
			"DO $$ BEGIN\n  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = %s) THEN CREATE ROLE %s; END "+
				"IF;\nEND $$;",
			parser.QuoteLiteral(name), role)
		w("ALTER ROLE %s LOGIN PASSWORD\n  '%s';", role, at.Logins[kind].Verifier)
	}

	// The guest is the first of the roles, and all others may read what is protected.
	w("\n-- What lists tables is a long statement through Fugu, and takes longer to compile than to run. " +
		"RESET it, if your\n-- analysts' own statements gain more by it.")
	w("ALTER ROLE %s SET jit = off;", roles[0])
	w("\n-- Protected: the guest, as which analysts' statements run, has no right on any of these.")
	family := list(p.Family())
	w("REVOKE ALL ON %s FROM PUBLIC, %s;", family, roles[0])
	w("GRANT SELECT ON %s\n  TO %s;", family, strings.Join(roles[1:], ", "))
	for _, name := range p.Closed {
		w("REVOKE ALL ON %s FROM PUBLIC, %s; -- its rows show which protected rows there are", quoted(name), roles[0])
	}
	if p.Answers == policy.FromTwin {
		w("\n-- The keeper makes the twins, in a schema of its own.")
		w("GRANT CREATE ON DATABASE %s TO %s;", parser.QuoteIdent(at.database()), roles[2])
	} else {
		var references []*Table
		for _, t := range p.Family() {
			references = append(references, &Table{QualifiedName: p.References[t.QualifiedName]})
		}
		w("\n-- Public or held-out rows, by which the noise is worked out.")
		w("GRANT SELECT ON %s TO %s;", list(references), strings.Join(roles[1:], ", "))
	}
	if len(p.Ordinary) > 0 {
		w("\n-- Ordinary tables, which analysts read as they are. None may have a total of protected rows in it.")
		w("GRANT SELECT ON %s\n  TO %s;", list(p.Ordinary), strings.Join(roles, ", "))
	}
	for _, schema := range p.schemas() {
		w("GRANT USAGE ON SCHEMA %s TO %s;", parser.QuoteIdent(schema), strings.Join(roles, ", "))
	}
	w("COMMIT;")
	return b.String()
}

// schemas are those of all tables of a set-up but public, which everybody may use.
func (p *Plan) schemas() (out []string) {
	seen := map[string]bool{"public": true}
	names := []policy.QualifiedName{}
	for _, t := range append(p.Family(), p.Ordinary...) {
		names = append(names, t.QualifiedName, p.References[t.QualifiedName])
	}
	for _, n := range names {
		if n.Schema != "" && !seen[n.Schema] {
			seen[n.Schema] = true
			out = append(out, n.Schema)
		}
	}
	return out
}

func (p *Plan) users(at Place) string {
	var b strings.Builder
	b.WriteString("# Who may log in, and what proves it: fugu user add NAME -c fugu.yaml\n")
	for _, a := range p.Analysts {
		fmt.Fprintf(&b, "%s\n", UserLine(a, at.Users[a].Verifier))
	}
	return b.String()
}

// UserLine is a line of a users file.
func UserLine(name, verifier string) string {
	double := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	return double(name) + " " + double(verifier)
}

// times is a decimal number so many times, without rounding.
func times(number string, n int64) string {
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return number
	}
	r.Mul(r, big.NewRat(n, 1))
	text := r.FloatString(12)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
