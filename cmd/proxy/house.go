package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"fugu/config"
	"fugu/ledger"
	"fugu/pipeline"
	"fugu/policy"
	"fugu/sqlstate"
	"fugu/upstream"
)

// house is everything that the commands have in common, put together from one configuration.
type house struct {
	config   *config.Config
	policies []*policy.Policy
	guest    *pgconn.Config
	guests   map[string]*pgconn.Config // by user, of those who have one of their own
	reader   *upstream.Reader          // nil without policies
	snapshot *pipeline.Snapshot
	ledger   ledger.Ledger
	warnings []upstream.Finding // what may be a hole
}

// open reads the configuration and the policies, and what they refer to in the database. Findings come all together.
func open(ctx context.Context, path string) (*house, error) {
	cfg, err := config.Load(path, os.Environ())
	if err != nil {
		return nil, err
	}
	h := &house{config: cfg}
	if h.policies, err = policy.Load(cfg.Policy); err != nil {
		return nil, err
	}
	if h.guest, err = pgconn.ParseConfig(string(cfg.Upstream.Guest)); err != nil {
		return nil, fmt.Errorf("reading upstream.guest: %w", err)
	}
	h.guest.RuntimeParams["statement_timeout"] = strconv.FormatInt(cfg.Limits.StatementTimeout.Milliseconds(), 10)
	h.guest.DialFunc = upstream.Dialer(cfg.Limits.KeepAlive)
	if err := h.ownGuests(); err != nil {
		return nil, err
	}
	if len(h.policies) == 0 {
		return h, h.plain(ctx)
	}
	if h.reader, err = upstream.OpenReader(string(cfg.Upstream.Reader), cfg.Limits.StatementTimeout, func(c *pgxpool.Config) {
		c.ConnConfig.DialFunc = h.guest.DialFunc
	}); err != nil {
		return nil, err
	}
	if err := h.grants(ctx); err != nil {
		h.close()
		return nil, err
	}
	if h.snapshot, err = pipeline.Load(ctx, h.policies, h.reader); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *house) close() {
	if h.reader != nil {
		h.reader.Close()
	}
	if h.ledger != nil {
		_ = h.ledger.Close()
	}
}

// openLedger opens the ledger: for the one proxy that serves from it, or only to look.
func (h *house) openLedger(ctx context.Context, serves bool) error {
	l, err := ledger.Open(ctx, ledgerURL(h.config.Ledger), ledger.Options{Exclusive: serves, ReadOnly: !serves, Key: h.config.Ledger.Key})
	if !serves && errors.Is(err, fs.ErrNotExist) {
		l, err = empty{}, nil
	}
	if err != nil {
		return fmt.Errorf("opening the ledger: %w", err)
	}
	if serves {
		l = pipeline.Remember(planted(l))
	}
	h.ledger = l
	return nil
}

// takeOver uses what fugu fit has prepared, where it still holds; where it does not, a warning says so.
func (h *house) takeOver(ctx context.Context) error {
	if len(h.policies) == 0 {
		return nil
	}
	stale, err := h.snapshot.TakeOver(ctx, h.config.Models, h.reader)
	h.warnings = append(h.warnings, stale...)
	return err
}

// ownGuests works out the guests of users that have one of their own.
func (h *house) ownGuests() error {
	h.guests = map[string]*pgconn.Config{}
	for user, g := range h.config.Upstream.Guests {
		if g.DSN == "" {
			h.guests[user] = h.guest.Copy()
			h.guests[user].RuntimeParams["role"] = g.Role
			continue
		}
		own, err := pgconn.ParseConfig(string(g.DSN))
		if err != nil {
			return fmt.Errorf("reading upstream.guests: %w", err)
		}
		own.RuntimeParams["statement_timeout"] = h.guest.RuntimeParams["statement_timeout"]
		own.DialFunc = h.guest.DialFunc
		h.guests[user] = own
	}
	return nil
}

// grants refuses a database in which the guest could reach protected rows round the side.
func (h *house) grants(ctx context.Context) error {
	var protected []upstream.Protected
	var references []string
	for _, p := range h.policies {
		for _, t := range p.Tables {
			protected = append(protected, upstream.Protected{Schema: t.Schema, Name: t.Name})
			if t.Reference.Name != "" {
				references = append(references, pipeline.Quoted(t.Reference))
			}
		}
	}
	h.warnings = nil
	found, err := h.guestGrants(ctx, h.guest, protected, references)
	if err != nil {
		return err
	}
	for _, user := range slices.Sorted(maps.Keys(h.guests)) {
		own, err := h.guestGrants(ctx, h.guests[user], protected, references)
		if err != nil {
			return fmt.Errorf("the guest of user %q: %w", user, err)
		}
		for _, f := range own {
			if !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
	}
	reader, err := pgconn.ParseConfig(string(h.config.Upstream.Reader))
	if err != nil {
		return fmt.Errorf("reading upstream.reader: %w", err)
	}
	more, err := upstream.CheckReader(ctx, reader, protected, references)
	if err != nil {
		return err
	}
	return upstream.Hole(slices.Concat(found, more))
}

// guestGrants are the holes that one guest has; what may be one goes to the warnings.
func (h *house) guestGrants(ctx context.Context, guest *pgconn.Config, protected []upstream.Protected, references []string) ([]upstream.Finding, error) {
	found, warnings, err := upstream.CheckGuest(ctx, guest, protected, references)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		if !slices.Contains(h.warnings, w) {
			h.warnings = append(h.warnings, w)
		}
	}
	return found, nil
}

// describe writes an error for people: with its hint, and with what a database said.
func describe(err error) string {
	var e *sqlstate.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	lines := []string{err.Error()}
	for label, text := range map[string]string{"detail": e.Detail, "hint": e.Hint} {
		if text != "" {
			lines = append(lines, "  "+label+": "+text)
		}
	}
	if e.Cause != nil {
		lines = append(lines, "  cause: "+e.Cause.Error())
	}
	return strings.Join(lines, "\n")
}

func logger(stderr *os.File) *slog.Logger {
	return slog.New(slog.NewTextHandler(stderr, nil))
}

func ledgerURL(l config.Ledger) string {
	if l.Postgres != "" {
		return string(l.Postgres)
	}
	return "sqlite:" + l.SQLite
}
