package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"fugu/pipeline"
	"fugu/policy"
	"fugu/upstream"
)

// errApart is what commands about answers with noise say if all tables are answered from twins.
var errApart = errors.New("upstream.twins is set: all tables are answered from twins, which nothing has to be " +
	"prepared for, and whose price fugu twin preview says")

// twinsApart reports whether the twins of the policies are in another database than the protected tables.
func (h *house) twinsApart() bool { return h.config.Upstream.Twins != "" && len(h.policies) > 0 }

// standApart completes a house whose guests are in a database of twins. The protected tables are in another one, so
// that no name has to be rewritten and no statement looked at; and if they are on another server, Fugu masks nothing
// either.
func (h *house) standApart(ctx context.Context) error {
	if err := h.twinsOnly(); err != nil {
		return err
	}

	keeper, err := pgconn.ParseConfig(string(h.config.Upstream.Twins))
	if err != nil {
		return fmt.Errorf("reading upstream.twins: %w", err)
	}

	// Names in the policies mean tables of the protected database, whichever database guests are in.
	source, err := h.sourceDatabase()
	if err != nil {
		return err
	}
	if err := policy.Resolve(h.policies, source); err != nil {
		return err
	}
	if err := h.oneOfEach(); err != nil {
		return err
	}

	// There is a room for each database that guests may enter, and what was found of others counts no more.
	h.rooms, h.warnings, h.notes = nil, nil, nil
	for _, name := range append([]string{cmp.Or(h.guest.Database, h.guest.User)}, h.config.Upstream.Databases...) {
		if h.room(name) == nil {
			h.rooms = append(h.rooms, h.newRoom(name))
		}
	}

	// What guests can see is looked at before it is decided what has to be masked.
	beside, err := h.lookApart(ctx, keeper.User)
	if err != nil {
		return err
	}
	if len(beside) > 0 {
		if err := h.grantsBeside(ctx, beside); err != nil {
			return err
		}
	}

	for _, r := range h.rooms {
		if err := h.furnishApart(ctx, r, beside); err != nil {
			return h.inRoom(r, err)
		}
	}
	h.sayApart(beside)
	return nil
}

// twinsOnly refuses policies that Fugu could not keep without looking at statements: those that answer with noise,
// whose tables would have to be in the guests' database and would end its being open, and those that let no rows be
// listed.
func (h *house) twinsOnly() error {
	for _, p := range h.policies {
		for _, t := range p.Tables {
			if t.Answers != policy.FromTwin {
				return p.Misfit(t.At, "table %s is answered with noise, so that it would have to be where the guests "+
					"are, and with upstream.twins nothing that is protected is there: give the table a policy of its "+
					"own, and serve that with another fugu that has no upstream.twins, on the same ledger in "+
					"PostgreSQL",
					t.Qualified())
			}

			// Fugu sees no statement there, so that it could not hold anybody to aggregates.
			if t.Twin.Rows != policy.ShowRows {
				return p.Misfit(t.At, "table %s: the policy lets no rows of its twin be listed, and with "+
					"upstream.twins Fugu looks at no statement, so that nothing would keep anybody to aggregates: "+
					"write twin: {rows: shown}, or leave upstream.twins out, and the twin is built beside its table, "+
					"in the schema fugu_twin", t.Qualified())
			}
		}
	}
	return nil
}

// oneOfEach refuses two tables of one name, from two databases: their twins would be one.
func (h *house) oneOfEach() error {
	seen := map[policy.QualifiedName]string{}
	for _, p := range h.policies {
		for _, t := range p.Tables {
			if other, twice := seen[t.Qualified()]; twice {
				return p.Misfit(t.At, "table %s is a table of %s, too, and their twins are in one database",
					t.Qualified(), other)
			}
			seen[t.Qualified()] = p.Dataset
		}
	}
	return nil
}

// sourceDatabase is the database of policies that name none: the keeper's.
func (h *house) sourceDatabase() (string, error) {
	if h.config.Upstream.Keeper == "" {
		return cmp.Or(h.guest.Database, h.guest.User), nil
	}
	c, err := pgconn.ParseConfig(string(h.config.Upstream.Keeper))
	if err != nil {
		return "", fmt.Errorf("reading upstream.keeper: %w", err)
	}
	return cmp.Or(c.Database, c.User), nil
}

// lookApart looks at each database with the eyes of each guest. It returns the databases with protected tables that
// are on their server: what their catalogs have in common shows what depends on protected rows.
func (h *house) lookApart(ctx context.Context, keeper string) (beside []string, err error) {
	var tables []upstream.Protected
	for _, p := range h.policies {
		for _, t := range p.Tables {
			tables = append(tables, upstream.Protected{Schema: t.Schema, Name: t.Name})
		}
	}

	// The first room's own guest says how this database and that of the tables stand to each other.
	var holes []upstream.Finding
	for i, r := range h.rooms {
		for _, user := range r.users() {
			guest, _ := r.guestOf(user)
			a, found, warnings, err := upstream.CheckApart(ctx, guest, tables, keeper)
			if err != nil {
				return nil, h.inRoom(r, err)
			}
			holes = withNew(holes, h.named(r, found))
			h.warnings = withNew(h.warnings, h.named(r, warnings))
			if i == 0 && user == "" {
				beside = h.protectedBeside(a)
				h.missing = a.Missing
				h.server = a.Server
			}
		}
	}
	return beside, upstream.Hole(holes)
}

// grantsBeside refuses guests who could reach the databases with protected tables on their server round the side, or
// see what goes on there.
func (h *house) grantsBeside(ctx context.Context, beside []string) error {
	var holes []upstream.Finding
	databases := append(slices.Clone(beside), h.databases()...)
	for _, r := range h.rooms {
		for _, user := range r.users() {
			guest, _ := r.guestOf(user)
			found, warnings, err := upstream.CheckGuest(ctx, guest, nil, nil, databases...)
			if err != nil {
				return h.inRoom(r, err)
			}
			holes = withNew(holes, h.named(r, found))
			h.warnings = withNew(h.warnings, h.named(r, warnings))
		}
	}
	return upstream.Hole(holes)
}

// protectedBeside are the databases of the guest's server that hold protected tables: those that twins were built from;
// and before any was, those that go by the name.
func (h *house) protectedBeside(a upstream.Apart) (out []string) {
	add := func(name string) {
		if slices.Contains(a.Beside, name) && !slices.Contains(out, name) && h.room(name) == nil {
			out = append(out, name)
		}
	}
	for _, o := range a.Origins {
		if o.Server == a.Server {
			add(o.Database)
		}
	}
	for _, p := range h.policies {
		if len(a.Origins) == 0 {
			add(p.Database)
		}
	}
	return out
}

// furnishApart gives a room its masks, if there is anything to mask.
func (h *house) furnishApart(ctx context.Context, r *room, beside []string) (err error) {
	if len(beside) > 0 {
		if r.reader, err = h.readerApart(ctx, r); err != nil {
			return err
		}
	}
	r.snapshot, err = pipeline.LoadApart(ctx, h.policies, r.reader, beside...)
	return err
}

// readerApart is a reader of the catalog that the guests of a room see.
func (h *house) readerApart(ctx context.Context, r *room) (*upstream.Reader, error) {
	if h.config.Upstream.Reader == "" {
		return nil, errors.New("upstream.reader is missing: the twins are on the server of the protected tables, so " +
			"that parts of the catalog have to be masked, which Fugu reads as the reader; or build twins on another " +
			"server")
	}

	reader := h.readers[r.database]
	if reader == nil {
		var err error
		there := func(c *pgxpool.Config) {
			c.ConnConfig.DialFunc = h.guest.DialFunc
			c.ConnConfig.Database = r.database
		}
		reader, err = upstream.OpenReader(string(h.config.Upstream.Reader), h.config.Limits.StatementTimeout, there)
		if err != nil {
			return nil, err
		}
		h.readers[r.database] = reader
	}

	// A pool that connects elsewhere would mask a catalog that nobody sees.
	server, err := reader.Server(ctx)
	if err == nil && server != h.server {
		err = errors.New("upstream.reader leads to another server than upstream.guest: it has to read the catalog " +
			"that guests see")
	}
	return reader, err
}

// sayApart says how open the house is, and what is still to be built.
func (h *house) sayApart(beside []string) {
	if len(beside) == 0 {
		h.notes = append(h.notes, "the guests' server holds twins and no protected table: every statement is "+
			"relayed as it is, nothing is masked, and nothing refused")
	} else {
		h.notes = append(h.notes, fmt.Sprintf("the guests' database holds twins and no protected table, and the "+
			"database %s on the same server does: statements are relayed as they are, but for what the catalog shows "+
			"of that one", strings.Join(beside, " and ")))
	}
	for _, t := range h.missing {
		h.notes = append(h.notes, fmt.Sprintf("the twin of %s.%s is not built: run fugu twin build, and then have "+
			"serve reload (SIGHUP)", t.Schema, t.Name))
	}
}
