package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"fugu/dataset"
	"fugu/ledger"
	"fugu/pipeline"
	"fugu/policy"
	"fugu/upstream"
)

// room is one database that clients can reach, with what belongs to it. With any policy at all every room has the masks
// of the catalog: it shows what depends on protected rows of the other rooms.
type room struct {
	database string
	policies []*policy.Policy // of this database; perhaps none
	guest    *pgconn.Config
	guests   map[string]*pgconn.Config // by user, of those who have one of their own
	reader   *upstream.Reader          // nil without policies
	snapshot *pipeline.Snapshot
	state    string // of the catalog, from before anything of it was looked at
}

// arrange makes the rooms: the guest's database, those that policies name, and those that the configuration lists.
func (h *house) arrange() error {
	first := cmp.Or(h.guest.Database, h.guest.User)
	if err := policy.Resolve(h.policies, first); err != nil {
		return err
	}
	names := []string{first}
	for _, p := range h.policies {
		names = append(names, p.Database)
	}

	// A name that comes up twice is one room.
	h.rooms = nil
	for _, name := range append(names, h.config.Upstream.Databases...) {
		if h.room(name) != nil {
			continue
		}
		r := h.newRoom(name)
		for _, p := range h.policies {
			if p.Database == name {
				r.policies = append(r.policies, p)
			}
		}
		h.rooms = append(h.rooms, r)
	}
	return nil
}

// newRoom is the room of a database, with its guests and nothing else.
func (h *house) newRoom(database string) *room {
	r := &room{database: database, guest: intoDatabase(database, h.guest), guests: map[string]*pgconn.Config{}}
	for user, guest := range h.guests {
		r.guests[user] = intoDatabase(database, guest)
	}
	return r
}

// intoDatabase is a way to the same server, into another database.
func intoDatabase(database string, config *pgconn.Config) *pgconn.Config {
	config = config.Copy()
	config.Database = database
	return config
}

// room finds one by its database; nil: there is none.
func (h *house) room(database string) *room {
	if i := slices.IndexFunc(h.rooms, func(r *room) bool { return r.database == database }); i >= 0 {
		return h.rooms[i]
	}
	return nil
}

// reach opens a reader for each room, and takes down what the catalog says before anything of it is looked at: what
// changes while it is looked at is looked at again. Where it cannot be asked, the next who ask say so. Readers are kept
// for as long as the house is open, since statements may be under way in a room that a reload leaves out.
func (h *house) reach(ctx context.Context) error {
	for i, r := range h.rooms {
		if h.readers[r.database] == nil {
			own := func(c *pgxpool.Config) {
				c.ConnConfig.DialFunc = overheard(h.guest.DialFunc)
				if i > 0 { // of the guest's own database the reader's may be a replica by another name
					c.ConnConfig.Database = r.database
				}
			}
			dsn := string(h.config.Upstream.Reader)
			reader, err := upstream.OpenReader(dsn, h.config.Limits.StatementTimeout, own)
			if err != nil {
				return err
			}
			h.readers[r.database] = reader
		}

		// What could not be asked for is no state, and differs from that of the next look.
		if r.reader = h.readers[r.database]; len(r.policies) > 0 {
			r.state, _ = dataset.State(ctx, r.policies, r.reader)
		}
	}
	return nil
}

// catalog is what the catalogs of all rooms said of the policies' tables when these were loaded, and what they say now.
func (h *house) catalog(ctx context.Context) (before, now string, err error) {
	for _, r := range h.rooms {
		if len(r.policies) == 0 || h.twinsApart() {
			continue
		}
		state, err := dataset.State(ctx, r.policies, r.reader)
		if err != nil {
			return "", "", err
		}
		before, now = before+r.state+"\n", now+state+"\n"
	}
	return before, now, nil
}

// furnish loads what the policies say of each room's database.
func (h *house) furnish(ctx context.Context) error {
	for _, r := range h.rooms {
		// A room is complete only with all that its policies need, or the house does not open.
		snapshot, err := pipeline.Load(ctx, r.policies, r.reader, h.otherDatabases(r)...)
		if err != nil {
			return h.inRoom(r, err)
		}
		r.snapshot = snapshot
	}
	return nil
}

// otherDatabases are the databases with protected tables but for the room's own.
func (h *house) otherDatabases(own *room) (names []string) {
	for _, r := range h.rooms {
		if r != own && len(r.policies) > 0 {
			names = append(names, r.database)
		}
	}
	return names
}

// inRoom says which database an error is of, where there are several.
func (h *house) inRoom(r *room, err error) error {
	if err == nil || len(h.rooms) == 1 {
		return err
	}
	return fmt.Errorf("database %q: %w", r.database, err)
}

// grants refuses databases in which the guests could reach protected rows round the side, those of another database
// too.
func (h *house) grants(ctx context.Context) error {
	h.warnings = nil
	var holes []upstream.Finding
	for i, r := range h.rooms {
		found, warnings, err := h.roomGrants(ctx, r, i == 0)
		if err != nil {
			return h.inRoom(r, err)
		}
		holes = append(holes, h.named(r, found)...)
		h.warnings = append(h.warnings, h.named(r, warnings)...)
	}
	return upstream.Hole(holes)
}

// named says which database findings are of, where there are several.
func (h *house) named(r *room, found []upstream.Finding) []upstream.Finding {
	if len(h.rooms) == 1 {
		return found
	}
	var out []upstream.Finding
	for _, f := range found {
		message := fmt.Sprintf("database %q: %s", r.database, f.Message)
		out = append(out, upstream.Finding{Message: message, Hint: f.Hint})
	}
	return out
}

// roomGrants are the holes in one database, and what may be one.
func (h *house) roomGrants(ctx context.Context, r *room, first bool) (holes, warnings []upstream.Finding, err error) {
	protected, references, plain := r.kept()
	databases := h.databases()

	// Each user may come in as a guest of their own.
	for _, user := range r.users() {
		guest, who := r.guestOf(user)
		found, suspicious, err := upstream.CheckGuest(ctx, guest, protected, references, databases...)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", who, err)
		}
		blind, err := upstream.CheckPlainRows(ctx, guest, plain)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", who, err)
		}
		holes = withNew(holes, found)
		warnings = withNew(withNew(warnings, suspicious), blind)
	}

	// The reader's connection string names the first database; elsewhere it is the same role.
	reader, err := pgconn.ParseConfig(string(h.config.Upstream.Reader))
	if err != nil {
		return nil, nil, fmt.Errorf("reading upstream.reader: %w", err)
	}
	if !first {
		reader.Database = r.database
	}
	found, err := upstream.CheckReader(ctx, reader, protected, references)
	if err != nil {
		return nil, nil, fmt.Errorf("the reader: %w", err)
	}
	return withNew(holes, found), warnings, nil
}

// withNew appends those findings that are not there yet: guests of several users can have the same hole, which is said
// once.
func withNew(list, more []upstream.Finding) []upstream.Finding {
	for _, f := range more {
		if !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

// takeOver uses what fugu fit has prepared, where it still holds; where it does not, a warning says so.
func (h *house) takeOver(ctx context.Context) error {
	for _, r := range h.rooms {
		if len(r.policies) == 0 {
			continue
		}
		stale, err := r.snapshot.TakeOver(ctx, h.config.Models, r.reader)
		h.warnings = append(h.warnings, stale...)
		if err != nil {
			return h.inRoom(r, err)
		}
	}
	return nil
}

// engine answers for one room.
func (h *house) engine(r *room, l ledger.Ledger, log *slog.Logger) *pipeline.Engine {
	e := pipeline.New(r.guest, r.reader, l, r.snapshot, log)
	e.GiveGuests(r.guests)
	e.Grid(h.config.Limits.AnswerGrid)
	return e
}

// asked is the room that a command is about: by the name given, or the one in which anything is protected.
func (h *house) asked(database string) (*room, error) {
	var names []string
	for _, r := range h.rooms {
		if len(r.policies) == 0 {
			continue
		}
		if r.database == database {
			return r, nil
		}
		names = append(names, r.database)
	}
	if database == "" && len(names) == 1 {
		return h.room(names[0]), nil
	}
	return nil, usageError{fmt.Errorf("write -database and one of %s", strings.Join(names, ", "))}
}
