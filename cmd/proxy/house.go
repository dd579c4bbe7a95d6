package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/account/memory"
	"fugu/internal/config"
	"fugu/ledger"
	"fugu/policy"
	"fugu/sqlstate"
	"fugu/upstream"
)

// house is everything that the commands have in common, put together from one configuration.
type house struct {
	config   *config.Config
	policies []*policy.Policy
	seen     string // the state of the policies' files, from before they were read
	guest    *pgconn.Config
	guests   map[string]*pgconn.Config   // by user, of those who have one of their own
	rooms    []*room                     // the guest's own database first
	readers  map[string]*upstream.Reader // by database
	ledger   ledger.Ledger
	books    ledger.Manager     // the same as it was opened, to look at; nil: it is not open
	lock     *os.File           // of the ledger, as it was handed over or is to be; nil: there is none
	warnings []upstream.Finding // what may be a hole
	notes    []string           // what is worth knowing, and nothing to mend
	server   string             // with twins apart: the guests'
	missing  []upstream.Protected
}

// open reads the configuration and the policies, and what they refer to in the database. Findings come all together.
func open(ctx context.Context, path string) (*house, error) {
	cfg, err := config.Load(path, os.Environ())
	if err != nil {
		return nil, err
	}
	h := &house{config: cfg, seen: policyState(cfg.Policy), readers: map[string]*upstream.Reader{}}
	if h.policies, err = policy.Load(cfg.Policy); err != nil {
		return nil, err
	}
	if h.guest, err = pgconn.ParseConfig(string(cfg.Upstream.Guest)); err != nil {
		return nil, fmt.Errorf("reading upstream.guest: %w", err)
	}

	// Guests have the configuration's patience; PostgreSQL itself ends what takes longer.
	h.guest.RuntimeParams["statement_timeout"] = strconv.FormatInt(cfg.Limits.StatementTimeout.Milliseconds(), 10)
	h.guest.DialFunc = upstream.Dialer(cfg.Limits.KeepAlive)
	if err := h.ownGuests(); err != nil {
		return nil, err
	}

	// What the house is furnished with depends on where protected tables are: in another database, nowhere, or here.
	if h.twinsApart() {
		if err := h.standApart(ctx); err != nil {
			h.close()
			return nil, err
		}
		return h, nil
	}
	if err := h.arrange(); err != nil {
		return nil, err
	}
	if len(h.policies) == 0 {
		return h, h.plain(ctx)
	}
	if err := h.protect(ctx); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// protect loads all that the rooms protect, unless there is a way round.
func (h *house) protect(ctx context.Context) error {
	if err := h.reach(ctx); err != nil {
		return err
	}
	if err := h.grants(ctx); err != nil {
		return err
	}
	return h.furnish(ctx)
}

func (h *house) close() {
	for _, r := range h.readers {
		r.Close()
	}
	if h.ledger != nil {
		_ = h.ledger.Close()
	}
}

// openLedger opens the ledger: for the one proxy that serves from it, or only to look.
func (h *house) openLedger(ctx context.Context, a access) error {
	serves := a == toServe
	l, err := ledger.Open(ctx, ledgerURL(h.config.Ledger),
		ledger.Options{Exclusive: serves, ReadOnly: !serves, Key: h.config.Ledger.Key, Lock: h.lock})
	if !serves && errors.Is(err, fs.ErrNotExist) {
		l, err = empty{}, nil
	}
	if err != nil {
		return fmt.Errorf("opening the ledger: %w", err)
	}
	h.books, _ = l.(ledger.Manager)
	if serves {
		h.lock = ledger.LockOf(l)
		l = memory.Of(planted(l))
	}
	h.ledger = l
	return nil
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

// describe writes an error for people: with its hint, and with what a database said.
func describe(err error) string {
	e := &sqlstate.Error{}
	_ = errors.As(err, &e) // of another error there is no more to say than what it says itself
	lines := []string{err.Error()}
	if e.Detail != "" {
		lines = append(lines, "  detail: "+e.Detail)
	}
	if hint := hintOf(err, e.Hint); hint != "" {
		lines = append(lines, "  hint: "+hint)
	}
	if e.Cause != nil {
		lines = append(lines, "  cause: "+e.Cause.Error())
	}
	return strings.Join(lines, "\n")
}

// logger writes the log as the configuration says.
func logger(stderr *os.File, form string) *slog.Logger {
	if form == "json" {
		return slog.New(slog.NewJSONHandler(stderr, nil))
	}
	return slog.New(slog.NewTextHandler(stderr, nil))
}

func ledgerURL(l config.Ledger) string {
	if l.Postgres != "" {
		return string(l.Postgres)
	}
	return "sqlite:" + l.SQLite
}
