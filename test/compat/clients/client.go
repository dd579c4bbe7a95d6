package main

import (
	"path/filepath"
)

// client is a program that speaks PostgreSQL's protocol, and the session that it runs: a command which takes as its
// last argument crud, dashboard or version.
type client struct {
	name    string
	command []string // relative to the directory of the sessions
	// trust: it cannot authenticate with SCRAM, so it needs a Fugu that does not ask.
	trust bool
	// test: its packages are those of scripts/setup.sh test.
	test bool
}

// Debian's Python has Debian's packages; another one may stand before it in PATH.
const python = "/usr/bin/python3"

func clients(golang string) []client {
	return []client{
		{name: "psql", command: []string{"sh", "psql/session.sh"}, test: true},
		{name: "pgcli", command: []string{python, "pgcli/session.py"}},
		{name: "pgbench", command: []string{"sh", "pgbench/session.sh"}, test: true},
		{name: "node-postgres, pg-cursor", command: []string{"node", "node/session.js"}},
		{name: "postgres.js", command: []string{"node", "postgresjs/session.js"}},
		{name: "psycopg 2", command: []string{python, "psycopg2/session.py"}, test: true},
		{name: "psycopg 3", command: []string{python, "psycopg/session.py"}, test: true},
		{name: "asyncpg", command: []string{python, "asyncpg/session.py"}},
		{name: "pg8000", command: []string{python, "pg8000/session.py"}, trust: true}, // Debian 12's is of before SCRAM
		{name: "SQLAlchemy", command: []string{python, "sqlalchemy/session.py"}},
		{name: "Django", command: []string{python, "django/session.py"}},
		{name: "JDBC", command: []string{"java", "-cp", "/usr/share/java/postgresql.jar", "jdbc/Session.java"}},
		{name: "psqlODBC", command: []string{python, "odbc/session.py"}},
		{name: "DBD::Pg", command: []string{"/usr/bin/perl", "perl/session.pl"}},
		{name: "ruby-pg", command: []string{"ruby", "ruby/session.rb"}},
		{name: "lib/pq", command: []string{golang, "postgres"}, test: true},
		{name: "pgx, database/sql", command: []string{golang, "pgx"}, test: true},
	}
}

// sessions is the directory of the clients' programs.
func sessions() string { return filepath.Join(moduleRoot(), "test/compat/clients") }
