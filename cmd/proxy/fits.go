package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fugu/policy"
	"fugu/twin/build"
)

// twinsFit refuses twins that were built by another policy than the one that would be served: what analysts are told of
// them would not be true, and what the policy takes back (a column, a range) would go on being answered. They are
// looked at as the guest, who may read their list; serve is never the keeper.
func (h *house) twinsFit(ctx context.Context) error {
	var found []error
	for _, p := range h.policies {
		if !slices.ContainsFunc(p.Tables, func(t policy.Table) bool { return t.Answers == policy.FromTwin }) {
			continue
		}

		// Twins apart are all in one database, whichever their tables are in.
		room := h.rooms[0]
		if !h.twinsApart() {
			room = h.room(p.Database)
		}
		misfits, err := h.misfits(ctx, room, p)
		if err != nil {
			return h.inRoom(room, err)
		}
		found = append(found, misfits...)
	}
	return errors.Join(found...)
}

// misfits are those of one policy.
func (h *house) misfits(ctx context.Context, r *room, p *policy.Policy) ([]error, error) {
	config, err := h.guestConfig(r)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	guest, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connecting as the guest: %w", err)
	}
	defer func() { _ = guest.Close(context.WithoutCancel(ctx)) }()
	return build.Misfits(ctx, guest, h.twinsApart(), p)
}

// guestConfig is how the guest comes into a room's database over pgx, as clients do over their own connections.
func (h *house) guestConfig(r *room) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(string(h.config.Upstream.Guest))
	if err != nil {
		return nil, fmt.Errorf("reading upstream.guest: %w", err)
	}
	config.Config = *r.guest.Copy()
	return config, nil
}
