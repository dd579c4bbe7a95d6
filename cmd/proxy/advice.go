package main

import (
	"cmp"
	"errors"
	"net"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/sqlstate"
)

// advise says what whoever runs the command can do about an error, where the error itself cannot know: who may come
// into a database, and what listens where, is none of the packages' that connect. Clients are never told.
func advise(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return adviceOnRefusal[sqlstate.Code(refused.Code)]
	}

	// Without an answer of a server's: is it connecting, or listening?
	var network *net.OpError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "another process has that address (ss -ltnp shows which): stop it, or write another port after " +
			"listen:"
	case errors.As(err, &network) && network.Op == "listen":
		return "write an address of this machine after listen:, such as 127.0.0.1:6432"
	case errors.As(err, &network) && network.Op == "dial":
		return "nothing answers there: is PostgreSQL running (pg_lsclusters shows it on Debian), and are host and " +
			"port in the URL those of it?"
	}
	return ""
}

// adviceOnRefusal is what to do where a server does not let somebody in, or does not know what is named.
var adviceOnRefusal = map[sqlstate.Code]string{
	sqlstate.InvalidPassword: "mend the password in the URL; roles of Fugu's own are made, and get their passwords, " +
		"by the grants.sql that fugu init wrote: psql OWNERS-URL -f grants.sql",
	sqlstate.InvalidAuthorization: "the role is not there, or may not come in from here: mend the URL, which is " +
		"postgres://ROLE:PASSWORD@HOST:PORT/DATABASE, or the server's pg_hba.conf",
	sqlstate.InvalidCatalogName: "mend the database in the URL, or make it: psql -l lists those that there are",
	sqlstate.UndefinedColumn:    "mend the name: \\d TABLE in psql lists the columns of a table",
	sqlstate.UndefinedFunction: "mend the name, or the types that it is given: \\df in psql lists functions, \\do " +
		"operators",
}

// hintOf is what to do about an error: what this machine's operator can, or else what the error itself says.
func hintOf(err error, own string) string { return cmp.Or(advise(err), own) }
