package config

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/internal/strictyaml"
)

// maxName is the longest name of a user or role that PostgreSQL keeps, in bytes.
const maxName = 63

// guests reads upstream.guests: for each user that has one, the guest that its sessions run as.
func (d *decoder) guests(v *strictyaml.Value) {
	entries, ok := v.Entries()
	if !ok {
		return
	}
	d.config.Upstream.Guests = map[string]Guest{}
	for _, e := range entries {
		if e.Key == "" || len(e.Key) > maxName || !utf8.ValidString(e.Key) {
			d.report.Add(e.At, "", "upstream.guests: a user's name has 1 to %d bytes", maxName)
		}
		fields := e.Value.Fields("dsn", "role")
		dsn, role := fields.Get("dsn"), fields.Get("role")

		// A guest of one's own is another login, or the same one that takes a role.
		switch {
		case dsn != nil && role != nil:
			e.Value.Bad("write one of the two", "upstream.guests: a guest has a dsn or a role, not both")
		case dsn == nil && role == nil && e.Value.Kind == strictyaml.Map:
			e.Value.Bad("write {dsn: postgres://ROLE@HOST:PORT/DATABASE} or {role: NAME}",
				"upstream.guests: a guest has a dsn or a role")
		}
		d.config.Upstream.Guests[e.Key] = Guest{DSN: d.guestDSN(dsn), Role: d.guestRole(role)}
	}
}

func (d *decoder) guestRole(v *strictyaml.Value) string {
	role, ok := v.Text()
	if ok && (len(role) > maxName || strings.EqualFold(role, "none")) {
		v.Bad("", "upstream.guests: this is no name of a role")
	}
	return role
}

// guestDSN reads a login, which must be to the database of the guest that the others have, and not one of Fugu's own
// roles.
func (d *decoder) guestDSN(v *strictyaml.Value) DSN {
	text, ok := v.Text()
	if !ok {
		return ""
	}
	dsn := setting{path: "upstream.guests: dsn", text: text, bad: v.Bad}.dsn()
	own, err := pgconn.ParseConfig(string(dsn))
	if dsn == "" || err != nil {
		return ""
	}

	const roles = "give the user a role of its own: it must have no right on protected tables, nor on the ledger"
	switch own.User {
	case d.config.Upstream.Reader.role():
		v.Bad(roles, "upstream.guests: the dsn has the role of upstream.reader")
	case d.config.Upstream.Keeper.role():
		v.Bad(roles, "upstream.guests: the dsn has the role of upstream.keeper")
	case d.config.Upstream.Twins.role():
		v.Bad(roles, "upstream.guests: the dsn has the role of upstream.twins")
	case d.config.Ledger.Postgres.role():
		v.Bad(roles, "upstream.guests: the dsn has the role of ledger")
	}

	// Who has a guest of their own is in the same database as everybody else.
	all, err := pgconn.ParseConfig(string(d.config.Upstream.Guest))
	if d.config.Upstream.Guest != "" && err == nil &&
		(own.Database != all.Database || !slices.Equal(places(own), places(all))) {
		v.Bad("change nothing but the role and how it logs in",
			"upstream.guests: the dsn leads to another database than upstream.guest")
	}
	return dsn
}

// places are the servers that a connection string names, in order. With sslmode prefer or allow pgconn has each twice.
func places(c *pgconn.Config) []string {
	out := []string{c.Host + " " + strconv.Itoa(int(c.Port))}
	for _, f := range c.Fallbacks {
		out = append(out, f.Host+" "+strconv.Itoa(int(f.Port)))
	}
	return slices.Compact(out)
}
