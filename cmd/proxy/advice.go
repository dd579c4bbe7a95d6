package main

import (
	"cmp"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"strings"
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
	var unreadable *pgconn.ParseConfigError
	var unknown *net.DNSError
	var untrusted *tls.CertificateVerificationError
	var network *net.OpError
	switch {
	case errors.As(err, &unreadable):
		return "write the address as " + addressForm + ", with % and two hexadecimal digits for characters such as @ " +
			"in a password"
	case errors.As(err, &unknown):
		return "mend the host in the URL, which no name server knows: " + addressForm + ", with %40 for an @ in a " +
			"password"
	case errors.As(err, &untrusted):
		return "name the file of the certificate by which the server's is signed, by sslrootcert=FILE in the URL; or " +
			"write sslmode=require, which encrypts and does not ask who it is"
	case errors.Is(err, syscall.EADDRINUSE):
		return "another process has that address (ss -ltnp shows which): stop it, or write another port after " +
			"listen:"
	case errors.As(err, &network) && network.Op == "listen":
		return "write an address of this machine after listen:, such as 127.0.0.1:6432"
	case errors.As(err, &network) && network.Op == "dial":
		return "nothing answers there: is PostgreSQL running (pg_lsclusters shows it on Debian), and are host and " +
			"port in the URL those of it?"
	case strings.Contains(err.Error(), "server refused TLS connection"): // pgconn has no type for it
		return "the server has no TLS, for which sslmode in the URL asks: turn it on there (ssl = on), or write " +
			"sslmode=disable where nobody else is on the way"
	}
	return ""
}

// addressForm is how a database is named.
const addressForm = "postgres://ROLE:PASSWORD@HOST:PORT/DATABASE"

// adviceOnRefusal is what to do where a server does not let somebody in, or does not know what is named.
var adviceOnRefusal = map[sqlstate.Code]string{
	sqlstate.InvalidPassword: "mend role or password in the URL; roles of Fugu's own are made, and get their " +
		"passwords, by the grants.sql that fugu init wrote: psql OWNERS-URL -f grants.sql",
	sqlstate.InvalidAuthorization: "the role is not there, or may not come in from here: mend the URL, which is " +
		addressForm + ", or the server's pg_hba.conf",
	sqlstate.InvalidCatalogName: "mend the database in the URL, or make it: psql -l lists those that there are",
	sqlstate.TooManyConnections: "the server has no place left: raise max_connections there, or lower limits.clients " +
		"in fugu.yaml",
	sqlstate.InsufficientPrivilege: "give the role that right; all that Fugu's roles need is in the grants.sql that " +
		"fugu init wrote, and fugu check says what lacks: psql OWNERS-URL -f grants.sql",
	sqlstate.SyntaxError: "mend the SQL there: a condition stands as it would behind WHERE, a text between single " +
		"quotes: supplier = 'X'",
	sqlstate.UndefinedColumn: "mend the name: \\d TABLE in psql lists the columns of a table; if it is a text, put " +
		"it between single quotes",
	sqlstate.UndefinedFunction: "mend the name, or the types that it is given: \\df in psql lists functions, \\do " +
		"operators",
}

// adviceOnFiles is what to do about a file for which there is nothing else to say.
func adviceOnFiles(err error) string {
	var file *fs.PathError
	switch {
	case !errors.As(err, &file):
		return ""
	case errors.Is(file, fs.ErrNotExist):
		return "mend the path in fugu.yaml, from whose directory it goes, or make the directory"
	case errors.Is(file, fs.ErrPermission):
		return "run fugu as the user who owns it, or let this one read and write it"
	}
	return ""
}

// hintOf is what to do about an error: what this machine's operator can, or else what the error itself says.
func hintOf(err error, own string) string { return cmp.Or(advise(err), own, adviceOnFiles(err)) }
